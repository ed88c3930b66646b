//! The wait for the end of a recording.

use std::process::ExitStatus;

/// Something that may end a recording.
#[derive(Debug)]
pub(crate) enum Event {
    /// The command has ended.
    CommandEnded(std::io::Result<ExitStatus>),
    /// A signal has come.
    Signal(i32),
    /// Pages can no longer be read or written.
    ReaderFailed,
    /// The program of the tracer has ended too early.
    TracerEnded,
}
