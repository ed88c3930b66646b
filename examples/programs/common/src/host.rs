//! Programs that run commands within themselves, such as an extension of an interpreter.
//!
//! A command of a program of its own writes messages to standard error, stops at Ctrl-C, and ends with its
//! process. A [`Host`] takes these tasks over while it [runs](Host::run) a command: it receives the messages and
//! the tables, gives the traces that it has opened, and stops the command when it wants to.

use std::cell::RefCell;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lttv_context::Traceset;

use crate::table::Table;

/// The importance of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Something could not be read or written.
    Error,
    /// Something may be wrong, or is missing.
    Warning,
    /// Something to know.
    Note,
}

/// A message of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its importance.
    pub severity: Severity,
    /// Its text, without the name of the program.
    pub text: String,
}

/// The surroundings of commands that run within another program.
///
/// ```
/// use std::sync::Arc;
///
/// use lttv_common::host::Host;
/// use lttv_common::report::Report;
/// use lttv_context::Traceset;
///
/// let host = Arc::new(Host::new(Traceset::new()));
/// host.run(|| Report::new("lttv").error("the disk is full"));
/// assert_eq!(host.take_messages()[0].text, "the disk is full");
/// ```
#[derive(Debug, Default)]
pub struct Host {
    traceset: Traceset,
    stop: Arc<AtomicBool>,
    found: Mutex<Found>,
    done: AtomicU64,
    total: AtomicU64,
}

/// The results of commands.
#[derive(Debug, Default)]
struct Found {
    messages: Vec<Message>,
    tables: Vec<Table>,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Host>>> = const { RefCell::new(None) };
}

/// Returns the host of the command that runs on this thread; `None` for a program of its own.
pub fn current() -> Option<Arc<Host>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Leaks a value if the process ends with the command, since dropping it would take time.
pub fn forget_at_end<T>(value: T) {
    match current() {
        Some(_) => drop(value),
        None => mem::forget(value),
    }
}

impl Host {
    /// Creates a host whose commands read these traces.
    pub fn new(traceset: Traceset) -> Host {
        Host { traceset, ..Host::default() }
    }

    /// Creates a host whose commands read these traces, and stop when a flag is set.
    pub fn stopped_by(traceset: Traceset, stop: &Arc<AtomicBool>) -> Host {
        Host { traceset, stop: Arc::clone(stop), ..Host::default() }
    }

    /// Runs a command on this thread.
    pub fn run<R>(self: &Arc<Self>, command: impl FnOnce() -> R) -> R {
        let restored = Restored(CURRENT.replace(Some(Arc::clone(self))));
        let result = command();
        drop(restored);
        result
    }

    /// Returns the flag that stops commands.
    pub fn stop_flag(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// Returns the number of bytes that were read, and that of all.
    pub fn progress(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Takes the messages so far.
    pub fn take_messages(&self) -> Vec<Message> {
        mem::take(&mut self.found().messages)
    }

    /// Takes the tables so far.
    pub fn take_tables(&self) -> Vec<Table> {
        mem::take(&mut self.found().tables)
    }

    pub(crate) fn traceset(&self) -> &Traceset {
        &self.traceset
    }

    pub(crate) fn set_progress(&self, now: ltt_read::Progress) {
        self.done.store(now.done, Ordering::Relaxed);
        self.total.store(now.total, Ordering::Relaxed);
    }

    pub(crate) fn add_message(&self, severity: Severity, text: String) {
        self.found().messages.push(Message { severity, text });
    }

    pub(crate) fn add_tables(&self, tables: Vec<Table>) {
        self.found().tables.extend(tables);
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The host before a command, which becomes the current one again.
struct Restored(Option<Arc<Host>>);

impl Drop for Restored {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}
