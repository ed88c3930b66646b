//! Errors from correcting clocks.

use super::file::TransformFileError;
use crate::open_error::OpenError;
use crate::report::{Interrupted, Usage};

/// An error from correcting clocks.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorrectionError {
    /// An option is wrong.
    #[error("clocks cannot be corrected")]
    Usage(#[from] Usage),
    /// The file with the transforms cannot be read.
    #[error("clocks cannot be corrected")]
    File(#[from] TransformFileError),
    /// The file has none of the clocks.
    #[error("{path}: none of its clocks is one of the traces: {names}")]
    NoClock {
        /// The file.
        path: String,
        /// The names of the hosts of the traces.
        names: String,
    },
    /// No trace can be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A trace cannot be read with other times.
    #[error("clocks cannot be corrected")]
    Read(#[from] ltt_read::Error),
    /// The user has interrupted the program.
    #[error("clocks cannot be corrected")]
    Interrupted(#[from] Interrupted),
    /// The program cannot handle interrupts.
    #[error("{0}")]
    Handler(String),
}
