//! Runs scripted requests, and prints the calls of their hooks.
//!
//! ```text
//! cargo run --release --example request_replay -- SCRIPT.json
//! ```
//!
//! [`Script`] describes the scripts. One line is printed for each call of a hook:
//! `ID before_request`, `ID before_chunk`, `ID event TIME_NS NAME`, `ID after_chunk`,
//! `ID after_request REASON`; and at the end `read EVENTS delivered EVENTS seeks SEEKS` for all
//! requests together. A relative path of a trace is relative to the current directory or,
//! if it does not exist there, to the directory of the script.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lttv::request_replay::{ReplayError, Script, replay};
use lttv_common::opening::open;
use lttv_common::report::{self, EXIT_STATUS, Report, Usage};
use lttv_common::text_dump::output::Output;

/// Run scripted requests, and print the calls of their hooks
#[derive(Debug, clap::Parser)]
#[command(name = "request_replay", version, after_help = EXIT_STATUS)]
struct Cli {
    /// The script, in JSON
    script: PathBuf,
}

fn main() -> ExitCode {
    report::main("request_replay", run)
}

fn run(cli: &Cli, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let path = &cli.script;
    let shown = path.display();
    let text = std::fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
    let wrong = |error: &dyn Error| Usage::new(format_args!("{shown}: {error}"));
    let script: Script = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
    let found = |trace: &PathBuf| {
        let beside = path.parent().unwrap_or(Path::new("")).join(trace);
        if trace.exists() { trace.clone() } else { beside }
    };
    let traceset = open(report, script.traces.iter().map(found))?;
    let mut out = Output::stdout();
    let read = replay(&script, traceset.traces(), &mut out).map_err(|error| match error {
        ReplayError::Write(error) => Box::<dyn Error>::from(error),
        // An invalid request of the script.
        error => wrong(&error).into(),
    })?;
    out.finish()?;
    report.errors(&read.errors, read.errors_omitted);
    Ok(())
}
