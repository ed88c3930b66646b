//! The reader behind an iterator of events, which also decodes the events that it has returned.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ltt_read::schema::EventTypeId;
use ltt_read::{Cursor, Event, Merge, Timestamp, Trace, TraceIndex, TracefileIndex};
use lttv_common::text::clock_text::ClockRange;
use lttv_common::time::Window;
use lttv_state::filter::KernelFilters;
use pyo3::exceptions::{PyBaseException, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyString;

use super::found::Found;
use super::getter::TypeInfo;
use super::place::Place;
use super::recording::Follow;
use crate::errors::{of_read, warn_of_damage};
use crate::outside;
use crate::selection::Selection;

/// The number of events that are examined with the interpreter, and without it.
const FEW: u64 = 64;
const MANY: u64 = 1 << 16;

/// The number of events after which the time is looked at for progress.
const BETWEEN_PROGRESS: u64 = 1 << 13;
const PROGRESS: Duration = Duration::from_millis(50);

/// The consequence of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnDamage {
    /// A warning follows the events that can be read.
    Warn,
    /// The first error is raised.
    Raise,
    /// Nothing.
    Ignore,
}

impl OnDamage {
    /// Returns the choice of a name.
    pub(crate) fn named(name: &str) -> PyResult<OnDamage> {
        match name {
            "warn" => Ok(OnDamage::Warn),
            "raise" => Ok(OnDamage::Raise),
            "ignore" => Ok(OnDamage::Ignore),
            _ => Err(PyValueError::new_err(format!(
                "errors: expected 'warn', 'raise' or 'ignore', not '{name}'"
            ))),
        }
    }
}

/// A reader of events in order of time, which threads may share.
pub(crate) struct Reader(Mutex<State>);

/// The state of a reader.
pub(super) struct State {
    source: Source,
    traces: Vec<Arc<Trace>>,
    types: Vec<Vec<Option<Box<TypeInfo>>>>,
    /// The number of the current event.
    pub(super) generation: u64,
    /// The readers of events that are not current any more.
    cursors: HashMap<(TraceIndex, TracefileIndex), Cursor>,
    on_damage: OnDamage,
    errors: Vec<ltt_read::Error>,
    notices: Vec<ltt_read::Notice>,
    has_ended: bool,
    progress: Option<(Py<PyAny>, Instant)>,
}

/// The origin of the events.
enum Source {
    /// All events.
    Merge(Box<Merge>),
    /// The events of a selection.
    Selected(Box<Selected>),
    /// The events that pass a filter that needs the kernel state.
    Found(Found),
    /// Traces that are being recorded.
    Recording(Box<Follow>),
}

/// The events of a selection.
struct Selected {
    merge: Merge,
    filters: Option<Arc<KernelFilters>>,
    window: Window,
    /// The time of delivery at which no event of the window follows.
    stop: Timestamp,
}

impl Reader {
    pub(crate) fn new(
        traces: &[Arc<Trace>],
        selection: Selection,
        on_damage: OnDamage,
        progress: Option<Py<PyAny>>,
    ) -> Reader {
        let Selection { filters, window } = selection;
        let source = match filters {
            None if window.is_everything() => Source::Merge(Box::new(Merge::new(traces))),
            Some(filters) if filters.uses_state() => {
                Source::Found(Found::new(traces.to_vec(), filters, window))
            }
            filters => Source::Selected(Box::new(Selected::new(traces, filters, window))),
        };
        Reader::of(source, traces.to_vec(), on_damage, progress)
    }

    /// Creates a reader of traces that are being recorded.
    pub(crate) fn following(follow: Follow, on_damage: OnDamage) -> Reader {
        Reader::of(Source::Recording(Box::new(follow)), Vec::new(), on_damage, None)
    }

    fn of(
        source: Source,
        traces: Vec<Arc<Trace>>,
        on_damage: OnDamage,
        progress: Option<Py<PyAny>>,
    ) -> Reader {
        let mut state = State {
            source,
            traces: Vec::new(),
            types: Vec::new(),
            generation: 0,
            cursors: HashMap::new(),
            on_damage,
            errors: Vec::new(),
            notices: Vec::new(),
            has_ended: false,
            progress: progress.map(|callback| (callback, Instant::now())),
        };
        state.set_traces(traces);
        Reader(Mutex::new(state))
    }

    /// Locks the state. The interpreter is released meanwhile, since its owner may wait for the interpreter.
    pub(super) fn lock(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn set_traces(&mut self, traces: Vec<Arc<Trace>>) {
        let types = traces.iter().zip(0..).map(|(trace, at)| {
            let mut known = self.types.get_mut(at).map(std::mem::take).unwrap_or_default();
            known.resize_with(trace.schema().event_types.len(), || None);
            known
        });
        self.types = types.collect();
        self.traces = traces;
    }

    /// Returns the name of an event type, and the range of its times.
    pub(super) fn name(
        &mut self,
        py: Python<'_>,
        trace: TraceIndex,
        id: EventTypeId,
    ) -> (Py<PyString>, ClockRange) {
        let info = &mut self.types[trace.0][id.index()];
        let info =
            info.get_or_insert_with(|| Box::new(TypeInfo::new(py, &self.traces[trace.0], id)));
        (info.name.clone_ref(py), info.range)
    }

    /// Advances to the next event, which becomes the current one. Returns `None` at the end, or if a recording has
    /// nothing new within its time.
    pub(super) fn next(&mut self, py: Python<'_>) -> PyResult<Option<Place>> {
        if self.has_ended {
            return Ok(None);
        }
        self.generation += 1;
        self.report_progress(py)?;
        let place = match &mut self.source {
            Source::Merge(merge) => merge.next().map(|event| Place::of(&event)),
            Source::Selected(selected) => selected.next(py)?,
            Source::Found(found) => found.next(py)?,
            Source::Recording(follow) => {
                let place = follow.next(py)?;
                let (traces, is_over) = (follow.new_traces(), follow.has_ended());
                if let Some(traces) = traces {
                    self.set_traces(traces);
                    self.cursors.clear();
                }
                if place.is_none() && !is_over {
                    return Ok(None);
                }
                place
            }
        };
        if self.on_damage == OnDamage::Raise
            && let Some(merge) = self.source.merge_mut()
            && !merge.errors().is_empty()
            && let Some(error) = merge.take_errors().first()
        {
            let raised = of_read(py, error);
            self.has_ended = true;
            return Err(raised);
        }
        if place.is_none() {
            self.end(py)?;
        }
        Ok(place)
    }

    fn report_progress(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some((callback, last)) = &mut self.progress else { return Ok(()) };
        if !self.generation.is_multiple_of(BETWEEN_PROGRESS) || last.elapsed() < PROGRESS {
            return Ok(());
        }
        *last = Instant::now();
        let callback = callback.clone_ref(py);
        if let Some(merge) = self.source.merge_mut() {
            let now = merge.progress();
            outside::call(py, &callback, (now.done, now.total))?;
        }
        Ok(())
    }

    /// Ends the read, with the warnings.
    fn end(&mut self, py: Python<'_>) -> PyResult<()> {
        self.has_ended = true;
        let mut omitted = 0;
        match &mut self.source {
            Source::Found(found) => {
                let damage = found.take_damage();
                (self.errors, self.notices, omitted) = (damage.0, damage.1, damage.2);
            }
            source => {
                if let Some(merge) = source.merge_mut() {
                    self.errors = merge.take_errors();
                    self.notices = merge.take_notices();
                    omitted = merge.errors_omitted();
                }
            }
        }
        if let Some((callback, _)) = &self.progress
            && let Some(merge) = self.source.merge_mut()
        {
            let total = merge.progress().total;
            outside::call(py, callback, (total, total))?;
        }
        match (self.on_damage, self.errors.first()) {
            (OnDamage::Raise, Some(error)) => Err(of_read(py, error)),
            (OnDamage::Ignore, _) => Ok(()),
            _ => warn_of_damage(py, &self.errors, omitted, &self.notices),
        }
    }

    /// Returns `true` after the last event.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Sets the longest time to wait for an event of a recording, and returns the one before.
    pub(super) fn set_timeout(&mut self, timeout: Option<Duration>) -> Option<Duration> {
        match &mut self.source {
            Source::Recording(follow) => follow.set_timeout(timeout),
            _ => None,
        }
    }

    /// Ends a recording.
    pub(super) fn complete(&mut self, py: Python<'_>) -> PyResult<()> {
        match &mut self.source {
            Source::Recording(follow) => follow.complete(py),
            _ => Ok(()),
        }
    }

    /// Returns the exceptions of damage, after the last event.
    pub(super) fn errors(&self, py: Python<'_>) -> Vec<Py<PyBaseException>> {
        self.errors.iter().map(|error| of_read(py, error).into_value(py)).collect()
    }

    /// Returns the messages about losses, after the last event.
    pub(super) fn losses(&self) -> Vec<String> {
        let losses = self.notices.iter().filter(|notice| notice.kind.is_loss());
        losses.map(ToString::to_string).collect()
    }

    /// Calls `read` with an event: the current one, or one that is read again.
    pub(super) fn with<R>(
        &mut self,
        py: Python<'_>,
        (generation, place): (u64, &Place),
        read: impl FnOnce(&Event<'_>, &mut TypeInfo) -> PyResult<R>,
    ) -> PyResult<R> {
        let State { source, traces, types, cursors, .. } = self;
        let of_trace = types.get_mut(place.trace.0).and_then(|of| of.get_mut(place.id.index()));
        let (Some(info), Some(trace)) = (of_trace, traces.get(place.trace.0)) else {
            return Err(PyValueError::new_err("the event is of another read"));
        };
        let info = info.get_or_insert_with(|| Box::new(TypeInfo::new(py, trace, place.id)));
        if generation == self.generation
            && let Some(event) = source.merge_mut().and_then(|merge| merge.current())
        {
            return read(&event, info);
        }
        let cursor = cursors
            .entry((place.trace, place.tracefile))
            .or_insert_with(|| trace.cursor(place.tracefile).with_trace_number(place.trace.0));
        cursor.seek(place.position).map_err(|error| of_read(py, &error))?;
        match cursor.next() {
            Ok(Some(event)) => read(&event, info),
            Ok(None) => Err(PyValueError::new_err("the event is no longer in the trace")),
            Err(error) => Err(of_read(py, &error)),
        }
    }
}

impl Source {
    fn merge_mut(&mut self) -> Option<&mut Merge> {
        match self {
            Source::Merge(merge) => Some(merge),
            Source::Selected(selected) => Some(&mut selected.merge),
            Source::Recording(follow) => Some(follow.merge()),
            Source::Found(_) => None,
        }
    }
}

impl Selected {
    fn new(traces: &[Arc<Trace>], filters: Option<Arc<KernelFilters>>, window: Window) -> Selected {
        let may_match = |trace, tracefile| {
            filters.as_ref().is_none_or(|of| of.filters().can_match(trace, tracefile))
        };
        let mut merge = Merge::with_tracefiles(traces, may_match);
        // The first time that is not in the window.
        let after = window.end.and_then(|end| end.checked_add(Duration::from_nanos(1)));
        let stop = after.and_then(|after| merge.delivered_by(after)).unwrap_or(Timestamp::MAX);
        if let Some(begin) = window.begin {
            merge.seek(begin);
        }
        Selected { merge, filters, window, stop }
    }

    fn next(&mut self, py: Python<'_>) -> PyResult<Option<Place>> {
        match self.examine(FEW) {
            Examined::Found(place) => return Ok(Some(place)),
            Examined::End => return Ok(None),
            Examined::More => {}
        }
        loop {
            match py.detach(|| self.examine(MANY)) {
                Examined::Found(place) => return Ok(Some(place)),
                Examined::End => return Ok(None),
                Examined::More => outside::check_signals(py)?,
            }
        }
    }

    /// Looks for the next event among some.
    fn examine(&mut self, most: u64) -> Examined {
        let Selected { merge, filters, window, stop } = self;
        let filters = filters.as_deref().map(KernelFilters::filters);
        let passes = |event: &Event<'_>| {
            window.contains(event.timestamp()) && filters.is_none_or(|of| of.matches(event))
        };
        let is_over = |event: &Event<'_>| {
            event.timestamp().is_some_and(|time| time >= *stop && *stop < Timestamp::MAX)
        };
        let mut examined = 0;
        let found = merge.next_where(|event| {
            examined += 1;
            examined > most || passes(event) || is_over(event)
        });
        match found {
            None => Examined::End,
            Some(event) if passes(&event) => Examined::Found(Place::of(&event)),
            Some(event) if is_over(&event) => Examined::End,
            Some(_) => Examined::More,
        }
    }
}

/// The result of looking for an event.
enum Examined {
    Found(Place),
    /// There is none among those examined.
    More,
    End,
}
