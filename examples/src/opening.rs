//! Opening the traces that a command line names: what can be read is read, the rest is
//! reported.

use std::path::Path;

use ltt_read::{Error, OnFailure, OpenOptions, Opened};
use lttv_context::Traceset;

use crate::report::Report;

/// Opens all traces at or below some paths, each once. Reports what cannot be opened,
/// and what is left out because it is there twice.
///
/// # Errors
///
/// If no trace can be opened: the first reason, which has not been reported. Any others
/// have been.
pub fn open<P: AsRef<Path>>(
    report: &mut Report,
    paths: impl IntoIterator<Item = P>,
) -> Result<Traceset, Error> {
    let options = OpenOptions::new().on_failure(OnFailure::Continue);
    let Opened { traces, mut failures, notices } = options.open_all_of(paths)?;
    for notice in &notices {
        report.warning(notice);
    }
    let reason = (traces.is_empty() && !failures.is_empty()).then(|| failures.remove(0));
    for failure in &failures {
        report.error(failure);
    }
    match reason {
        Some(reason) => Err(reason),
        None => Ok(Traceset::from(traces)),
    }
}
