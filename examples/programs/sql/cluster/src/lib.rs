//! SQL over traces on several machines.
//!
//! A cluster of [Ballista](https://datafusion.apache.org/ballista) consists of one scheduler and any number of
//! executors. A [`Client`] plans a query over the tables of `lttv-sql` and sends it to the scheduler, which
//! divides the read of the traces into slices of time and gives each to an executor. All processes open the
//! traces on the same paths, for example on a file system in the network; a path that contains other traces
//! on another machine is an error.
//!
//! ```no_run
//! use std::num::NonZeroUsize;
//!
//! use lttv_cluster::Client;
//! use lttv_sql::TraceSession;
//! use lttv_sql::remote::Dataset;
//!
//! # async fn query() -> Result<(), Box<dyn std::error::Error>> {
//! let traceset = lttv_context::Traceset::open("/net/traces/run-7")?;
//! let slices = NonZeroUsize::new(64).expect("not zero");
//! let paths = ["/net/traces/run-7".into()];
//! let dataset = Dataset::new(&traceset, &paths)?.divided(slices);
//! let session = TraceSession::new(traceset, dataset.options())?;
//! let client = Client::connect("scheduler-host:50050", &session).await?;
//! let mut query = client.query("select cpu, count(*) from sched_switch group by cpu").await?;
//! while let Some(batch) = query.next().await? {
//!     assert_eq!(batch.num_columns(), 2);
//! }
//! assert_eq!(query.counts().await?.slices, 64);
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs, clippy::print_stdout, clippy::print_stderr)]
#![forbid(unsafe_code)]

mod client;
mod codec;
pub mod commands;
mod executor;
mod guard;
mod health;
mod scheduler;
mod sessions;
mod stores;
mod timeouts;

pub use client::{Client, ClientError, Counts, Query};
pub use codec::{TraceLogicalCodec, TracePhysicalCodec};
pub use executor::{ExecutorOptions, run_executor};
pub use health::{Health, health};
pub use scheduler::{SchedulerOptions, run_scheduler};
pub use sessions::Sessions;
pub use timeouts::Timeouts;
