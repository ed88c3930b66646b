//! Finding traces below a directory.

use std::fs::{DirEntry, FileType};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::legacy;

/// How deep directories are searched (LTTng's are 5 deep).
const MAX_DEPTH: usize = 16;

/// The directories at or below `path` that hold a `metadata` file, or are
/// [legacy] traces, sorted by path.
///
/// LTTng writes a session as several traces: one in `kernel`, one for each
/// user or process in `ust/…`. Symbolic links to directories are followed;
/// hidden directories are not entered. What cannot be read below `path` is passed
/// over, and so is what lies more than 16 directories deep.
///
/// # Errors
///
/// [`Error::Io`] if `path` cannot be read, [`Error::NotATrace`] if nothing is
/// found.
pub fn find_traces(path: impl AsRef<Path>) -> Result<Vec<PathBuf>, Error> {
    let path = path.as_ref();
    let mut found = Vec::new();
    // A file is no trace, but its name may be given by mistake.
    if path.is_file() {
        let reason = "it is a file; give the directory that holds `metadata`";
        return Err(Error::NotATrace { path: path.to_owned(), reason });
    }
    if !path.join("metadata").is_file() && legacy::is_trace(path) {
        return Ok(vec![path.to_owned()]);
    }
    search(path, 0, &mut found)?;
    if found.is_empty() {
        let reason = "no `metadata` file and no LTTng 0.x trace in this directory or below";
        return Err(Error::NotATrace { path: path.to_owned(), reason });
    }
    found.sort();
    Ok(found)
}

fn search(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let io = |source| Error::Io { path: dir.to_owned(), source };
    for entry in std::fs::read_dir(dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        let (path, kind) = (entry.path(), kind(&entry));
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        if name == b"metadata" && kind.is_some_and(|kind| kind.is_file()) {
            found.push(dir.to_owned());
        } else if depth < MAX_DEPTH
            && !name.starts_with(b".")
            && kind.is_some_and(|kind| kind.is_dir())
        {
            if legacy::is_trace(&path) {
                found.push(path);
                continue; // its directories are parts of it
            }
            // What cannot be entered below holds no trace that can be read.
            let _ = search(&path, depth + 1, found);
        }
    }
    Ok(())
}

/// What an entry is, or what it is a link to. (Asking the path again for what the
/// directory says would take a system call for each.)
fn kind(entry: &DirEntry) -> Option<FileType> {
    match entry.file_type() {
        Ok(kind) if !kind.is_symlink() => Some(kind),
        _ => entry.path().metadata().ok().map(|it| it.file_type()),
    }
}

/// The data stream files of a trace directory, sorted by name.
pub(crate) fn data_files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let io = |source| Error::Io { path: dir.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let has_data = || path.metadata().is_ok_and(|it| it.is_file() && it.len() > 0);
        if name != b"metadata" && !name.starts_with(b".") && has_data() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
