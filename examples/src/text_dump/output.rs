//! Where the text goes.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::text::{PIECE, Text};
use crate::escape::{self, Escapes};
use crate::stdout_closed;

/// Standard output or a file, with a buffer that formats append to.
///
/// It has to be [flushed](Self::flush) or [finished](Self::finish): what is
/// still in the buffer when it is dropped is lost.
#[derive(Debug)]
pub struct Output {
    buffer: Text,
    is_terminal: bool,
}

/// Where the buffer is written to, and how that went.
#[derive(Debug)]
pub(super) struct Sink {
    target: Target,
    escapes: Option<Escapes>,
    /// What kept text from being written. Nothing is written after that.
    failure: Option<io::Error>,
}

#[derive(Debug)]
enum Target {
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
        Self::to(Target::Stdout(io::stdout())).escaping(Escapes::Text)
    }

    /// Makes one to a file, or to standard output if there is no path, which writes what
    /// it gets as it is. What the file
    /// had is lost: [`refuse`](crate::inputs::refuse) tells if it should not be.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn new(path: Option<&Path>) -> io::Result<Self> {
        let Some(path) = path else { return Ok(Self::to(Target::Stdout(io::stdout()))) };
        let file = File::create(path).map_err(|error| cannot_write(path, &error))?;
        Ok(Self::to(Target::File(file, path.to_owned())))
    }

    fn to(target: Target) -> Self {
        let is_terminal = matches!(&target, Target::Stdout(stdout) if stdout.is_terminal());
        let sink = Sink { target, escapes: None, failure: None };
        Output { buffer: Text::to_sink(sink), is_terminal }
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
        if let Some(sink) = self.buffer.sink() {
            sink.escapes = Some(escapes);
        }
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
        self.is_terminal
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
        if self.buffer.len() < PIECE { Ok(Reader::There) } else { self.flush() }
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
        self.buffer.drain();
        match self.buffer.sink().and_then(|sink| sink.failure.take()) {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }
}

impl Sink {
    /// Writes a piece of text.
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

/// An error of the same kind, with the name of what it is about.
fn cannot_write(what: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", what.display()))
}

/// What was written is in the buffer, or on its way. A closed pipe is an error.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.append(bytes);
        if self.buffer.len() >= PIECE {
            self.finish()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::tz::TimeZone;
    use ltt_read::Trace;

    use super::super::EventText;
    use super::super::clock_text::{ClockStyle, ClockText};
    use super::super::json::Json;
    use super::super::lttv::Lttv;
    use super::super::options::{HeaderFields, Names};
    use super::super::pretty::{Pretty, PrettyOptions};
    use super::*;

    /// Makes a format for traces.
    type Make = fn(&[Arc<Trace>]) -> Box<dyn EventText>;

    /// A trace whose only event and packet context print as several megabytes.
    fn trace() -> Arc<Trace> {
        let metadata = b"/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
            typealias integer { size = 8; } := u8;
            stream { packet.context := struct { u8 context[100000]; }; };
            event { name = e; fields := struct { u8 a[200000]; struct { u8 b; } c[100][1000]; }; };";
        let bytes = (0..400_000u32).map(|n| (n % 251) as u8).collect();
        Trace::from_memory(metadata, [("stream".to_owned(), bytes)]).expect("a trace")
    }

    fn clock() -> ClockText {
        ClockText::new(ClockStyle::Seconds, TimeZone::UTC)
    }

    #[test]
    fn the_text_of_one_event_is_written_in_bounded_pieces() {
        let (trace, dir) = (trace(), tempfile::tempdir().expect("a directory"));
        let traces = [Arc::clone(&trace)];
        let formats: [Make; 3] = [
            |traces| Box::new(Json::new(traces)),
            |traces| Box::new(Lttv::new(traces, clock(), false)),
            |traces| {
                let (names, fields) = (Names::of(&[]), HeaderFields::of(&[]));
                let options =
                    PrettyOptions { names, fields, delta: false, colored: true, escaped: false };
                Box::new(Pretty::new(traces, &["name".to_owned()], clock(), &options))
            },
        ];
        for (number, format) in formats.into_iter().enumerate() {
            let mut cursor = trace.cursor(0);
            assert!(cursor.advance().expect("a sound event"));
            let mut whole = Text::default();
            format(&traces).event(&cursor.event(), None, &mut whole);
            assert!(whole.len() > 8 * PIECE, "{number}");

            let path = dir.path().join(number.to_string());
            let mut output = Output::new(Some(&path)).expect("a file");
            let mut format = format(&traces);
            for _ in 0..2 {
                format.event(&cursor.event(), None, output.buffer());
                assert!(output.buffer().len() < PIECE + 100, "{number}");
                assert!(output.buffer().room() < 2 * PIECE, "{number}");
            }
            assert_eq!(output.flush().expect("a file"), Reader::There);
            let written = std::fs::read(&path).expect("a file");
            assert!(written == [whole.as_bytes(), whole.as_bytes()].concat(), "{number}");
        }
    }
}
