//! The output of text: standard output or a file.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use super::buffer::{PIECE, Text};
use super::sink::{Sink, Target, cannot_write};
use crate::escape::Escapes;

/// Standard output or a file, with a buffer that formats append to.
///
/// Must be [flushed](Self::flush) or [finished](Self::finish): the remaining contents of
/// the buffer are lost when it is dropped.
#[derive(Debug)]
pub struct Output {
    buffer: Text,
    is_terminal: bool,
}

/// The state of the output's reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Present, as far as known.
    There,
    /// Gone: the other end of the pipe is closed.
    Gone,
}

impl Output {
    /// Creates an output to standard output, with all control characters except line breaks
    /// and tabs escaped.
    pub fn stdout() -> Self {
        Self::to(Target::Stdout(io::stdout())).escaping(Escapes::Text)
    }

    /// Creates an output to a file, or to standard output if there is no path, without
    /// escaping.
    ///
    /// An existing file is emptied: call [`refuse`](crate::inputs::refuse) first to protect
    /// input files.
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
        let sink = Sink::new(target);
        Output { buffer: Text::to_sink(sink), is_terminal }
    }

    /// Escapes all control characters except line breaks and tabs from now on. This examines
    /// every byte.
    #[must_use]
    pub fn escaping(mut self, escapes: Escapes) -> Self {
        self.set_escapes(escapes);
        self
    }

    /// Sets the notation of escaped control characters, as [`escaping`](Self::escaping) does.
    pub fn set_escapes(&mut self, escapes: Escapes) {
        if let Some(sink) = self.buffer.sink() {
            sink.escapes = Some(escapes);
        }
    }

    /// Appends a JSON value and a line break. Also escapes control characters that JSON allows
    /// unescaped.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`finish`](Self::finish).
    pub fn json(&mut self, value: &serde_json::Value) -> io::Result<()> {
        self.set_escapes(Escapes::Json);
        writeln!(self, "{value:#}")
    }

    /// Returns `true` if the output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Returns the buffer to append to.
    #[inline]
    pub fn buffer(&mut self) -> &mut Text {
        &mut self.buffer
    }

    /// Writes the buffer if it is full.
    ///
    /// # Errors
    ///
    /// The error of the operating system. A closed pipe is no error, but [`Reader::Gone`].
    #[inline]
    pub fn spill(&mut self) -> io::Result<Reader> {
        if self.buffer.len() < PIECE { Ok(Reader::There) } else { self.flush() }
    }

    /// Writes the buffer to the output.
    ///
    /// # Errors
    ///
    /// The error of the operating system. A closed pipe is no error, but [`Reader::Gone`].
    pub fn flush(&mut self) -> io::Result<Reader> {
        match self.finish() {
            Ok(()) => Ok(Reader::There),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
            Err(error) => Err(error),
        }
    }

    /// Writes the buffer, and then a text that is not in it.
    ///
    /// # Errors
    ///
    /// The error of the operating system. A closed pipe is no error, but [`Reader::Gone`].
    pub fn put(&mut self, text: &[u8]) -> io::Result<Reader> {
        self.buffer.drain();
        if let Some(sink) = self.buffer.sink() {
            // Larger pieces would not stay in the cache of the processor.
            text.chunks(PIECE).for_each(|piece| sink.put(piece));
        }
        self.flush()
    }

    /// Writes the buffer. A closed pipe is an error, too, which
    /// [`report::main`](crate::report::main) treats as success.
    ///
    /// # Errors
    ///
    /// The error of the operating system, with the name of the output.
    pub fn finish(&mut self) -> io::Result<()> {
        self.buffer.drain();
        match self.buffer.sink().and_then(|sink| sink.failure.take()) {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }
}

/// Appends to the buffer, and writes the buffer when it is full. A closed pipe is an error.
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

    use ltt_read::Trace;
    use lttv_filter::Zone;

    use super::*;
    use crate::text::clock_text::{ClockStyle, ClockText};
    use crate::text_dump::EventText;
    use crate::text_dump::json::Json;
    use crate::text_dump::lttv::Lttv;
    use crate::text_dump::options::{HeaderFields, Names};
    use crate::text_dump::pretty::{Pretty, PrettyOptions};

    /// A constructor of a format for traces.
    type Make = fn(&[Arc<Trace>]) -> Box<dyn EventText>;

    /// Creates a trace whose only event and packet context print as several megabytes.
    fn trace() -> Arc<Trace> {
        let metadata = b"/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
            typealias integer { size = 8; } := u8;
            stream { packet.context := struct { u8 context[100000]; }; };
            event { name = e; fields := struct { u8 a[200000]; struct { u8 b; } c[100][1000]; }; };";
        let bytes = (0..400_000u32).map(|n| (n % 251) as u8).collect();
        Trace::from_memory(metadata, [("stream".to_owned(), bytes)]).expect("a trace")
    }

    fn clock() -> ClockText {
        ClockText::new(ClockStyle::Seconds, Zone::UTC)
    }

    #[test]
    fn large_events_are_written_in_bounded_pieces() {
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
            let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
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
