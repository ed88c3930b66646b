//! Where the blocks of a growing history go.
//!
//! A file grows under the name with `.partial` after it. Whoever writes it holds an
//! advisory lock on it, and so there is one builder at most. A file is never truncated
//! that others may read: a stale one is removed, and only [resuming](FileSink::resume)
//! cuts off what is after the last whole block, where nobody has read.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::Error;
use super::piece::Piece;

/// What a file is called until it is finished: with this after its name.
const PARTIAL: &str = ".partial";

/// Other builders can come in between so many times at most.
const ATTEMPTS: usize = 32;

pub(super) fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PARTIAL);
    name.into()
}

#[derive(Debug)]
pub(super) enum Sink {
    /// Whole frames.
    Memory(Vec<Arc<[u8]>>),
    File(FileSink),
}

#[derive(Debug)]
pub(super) struct FileSink {
    /// Locked, for as long as the history is built.
    pub(super) file: Arc<File>,
    path: PathBuf,
    pub(super) partial: PathBuf,
    pub(super) len: u64,
    /// The frames of the blocks so far, for readers.
    pub(super) pieces: Vec<Arc<Piece>>,
}

impl FileSink {
    /// A new file beside `path`, that takes its place when it is finished. One that
    /// another builder left unfinished goes away.
    pub(super) fn create(path: &Path, header: &[u8]) -> Result<FileSink, Error> {
        let partial = checked_partial(path)?;
        for _ in 0..ATTEMPTS {
            match open(&partial) {
                // Nobody writes it any more: the lock shows that. But others may read it.
                Ok(stale) => {
                    lock(&stale, path, &partial)?;
                    if is_at(&stale, &partial) {
                        fs::remove_file(&partial).map_err(|source| io(&partial, source))?;
                    }
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(io(&partial, source)),
            }
            let new = File::options().read(true).write(true).create_new(true).open(&partial);
            let file = match new {
                Ok(file) => file,
                // Another builder was faster.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(source) => return Err(io(&partial, source)),
            };
            // It may have been taken for a stale one, and removed.
            lock(&file, path, &partial)?;
            if is_at(&file, &partial) {
                let mut sink = FileSink::of(file, path, partial);
                sink.write(header)?;
                return Ok(sink);
            }
        }
        Err(Error::Busy { path: path.to_owned() })
    }

    fn of(file: File, path: &Path, partial: PathBuf) -> FileSink {
        let (file, path) = (Arc::new(file), path.to_owned());
        FileSink { file, path, partial, len: 0, pieces: Vec::new() }
    }

    /// Locks an unfinished file, to go on with it after a [cut](Self::cut).
    pub(super) fn resume(path: &Path) -> Result<FileSink, Error> {
        let partial = checked_partial(path)?;
        for _ in 0..ATTEMPTS {
            let file = open(&partial).map_err(|source| io(&partial, source))?;
            lock(&file, path, &partial)?;
            if is_at(&file, &partial) {
                return Ok(FileSink::of(file, path, partial));
            }
        }
        Err(Error::Busy { path: path.to_owned() })
    }

    /// Leaves the first `len` bytes; what is written comes after them.
    pub(super) fn cut(&mut self, len: u64) -> Result<(), Error> {
        use std::io::{Seek, SeekFrom};
        let mut file = &*self.file;
        let cut = file.set_len(len).and_then(|()| file.seek(SeekFrom::Start(len)));
        cut.map_err(|source| io(&self.partial, source))?;
        self.len = len;
        Ok(())
    }

    /// Notes where the frame of a block is.
    pub(super) fn add_piece(&mut self, offset: u64, frame: &[u8]) {
        self.pieces.push(Arc::new(Piece::new(&self.file, offset, frame)));
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        (&*self.file).write_all(bytes).map_err(|source| io(&self.partial, source))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Makes all that was written last.
    pub(super) fn sync(&self) -> Result<(), Error> {
        self.file.sync_all().map_err(|source| io(&self.partial, source))
    }

    /// Gives the file its name. It is to be whole, and [synced](Self::sync).
    pub(super) fn finish(self) -> Result<(), Error> {
        let FileSink { file, path, partial, .. } = self;
        if !is_at(&file, &partial) {
            return Err(Error::Replaced { path: partial });
        }
        fs::rename(&partial, &path).map_err(|source| io(&path, source))?;
        // The name too must last. Not all systems can sync directories.
        if let Some(Ok(parent)) = path.parent().map(directory) {
            let _ = parent.sync_all();
        }
        Ok(())
    }

    /// Gives up: the unfinished file goes away.
    pub(super) fn remove(self) -> Result<(), Error> {
        if !is_at(&self.file, &self.partial) {
            return Err(Error::Replaced { path: self.partial });
        }
        fs::remove_file(&self.partial).map_err(|source| io(&self.partial, source))
    }
}

pub(super) fn io(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.to_owned(), source }
}

/// The name of the unfinished file, if a history can have the name `path`: nothing but
/// files have both names.
fn checked_partial(path: &Path) -> Result<PathBuf, Error> {
    if path.file_name().is_none() {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    let partial = partial_path(path);
    if fs::metadata(path).is_ok_and(|of| !of.is_file()) {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    if fs::symlink_metadata(&partial).is_ok_and(|of| !of.is_file()) {
        return Err(Error::NotAFile { path: partial });
    }
    Ok(partial)
}

fn open(partial: &Path) -> std::io::Result<File> {
    File::options().read(true).write(true).open(partial)
}

/// Locks a file until it is closed. File systems that have no locks do without: what was
/// written is checked before it gets its name.
fn lock(file: &File, path: &Path, partial: &Path) -> Result<(), Error> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::Busy { path: path.to_owned() }),
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(source)) => Err(io(partial, source)),
    }
}

/// Whether a name is that of an open file, and not of another that took its place.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(file), Ok(path)) => (file.dev(), file.ino()) == (path.dev(), path.ino()),
        _ => false,
    }
}

/// Elsewhere there is no more to compare without code for each system.
#[cfg(not(unix))]
fn is_at(file: &File, path: &Path) -> bool {
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
