//! The errors of opening what a command line names.

use lttv_archive::ArchiveError;

/// An error for traces that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no trace, or it cannot be read.
    #[error(transparent)]
    Trace(#[from] ltt_read::Error),
    /// An archive is damaged or refused.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}
