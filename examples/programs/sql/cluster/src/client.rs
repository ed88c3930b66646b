//! A client: it plans a query over tables of traces, and takes the result from the cluster.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ballista::prelude::SessionContextExt;
use ballista_core::execution_plans::DistributedQueryExec;
use ballista_core::extension::SessionConfigExt;
use ballista_core::serde::protobuf::operator_metric::Metric;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{GetJobMetricsParams, OperatorMetric};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream, execute_stream};
use datafusion::prelude::SessionContext;
use datafusion_proto::protobuf::LogicalPlanNode;
use futures::TryStreamExt;
use lttv_sql::TraceSession;
use lttv_sql::remote::{SLICES_READ, TRACE_ERRORS, TRACE_NOTICES};
use tokio::time::sleep;

use crate::codec::{TraceLogicalCodec, TracePhysicalCodec};
use crate::health::{Health, health};
use crate::scheduler::MESSAGE;
use crate::sessions::Sessions;
use crate::stores;

/// The optimizer rules that only the scheduler applies. They replace parts of a plan by an empty relation,
/// whose columns are lost in messages, or move limits to where the others of them no longer find a limit
/// of zero.
const RULES_OF_SCHEDULER: [&str; 5] = [
    "eliminate_filter",
    "eliminate_join",
    "eliminate_limit",
    "propagate_empty_relation",
    "push_down_limit",
];

/// The end of the message about a query that the scheduler has ended.
const CANCELLED: &str = "failed: Cancelled";

/// Parts of the messages about results of an executor that does not answer.
const UNANSWERED: [&str; 2] = ["Shuffle fetch partition error", "GrpcConnectionError"];

/// The number of times that a query is repeated while executors end.
const REPEATS: u32 = 3;

/// The time before a query is repeated, in which the scheduler removes the executor.
const PAUSE: Duration = Duration::from_millis(250);

/// An error from a query.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The scheduler cannot be reached.
    #[error("the scheduler at {scheduler} cannot be reached: {reason}")]
    Unreachable {
        /// Its host and port.
        scheduler: String,
        /// The fault of the connection.
        reason: String,
    },
    /// The scheduler has fewer executors than it waits for.
    #[error("the scheduler at {0} has too few executors")]
    NotReady(String),
    /// The scheduler ended during a query.
    #[error(
        "the scheduler at {0} ended, and the query with it; it can be repeated once the scheduler runs again"
    )]
    Ended(String),
    /// Executors ended, also while the query was repeated, or after a part of its rows. The scheduler
    /// ends all queries when an executor ends, since their answers might be wrong.
    #[error("an executor ended during the query, which can be repeated")]
    Lost,
    /// All executors ended during a query, and no new one has registered in time.
    #[error(
        "the scheduler at {0} has no executors any more; the query can be repeated once it has"
    )]
    NoExecutors(String),
    /// The scheduler has the rows of a query, but not what the reads met.
    #[error(
        "the scheduler does not tell what the query met in the traces ({0}): the tables errors and notices do"
    )]
    Uncounted(String),
    /// The text is no query, or names unknown tables or columns.
    #[error("{0}")]
    Query(DataFusionError),
    /// The query failed.
    #[error("{0}")]
    Failed(DataFusionError),
}

/// A connection to a cluster, with the tables of a session.
pub struct Client {
    context: SessionContext,
    scheduler: String,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("scheduler", &self.scheduler).finish_non_exhaustive()
    }
}

/// The numbers of a query that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// The number of slices that were read, to their end or a limit, of all tables of the query.
    pub slices: u64,
    /// The number of errors that the reads met. The table `errors` contains them.
    pub errors: u64,
    /// The number of notices that the reads met. The table `notices` contains them.
    pub notices: u64,
}

impl Client {
    /// Connects to the scheduler at `host:port`, for queries of the tables of a session with a dataset.
    ///
    /// # Errors
    ///
    /// If the scheduler cannot be reached, or if it has too few executors.
    pub async fn connect(scheduler: &str, session: &TraceSession) -> Result<Client, ClientError> {
        match health(scheduler) {
            Ok(Health::Ready) => {}
            Ok(Health::Waiting | Health::Empty) => {
                return Err(ClientError::NotReady(scheduler.to_owned()));
            }
            Err(error) => {
                let reason = error.to_string();
                return Err(ClientError::Unreachable { scheduler: scheduler.to_owned(), reason });
            }
        }
        let sessions = Arc::new(Sessions::default());
        let config = session
            .context()
            .copied_config()
            .with_ballista_logical_extension_codec(Arc::new(TraceLogicalCodec::new(&sessions)))
            .with_ballista_physical_extension_codec(Arc::new(TracePhysicalCodec::new(&sessions)))
            .upgrade_for_ballista()
            // Replanned while it runs, a query with a window function over no rows never ends.
            .with_ballista_adaptive_query_planner(false)
            .with_ballista_grpc_client_max_message_size(MESSAGE as usize);
        let state = session.context().state();
        let rules =
            state.optimizers().iter().filter(|rule| !RULES_OF_SCHEDULER.contains(&rule.name()));
        let rules = rules.cloned().collect();
        let state = SessionStateBuilder::new_from_existing(state)
            .with_config(config)
            .with_optimizer_rules(rules)
            .with_runtime_env(stores::environment(None).map_err(ClientError::Failed)?)
            .build();
        let url = format!("df://{scheduler}");
        let context = SessionContext::remote_with_state(&url, state).await;
        let context = context.map_err(ClientError::Failed)?;
        for function in lttv_sql::functions() {
            context.register_udf(function);
        }
        Ok(Client { context, scheduler: scheduler.to_owned() })
    }

    /// Returns the context of the engine, to which other tables can be added: those that all
    /// processes can open, such as files of Parquet.
    pub fn context(&self) -> &SessionContext {
        &self.context
    }

    /// Plans a query, and starts it.
    ///
    /// # Errors
    ///
    /// If the text is no query, or if it names unknown tables or columns.
    pub async fn query(&self, sql: &str) -> Result<Query, ClientError> {
        let (context, scheduler) = (self.context.clone(), self.scheduler.clone());
        let running = Running::start(&context, sql).await?;
        let schema = Arc::clone(&running.schema);
        let running = Some(running);
        let sql = sql.to_owned();
        Ok(Query { context, scheduler, sql, schema, running, repeats: 0, has_rows: false })
    }
}

/// A running query.
pub struct Query {
    context: SessionContext,
    scheduler: String,
    sql: String,
    schema: SchemaRef,
    /// `None` before a repetition.
    running: Option<Running>,
    /// The number of repetitions so far.
    repeats: u32,
    /// `true` after the first rows, which a repetition would give again.
    has_rows: bool,
}

/// One execution of a query.
struct Running {
    plan: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    batches: SendableRecordBatchStream,
}

impl Running {
    async fn start(context: &SessionContext, sql: &str) -> Result<Running, ClientError> {
        let frame = context.sql(sql).await.map_err(ClientError::Query)?;
        let schema = Arc::new(frame.schema().as_arrow().clone());
        let task = Arc::new(frame.task_ctx());
        let plan = frame.create_physical_plan().await.map_err(ClientError::Query)?;
        let batches = execute_stream(Arc::clone(&plan), task).map_err(ClientError::Failed)?;
        Ok(Running { plan, schema, batches })
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query").field("scheduler", &self.scheduler).finish_non_exhaustive()
    }
}

impl Query {
    /// Returns the columns of the result.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the next rows; `None` after the last ones.
    ///
    /// A query during which an executor ends is repeated on the other ones, up to three times. Rows come
    /// after the last task of a query, so that hardly ever a part of them has been returned already; then
    /// it is not repeated. A call that is dropped before its end loses nothing.
    ///
    /// # Errors
    ///
    /// If the query fails, or if the scheduler or too many executors end.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>, ClientError> {
        loop {
            let running = match &mut self.running {
                Some(running) => running,
                None => {
                    sleep(PAUSE).await;
                    self.running.insert(Running::start(&self.context, &self.sql).await?)
                }
            };
            let error = match running.batches.try_next().await {
                Ok(batch) => {
                    self.has_rows |= batch.as_ref().is_some_and(|batch| batch.num_rows() > 0);
                    return Ok(batch);
                }
                Err(error) => self.explain(error),
            };
            if !matches!(error, ClientError::Lost) || self.has_rows || self.repeats == REPEATS {
                return Err(error);
            }
            self.repeats += 1;
            self.running = None;
        }
    }

    /// Returns how many times the query was repeated, because executors ended.
    pub fn repeats(&self) -> u32 {
        self.repeats
    }

    /// Explains an error of the rows: the scheduler or an executor may have ended.
    fn explain(&self, error: DataFusionError) -> ClientError {
        let text = error.strip_backtrace();
        let is_lost = text.ends_with(CANCELLED) || UNANSWERED.iter().any(|of| text.contains(of));
        match health(&self.scheduler) {
            Ok(Health::Empty) if is_lost => ClientError::NoExecutors(self.scheduler.clone()),
            Ok(_) if is_lost => ClientError::Lost,
            Ok(_) => ClientError::Failed(error),
            Err(_) => ClientError::Ended(self.scheduler.clone()),
        }
    }

    /// Asks the scheduler what the query read, after its last row.
    ///
    /// # Errors
    ///
    /// If the scheduler cannot be reached, or has lost the numbers.
    pub async fn counts(&self) -> Result<Counts, ClientError> {
        let mut counts = Counts::default();
        let mut plans: Vec<_> = self.running.iter().map(|running| &running.plan).collect();
        while let Some(plan) = plans.pop() {
            plans.extend(plan.children());
            let query = plan.downcast_ref::<DistributedQueryExec<LogicalPlanNode>>();
            if let Some(job) = query.and_then(DistributedQueryExec::job_id) {
                self.add_job(job.as_ref(), &mut counts).await?;
            }
        }
        Ok(counts)
    }

    async fn add_job(&self, job: &str, counts: &mut Counts) -> Result<(), ClientError> {
        let unreachable =
            |reason: String| ClientError::Unreachable { scheduler: self.scheduler.clone(), reason };
        let connected = SchedulerGrpcClient::connect(format!("http://{}", self.scheduler)).await;
        let mut scheduler = connected
            .map_err(|error| unreachable(error.to_string()))?
            .max_decoding_message_size(MESSAGE as usize);
        let params = GetJobMetricsParams { job_id: job.to_owned() };
        let metrics = scheduler.get_job_metrics(params).await;
        let metrics = metrics.map_err(|error| match health(&self.scheduler) {
            Ok(_) => ClientError::Uncounted(error.message().to_owned()),
            Err(_) => unreachable(error.message().to_owned()),
        })?;
        let stages = metrics.into_inner().stages;
        for metric in stages.iter().flat_map(|stage| &stage.operators).flat_map(|of| &of.metrics) {
            let OperatorMetric { metric: Some(Metric::Count(count)), .. } = metric else {
                continue;
            };
            match count.name.as_str() {
                SLICES_READ => counts.slices += count.value,
                TRACE_ERRORS => counts.errors += count.value,
                TRACE_NOTICES => counts.notices += count.value,
                _ => {}
            }
        }
        Ok(())
    }
}
