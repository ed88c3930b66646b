//! Continuing with the stored history of traces, which may have grown since.

use std::io::ErrorKind;
use std::path::Path;

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Fingerprint, Handle, Traceset, TracesetContext, TracesetPosition};

use super::snapshot::Snapshot;
use super::writer::KernelHistory;
use crate::history::{Builder, History, HistoryError, ResumeNote, Settings};

/// The content of a file that a history is to be stored in.
#[derive(Debug)]
pub(super) enum Existing {
    /// A history of the same traces that can be continued.
    Usable(Box<Builder>),
    /// No history, or a finished one of the same traces, to be computed again.
    None,
    /// A history that cannot be continued, with the reason.
    Unusable(HistoryError),
}

/// Opens the history stored in a file to continue with it: an unfinished history of the
/// same traces, or a finished one of these traces before they grew. `initial` are the
/// states of the traces before their first event; `start` is the start of the history.
pub(super) fn resume_or_extend(
    path: &Path,
    traceset: &Traceset,
    settings: &Settings,
    start: Timestamp,
    initial: &[Snapshot],
) -> Result<Existing, HistoryError> {
    let unfinished = match Builder::resume(path, settings.clone()) {
        Ok(builder) if builder.start() == start => return Ok(Existing::Usable(builder.into())),
        // The start differs, though the traces seem to be the same.
        Ok(_) => None,
        Err(error) if is_missing(&error) => None,
        // The file is too short to be resumed.
        Err(HistoryError::Unfinished) => None,
        Err(
            error @ (HistoryError::Busy { .. }
            | HistoryError::NotAFile { .. }
            | HistoryError::Io { .. }),
        ) => {
            return Err(error);
        }
        Err(error) => Some(error),
    };
    let history = match History::open(path) {
        Ok(history) => history,
        Err(error) if is_missing(&error) => {
            return Ok(unfinished.map_or(Existing::None, Existing::Unusable));
        }
        Err(error @ HistoryError::Io { .. }) => return Err(error),
        Err(error) => return Ok(Existing::Unusable(error)),
    };
    if *history.identity() == settings.identity {
        // The traces have not changed: the history is to be computed again.
        return Ok(Existing::None);
    }
    let stale = || HistoryError::Stale {
        expected: settings.identity.clone().into(),
        found: history.identity().clone().into(),
    };
    let settled = Fingerprint::from_bytes(&history.identity().source).unchanged_before(traceset);
    // Later events may reveal processes that ran at the start.
    let same = history.start() == start
        && (initial.iter().enumerate()).all(|(at, initial)| {
            Snapshot::from_history(&history, TraceIndex(at), start).is_ok_and(|of| of == *initial)
        });
    let Some(settled) = settled.filter(|_| same) else { return Ok(Existing::Unusable(stale())) };
    match Builder::extend(path, settings.clone(), settled) {
        Ok(builder) if builder.earliest() > start => Ok(Existing::Usable(builder.into())),
        // Nothing of the history could be kept.
        Ok(_) => Ok(Existing::None),
        Err(error @ (HistoryError::Busy { .. } | HistoryError::Io { .. })) => Err(error),
        Err(error) => Ok(Existing::Unusable(error)),
    }
}

/// Returns `true` if an error means that a file does not exist.
fn is_missing(error: &HistoryError) -> bool {
    matches!(error, HistoryError::Io { error, .. } if error.kind() == ErrorKind::NotFound)
}

/// The time at which to write a mark, from which the history can be continued later.
#[derive(Debug, Default)]
pub(super) struct MarkWriter {
    at: Option<Timestamp>,
}

impl MarkWriter {
    /// Seeks to the last mark of the history, if it has one, and plans the next mark for
    /// the time up to which the traces are settled now.
    pub(super) fn new(
        context: &mut TracesetContext<'_>,
        history: Handle<KernelHistory>,
    ) -> MarkWriter {
        let builder = context.extensions()[history].builder();
        let last = builder.and_then(Builder::resume_note).cloned();
        let last = last.filter(|mark| restore(context, mark));
        let settled = context.traceset().complete_before();
        MarkWriter {
            at: settled.filter(|settled| last.as_ref().is_none_or(|last| last.time < *settled)),
        }
    }

    /// Returns the time before which reading must stop for a mark; `None` if no mark is
    /// planned.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.at
    }

    /// Writes the planned mark. The extensions of the context must have the state at a position that
    /// was reached by reading to its time.
    pub(super) fn write(
        &mut self,
        context: &mut TracesetContext<'_>,
        history: Handle<KernelHistory>,
        position: &TracesetPosition,
    ) -> Result<(), HistoryError> {
        let Some(time) = self.at.take() else { return Ok(()) };
        // Where clocks went back, seeking this time would lead to another position.
        let comes_again = position.is_start_of(time);
        KernelHistory::reach(context, history, time);
        let Some(note) = state_of(context).filter(|_| comes_again) else { return Ok(()) };
        match context.extensions_mut()[history].builder_mut() {
            Some(builder) => builder.set_resume_note(time, &note),
            None => Ok(()),
        }
    }
}

/// Encodes the state of the context's extensions for a mark.
#[cfg(feature = "checkpoint-files")]
fn state_of(context: &mut TracesetContext<'_>) -> Option<Vec<u8>> {
    context.state().to_bytes()
}

/// Seeks to a mark and restores the extensions. Returns `false` if the mark does not
/// contain their state.
#[cfg(feature = "checkpoint-files")]
fn restore(context: &mut TracesetContext<'_>, mark: &ResumeNote) -> bool {
    context.state().restore_bytes(&mark.note, mark.time)
}

/// Without checkpoint files states cannot be encoded: there are no marks, and traces are
/// read from the start.
#[cfg(not(feature = "checkpoint-files"))]
fn state_of(_: &mut TracesetContext<'_>) -> Option<Vec<u8>> {
    None
}

#[cfg(not(feature = "checkpoint-files"))]
fn restore(_: &mut TracesetContext<'_>, _: &ResumeNote) -> bool {
    false
}
