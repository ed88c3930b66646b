//! Exports the events of traces as Parquet, Arrow, CSV or JSON files.
//!
//! ```text
//! cargo run --release --bin export -- [OPTIONS] TRACE… -o DIR
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use lttv_arrow::export::{self, ExportArgs};
use lttv_common::report;

fn main() -> ExitCode {
    report::main("export", |args: &ExportArgs, report| export::run(args, report))
}
