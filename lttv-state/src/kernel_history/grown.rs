//! Going on with the history of traces that have grown.

use std::io::ErrorKind;
use std::path::Path;

use ltt_read::Timestamp;
use lttv_context::{Handle, Traceset, TracesetContext, settled_since, settled_until};

use super::snapshot::Snapshot;
use super::writer::KernelHistory;
use crate::history::{Builder, Error, History, Mark, Settings};

/// What there is in a file that a history is to be stored in.
#[derive(Debug)]
pub(super) enum Found {
    /// A history of the same traces, to go on with.
    Builder(Box<Builder>),
    /// No history, or the very one that is wanted anew.
    Nothing,
    /// A history that cannot be gone on with, and why.
    Other(Error),
}

/// Goes on with the history that there is of traces: an unfinished one, or a finished one
/// of these as they were earlier. `initial` are their states before the first event,
/// `start` is the first time.
pub(super) fn go_on(
    path: &Path,
    traceset: &Traceset,
    settings: &Settings,
    start: i64,
    initial: &[Snapshot],
) -> Result<Found, Error> {
    let unfinished = match Builder::resume(path, settings.clone()) {
        Ok(builder) if builder.start() == start => return Ok(Found::Builder(builder.into())),
        // Its traces begin elsewhere, though they seem to be the same.
        Ok(_) => None,
        Err(error) if is_missing(&error) => None,
        // It has not even a beginning.
        Err(Error::Unfinished) => None,
        Err(error @ (Error::Busy { .. } | Error::NotAFile { .. } | Error::Io { .. })) => {
            return Err(error);
        }
        Err(error) => Some(error),
    };
    let history = match History::open(path) {
        Ok(history) => history,
        Err(error) if is_missing(&error) => {
            return Ok(unfinished.map_or(Found::Nothing, Found::Other));
        }
        Err(error @ Error::Io { .. }) => return Err(error),
        Err(error) => return Ok(Found::Other(error)),
    };
    if *history.identity() == settings.identity {
        // There is nothing new: the caller wants it anew.
        return Ok(Found::Nothing);
    }
    let stale = || Error::Stale {
        expected: settings.identity.clone().into(),
        found: history.identity().clone().into(),
    };
    let settled = settled_since(&history.identity().source, traceset);
    // What ran at the start may be known by events that came later.
    let same = history.start() == start
        && (initial.iter().enumerate()).all(|(at, initial)| {
            Snapshot::read(&history, at, start).is_ok_and(|of| of == *initial)
        });
    let Some(settled) = settled.filter(|_| same) else { return Ok(Found::Other(stale())) };
    match Builder::extend(path, settings.clone(), settled.ns()) {
        Ok(builder) if builder.earliest() > start => Ok(Found::Builder(builder.into())),
        // Nothing of it could be kept.
        Ok(_) => Ok(Found::Nothing),
        Err(error @ (Error::Busy { .. } | Error::Io { .. })) => Err(error),
        Err(error) => Ok(Found::Other(error)),
    }
}

/// Whether there is no such file.
fn is_missing(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == ErrorKind::NotFound)
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
