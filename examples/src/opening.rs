//! Opening the traces that a command line names: what can be read is read, the rest is
//! reported.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use ltt_read::{Error, OnFailure, OpenOptions, Opened};
use lttv_context::Traceset;

/// The traces that could be opened.
#[derive(Debug)]
pub struct Loaded {
    /// The traces, at least one.
    pub traceset: Traceset,
    /// Whether all that was named could be opened. If not, it has been reported, and
    /// the program's exit status has to say so.
    pub complete: bool,
}

/// Opens all traces at or below some paths, each once. Reports on standard error what
/// cannot be opened and what is left out because it is there twice.
///
/// # Errors
///
/// If no trace can be opened: the first reason, which has not been reported. Any others
/// have been.
pub fn open<P: AsRef<Path>>(
    program: &str,
    paths: impl IntoIterator<Item = P>,
) -> Result<Loaded, Error> {
    let options = OpenOptions::new().on_failure(OnFailure::Continue);
    let Opened { traces, mut failures, notices } = options.open_all_of(paths)?;
    for notice in &notices {
        report(program, "warning", notice);
    }
    let reason = (traces.is_empty() && !failures.is_empty()).then(|| failures.remove(0));
    for failure in &failures {
        report(program, "error", failure);
    }
    match reason {
        Some(reason) => Err(reason),
        None => Ok(Loaded { traceset: Traceset::from(traces), complete: failures.is_empty() }),
    }
}

/// Writes a line to standard error, if that is possible.
fn report(program: &str, kind: &str, what: &dyn Display) {
    _ = writeln!(std::io::stderr(), "{program}: {kind}: {what}");
}
