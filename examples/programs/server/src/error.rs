//! Failures to compute answers.

use lttv_state::history::HistoryError;

use crate::protocol::parameters::ParameterError;

/// A failure to compute an answer.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A parameter is missing or wrong.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The output has no such data.
    #[error("the output has no such data")]
    NotOffered,
    /// The client has gone away.
    #[error("the client has gone away")]
    Cancelled,
    /// The computation took longer than a request may.
    #[error("the request takes too long")]
    TooLong,
    /// A history cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A temporary file cannot be written or read.
    #[error("a temporary file cannot be used")]
    Temporary(#[source] std::io::Error),
    /// The thread of a dataset has ended.
    #[error("the dataset is closed")]
    Stopped,
}

/// The result of computing an answer.
pub type Result = std::result::Result<(), OutputError>;
