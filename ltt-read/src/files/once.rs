//! The files of traces, each opened once.

use std::fs::File;
use std::path::{Path, PathBuf};

use hashbrown::HashMap;

use super::entries::entries;
use super::file_id::FileId;
use super::findings::Findings;
use crate::base::source::{Access, FileBytes, check_is_file};
use crate::report::{Error, NoticeKind};

/// An opener of the files of traces, which opens each file once.
#[derive(Debug, Default)]
pub(crate) struct FilesOnce {
    opened: HashMap<FileId, PathBuf>,
    /// The number of files that were not opened again.
    pub(crate) duplicates: usize,
}

impl FilesOnce {
    /// Opens a file, which is known to be a regular one; `None` if it is empty. If it is open already,
    /// notes this and returns `None`.
    pub(crate) fn open(
        &mut self,
        path: &Path,
        access: Access,
        findings: &mut Findings,
    ) -> Result<Option<FileBytes>, Error> {
        let io = |error| Error::Io { path: path.to_owned(), error };
        // With thousands of files, finding each by its path once takes less time than twice.
        let identify = || {
            let file = File::open(path)?;
            let found = file.metadata()?;
            check_is_file(&found)?;
            FileId::new(path, &found).map(|id| (file, found, id))
        };
        let opened = match identify() {
            // An empty file need not be readable.
            Err(_) if path.metadata().is_ok_and(|found| found.len() == 0) => return Ok(None),
            opened => findings.keep(opened.map_err(io))?,
        };
        let Some((file, found, id)) = opened else { return Ok(None) };
        if found.len() == 0 {
            return Ok(None);
        }
        if let Some(first) = self.opened.get(&id) {
            self.duplicates += 1;
            findings.note(path, NoticeKind::Duplicate { first: first.as_path().into() });
            return Ok(None);
        }
        let source = FileBytes::of_found(&file, &found, access).map_err(io);
        let Some(source) = findings.keep(source)? else { return Ok(None) };
        self.opened.insert(id, path.to_owned());
        Ok(Some(source))
    }
}

/// Opens the data stream files of a trace directory, sorted by name, without empty files.
pub(crate) fn data_files(
    dir: &Path,
    access: Access,
    once: &mut FilesOnce,
    findings: &mut Findings,
) -> Result<Vec<(PathBuf, FileBytes)>, Error> {
    let mut files = Vec::new();
    for entry in findings.keep(entries(dir))?.unwrap_or_default() {
        if entry.name() == b"metadata" || entry.name().starts_with(b".") {
            continue;
        }
        match &entry.kind {
            Ok(kind) if kind.is_file() => {
                let source = once.open(&entry.path, access, findings)?;
                files.extend(source.map(|source| (entry.path, source)));
            }
            Ok(_) => {}
            Err(_) => findings.fail(entry.into_error())?,
        }
    }
    Ok(files)
}
