//! Files that are read, which no output must replace.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::Trace;

/// An output would replace a file that is to be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot write here: this is {}, which is read", output.display(), input.display())]
pub struct IsInput {
    output: PathBuf,
    input: PathBuf,
}

/// Refuses an output that is a file of the traces (data, metadata or index), or one of
/// other files that are read. Links to such a file are refused, too.
///
/// To be called before the output is opened, which empties it.
///
/// # Errors
///
/// If it is one.
pub fn refuse(output: &Path, traces: &[Arc<Trace>], others: &[PathBuf]) -> Result<(), IsInput> {
    // What is not there yet, or cannot be looked at, is none of them.
    let Ok(found) = fs::metadata(output) else { return Ok(()) };
    let is_output = |path: &PathBuf| fs::metadata(path).is_ok_and(|of| is_same(&of, &found));
    match files(traces).into_iter().chain(others.iter().cloned()).find(is_output) {
        Some(input) => Err(IsInput { output: output.to_owned(), input }),
        None => Ok(()),
    }
}

/// Whatever lies in the directories of traces, and in those of their indexes; and
/// where else tracefiles are.
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

/// Elsewhere there is nothing to know a file by.
#[cfg(not(unix))]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    a.is_file() && b.is_file() && (a.len(), a.modified().ok()) == (b.len(), b.modified().ok())
}
