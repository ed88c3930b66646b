//! The Linux Trace Toolkit Viewer: one program with a subcommand for each question.
//!
//! ```text
//! cargo install --path examples/lttv
//! lttv dump TRACE
//! lttv --help
//! ```
//!
//! Each subcommand is a module of [`lttv_examples::commands`]; this package only calls them.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod cli;

use std::error::Error;
use std::process::ExitCode;

use cli::{Cli, Command};
use lttv_examples::commands::{dump, run};
use lttv_examples::report::{self, Report};

fn main() -> ExitCode {
    report::main_with_status("lttv", |report| {
        let cli = Cli::of_words(std::env::args_os())?;
        dispatch(&cli.command, report).map(|()| None)
    })
}

/// Runs a subcommand.
fn dispatch(command: &Command, report: &mut Report) -> Result<(), Box<dyn Error>> {
    match command {
        Command::Dump(args) => dump::run(args, report),
        Command::Run(args) => run::run(args, report),
    }
}
