//! LTTV's viewers in a terminal.
//!
//! ```text
//! cargo run --release -p lttv-tui -- [TRACE…]
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use clap::Parser;
use lttv_common::report::{self, EXIT_STATUS};
use lttv_tui::program::{self, TuiArgs};

/// Browse traces in a terminal: events, processes, resources, statistics
///
/// Without TRACE, opens the bundled kernel trace. The key `?` shows all keys. If a signal ends
/// the program, the terminal is restored, and the exit status is 128 plus the number of the
/// signal.
#[derive(Debug, Parser)]
#[command(name = "lttv-tui", version, after_help = EXIT_STATUS)]
struct Cli {
    #[command(flatten)]
    args: TuiArgs,
}

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => report::main_with_status("lttv-tui", |report| program::run(&cli.args, report)),
        Err(answer) => report::print_answer("lttv-tui", &answer),
    }
}
