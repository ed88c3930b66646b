//! Entries of directories.

use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

use crate::report::Error;

/// The depth to which directories are searched. Those of LTTng are 5 deep.
pub(crate) const MAX_DEPTH: usize = 16;

/// An entry of a directory, with its file type or that of the target of a link.
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) is_link: bool,
    pub(crate) kind: io::Result<FileType>,
}

impl Entry {
    pub(crate) fn name(&self) -> &[u8] {
        self.path.file_name().unwrap_or_default().as_encoded_bytes()
    }

    /// Returns the error from reading its file type.
    ///
    /// # Panics
    ///
    /// If there is no such error.
    pub(crate) fn into_error(self) -> Error {
        Error::Io { path: self.path, error: self.kind.expect_err("the file type is unknown") }
    }
}

/// Reads the entries of a directory, sorted by name.
pub(crate) fn entries(dir: &Path) -> Result<Vec<Entry>, Error> {
    let io = |error| Error::Io { path: dir.to_owned(), error };
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        let (path, kind) = (entry.path(), entry.file_type());
        // Only links require another system call.
        let is_link = kind.as_ref().is_ok_and(FileType::is_symlink);
        let kind = if is_link { path.metadata().map(|it| it.file_type()) } else { kind };
        entries.push(Entry { path, is_link, kind });
    }
    // They differ in their last component only, so their text has the order of paths, which take ten
    // times as long to compare.
    entries.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    Ok(entries)
}
