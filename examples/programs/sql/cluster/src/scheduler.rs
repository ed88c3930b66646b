//! The scheduler: it plans queries, and gives slices of the traces to executors.

use std::net::SocketAddr;
use std::sync::Arc;

use ballista_core::error::{BallistaError, Result};
use ballista_core::utils::{default_config_producer, default_session_builder};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::cluster::memory::InMemoryJobState;
use ballista_scheduler::config::{SchedulerConfig, TaskDistributionPolicy};
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service};
use datafusion::execution::{FunctionRegistry, SessionStateBuilder};

use crate::codec::{TraceLogicalCodec, TracePhysicalCodec};
use crate::guard::{GuardedState, Server};
use crate::sessions::Sessions;
use crate::stores;
use crate::timeouts::Timeouts;

/// The largest message between processes, in bytes: plans with many slices, and the metrics of their tasks.
pub(crate) const MESSAGE: u32 = 64 << 20;

/// The settings of a scheduler.
#[derive(Debug, Clone)]
pub struct SchedulerOptions {
    /// The address to listen on.
    pub address: SocketAddr,
    /// The name or address by which executors and clients reach this machine.
    pub host: String,
    /// The number of executors that make the cluster ready.
    pub executors: usize,
    /// The times after which an executor counts as dead.
    pub timeouts: Timeouts,
}

/// Runs a scheduler, until the process ends.
///
/// # Errors
///
/// If it cannot listen on the address.
pub async fn run_scheduler(options: &SchedulerOptions) -> Result<()> {
    let sessions = Arc::new(Sessions::default());
    let timeouts = options.timeouts;
    let config = SchedulerConfig {
        external_host: options.host.clone(),
        bind_host: options.address.ip().to_string(),
        bind_port: options.address.port(),
        min_ready_executors: options.executors,
        task_distribution: TaskDistributionPolicy::RoundRobin,
        executor_timeout_seconds: timeouts.executor,
        expire_dead_executor_interval_seconds: timeouts.check,
        no_executors_grace_period_seconds: timeouts.executor,
        // A repeated task may make a wrong answer: see the guard.
        task_max_failures: 1,
        stage_max_failures: 1,
        grpc_server_max_decoding_message_size: MESSAGE,
        grpc_server_max_encoding_message_size: MESSAGE,
        grpc_client_max_message_size: MESSAGE,
        override_logical_codec: Some(Arc::new(TraceLogicalCodec::new(&sessions))),
        override_physical_codec: Some(Arc::new(TracePhysicalCodec::new(&sessions))),
        override_session_builder: Some(Arc::new(|config| {
            let state = default_session_builder(config)?;
            let mut state = SessionStateBuilder::new_from_existing(state)
                .with_runtime_env(stores::environment(None)?)
                .build();
            for function in lttv_sql::functions() {
                state.register_udf(Arc::new(function))?;
            }
            Ok(state)
        })),
        ..SchedulerConfig::default()
    };
    let session_builder = config
        .override_session_builder
        .clone()
        .unwrap_or_else(|| Arc::new(default_session_builder));
    let jobs = InMemoryJobState::new(
        &config.scheduler_id,
        session_builder,
        Arc::new(default_config_producer),
    );
    let state = Arc::new(GuardedState::default());
    let cluster = BallistaCluster::new(Arc::clone(&state) as Arc<_>, Arc::new(jobs));
    let server: Server = create_scheduler(cluster, Arc::new(config)).await?;
    state.guard(&server);
    tokio::spawn(state.end_waiting_queries(timeouts));
    let listening = start_grpc_service(options.address, server).await;
    listening.map_err(|error| BallistaError::General(format!("{}: {error}", options.address)))
}
