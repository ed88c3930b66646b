//! The open traces and experiments, and the directories that may be opened.

mod file_memory;
mod names;
mod overlap;
mod registry;
mod roots;
mod trace;

use crate::protocol::models;

pub use file_memory::FileMemory;
pub use overlap::overlapping;
pub use registry::{Experiment, Workspace};
pub use roots::Roots;
pub use trace::OpenTrace;

/// A failure to open or close a trace or an experiment.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path does not exist, or is not below the directories that are served.
    #[error("No such path below the directories that are served")]
    NoSuchPath,
    /// The directory has more files than are looked through.
    #[error("The directory has more than {} files", roots::MOST_FILES)]
    TooManyFiles,
    /// No open trace has this id.
    #[error("No such trace")]
    NoSuchTrace,
    /// No experiment has this id.
    #[error("No such trace")]
    NoSuchExperiment,
    /// The directory contains a trace that cannot be read.
    #[error("The trace cannot be read")]
    Unreadable(String),
    /// The directory contains no trace.
    #[error("The trace type is not supported")]
    NotATrace,
    /// The limit of traces or experiments is reached.
    #[error("Too many traces or experiments are open")]
    TooMany,
    /// The clocks of the traces cannot be corrected.
    #[error("The clocks cannot be corrected")]
    Clocks(String),
    /// Another trace of the same directory has this name.
    #[error("Another trace has this name")]
    TraceExists(Box<models::Trace>),
    /// An experiment uses the trace.
    #[error("The trace is in use by an experiment")]
    TraceInUse(Box<models::Trace>),
    /// An experiment of other traces has this name.
    #[error("An experiment of other traces has this name")]
    ExperimentExists(Box<models::Experiment>),
}

impl WorkspaceError {
    /// Returns more about the failure, if there is more to say.
    pub fn detail(&self) -> Option<&str> {
        match self {
            WorkspaceError::Unreadable(detail) | WorkspaceError::Clocks(detail) => Some(detail),
            _ => None,
        }
    }
}
