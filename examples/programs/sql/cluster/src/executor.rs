//! An executor: it reads slices of traces, and keeps what other tasks need of them.

use std::fs;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ballista_core::error::{BallistaError, Result};
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use datafusion::prelude::SessionConfig;

use crate::codec::{TraceLogicalCodec, TracePhysicalCodec};
use crate::scheduler::MESSAGE;
use crate::sessions::Sessions;
use crate::stores;
use crate::timeouts::Timeouts;

/// The settings of an executor.
#[derive(Debug, Clone)]
pub struct ExecutorOptions {
    /// The host and port of the scheduler.
    pub scheduler: (String, u16),
    /// The address to listen on.
    pub address: IpAddr,
    /// The name or address by which other executors and clients reach this machine.
    pub host: String,
    /// The port of results, and that of tasks.
    pub ports: (u16, u16),
    /// The number of slices that are read at the same time: all processors if `None`.
    pub threads: Option<NonZeroUsize>,
    /// The part of the memory of the machine for sorting and joining, above 0 and at most 1.
    pub memory: f64,
    /// The directory for intermediate results: a new one that is removed at the end if `None`.
    pub work_dir: Option<PathBuf>,
    /// The time to wait for the scheduler at the start, in seconds.
    pub patience: u16,
    /// The times after which an executor counts as dead.
    pub timeouts: Timeouts,
}

/// Runs an executor, until the process is told to end.
///
/// # Errors
///
/// If the directory for intermediate results cannot be created, if the scheduler cannot be reached, or if a
/// port is taken.
pub async fn run_executor(options: &ExecutorOptions) -> Result<()> {
    // Without its directory an executor would refuse all tasks.
    let own = match &options.work_dir {
        Some(path) => {
            let failed = |error| BallistaError::General(format!("{}: {error}", path.display()));
            fs::create_dir_all(path).map_err(failed)?;
            None
        }
        None => Some(tempfile::Builder::new().prefix("lttv-cluster-").tempdir()?),
    };
    let work_dir = options.work_dir.as_deref().or(own.as_ref().map(|own| own.path()));
    let spilled = work_dir.map(Path::to_owned);
    let sessions = Arc::new(Sessions::default());
    let mut functions = BallistaFunctionRegistry::default();
    for function in lttv_sql::functions() {
        functions.scalar_functions.insert(function.name().to_owned(), Arc::new(function));
    }
    let config = ExecutorProcessConfig {
        bind_host: options.address.to_string(),
        external_host: Some(options.host.clone()),
        port: options.ports.0,
        grpc_port: options.ports.1,
        scheduler_host: options.scheduler.0.clone(),
        scheduler_port: options.scheduler.1,
        scheduler_connect_timeout_seconds: options.patience,
        // Zero stands for all processors.
        vcores: options.threads.map_or(0, NonZeroUsize::get),
        work_dir: work_dir.map(|path| path.display().to_string()),
        grpc_max_decoding_message_size: MESSAGE,
        grpc_max_encoding_message_size: MESSAGE,
        executor_heartbeat_interval_seconds: options.timeouts.heartbeat,
        memory_pool_fraction: options.memory,
        override_runtime_producer: Some(Arc::new(move |_: &SessionConfig| {
            stores::environment(spilled.as_deref())
        })),
        override_function_registry: Some(Arc::new(functions)),
        override_logical_codec: Some(Arc::new(TraceLogicalCodec::new(&sessions))),
        override_physical_codec: Some(Arc::new(TracePhysicalCodec::new(&sessions))),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config)).await
}
