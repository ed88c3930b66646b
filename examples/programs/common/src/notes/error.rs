//! The errors of notes and their files.

use std::io;
use std::path::{Path, PathBuf};

use super::note::MAX_TEXT_BYTES;
use crate::inputs::IsInput;

/// An error from notes or from a file of notes. In all cases the file is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotesError {
    /// The user has no data directory: neither `XDG_DATA_HOME` nor `HOME` is set to an
    /// absolute path.
    #[error("no directory for notes: neither XDG_DATA_HOME nor HOME is an absolute path")]
    NoDirectory,
    /// The file cannot be read or written.
    #[error("cannot read or write {}", path.display())]
    Io {
        /// The path of the file or of its directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The content of the file is not that of a file of notes.
    #[error("{}: damaged notes: {reason}", path.display())]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The fault and its place.
        reason: String,
    },
    /// The file is of a later version of the format.
    #[error("{}: notes of version {version}, the latest known version is 1", path.display())]
    NewerVersion {
        /// The path of the file.
        path: PathBuf,
        /// The version of the file.
        version: u64,
    },
    /// The file is longer than 16 MiB, or would be.
    #[error("{}: notes of more than 16 MiB", path.display())]
    TooLarge {
        /// The path of the file.
        path: PathBuf,
    },
    /// The notes in the file belong to other traces.
    #[error("{}: the notes belong to other traces", path.display())]
    OtherTraces {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file would be in the directory of a trace.
    #[error("{}: notes cannot be in the directory of a trace", path.display())]
    InTrace {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file is one of a trace.
    #[error(transparent)]
    IsInput(#[from] IsInput),
    /// Another process has been writing for more than two seconds.
    #[error("{}: another process is writing notes there", path.display())]
    Busy {
        /// The path of the directory.
        path: PathBuf,
    },
    /// The text of a note is too long.
    #[error("the text has {bytes} bytes, a note at most {MAX_TEXT_BYTES}")]
    TextTooLong {
        /// The length of the text in bytes.
        bytes: usize,
    },
}

impl NotesError {
    /// Returns a function that adds a path to an I/O error.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> NotesError {
        let path = path.to_owned();
        move |source| NotesError::Io { path, source }
    }
}
