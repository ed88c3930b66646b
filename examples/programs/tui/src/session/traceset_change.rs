//! A change of the traces of a tab, and the mapping of indices and positions.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::{
    OnFailure, OpenOptions, Opened, Position, Timestamp, Trace, TraceIndex, TracefileIndex,
};
use lttv_common::clocks::Corrected;
use lttv_context::{Bounds, EventCall, Subscription, Traceset, TracesetContext, TracesetPosition};
use lttv_hooks::Flow;
use lttv_requests::views::ProcessKey;

use crate::model::fault::Fault;
use crate::model::threads::ThreadKey;
use crate::session::{OpenError, SelectedProcess, Session};

/// A change of the traces of a tab.
///
/// Positions and indices of traces of one traceset are not valid in another one. A change maps
/// them.
#[derive(Debug)]
pub struct TracesetChange {
    before: Traceset,
    after: Traceset,
}

/// The greatest number of events that are read to find one among those of a time.
const MOST_EVENTS: u64 = 100_000;

/// An event, independently of the other traces.
#[derive(Debug)]
struct Place {
    trace: Arc<Trace>,
    tracefile: TracefileIndex,
    position: Position,
}

impl TracesetChange {
    /// Returns the index that a trace has now; `None` if it was removed.
    pub fn trace(&self, index: TraceIndex) -> Option<TraceIndex> {
        let trace = self.before.traces().get(index.0)?;
        let now = self.after.traces().iter().position(|now| Arc::ptr_eq(now, trace))?;
        Some(TraceIndex(now))
    }

    /// Returns the key that a process has now; `None` if its trace was removed.
    pub fn process(&self, key: ProcessKey) -> Option<ProcessKey> {
        Some(ProcessKey { trace: self.trace(key.trace)?, ..key })
    }

    /// Returns the position of the same event, or of the first event at its time or later if
    /// its trace was removed.
    pub fn position(&self, position: &TracesetPosition) -> TracesetPosition {
        let Some(time) = position.time() else { return TracesetPosition::end(&self.after) };
        let place = Place::at(&self.before, position);
        let stays = |place: &Place| {
            self.after.traces().iter().any(|trace| Arc::ptr_eq(trace, &place.trace))
        };
        let found = place.filter(stays).and_then(|place| place.find(&self.after, time));
        found.unwrap_or_else(|| {
            let mut context = TracesetContext::new(&self.after);
            context.seek_time(time);
            context.position()
        })
    }
}

impl Place {
    fn of(call: &EventCall<'_, '_>) -> Self {
        Place {
            trace: call.event.trace().clone(),
            tracefile: call.event.tracefile_index(),
            position: call.event.position(),
        }
    }

    /// Returns the event at a position of a traceset.
    fn at(traceset: &Traceset, position: &TracesetPosition) -> Option<Self> {
        let found = RefCell::new(None);
        let mut context = TracesetContext::new(traceset);
        context.seek_position(position).ok()?;
        context.on_event(Subscription::to_every_event(), |call| {
            found.replace(Some(Place::of(call)));
            Flow::Break(())
        });
        _ = context.read(&Bounds::all());
        drop(context);
        found.take()
    }

    /// Finds the position of the event in a traceset, given its time of delivery.
    fn find(&self, traceset: &Traceset, time: Timestamp) -> Option<TracesetPosition> {
        let found = RefCell::new(None);
        let mut context = TracesetContext::new(traceset);
        context.seek_time(time);
        context.on_event(Subscription::to_every_event(), |call| {
            if self.is_of(call) {
                found.replace(Some(call.position()));
                return Flow::Break(());
            }
            if call.delivery_time() > time { Flow::Break(()) } else { Flow::Continue(()) }
        });
        _ = context.read(&Bounds::all().max_examined(MOST_EVENTS));
        drop(context);
        found.take()
    }

    fn is_of(&self, call: &EventCall<'_, '_>) -> bool {
        call.event.tracefile_index() == self.tracefile
            && call.event.position() == self.position
            && Arc::ptr_eq(call.event.trace(), &self.trace)
    }
}

impl Session {
    /// Adds all traces at or below a path, after the others. The time window, the current time
    /// and position, and the filter stay. The clocks are corrected as those of the others. Traces that
    /// cannot be opened, or whose clocks are not corrected, are in the message.
    ///
    /// # Errors
    ///
    /// If no trace can be opened, or all are among the traces of the tab.
    pub(crate) fn add_traces(&mut self, path: &Path) -> Result<TracesetChange, OpenError> {
        if self.recording().is_some() {
            return Err(OpenError::IsRecorded);
        }
        let options = OpenOptions::new().on_failure(OnFailure::Continue);
        let Opened { traces, mut failures, .. } = options.open_all_of([path])?;
        if traces.is_empty() && !failures.is_empty() {
            return Err(failures.remove(0).into());
        }
        let known: Vec<_> = self.traceset().traces().iter().map(canonical).collect();
        let mut after = self.traceset().clone();
        let is_new = |trace: &Arc<Trace>| !known.contains(&canonical(trace));
        let (corrected, others) = self.correct(traces.into_iter().filter(is_new))?;
        corrected.traceset.traces().iter().for_each(|trace| _ = after.add(Arc::clone(trace)));
        if after.revision() == self.traceset().revision() {
            return Err(OpenError::AlreadyOpen(path.display().to_string()));
        }
        let added = after.traces().len() - known.len();
        let change = self.set_traceset(after)?;
        let tail = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        self.name = format!("{}+{tail}", self.name);
        let traces = if added == 1 { "trace" } else { "traces" };
        let failed = match failures.first() {
            Some(first) => format!("; not read: {}", ltt_read::ErrorChain(first)),
            None => String::new(),
        };
        let others: String = others.iter().map(|text| format!("; {text}")).collect();
        self.add_message(format!("added {added} {traces}{failed}{others}"));
        self.failures
            .extend(failures.iter().map(|failure| ltt_read::ErrorChain(failure).to_string()));
        Ok(change)
    }

    /// Opens all traces at or below a path in a session of their own. Their clocks are corrected as
    /// those of this session.
    ///
    /// # Errors
    ///
    /// If no trace can be opened, or no event has a time.
    pub(crate) fn open_beside(&self, path: PathBuf) -> Result<Session, OpenError> {
        let mut uncorrected = Vec::new();
        let mut session = Session::open_with(&[path], |traceset| {
            let (corrected, others) = self.correct(traceset.traces().iter().cloned())?;
            uncorrected = others;
            Ok(corrected)
        })?;
        uncorrected.into_iter().for_each(|text| session.add_message(text));
        Ok(session)
    }

    /// Returns traces with clocks that are corrected as those of this session, and a message for
    /// each trace whose clock is not. If there is no other, no clock of the traces is corrected.
    fn correct(
        &self,
        traces: impl Iterator<Item = Arc<Trace>>,
    ) -> Result<(Corrected, Vec<String>), ltt_read::Error> {
        let (mut corrected, mut others) = (Corrected::default(), Vec::new());
        for trace in traces {
            let other = self.clocks.apply(&trace)?;
            if other.is_some() {
                corrected.times = self.clocks.clone();
            } else if !self.clocks.is_empty() {
                others.push(format!("the clock of {} is not corrected", name(&trace)));
            }
            corrected.traceset.add(other.unwrap_or(trace));
        }
        Ok((corrected, others))
    }

    /// Removes a trace. The time window and the current time are limited to the time span of
    /// the others.
    ///
    /// # Errors
    ///
    /// If there is no trace of this index, it is the only one, or no event of the others has a
    /// time.
    pub(crate) fn remove_trace(&mut self, index: TraceIndex) -> Result<TracesetChange, OpenError> {
        if self.recording().is_some() {
            return Err(OpenError::IsRecorded);
        }
        let mut after = self.traceset().clone();
        let removed = after.remove(index).ok_or(OpenError::NoTrace)?;
        if after.traces().is_empty() {
            return Err(OpenError::LastTrace);
        }
        let change = self.set_traceset(after)?;
        let names: Vec<_> = self.traceset().traces().iter().map(|trace| name(trace)).collect();
        self.name = names.join("+");
        self.add_message(format!("removed {}", name(&removed)));
        Ok(change)
    }

    /// Replaces the traceset. All requests end.
    fn set_traceset(&mut self, after: Traceset) -> Result<TracesetChange, OpenError> {
        let before = self.traceset().clone();
        self.replace_contexts(&after)?;
        self.notes = self.notes.reopen(&after);
        let change = TracesetChange { before, after };
        self.process = self
            .process
            .take()
            .and_then(|of| Some(SelectedProcess { key: change.process(of.key)?, ..of }));
        self.thread = self.thread.take().and_then(|(key, name)| {
            Some((ThreadKey { trace: change.trace(key.trace)?, ..key }, name))
        });
        let position = self.tab.position().map(|position| change.position(position));
        self.tab.set_traceset(change.after.revision(), Some(self.span()));
        if let Some(position) = position {
            // The position is of the new traceset, so it is not refused.
            _ = self.tab.set_position(&position, None);
        }
        let filter = self.tab.filter().cloned();
        if let Some(text) = filter {
            match self.compile(&text) {
                Ok(filters) => self.filters = filters,
                Err(error) => {
                    self.filters = None;
                    self.tab.set_filter(None, None);
                    let fault = Fault::from(error);
                    self.add_message(format!("the filter is removed: {fault}"));
                }
            }
        }
        Ok(change)
    }

    /// Adds a message to the previous one.
    pub(super) fn add_message(&mut self, text: String) {
        self.message = Some(match self.message.take() {
            Some(before) => format!("{text}; {before}"),
            None => text,
        });
    }
}

/// Returns the path of a trace, by which traces are compared.
fn canonical(trace: &Arc<Trace>) -> PathBuf {
    trace.path().canonicalize().unwrap_or_else(|_| trace.path().to_path_buf())
}

/// Returns the name of a trace: the last part of its path.
pub(crate) fn name(trace: &Trace) -> String {
    let path = trace.path();
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traceset(names: &[&str]) -> Traceset {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
        Traceset::open_many(names.iter().map(|name| folder.join(name))).expect("bundled traces")
    }

    /// Returns the positions of all events with the events.
    fn all(traceset: &Traceset) -> Vec<(TracesetPosition, Place)> {
        let all = RefCell::new(Vec::new());
        let mut context = TracesetContext::new(traceset);
        context.on_event(Subscription::to_every_event(), |call| {
            all.borrow_mut().push((call.position(), Place::of(call)));
        });
        let read = context.read(&Bounds::all()).expect("no position");
        assert_eq!(read.errors, 0);
        drop(context);
        all.take()
    }

    fn is_same(one: &Place, other: &Place) -> bool {
        Arc::ptr_eq(&one.trace, &other.trace)
            && (one.tracefile, one.position) == (other.tracefile, other.position)
    }

    #[test]
    fn positions_stay_at_their_events() {
        let both = traceset(&["kernel", "ust", "ust-ctf2"]);
        let mut fewer = both.clone();
        let removed = fewer.remove(TraceIndex(1)).expect("three traces");
        let (of_both, of_fewer) = (all(&both), all(&fewer));
        let removal = TracesetChange { before: both.clone(), after: fewer.clone() };
        let addition = TracesetChange { before: fewer.clone(), after: both.clone() };
        for (position, place) in of_both.iter().step_by(17) {
            let now = removal.position(position);
            if Arc::ptr_eq(&place.trace, &removed) {
                // The first remaining event that is not earlier.
                let expected = of_fewer.iter().find(|(other, _)| other.time() >= position.time());
                let end = TracesetPosition::end(&fewer);
                assert_eq!(now, expected.map_or(end, |(expected, _)| expected.clone()));
                continue;
            }
            let expected = of_fewer.iter().find(|(_, other)| is_same(place, other));
            assert_eq!(Some(&now), expected.map(|(expected, _)| expected), "{place:?}");
            assert_eq!(&addition.position(&now), position, "{place:?}");
        }
        let end = TracesetPosition::end(&both);
        assert_eq!(removal.position(&end), TracesetPosition::end(&fewer));
        let indices = [0, 1, 2, 3].map(|index| removal.trace(TraceIndex(index)));
        assert_eq!(indices, [Some(TraceIndex(0)), None, Some(TraceIndex(1)), None]);
    }
}
