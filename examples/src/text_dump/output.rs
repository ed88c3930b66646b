//! Where the text goes.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::text::Text;
use crate::escape::{self, Escapes};
use crate::stdout_closed;

/// Enough for few system calls, little enough to stay in the cache.
const CHUNK: usize = 128 << 10;

/// Standard output or a file, with a buffer that formats append to.
///
/// It has to be [flushed](Self::flush) or [finished](Self::finish): what is
/// still in the buffer when it is dropped is lost.
#[derive(Debug)]
pub struct Output {
    buffer: Text,
    sink: Sink,
    escapes: Option<Escapes>,
}

#[derive(Debug)]
enum Sink {
    Stdout(io::Stdout),
    File(File, PathBuf),
}

/// Whether anybody still reads the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Yes, as far as is known.
    There,
    /// No: the other end of the pipe is closed.
    Gone,
}

impl Output {
    /// Makes one to standard output, which escapes control characters but line breaks
    /// and tabs.
    pub fn stdout() -> Self {
        Self::to(Sink::Stdout(io::stdout())).escaping(Escapes::Text)
    }

    /// Makes one to a file, or to standard output if there is no path, which writes what
    /// it gets as it is. What the file
    /// had is lost: [`refuse`](crate::inputs::refuse) tells if it should not be.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn new(path: Option<&Path>) -> io::Result<Self> {
        let Some(path) = path else { return Ok(Self::to(Sink::Stdout(io::stdout()))) };
        let file = File::create(path).map_err(|error| cannot_write(path, &error))?;
        Ok(Self::to(Sink::File(file, path.to_owned())))
    }

    fn to(sink: Sink) -> Self {
        Output { buffer: Text::with_room(CHUNK + CHUNK / 4), sink, escapes: None }
    }

    /// Escapes all control characters but line breaks and tabs from now on. This looks
    /// at every byte.
    #[must_use]
    pub fn escaping(mut self, escapes: Escapes) -> Self {
        self.set_escapes(escapes);
        self
    }

    /// As [`escaping`](Self::escaping).
    pub fn set_escapes(&mut self, escapes: Escapes) {
        self.escapes = Some(escapes);
    }

    /// Appends a JSON value and a line break. Control characters that JSON leaves as they
    /// are get escaped, too.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn json(&mut self, value: &serde_json::Value) -> io::Result<()> {
        self.set_escapes(Escapes::Json);
        writeln!(self, "{value:#}")
    }

    /// Whether a person sees the output as it comes.
    pub fn is_terminal(&self) -> bool {
        match &self.sink {
            Sink::Stdout(stdout) => stdout.is_terminal(),
            Sink::File(..) => false,
        }
    }

    /// The buffer to append to.
    #[inline]
    pub fn buffer(&mut self) -> &mut Text {
        &mut self.buffer
    }

    /// Writes the buffer out if it is full.
    ///
    /// # Errors
    ///
    /// What the operating system said, except that a closed pipe is no error.
    #[inline]
    pub fn spill(&mut self) -> io::Result<Reader> {
        if self.buffer.len() < CHUNK { Ok(Reader::There) } else { self.flush() }
    }

    /// Writes the buffer out.
    ///
    /// # Errors
    ///
    /// What the operating system said, except that a closed pipe is no error.
    pub fn flush(&mut self) -> io::Result<Reader> {
        match self.finish() {
            Ok(()) => Ok(Reader::There),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
            Err(error) => Err(error),
        }
    }

    /// Writes the buffer out; a closed pipe is an error, too, which
    /// [`report::main`](crate::report::main) knows.
    ///
    /// # Errors
    ///
    /// What the operating system said, with the name of the output.
    pub fn finish(&mut self) -> io::Result<()> {
        let text = self.buffer.as_bytes();
        let written = match self.escapes {
            None => self.sink.write(text),
            Some(escapes) => self.sink.write(&escape::lines_of_bytes(text, escapes)),
        };
        self.buffer.clear();
        written
    }
}

impl Sink {
    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        let written = match self {
            _ if text.is_empty() => Ok(()),
            Sink::Stdout(_) if stdout_closed::is_closed() => Err(stdout_closed::error()),
            Sink::Stdout(stdout) => {
                let mut stdout = stdout.lock();
                stdout.write_all(text).and_then(|()| stdout.flush())
            }
            Sink::File(file, _) => file.write_all(text),
        };
        written.map_err(|error| match self {
            Sink::Stdout(_) => cannot_write(Path::new("the output"), &error),
            Sink::File(_, path) => cannot_write(path, &error),
        })
    }
}

/// An error of the same kind, with the name of what it is about.
fn cannot_write(what: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", what.display()))
}

/// What was written is in the buffer, or on its way. A closed pipe is an error.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.append(bytes);
        if self.buffer.len() >= CHUNK {
            self.finish()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.finish()
    }
}
