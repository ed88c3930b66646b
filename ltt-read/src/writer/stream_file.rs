//! Files that are written to in turns, of which few are open at a time.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The maximum number of open files of a trace that is written. Systems allow a process 1,024, of
/// which the program needs some.
const MOST_OPEN: usize = 256;

/// A file of a trace that is being written. A trace may have more of them than a process may have
/// open files: those that were opened first are closed, and opened again when they are written to.
#[derive(Debug)]
pub struct StreamFile {
    shared: Arc<Slot>,
    open: OpenFiles,
}

/// The path of a file, and the file while it is open.
#[derive(Debug)]
struct Slot {
    path: PathBuf,
    file: Mutex<Option<File>>,
}

/// The open files of a trace that is written, those opened first in front.
#[derive(Clone, Default)]
pub(super) struct OpenFiles(Arc<Mutex<VecDeque<Weak<Slot>>>>);

impl fmt::Debug for OpenFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenFiles").finish_non_exhaustive()
    }
}

impl StreamFile {
    /// Creates an empty file.
    pub(super) fn create(path: PathBuf, open: OpenFiles) -> io::Result<Self> {
        let file = File::create(&path)?;
        let shared = Arc::new(Slot { path, file: Mutex::new(Some(file)) });
        open.note(&shared);
        Ok(StreamFile { shared, open })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Waits until the data of the file is on the disk.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn sync_data(&self) -> io::Result<()> {
        self.with_file(|file| file.sync_data())
    }

    /// Calls a function with the open file.
    fn with_file<R>(&self, write: impl FnOnce(&mut File) -> io::Result<R>) -> io::Result<R> {
        let mut file = lock(&self.shared.file);
        if let Some(file) = &mut *file {
            return write(file);
        }
        // What was written before is kept. A file that somebody removed is not created again.
        let mut opened = OpenOptions::new().append(true).open(&self.shared.path)?;
        let result = write(&mut opened);
        *file = Some(opened);
        drop(file);
        self.open.note(&self.shared);
        result
    }
}

impl Write for StreamFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with_file(|file| file.write(bytes))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.with_file(|file| file.write_all(bytes))
    }

    /// Does nothing: nothing is kept in memory.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl OpenFiles {
    /// Notes a file that was opened, and closes others if there are too many. A file that is being
    /// written to stays open.
    fn note(&self, opened: &Arc<Slot>) {
        let mut open = lock(&self.0);
        open.push_back(Arc::downgrade(opened));
        for _ in MOST_OPEN..open.len() {
            let Some(first) = open.pop_front() else { break };
            let Some(slot) = first.upgrade() else { continue };
            match slot.file.try_lock() {
                Ok(mut file) => *file = None,
                Err(_) => open.push_back(first),
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
