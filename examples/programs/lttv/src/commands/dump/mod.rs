//! The events of traces, printed in time order.

mod args;
mod around;
mod follow;
mod found;
pub mod help;
mod job;
mod options;
mod print;
mod slices;
mod tally;
mod unordered;

use std::error::Error;

pub use args::{DumpArgs, DumpFormat};
pub use job::{Form, Job};
pub use options::{ClockArgs, StyleArgs};
pub use print::print;

use lttv_common::report::Report;

/// Prints the events of the traces.
///
/// # Errors
///
/// If the command line is wrong, if no trace can be opened, or if the output cannot be written.
pub fn run(args: &DumpArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    print(&args.job()?, report)
}
