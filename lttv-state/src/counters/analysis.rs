//! The analysis that follows counters.

use std::sync::Arc;

use hashbrown::HashMap;
use ltt_read::{Event, Timestamp, Trace, TraceIndex, TracefileNumber};
use lttv_context::{Contexts, TracesetContext};
use lttv_filter::Environment;

use super::definition::{Counter, CounterError, Counters};
use super::hooks::{CounterHooks, PendingSamples, Sample};
use super::series::{Intervals, KeyPart, Series};
use crate::analysis::{End, EventsOfSlice, KernelAnalysis, KernelOfContext, Window};
use crate::kernel::{KernelState, StateChange};
use crate::last_event::last_event;
use crate::spans::period::{Read, Value};

/// The greatest number of series. The events of further ones are counted only.
const MAX_SERIES: usize = 1 << 16;
/// The greatest number of intervals with events of all series. The others have no figures.
const MAX_CELLS: usize = 1 << 20;
/// The greatest number of stored values of all series.
const MAX_CHANGES: usize = 1 << 22;

/// The settings of counters.
#[derive(Debug, Clone)]
pub struct CounterSettings {
    counters: Counters,
    intervals: Option<Intervals>,
    has_changes: bool,
}

impl CounterSettings {
    /// Creates settings with counters of traces. Times in expressions are those of an environment.
    ///
    /// # Errors
    ///
    /// Returns an error if two counters have the same name, or if one does not fit the traces.
    pub fn new(
        counters: impl IntoIterator<Item = Counter>,
        traces: &[Arc<Trace>],
        environment: &Environment,
    ) -> Result<Self, CounterError> {
        let counters = Counters::new(counters.into_iter().collect(), traces, environment)?;
        Ok(CounterSettings { counters, intervals: None, has_changes: false })
    }

    /// Stores each value: see [`Series::changes`].
    #[must_use]
    pub fn with_changes(self) -> Self {
        CounterSettings { has_changes: true, ..self }
    }

    /// Sets intervals of a length in ns, from a time on: the figures of each are in the [result](Series::intervals).
    #[must_use]
    pub fn every(self, start: Timestamp, length: u64) -> Self {
        let intervals = Some(Intervals { start: start.as_ns(), length: length.max(1) });
        CounterSettings { intervals, ..self }
    }
}

/// The analysis that finds the values of counters over time.
#[derive(Debug)]
pub struct CounterAnalysis {
    settings: CounterSettings,
    labels: Vec<Arc<[String]>>,
    pending: PendingSamples,
    traces: Vec<Arc<Trace>>,
}

/// The result of a [`CounterAnalysis`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct FoundCounters {
    series: Vec<Series>,
    /// The number of events in the window of series beyond the limit of those that are told apart.
    pub dropped: u64,
    /// `true` if there are so many intervals with events that some have no figures.
    pub lacks_intervals: bool,
    /// The number of values that are not among the changes of their series, since there are too many.
    pub dropped_changes: u64,
}

impl FoundCounters {
    /// Returns the series with a value that is known in the window: by trace, counter and key.
    pub fn series(&self) -> &[Series] {
        &self.series
    }
}

/// The values in the events of a slice.
#[derive(Debug, Default)]
pub struct Slice(Vec<Sample>);

/// The values of all series after an event.
#[derive(Debug, Clone, Default)]
pub struct State {
    places: HashMap<(TraceIndex, u32, Box<[KeyPart]>), u32>,
    series: Vec<Series>,
    /// The begin of the window, in ns.
    begin: i64,
    cells: usize,
    changes: usize,
    found: FoundCounters,
}

impl CounterAnalysis {
    /// Creates the analysis.
    pub fn new(settings: CounterSettings) -> Self {
        let labels = settings.counters.all.iter();
        let labels = labels.map(|of| of.labels().into()).collect();
        let (pending, traces) = Default::default();
        CounterAnalysis { settings, labels, pending, traces }
    }

    fn apply(&self, state: &mut State, sample: Sample) {
        let Sample { trace, counter, key, value, time, counts } = sample;
        let key: Box<[KeyPart]> = key.into_iter().map(part).collect();
        let key = (trace, counter, key);
        let place = match state.places.get(&key) {
            Some(place) => *place as usize,
            None if state.series.len() >= MAX_SERIES => {
                state.found.dropped += u64::from(counts);
                return;
            }
            None => {
                let labels = self.labels[counter as usize].clone();
                state.series.push(Series::new(trace, counter, key.2.clone(), labels));
                let place = state.series.len() - 1;
                state.places.insert(key, place as u32);
                place
            }
        };
        let mut intervals = self.settings.intervals;
        if state.cells >= MAX_CELLS {
            state.found.lacks_intervals |= intervals.is_some() && counts;
            intervals = None;
        }
        let is_delta = self.settings.counters.all[counter as usize].is_delta;
        let is_stored = counts && self.settings.has_changes && state.changes < MAX_CHANGES;
        state.found.dropped_changes += u64::from(counts && self.settings.has_changes && !is_stored);
        let series = &mut state.series[place];
        if is_stored {
            series.begin_changes(state.begin);
        }
        let counts = counts.then_some(state.begin);
        state.cells += series.event((value, is_delta), time, counts, intervals);
        if is_stored {
            series.change();
            state.changes += 1;
        }
    }
}

/// Returns the value of a field in a key.
fn part(read: Read) -> KeyPart {
    match read {
        Read::Value(Value::Integer(number)) => KeyPart::Integer(number),
        Read::Text(text) => KeyPart::Text(String::from_utf8_lossy(&text).into()),
        // A text has not got a number yet.
        Read::Value(Value::Missing | Value::Text(_)) => KeyPart::Missing,
    }
}

impl KernelAnalysis for CounterAnalysis {
    type State = State;
    type Slice = Slice;
    type Part = ();
    type Output = FoundCounters;

    fn keeps_state(&self) -> bool {
        true
    }

    fn prepare(&mut self, contexts: &Contexts, _: &KernelState) {
        self.traces = contexts.traces().iter().map(|of| of.trace().clone()).collect();
    }

    fn options(&self) -> u64 {
        self.settings.counters.checksum()
    }

    fn state_bytes(state: &State, _: Option<&State>) -> usize {
        2 * size_of_val(&*state.series) + state.cells * 2 * size_of::<Series>()
    }

    fn attach(&self, context: &mut TracesetContext<'_>, kernel: &mut KernelOfContext<'_>) {
        let (counters, pending) = (self.settings.counters.clone(), self.pending.clone());
        let kernel = kernel(context);
        context.attach(CounterHooks { kernel, counters, pending });
    }

    fn begin(&self, _: &KernelState, window: Window) -> (State, ()) {
        let begin = window.start;
        (State { begin, ..State::default() }, ())
    }

    fn enter(&self, state: &mut State, (): &mut (), _: &KernelState, window: Window) {
        state.begin = window.start;
    }

    fn end_window(&self, state: &mut State, at_end: State) {
        *state = at_end;
    }

    #[inline]
    fn record(
        &self,
        slice: &mut Slice,
        (_, counts): (usize, bool),
        _: (TraceIndex, TracefileNumber),
        _: &Event<'_>,
    ) {
        if let Some(mut found) = self.pending.take() {
            found.iter_mut().for_each(|sample| sample.counts &= counts);
            slice.0.append(&mut found);
        }
    }

    fn changed(&self, _: &mut State, _: &mut Slice, _: &KernelState, _: StateChange) {}

    fn end_slice(&self, state: &mut State, slice: &mut Slice, _: EventsOfSlice<'_>) {
        for sample in slice.0.drain(..) {
            self.apply(state, sample);
        }
    }

    fn finish(&self, mut state: State, (): (), end: End<'_>) -> FoundCounters {
        let reached = end.reached.map(Timestamp::as_ns).filter(|_| end.is_stopped);
        let until = reached.into_iter().chain(end.window.end).min();
        let ends = self.traces.iter().map(|trace| last_event(trace).as_ns());
        let ends: Vec<i64> = ends.map(|last| until.map_or(last, |until| last.min(until))).collect();
        for series in &mut state.series {
            series.advance(ends[series.trace().0], state.begin, self.settings.intervals);
            if self.settings.has_changes {
                series.begin_changes(state.begin);
            }
        }
        let is_known = |series: &Series| series.figures().least().is_some();
        state.series.retain(is_known);
        state
            .series
            .sort_by(|a, b| (a.trace, a.counter, &a.key).cmp(&(b.trace, b.counter, &b.key)));
        FoundCounters { series: state.series, ..state.found }
    }
}
