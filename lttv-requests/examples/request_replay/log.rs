//! The output lines of a replay.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;

/// The output of hooks. Keeps the first error until [`check`](Self::check) returns it.
pub(crate) struct Log<'w> {
    out: RefCell<&'w mut dyn io::Write>,
    failure: Cell<Option<io::Error>>,
    events: Cell<u64>,
}

impl<'w> Log<'w> {
    pub(crate) fn new(out: &'w mut dyn io::Write) -> Self {
        Log { out: RefCell::new(out), failure: Cell::new(None), events: Cell::new(0) }
    }

    /// Writes a line that starts with the id of a request.
    pub(crate) fn line(&self, id: &str, what: fmt::Arguments<'_>) {
        if let Err(error) = writeln!(self.out.borrow_mut(), "{} {what}", id.escape_debug()) {
            let first = self.failure.take().unwrap_or(error);
            self.failure.set(Some(first));
        }
    }

    /// Writes the line of an event, and counts the event.
    pub(crate) fn event(&self, id: &str, time: i64, name: &str) {
        self.events.set(self.events.get() + 1);
        self.line(id, format_args!("event {time} {}", name.escape_debug()));
    }

    /// Returns the number of events logged.
    pub(crate) fn events(&self) -> u64 {
        self.events.get()
    }

    /// Returns the first error of a write since the last call.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}
