//! Folders for what is unpacked, which are removed at the end.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use crate::error::ArchiveError;
use crate::limits::Limits;
use crate::unpack::unpack;

/// The start of the names of folders.
const PREFIX: &str = "lttv-unpacked-";

/// The name of the file in a folder that is locked as long as its program runs.
const LOCK: &str = ".lock";

/// A temporary folder with the files of archives, which is removed when it is dropped.
#[derive(Debug)]
pub struct Folder {
    folder: TempDir,
    /// Tells others that the folder is in use.
    _lock: File,
    archives: usize,
}

impl Folder {
    /// Creates a folder in one for temporary files, such as [`std::env::temp_dir`]. Removes those that killed programs of
    /// the same user left there.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn create(parent: &Path) -> Result<Folder, ArchiveError> {
        remove_abandoned(parent);
        let failed = ArchiveError::io(parent);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent).map_err(&failed)?;
        let lock = lock(&folder.path().join(LOCK)).map_err(&failed)?;
        Ok(Folder { folder, _lock: lock, archives: 0 })
    }

    /// Unpacks an archive. Returns the path of the folder with its files, which has the name of the archive.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`unpack`]. What was written of the archive has been removed.
    pub fn unpack(&mut self, archive: &Path, limits: &Limits) -> Result<PathBuf, ArchiveError> {
        let own = self.next();
        let into = own.join(archive.file_name().unwrap_or_default());
        unpack(archive, &into, limits).map(|()| into).inspect_err(|_| {
            // The whole folder is removed at the end, too.
            _ = fs::remove_dir_all(&own);
        })
    }

    /// Unpacks an archive in memory into a folder with a name, like [`unpack`](Self::unpack).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`unpack`](Self::unpack).
    pub fn unpack_bytes(
        &mut self,
        name: &str,
        archive: &[u8],
        limits: &Limits,
    ) -> Result<PathBuf, ArchiveError> {
        let path = self.folder.path().join(name);
        fs::write(&path, archive).map_err(ArchiveError::io(&path))?;
        let unpacked = self.unpack(&path, limits);
        fs::remove_file(&path).map_err(ArchiveError::io(&path))?;
        unpacked
    }

    /// Returns the path of the folder for the next archive.
    fn next(&mut self) -> PathBuf {
        self.archives += 1;
        self.folder.path().join(self.archives.to_string())
    }
}

/// Creates and locks a file.
fn lock(path: &Path) -> io::Result<File> {
    let file = File::create(path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

/// Removes the folders of programs that no longer run. What cannot be removed remains.
fn remove_abandoned(parent: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_one = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == user);
        // A folder without the file is just being created.
        let lock = is_one.then(|| File::open(entry.path().join(LOCK)));
        let is_free = |file: &File| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
        if lock.and_then(Result::ok).as_ref().is_some_and(is_free) {
            // What cannot be removed remains.
            _ = fs::remove_dir_all(entry.path());
        }
    }
}
