//! Errors of checkpoint files.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// An error from storing checkpoints in a file or loading them.
#[non_exhaustive]
pub struct CheckpointFileError {
    /// The path of the file.
    pub path: PathBuf,
    /// The fault of the file, or of the context that uses it.
    pub fault: CheckpointFileFault,
}

ltt_read::debug_as_chain!(CheckpointFileError, CheckpointFileFault);

impl fmt::Display for CheckpointFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.fault)
    }
}

impl Error for CheckpointFileError {
    // The fault is part of the text, so that it is not repeated as a cause.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.fault.source()
    }
}

/// A fault of a checkpoint file, or of the context that uses it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointFileFault {
    /// The file could not be read or written.
    #[error("cannot be read or written")]
    Io(#[source] io::Error),
    /// The file is not a checkpoint file.
    #[error("not a checkpoint file")]
    NotCheckpoints,
    /// The file has a format that this version does not read.
    #[error("checkpoint file has format {found}, expected format {known}")]
    Format {
        /// The format of the file.
        found: u32,
        /// The only format that is supported.
        known: u32,
    },
    /// The file ends too early, after this many bytes.
    #[error("truncated at byte {0}")]
    Truncated(u64),
    /// The content of the file has changed since it was written.
    #[error("damaged at byte {offset}: {what}")]
    Damaged {
        /// A description of the damage.
        what: String,
        /// The offset of the damaged part, in bytes.
        offset: u64,
    },
    /// The checkpoints belong to other traces, or to these traces before a change.
    #[error("checkpoints of other traces, or of these before a change")]
    Stale,
    /// The attached extension of this type has no codec, so its states can be in no file.
    #[error("{0} cannot store checkpoints")]
    NoCodec(&'static str),
    /// The file has no states for the attached extension of this name, in its version and with its
    /// options.
    #[error("no checkpoints for this version of {0}")]
    Missing(&'static str),
    /// No attached extension has a codec.
    #[error("no attached extension can store checkpoints")]
    NothingToStore,
}

impl CheckpointFileFault {
    pub(super) fn of(self, path: &Path) -> CheckpointFileError {
        CheckpointFileError { path: path.to_owned(), fault: self }
    }
}
