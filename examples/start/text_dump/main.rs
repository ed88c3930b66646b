//! Prints the events of traces as text, in time order.
//!
//! ```text
//! cargo run --release --example text_dump -- [OPTIONS] [TRACE…]
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod cli;

use std::process::ExitCode;

use cli::Cli;
use lttv::commands::dump;
use lttv_common::report;

fn main() -> ExitCode {
    report::main("text_dump", |cli: &Cli, report| dump::print(&cli.job(), report))
}
