//! The destination of the text of an output.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::escape::{self, Escapes};
use crate::stdout_closed;

/// The destination of the buffer, and the first error of a write to it.
#[derive(Debug)]
pub(super) struct Sink {
    target: Target,
    pub(super) escapes: Option<Escapes>,
    /// The first error. Nothing is written after it.
    pub(super) failure: Option<io::Error>,
}

/// The destination of output.
#[derive(Debug)]
pub(super) enum Target {
    Stdout(io::Stdout),
    File(File, PathBuf),
}

impl Sink {
    /// Creates a sink that escapes nothing.
    pub(super) fn new(target: Target) -> Self {
        Sink { target, escapes: None, failure: None }
    }

    /// Writes a piece of text, unless a write has failed before.
    pub(super) fn put(&mut self, text: &[u8]) {
        if self.failure.is_some() || text.is_empty() {
            return;
        }
        let written = match self.escapes {
            None => self.target.write(text),
            Some(escapes) => self.target.write(&escape::lines_of_bytes(text, escapes)),
        };
        self.failure = written.err();
    }
}

impl Target {
    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        let written = match self {
            Target::Stdout(_) if stdout_closed::is_closed() => Err(stdout_closed::error()),
            Target::Stdout(stdout) => {
                let mut stdout = stdout.lock();
                stdout.write_all(text).and_then(|()| stdout.flush())
            }
            Target::File(file, _) => file.write_all(text),
        };
        written.map_err(|error| match self {
            Target::Stdout(_) => cannot_write(Path::new("the output"), &error),
            Target::File(_, path) => cannot_write(path, &error),
        })
    }
}

/// Creates an error of the same kind, with the name of the output.
pub(super) fn cannot_write(what: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", what.display()))
}
