//! Where the text goes.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use super::text::Text;

/// Enough for few system calls, little enough to stay in the cache.
const CHUNK: usize = 128 << 10;

/// Standard output or a file, with a buffer that formats append to.
#[derive(Debug)]
pub struct Output {
    buffer: Text,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Stdout(io::Stdout),
    File(File),
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
    /// To a file, or to standard output if there is no path.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn new(path: Option<&Path>) -> io::Result<Self> {
        let sink = match path {
            Some(path) => Sink::File(File::create(path)?),
            None => Sink::Stdout(io::stdout()),
        };
        Ok(Output { buffer: Text::with_room(CHUNK + CHUNK / 4), sink })
    }

    /// Whether a person sees the output as it comes.
    pub fn is_terminal(&self) -> bool {
        match &self.sink {
            Sink::Stdout(stdout) => stdout.is_terminal(),
            Sink::File(_) => false,
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
        let written = match &mut self.sink {
            Sink::Stdout(stdout) => {
                let mut stdout = stdout.lock();
                stdout.write_all(self.buffer.as_bytes()).and_then(|()| stdout.flush())
            }
            Sink::File(file) => file.write_all(self.buffer.as_bytes()),
        };
        self.buffer.clear();
        match written {
            Ok(()) => Ok(Reader::There),
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
            Err(e) => Err(e),
        }
    }
}
