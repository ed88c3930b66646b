//! Runs requests by a script, and prints what their hooks get.
//!
//! ```text
//! cargo run --release --example request_replay -- SCRIPT.json
//! ```
//!
//! [`Script`] says what can be in a script. A line is printed for each call of a
//! hook: `ID before_request`, `ID before_chunk`, `ID event TIME_NS NAME`,
//! `ID after_chunk`, `ID after_request REASON`; at last, `read EVENTS delivered
//! EVENTS seeks SEEKS` for all of them together. Relative paths of traces are
//! relative to the current directory; or to that of the script, if there are none.

#![deny(clippy::print_stdout, clippy::print_stderr)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lttv_examples::opening::open;
use lttv_examples::report::{self, EXIT_STATUS, Report, Usage};
use lttv_examples::request_replay::{ReplayError, Script, replay};
use lttv_examples::text_dump::output::Output;

/// Runs requests by a script, and prints what their hooks get.
#[derive(Debug, clap::Parser)]
#[command(name = "request_replay", version, after_help = EXIT_STATUS)]
struct Cli {
    /// The script, in JSON.
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
        // The script asks for what is not there.
        error => wrong(&error).into(),
    })?;
    out.finish()?;
    report.errors(&read.errors, read.errors_omitted);
    Ok(())
}
