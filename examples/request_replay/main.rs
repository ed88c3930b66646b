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

use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use lttv_examples::opening::{Loaded, open};
use lttv_examples::request_replay::{ReplayError, Script, replay};

/// Runs requests by a script, and prints what their hooks get.
#[derive(Debug, Parser)]
struct Cli {
    /// The script, in JSON.
    script: std::path::PathBuf,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli.script) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("request_replay: error: {}: {error}", cli.script.display());
            ExitCode::FAILURE
        }
    }
}

/// False if part of a trace could not be opened.
fn run(path: &Path) -> Result<bool, Box<dyn Error>> {
    let script: Script = serde_json::from_slice(&std::fs::read(path)?)?;
    let found = |trace: &PathBuf| {
        let beside = path.parent().unwrap_or(Path::new("")).join(trace);
        if trace.exists() { trace.clone() } else { beside }
    };
    let Loaded { traceset, complete } = open("request_replay", script.traces.iter().map(found))?;
    let mut out = BufWriter::new(io::stdout().lock());
    match replay(&script, traceset.traces(), &mut out).and_then(|()| Ok(out.flush()?)) {
        // Whoever read them wants no more lines.
        Err(ReplayError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(complete),
        done => Ok(done.map(|()| complete)?),
    }
}
