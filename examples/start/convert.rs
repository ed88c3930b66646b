//! Trims, splits, merges and converts traces.
//!
//! ```text
//! cargo run --release --example convert -- [OPTIONS] TRACE… -o DIR
//! ```
//!
//! `lttv convert` is the same.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use lttv::commands::convert::{self, ConvertArgs};
use lttv_common::report;

/// Trim, split, merge and convert traces
#[derive(Debug, clap::Parser)]
#[command(name = "convert", version, after_long_help = report::EXIT_STATUS)]
struct Cli {
    #[command(flatten)]
    args: ConvertArgs,
}

fn main() -> ExitCode {
    report::main("convert", |cli: &Cli, report| convert::run(&cli.args, report))
}
