//! Opening of the traces that a command line names, with a report of those that cannot be
//! opened.

use std::path::{Path, PathBuf};

use ltt_read::{OnFailure, OpenOptions, Opened};
use lttv_context::Traceset;

use crate::archives;
use crate::clocks::{Corrected, CorrectionError, Corrections};
use crate::host;
use crate::open_error::OpenError;
use crate::report::Report;
use crate::stdin;

/// Opens all traces at or below the paths, each once. Archives are unpacked, and `-` is a recording of perf or ftrace
/// from standard input. Reports traces and files that cannot be opened, and those skipped as duplicates. Within another
/// program, the traces are those of the [host].
///
/// # Errors
///
/// If no trace can be opened: returns the first failure, which has not been reported. The
/// other failures have been reported.
pub fn open<P: AsRef<Path>>(
    report: &mut Report,
    paths: impl IntoIterator<Item = P>,
) -> Result<Traceset, OpenError> {
    if let Some(host) = host::current() {
        return Ok(host.traceset().clone());
    }
    let options = OpenOptions::new().on_failure(OnFailure::Continue);
    let paths = paths.into_iter().map(|path| path.as_ref().to_owned());
    let (streams, paths): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.partition(|path| stdin::is_stdin(path));
    let (mut opened, mut refused) = (Vec::new(), Vec::new());
    for path in paths {
        match archives::unpacked(&path) {
            Ok(folder) => opened.push(folder.unwrap_or(path)),
            Err(error) => refused.push(OpenError::from(error)),
        }
    }
    let is_other = !streams.is_empty() || !refused.is_empty();
    let (mut traces, failures, notices) = match opened.is_empty() && is_other {
        true => (Vec::new(), Vec::new(), Vec::new()),
        false => {
            let Opened { traces, failures, notices } = options.open_all_of(opened)?;
            (traces, failures, notices)
        }
    };
    refused.extend(failures.into_iter().map(OpenError::from));
    let mut failures = refused;
    for _ in streams {
        match stdin::open() {
            Ok(opened) => traces.extend(opened),
            Err(error) => failures.push(error.into()),
        }
    }
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

/// Opens all traces at or below the paths, like [`open`], and corrects their clocks.
///
/// # Errors
///
/// Returns the errors of [`open`] and of [`Corrections::corrected`].
pub fn open_corrected<P: AsRef<Path>>(
    report: &mut Report,
    paths: impl IntoIterator<Item = P>,
    corrections: &Corrections,
) -> Result<Corrected, CorrectionError> {
    let traceset = open(report, paths)?;
    corrections.corrected(traceset, report)
}
