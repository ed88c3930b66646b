//! The guard against answers that repeated tasks would make wrong.
//!
//! Ballista runs the tasks again whose results a lost executor had. A result that another task
//! has already read may then be read a second time, and a sum becomes too large. The guard ends all running
//! queries before the scheduler learns of the loss, so that clients can ask again.
//!
//! Without an executor, Ballista lets queries wait for the next one without a limit. The guard ends them
//! after the time within which a dead executor is noticed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::error::Result;
use ballista_core::serde::protobuf::ExecutorHeartbeat;
use ballista_core::serde::scheduler::{ExecutorData, ExecutorMetadata};
use ballista_scheduler::cluster::memory::InMemoryClusterState;
use ballista_scheduler::cluster::{BoundTask, ClusterState, ClusterStateEventStream, ExecutorSlot};
use ballista_scheduler::config::TaskDistributionPolicy;
use ballista_scheduler::scheduler_server::SchedulerServer;
use ballista_scheduler::state::task_manager::JobInfoCache;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tokio::time::sleep;

use crate::timeouts::Timeouts;

/// The server of a scheduler.
pub(crate) type Server = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// The state of a cluster. It ends running queries before an executor is removed.
#[derive(Default)]
pub(crate) struct GuardedState {
    state: InMemoryClusterState,
    server: OnceLock<Server>,
}

impl GuardedState {
    /// Sets the server whose queries are guarded, once, before the first executor registers.
    pub(crate) fn guard(&self, server: &Server) {
        _ = self.server.set(server.clone());
    }

    /// Ends queries that wait while there are no executors, until the process ends.
    pub(crate) async fn end_waiting_queries(self: Arc<Self>, timeouts: Timeouts) {
        let patience = Duration::from_secs(timeouts.executor);
        let mut last_with_executors = Instant::now();
        loop {
            sleep(Duration::from_secs(timeouts.check)).await;
            if !self.state.registered_executor_metadata().await.is_empty() {
                last_with_executors = Instant::now();
            } else if last_with_executors.elapsed() >= patience
                && let Err(error) = self.end_queries().await
            {
                log::error!("queries without executors cannot be ended: {error}");
            }
        }
    }

    async fn end_queries(&self) -> Result<()> {
        if let Some(server) = self.server.get() {
            for job in server.state.task_manager.get_running_job_cache().keys() {
                server.cancel_job(job.clone()).await?;
            }
        }
        Ok(())
    }
}

#[async_trait]
impl ClusterState for GuardedState {
    async fn init(&self) -> Result<()> {
        self.state.init().await
    }

    async fn bind_schedulable_tasks(
        &self,
        distribution: TaskDistributionPolicy,
        active_jobs: Arc<HashMap<JobId, JobInfoCache>>,
        executors: Option<HashSet<String>>,
    ) -> Result<Vec<BoundTask>> {
        self.state.bind_schedulable_tasks(distribution, active_jobs, executors).await
    }

    async fn unbind_tasks(&self, slots: Vec<ExecutorSlot>) -> Result<()> {
        self.state.unbind_tasks(slots).await
    }

    async fn register_executor(
        &self,
        metadata: ExecutorMetadata,
        spec: ExecutorData,
    ) -> Result<()> {
        self.state.register_executor(metadata, spec).await
    }

    async fn save_executor_metadata(&self, metadata: ExecutorMetadata) -> Result<()> {
        self.state.save_executor_metadata(metadata).await
    }

    async fn get_executor_metadata(&self, executor_id: &str) -> Result<ExecutorMetadata> {
        self.state.get_executor_metadata(executor_id).await
    }

    async fn registered_executor_metadata(&self) -> Vec<ExecutorMetadata> {
        self.state.registered_executor_metadata().await
    }

    async fn save_executor_heartbeat(&self, heartbeat: ExecutorHeartbeat) -> Result<()> {
        self.state.save_executor_heartbeat(heartbeat).await
    }

    async fn remove_executor(&self, executor_id: &str) -> Result<()> {
        self.end_queries().await?;
        self.state.remove_executor(executor_id).await
    }

    fn executor_heartbeats(&self) -> HashMap<String, ExecutorHeartbeat> {
        self.state.executor_heartbeats()
    }

    fn get_executor_heartbeat(&self, executor_id: &str) -> Option<ExecutorHeartbeat> {
        self.state.get_executor_heartbeat(executor_id)
    }

    async fn cluster_state_events(&self) -> Result<ClusterStateEventStream> {
        self.state.cluster_state_events().await
    }
}
