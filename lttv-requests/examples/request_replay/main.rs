//! Runs scripted requests, and prints the calls of their hooks.
//!
//! ```text
//! cargo run --release -p lttv-requests --example request_replay -- SCRIPT.json
//! ```
//!
//! [`Script`](script::Script) describes the scripts. One line is printed for each call of a hook:
//! `ID before_request`, `ID before_chunk`, `ID event TIME_NS NAME`, `ID after_chunk`,
//! `ID after_request REASON`; and at the end `read EVENTS delivered EVENTS seeks SEEKS` for all
//! requests together. A relative path of a trace is relative to the current directory or,
//! if it does not exist there, to the directory of the script.

mod log;
mod replay;
mod script;

use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lttv_context::Traceset;

use replay::{ReplayError, Replayed, replay};
use script::Script;

const USAGE: &str = "\
usage: request_replay SCRIPT.json

Runs scripted requests, and prints the calls of their hooks.

Exit status: 0 if everything was read and written; 1 if something could not be read or written;
2 for a wrong command line or script.";

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let status = match &arguments[..] {
        [help] if help.as_os_str() == "--help" => {
            println!("{USAGE}");
            Ok(0)
        }
        [script] => run(script),
        _ => {
            eprintln!("{USAGE}");
            Ok(2)
        }
    };
    ExitCode::from(status.unwrap_or_else(|error| {
        eprintln!("request_replay: error: {error}");
        1
    }))
}

/// Runs a script. Returns the exit status, 2 for a wrong script.
fn run(path: &Path) -> Result<u8, Box<dyn Error>> {
    let shown = path.display();
    let text = std::fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
    let wrong = |error: &dyn Error| {
        eprintln!("request_replay: error: {shown}: {error}");
        Ok(2)
    };
    let script: Script = match serde_json::from_slice(&text) {
        Ok(script) => script,
        Err(error) => return wrong(&error),
    };
    let found = |trace: &PathBuf| {
        let beside = path.parent().unwrap_or(Path::new("")).join(trace);
        if trace.exists() { trace.clone() } else { beside }
    };
    let traceset = Traceset::open_many(script.traces.iter().map(found))?;
    let mut out = BufWriter::new(io::stdout().lock());
    let Replayed { errors, errors_omitted } = match replay(&script, traceset.traces(), &mut out) {
        Ok(replayed) => replayed,
        Err(ReplayError::Write(error)) => return Err(error.into()),
        // An invalid request of the script.
        Err(error) => return wrong(&error),
    };
    out.flush()?;
    for error in &errors {
        eprintln!("request_replay: error: {error}");
    }
    if errors_omitted > 0 {
        eprintln!("request_replay: error: … and {errors_omitted} more errors");
    }
    Ok(u8::from(!errors.is_empty()))
}
