//! The work for one answer: its writer, and its end when the client goes away.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::turns::Turn;
use crate::error::OutputError;

/// The time between two looks whether a result is there.
const PATIENCE: Duration = Duration::from_millis(5);

/// The number of bytes from which a part of an answer is sent.
pub const PART: usize = 64 << 10;

/// The destination of an answer.
pub trait Sink: Send {
    /// Returns the text that is not sent yet, to which more is added.
    fn text(&mut self) -> &mut Vec<u8>;

    /// Sends the text so far.
    ///
    /// # Errors
    ///
    /// If the client has gone away.
    fn send(&mut self) -> io::Result<()>;

    /// Notes that the answer will not change: equal requests may get the same.
    fn set_final(&mut self) {}
}

/// The work for an answer, in which the client may lose interest.
pub struct Work<'w> {
    out: &'w mut dyn Sink,
    turn: Turn,
    cancelled: Arc<AtomicBool>,
    deadline: Instant,
    ticks: u32,
}

impl fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

/// Writes a value into parts, each of which is sent when there is enough of it.
struct PartWriter<'p> {
    out: &'p mut dyn Sink,
    /// The text of the destination, which has none meanwhile: values have many small pieces.
    text: Vec<u8>,
}

impl<'p> PartWriter<'p> {
    fn new(out: &'p mut dyn Sink) -> Self {
        let text = std::mem::take(out.text());
        PartWriter { out, text }
    }

    #[cold]
    fn send(&mut self) -> io::Result<()> {
        std::mem::swap(self.out.text(), &mut self.text);
        let sent = self.out.send();
        std::mem::swap(self.out.text(), &mut self.text);
        sent
    }
}

impl Drop for PartWriter<'_> {
    fn drop(&mut self) {
        std::mem::swap(self.out.text(), &mut self.text);
    }
}

impl Write for PartWriter<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.text.extend_from_slice(bytes);
        if self.text.len() >= PART { self.send() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> Work<'w> {
    /// Creates the work for an answer, which ends when `cancelled` is set or at the deadline.
    pub fn new(
        out: &'w mut dyn Sink,
        turn: Turn,
        cancelled: Arc<AtomicBool>,
        deadline: Instant,
    ) -> Self {
        Work { out, turn, cancelled, deadline, ticks: 0 }
    }

    /// Ends the work if the client has gone away or the time is over.
    ///
    /// # Errors
    ///
    /// If the work should end.
    pub fn check(&self) -> Result<(), OutputError> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(OutputError::Cancelled);
        }
        let now = Instant::now();
        self.turn.end_if_long(now);
        match now > self.deadline {
            true => Err(OutputError::TooLong),
            false => Ok(()),
        }
    }

    /// Lets other answers be computed while this one waits for another thread.
    pub fn end_turn(&self) {
        self.turn.end();
    }

    /// Ends the work like [`check`](Self::check), but looks only at each 256th call.
    ///
    /// # Errors
    ///
    /// If the work should end.
    #[inline]
    pub fn tick(&mut self) -> Result<(), OutputError> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(256) { self.check() } else { Ok(()) }
    }

    /// Waits until a result that is computed on another thread is there.
    ///
    /// # Errors
    ///
    /// If the work should end.
    pub fn wait<T>(&self, mut result: impl FnMut() -> Option<T>) -> Result<T, OutputError> {
        loop {
            if let Some(result) = result() {
                return Ok(result);
            }
            self.end_turn();
            std::thread::sleep(PATIENCE);
            self.check()?;
        }
    }

    /// Writes text, which may be long.
    ///
    /// # Errors
    ///
    /// If the client has gone away.
    pub fn text(&mut self, text: &str) -> Result<(), OutputError> {
        let mut parts = text.as_bytes().chunks(PART);
        let written = parts.try_for_each(|part| PartWriter::new(self.out).write_all(part));
        written.map_err(|_| OutputError::Cancelled)
    }

    /// Adds a value as JSON. If it cannot be written, the answer ends early.
    fn add_json(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), OutputError> {
        serde_json::to_writer(PartWriter::new(self.out), value).map_err(|_| OutputError::Cancelled)
    }

    /// Writes a value as JSON.
    ///
    /// # Errors
    ///
    /// If the client has gone away.
    pub fn json(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), OutputError> {
        self.check()?;
        self.add_json(value)
    }

    /// Writes a part of a list as JSON: all but the first one follow a comma.
    ///
    /// # Errors
    ///
    /// If the client has gone away.
    pub fn item(&mut self, is_first: &mut bool, value: &impl Serialize) -> Result<(), OutputError> {
        if !std::mem::take(is_first) {
            self.text(",")?;
        }
        self.json(value)
    }

    /// Writes a part of a long list as JSON, like [`item`](Self::item). It is sent as a whole, and must
    /// not be long. Looks only at each 256th call whether the work should end.
    ///
    /// # Errors
    ///
    /// If the client has gone away.
    pub fn list_item(
        &mut self,
        is_first: &mut bool,
        value: &impl Serialize,
    ) -> Result<(), OutputError> {
        // Writing a value to a vector cannot fail.
        self.list_text(is_first, |text| _ = serde_json::to_writer(text, value))
    }

    /// Writes a part of a long list, like [`list_item`](Self::list_item), which `write` adds as JSON.
    ///
    /// # Errors
    ///
    /// If the client has gone away.
    #[inline]
    pub fn list_text(
        &mut self,
        is_first: &mut bool,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), OutputError> {
        self.tick()?;
        let text = self.out.text();
        if !std::mem::take(is_first) {
            text.push(b',');
        }
        write(text);
        match text.len() >= PART {
            true => self.out.send().map_err(|_| OutputError::Cancelled),
            false => Ok(()),
        }
    }

    /// Writes the end of an answer with data, whose model has been written.
    ///
    /// # Errors
    ///
    /// If the client has gone away.
    pub fn end(&mut self, is_complete: bool) -> Result<(), OutputError> {
        if is_complete {
            self.out.set_final();
        }
        self.text(match is_complete {
            true => r#","status":"COMPLETED","statusMessage":"Completed"}"#,
            false => r#","status":"RUNNING","statusMessage":"Running"}"#,
        })
    }
}
