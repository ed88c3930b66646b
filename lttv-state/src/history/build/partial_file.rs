//! The unfinished file that a builder writes.
//!
//! It has the name of the finished file followed by `.partial`. Its builder holds an
//! advisory lock on it, so that there is at most one. A file that others may be reading is
//! never truncated: a stale one is removed, and [resuming](PartialFile::resume) cuts off
//! only what follows the last complete block, which nothing reads.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ltt_read::Access;
use ltt_read::source::FileBytes;

use crate::history::error::HistoryError;
use crate::history::file::lazy_frame::LazyFrame;

/// The extension that follows the name of a file until it is finished.
const PARTIAL: &str = ".partial";

/// The number of attempts to lock a file while other builders create and remove it.
const ATTEMPTS: usize = 32;

/// The pause between attempts to lock a file.
const PAUSE: Duration = Duration::from_millis(5);

pub(crate) fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PARTIAL);
    name.into()
}

#[derive(Debug)]
pub(crate) struct PartialFile {
    /// The file, locked for as long as the history is built.
    file: Arc<File>,
    path: PathBuf,
    partial: PathBuf,
    len: u64,
    /// The frames of the blocks so far, for readers.
    frames: Vec<Arc<LazyFrame>>,
}

impl PartialFile {
    /// Creates an unfinished file beside `path`, which replaces it when it is finished. A
    /// file that another builder left unfinished is removed.
    pub(crate) fn create(path: &Path, header: &[u8]) -> Result<PartialFile, HistoryError> {
        let partial = checked_partial(path)?;
        for _ in 0..ATTEMPTS {
            match open(&partial) {
                // Since it could be locked, no builder writes it any more. But others may
                // read it.
                Ok(stale) => {
                    lock(&stale, path, &partial)?;
                    if is_same_file(&stale, &partial) {
                        fs::remove_file(&partial)
                            .map_err(|error| HistoryError::io(&partial, error))?;
                    }
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(HistoryError::io(&partial, error)),
            }
            let new = File::options().read(true).write(true).create_new(true).open(&partial);
            let file = match new {
                Ok(file) => file,
                // Another builder was faster.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(HistoryError::io(&partial, error)),
            };
            // Another builder may have taken it for a stale one and removed it.
            lock(&file, path, &partial)?;
            if is_same_file(&file, &partial) {
                let mut output = PartialFile::of(file, path, partial);
                output.write(header)?;
                return Ok(output);
            }
        }
        Err(HistoryError::Busy(path.to_owned()))
    }

    fn of(file: File, path: &Path, partial: PathBuf) -> PartialFile {
        let (file, path) = (Arc::new(file), path.to_owned());
        PartialFile { file, path, partial, len: 0, frames: Vec::new() }
    }

    /// Opens and locks an unfinished file, to continue it after it was
    /// [truncated](Self::truncate).
    pub(crate) fn resume(path: &Path) -> Result<PartialFile, HistoryError> {
        let partial = checked_partial(path)?;
        for _ in 0..ATTEMPTS {
            let file = open(&partial).map_err(|error| HistoryError::io(&partial, error))?;
            lock(&file, path, &partial)?;
            if is_same_file(&file, &partial) {
                return Ok(PartialFile::of(file, path, partial));
            }
        }
        Err(HistoryError::Busy(path.to_owned()))
    }

    /// Returns the path of the unfinished file.
    pub(crate) fn partial_path(&self) -> &Path {
        &self.partial
    }

    /// Returns the number of bytes written.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the frames of the blocks so far, for readers.
    pub(crate) fn frames(&self) -> &[Arc<LazyFrame>] {
        &self.frames
    }

    /// Maps the file. While it is locked, it is not truncated.
    pub(crate) fn map(&self) -> Result<FileBytes, HistoryError> {
        FileBytes::of(&self.file, Access::Map)
            .map_err(|error| HistoryError::io(&self.partial, error))
    }

    /// Truncates the file to `len` bytes, after which the next frame is written.
    pub(crate) fn truncate(&mut self, len: u64) -> Result<(), HistoryError> {
        use std::io::{Seek, SeekFrom};
        let mut file = &*self.file;
        let truncate = file.set_len(len).and_then(|()| file.seek(SeekFrom::Start(len)));
        truncate.map_err(|error| HistoryError::io(&self.partial, error))?;
        self.len = len;
        Ok(())
    }

    /// Adds the frame of a block to the list for readers.
    pub(crate) fn add_frame(&mut self, offset: u64, frame: &[u8]) {
        self.frames.push(Arc::new(LazyFrame::new(&self.file, offset, frame)));
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), HistoryError> {
        (&*self.file).write_all(bytes).map_err(|error| HistoryError::io(&self.partial, error))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Waits until all that was written is on disk.
    pub(crate) fn sync(&self) -> Result<(), HistoryError> {
        self.file.sync_all().map_err(|error| HistoryError::io(&self.partial, error))
    }

    /// Renames the file to its final name. It has to be complete and [synced](Self::sync).
    pub(crate) fn finish(self) -> Result<(), HistoryError> {
        let PartialFile { file, path, partial, .. } = self;
        if !is_same_file(&file, &partial) {
            return Err(HistoryError::Replaced(partial));
        }
        fs::rename(&partial, &path).map_err(|error| HistoryError::io(&path, error))?;
        // The directory entry has to be on disk, too. Some systems cannot sync directories.
        if let Some(Ok(parent)) = path.parent().map(directory) {
            let _ = parent.sync_all();
        }
        Ok(())
    }

    /// Removes the unfinished file.
    pub(crate) fn remove(self) -> Result<(), HistoryError> {
        if !is_same_file(&self.file, &self.partial) {
            return Err(HistoryError::Replaced(self.partial));
        }
        fs::remove_file(&self.partial).map_err(|error| HistoryError::io(&self.partial, error))
    }
}

/// Returns the path of the unfinished file, if `path` can name a history: neither path may
/// belong to something other than a file.
pub(crate) fn checked_partial(path: &Path) -> Result<PathBuf, HistoryError> {
    if path.file_name().is_none() {
        return Err(HistoryError::NotAFile(path.to_owned()));
    }
    let partial = partial_path(path);
    if fs::metadata(path).is_ok_and(|of| !of.is_file()) {
        return Err(HistoryError::NotAFile(path.to_owned()));
    }
    if fs::symlink_metadata(&partial).is_ok_and(|of| !of.is_file()) {
        return Err(HistoryError::NotAFile(partial));
    }
    Ok(partial)
}

fn open(partial: &Path) -> std::io::Result<File> {
    File::options().read(true).write(true).open(partial)
}

/// Locks a file until it is closed. On a file system without locks it succeeds: the file is
/// checked before it gets its name.
///
/// A process that another thread has just forked holds copies of the locks of this process
/// until it executes its program. A lock that is taken is therefore tried again for a moment.
fn lock(file: &File, path: &Path, partial: &Path) -> Result<(), HistoryError> {
    for _ in 0..ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                return Ok(());
            }
            Err(TryLockError::Error(error)) => return Err(HistoryError::io(partial, error)),
        }
    }
    Err(HistoryError::Busy(path.to_owned()))
}

/// Returns whether a path leads to an open file, and not to another one that replaced it.
#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(file), Ok(path)) => (file.dev(), file.ino()) == (path.dev(), path.ino()),
        _ => false,
    }
}

/// Returns whether a path probably leads to an open file. The standard library has nothing
/// more to compare on these systems.
#[cfg(not(unix))]
fn is_same_file(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(file), Ok(path)) => {
            path.is_file() && (file.len(), file.created().ok()) == (path.len(), path.created().ok())
        }
        _ => false,
    }
}

fn directory(path: &Path) -> std::io::Result<File> {
    File::open(if path.as_os_str().is_empty() { Path::new(".") } else { path })
}
