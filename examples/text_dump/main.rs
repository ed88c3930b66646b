//! Prints the events of traces as text, in time order.
//!
//! ```text
//! cargo run --release --example text_dump -- [OPTIONS] [TRACE…]
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod cli;
mod run;
mod tally;

use std::process::ExitCode;

use lttv_examples::report;

fn main() -> ExitCode {
    report::main("text_dump", run::run)
}
