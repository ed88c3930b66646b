//! SQL over traces.
//!
//! A [`TraceSession`] offers the events of a traceset as tables of
//! [DataFusion](https://datafusion.apache.org): one for each event type, `events` with all of them,
//! `spans`, `states`, `statistics`, `errors` and `notices`. Nothing is imported: a query reads the columns
//! that it needs from the trace, on several threads. Conditions on times, CPUs, names and fields
//! are evaluated while the trace is read, and a limit ends the read.
//!
//! ```
//! use lttv_context::Traceset;
//! use lttv_sql::{SessionOptions, TraceSession};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../traces/kernel");
//! let session = TraceSession::new(Traceset::open(path)?, SessionOptions::default())?;
//! let runtime = tokio::runtime::Runtime::new()?;
//! let query = "select count(*) as switches from sched_switch where next_tid = 0";
//! let batches = runtime.block_on(async { session.sql(query).await?.collect().await })?;
//! assert_eq!(batches[0].num_rows(), 1);
//! assert!(session.damage().is_empty());
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs, clippy::print_stdout, clippy::print_stderr)]
#![forbid(unsafe_code)]

mod catalog;
mod events;
mod functions;
mod messages;
mod pushdown;
pub mod remote;
mod session;
mod shared;
pub mod shell;
mod source;
mod whole;

pub use functions::all as functions;
pub use session::TraceSession;
pub use shared::SessionOptions;
