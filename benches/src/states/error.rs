//! Errors from measuring.

use std::fmt;
use std::io;

use lttv_state::history::HistoryError;

/// An error from measuring a workload.
#[derive(Debug)]
pub enum MeasureError {
    /// An error of the history.
    History(HistoryError),
    /// Another input or output error.
    Io(io::Error),
    /// The measurement is complete, but what was built or answered is wrong.
    Wrong {
        /// The name of the wrong digest.
        what: &'static str,
    },
}

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeasureError::History(error) => error.fmt(f),
            MeasureError::Io(error) => error.fmt(f),
            MeasureError::Wrong { what } => write!(f, "{what} has another digest than expected"),
        }
    }
}

impl std::error::Error for MeasureError {}

impl From<HistoryError> for MeasureError {
    fn from(error: HistoryError) -> Self {
        MeasureError::History(error)
    }
}

impl From<io::Error> for MeasureError {
    fn from(error: io::Error) -> Self {
        MeasureError::Io(error)
    }
}
