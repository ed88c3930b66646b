//! Going on with the history of traces that have grown.

use std::path::Path;

use ltt_read::Timestamp;
use lttv_context::{Handle, Traceset, TracesetContext, settled_since, settled_until};

use super::snapshot::Snapshot;
use super::writer::KernelHistory;
use crate::history::{Builder, Error, History, Mark, Settings};

/// Goes on with the finished history that there is of traces as they were earlier.
/// `initial` are their states before the first event, `start` is the first time. `None`
/// if there is no such history.
pub(super) fn extend(
    path: &Path,
    traceset: &Traceset,
    settings: &Settings,
    start: i64,
    initial: &[Snapshot],
) -> Option<Builder> {
    let history = History::open(path).ok()?;
    if *history.identity() == settings.identity {
        // There is nothing new: who wants it nevertheless wants it anew.
        return None;
    }
    let settled = settled_since(&history.identity().source, traceset)?;
    // What ran at the begin may be known by events that came later.
    let same = history.start() == start
        && (initial.iter().enumerate()).all(|(at, initial)| {
            Snapshot::read(&history, at, start).is_ok_and(|of| of == *initial)
        });
    if !same {
        return None;
    }
    let builder = Builder::extend(path, settings.clone(), settled.ns()).ok()?;
    (builder.earliest() > start).then_some(builder)
}

/// Where a mark is to be made, and where it was.
#[derive(Debug, Default)]
pub(super) struct Marker {
    at: Option<Timestamp>,
}

impl Marker {
    /// Goes to where the last mark was made, if the history has one. Then marks are
    /// made where the traces are settled now.
    pub(super) fn new(context: &mut TracesetContext<'_>, history: Handle<KernelHistory>) -> Marker {
        let builder = context.extensions()[history].builder();
        let last = builder.and_then(Builder::marked).cloned();
        let last = last.filter(|mark| restore(context, mark));
        let settled = settled_until(context.traceset());
        Marker {
            at: settled.filter(|settled| last.as_ref().is_none_or(|last| last.time < settled.ns())),
        }
    }

    /// The time before which to stop for a mark; `None` if none is to come.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.at
    }

    /// The context has come to where a mark is to be made.
    pub(super) fn make(
        &mut self,
        context: &mut TracesetContext<'_>,
        history: Handle<KernelHistory>,
    ) -> Result<(), Error> {
        let Some(time) = self.at.take() else { return Ok(()) };
        // Where clocks went back, the time would not lead here again.
        let comes_again = context.position().is_start_of(time);
        let Some(note) = state_of(context).filter(|_| comes_again) else { return Ok(()) };
        match context.extensions_mut()[history].builder_mut() {
            Some(builder) => builder.mark(time.ns(), &note),
            None => Ok(()),
        }
    }
}

/// The state of extensions, to be noted.
#[cfg(feature = "checkpoint-files")]
fn state_of(context: &TracesetContext<'_>) -> Option<Vec<u8>> {
    context.state_to_bytes()
}

/// Goes to where a mark was made. False if its note is not the state of extensions.
#[cfg(feature = "checkpoint-files")]
fn restore(context: &mut TracesetContext<'_>, mark: &Mark) -> bool {
    context.restore_state(&mark.note, Timestamp::from_ns(mark.time))
}

/// States are not stored: there are no marks, and traces are read from the begin.
#[cfg(not(feature = "checkpoint-files"))]
fn state_of(_: &TracesetContext<'_>) -> Option<Vec<u8>> {
    None
}

#[cfg(not(feature = "checkpoint-files"))]
fn restore(_: &mut TracesetContext<'_>, _: &Mark) -> bool {
    false
}
