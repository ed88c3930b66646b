//! Recording of the kernel's events with the tracers that a machine has.
//!
//! [`record`] starts a [`Tracer`], runs a command or waits for a time, and stops the tracer again. Everything that it
//! changes is written to a journal beforehand, so that [`clean`] can restore what a killed recorder left.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use lttv_record::{EventName, Journals, Machine, Request, Wish, record};
//!
//! let switches = Wish {
//!     names: vec![EventName { lttng: "sched_switch".into(), kernel: vec!["sched:sched_switch".into()] }],
//!     is_any: false,
//!     is_required: true,
//!     consequence: "there are no threads".into(),
//! };
//! let request = Request { time: Some(Duration::from_secs(5)), ..Request::new("my-recording", vec![switches]) };
//! let machine = Machine::of_system();
//! let recorded = record(&machine, &Journals::at("/tmp/journals"), &request, &mut |step| eprintln!("{step}"))?;
//! println!("{}", recorded.path.display());
//! # Ok::<(), lttv_record::RecordError>(())
//! ```

#![deny(missing_docs, clippy::print_stdout, clippy::print_stderr)]

mod choice;
mod command;
mod error;
mod gated;
mod instance;
mod journal;
mod lttng;
mod machine;
mod pages;
mod program;
mod recorder;
mod request;
mod size;
mod trace_dat;
mod tracefs;
mod tracer;
mod undo;
mod wait;

pub use choice::{Choice, EventName, Missing, Wish};
pub use error::RecordError;
pub use journal::Journals;
pub use machine::Machine;
pub use recorder::{Recorded, Step, record};
pub use request::Request;
pub use size::size;
pub use trace_dat::{EventFormat, Recording, write as write_trace_dat};
pub use tracefs::{Instances, KernelInstances};
pub use tracer::{Tracer, Unusable};
pub use undo::{Cleaned, clean};
