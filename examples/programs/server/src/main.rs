//! LTTV's views for browsers and editors.
//!
//! ```text
//! cargo run --release -p lttv-server -- TRACE…
//! ```

use std::process::ExitCode;

use clap::Parser;
use lttv_common::report::{self, EXIT_STATUS};
use lttv_server::program::{self, ServerArgs};

/// Serve traces to browsers and editors, by the Trace Server Protocol
#[derive(Debug, Parser)]
#[command(name = "lttv-server", version, after_help = EXIT_STATUS)]
struct Cli {
    #[command(flatten)]
    args: ServerArgs,
}

fn main() -> ExitCode {
    report::main("lttv-server", |cli: &Cli, report| program::run(&cli.args, report))
}
