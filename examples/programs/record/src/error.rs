//! The errors of recordings.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::tracer::{Tracer, Unusable};

/// An error for a recording that cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A file cannot be read, written, created or removed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The action.
        action: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// No tracer of the machine can be used.
    #[error("no tracer can be used here{}", list(.0))]
    NoTracer(Vec<Unusable>),
    /// The chosen tracer cannot be used.
    #[error("{0}")]
    Unusable(Unusable),
    /// The machine has none of the events without which there are no results.
    #[error("{tracer} has no event {events}, without which {consequence}")]
    NoEvents {
        /// The tracer.
        tracer: Tracer,
        /// The names of the events.
        events: String,
        /// The consequence.
        consequence: String,
    },
    /// The output contains something already.
    #[error("{}: the folder for the recording is not empty", .0.display())]
    OutputInUse(PathBuf),
    /// A file of tracefs has contents that are not understood.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// A section of the recording is too large for its format.
    #[error("the section `{section}` of the recording has {size} bytes, which is too large")]
    TooLarge {
        /// The name of the section.
        section: &'static str,
        /// The size in bytes.
        size: u64,
    },
    /// The program of a tracer failed.
    #[error("{program} failed{}", after_colon(.said))]
    Program {
        /// The name of the program with the words that tell what it does.
        program: String,
        /// The end of what it wrote to standard error.
        said: String,
    },
    /// The command to record cannot be started.
    #[error("cannot run {}", command.display())]
    Command {
        /// The command.
        command: OsString,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// The signals that end a recording cannot be handled.
    #[error("cannot handle signals")]
    Signals(#[source] io::Error),
    /// Something that was changed could not be restored.
    #[error("not restored, `lttv record --clean` tries again: {0}")]
    NotRestored(String),
}

impl RecordError {
    /// Returns a function that makes an error of a file.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl Fn(io::Error) -> RecordError {
        move |error| RecordError::Io { action, path: path.to_owned(), error }
    }
}

fn list(all: &[Unusable]) -> String {
    all.iter().map(|of| format!("\n  {of}")).collect()
}

fn after_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}
