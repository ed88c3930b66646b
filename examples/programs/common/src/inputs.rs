//! Protection of input files from being replaced by an output.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::Trace;

/// An error for an output that would replace an input file.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot write to an input: this file is {}", output.display(), input.display())]
pub struct IsInput {
    output: PathBuf,
    input: PathBuf,
}

/// Refuses an output path that leads to a file of the traces (data, metadata or index) or
/// to one of the other input files, directly or by a link.
///
/// Must be called before the output is opened, since opening empties the file.
///
/// # Errors
///
/// If the output is an input file.
pub fn refuse(output: &Path, traces: &[Arc<Trace>], others: &[PathBuf]) -> Result<(), IsInput> {
    // A path that does not exist or cannot be examined is no input.
    let Ok(found) = fs::metadata(output) else { return Ok(()) };
    let is_output = |path: &PathBuf| fs::metadata(path).is_ok_and(|of| is_same(&of, &found));
    match files(traces).into_iter().chain(others.iter().cloned()).find(is_output) {
        Some(input) => Err(IsInput { output: output.to_owned(), input }),
        None => Ok(()),
    }
}

/// An error for an output that would be within an input trace.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot write into the trace {}", output.display(), input.display())]
pub struct IsInside {
    output: PathBuf,
    input: PathBuf,
}

/// Refuses a directory to create that would be within a directory of the traces, directly or by a
/// link.
///
/// # Errors
///
/// If it would.
pub fn refuse_inside(output: &Path, traces: &[Arc<Trace>]) -> Result<(), IsInside> {
    let absolute = std::path::absolute(output).unwrap_or_else(|_| output.to_owned());
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let parent = absolute.parent().map(real);
    let mut inputs = traces.iter().flat_map(|trace| trace.paths()).map(|path| real(path));
    match inputs.find(|input| parent.as_ref().is_some_and(|parent| parent.starts_with(input))) {
        Some(input) => Err(IsInside { output: output.to_owned(), input }),
        None => Ok(()),
    }
}

/// Returns all paths in the directories of the traces and of their indexes, and those of
/// tracefiles elsewhere.
fn files(traces: &[Arc<Trace>]) -> Vec<PathBuf> {
    let directories = traces.iter().flat_map(|trace| trace.paths());
    let directories = directories.flat_map(|path| [path.clone(), path.join("index")]);
    let entries = directories.filter_map(|path| fs::read_dir(path).ok()).flatten();
    let tracefiles = traces.iter().flat_map(|trace| trace.tracefiles());
    let data = tracefiles.flat_map(|tracefile| tracefile.files()).map(Path::to_owned);
    data.chain(entries.filter_map(|entry| Some(entry.ok()?.path()))).collect()
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Compares size and time of modification: other systems have no portable file identity.
#[cfg(not(unix))]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    a.is_file() && b.is_file() && (a.len(), a.modified().ok()) == (b.len(), b.modified().ok())
}
