//! The streams of a directory or of a trace in memory that is being written.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::WriteError;

/// The files in use, the streams that are not finished, and the first failure that no caller was
/// told of. Clones share them.
#[derive(Clone, Default)]
pub(super) struct OpenStreams(Arc<Mutex<Entries>>);

#[derive(Default)]
struct Entries {
    files: HashSet<PathBuf>,
    /// The names of the streams that are not finished, by number.
    open: BTreeMap<u64, String>,
    next: u64,
    failed: Option<WriteError>,
}

impl fmt::Debug for OpenStreams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenStreams").finish_non_exhaustive()
    }
}

impl OpenStreams {
    /// Notes that a file is in use. Returns an error if it was already.
    pub(super) fn claim(&self, path: &Path) -> Result<(), WriteError> {
        match self.entries().files.insert(path.to_owned()) {
            true => Ok(()),
            false => Err(WriteError::NameInUse { name: path.display().to_string() }),
        }
    }

    /// Notes a stream whose output stays when the stream is dropped.
    pub(super) fn open(&self, name: &str) -> OpenStream {
        self.note(name, false)
    }

    /// Notes a stream whose output is lost when the stream is dropped.
    pub(super) fn open_in_memory(&self, name: &str) -> OpenStream {
        self.note(name, true)
    }

    fn note(&self, name: &str, is_lost_when_dropped: bool) -> OpenStream {
        let mut entries = self.entries();
        let number = entries.next;
        entries.next += 1;
        entries.open.insert(number, name.to_owned());
        OpenStream { streams: self.clone(), number, is_lost_when_dropped }
    }

    /// Returns an error if the end of a dropped stream could not be written, or if streams are not
    /// finished.
    pub(super) fn check(&self) -> Result<(), WriteError> {
        let mut entries = self.entries();
        if let Some(error) = entries.failed.take() {
            return Err(error);
        }
        match entries.open.is_empty() {
            true => Ok(()),
            false => {
                Err(WriteError::OpenStreams { streams: entries.open.values().cloned().collect() })
            }
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that is not finished.
#[derive(Debug)]
pub(super) struct OpenStream {
    streams: OpenStreams,
    number: u64,
    is_lost_when_dropped: bool,
}

impl OpenStream {
    /// Notes that the stream was finished. Its writer has returned a failure, if there was one.
    pub(super) fn finished(self) {
        self.streams.entries().open.remove(&self.number);
    }

    /// Notes that the stream was dropped, and whether its end could be written.
    pub(super) fn dropped(self, end: Result<(), WriteError>) {
        let mut entries = self.streams.entries();
        if !self.is_lost_when_dropped {
            entries.open.remove(&self.number);
        }
        if let Err(error) = end {
            entries.failed.get_or_insert(error);
        }
    }
}
