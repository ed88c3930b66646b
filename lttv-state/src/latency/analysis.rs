//! Latencies as an analysis: the state is followed in order, and figures are added on any thread.

use ltt_read::{Event, Timestamp, TraceIndex, TracefileNumber};
use lttv_context::{Contexts, Traceset, TracesetContext};

use super::collector::Collector;
use super::selection::collect;
use super::trace_latencies::TraceLatencies;
use super::{Latency, Open, Settings, TraceLatency};
use crate::analysis::{End, EventsOfSlice, KernelAnalysis, KernelOfContext, Window};
#[cfg(feature = "checkpoint-files")]
use crate::kernel::OwnStates;
use crate::kernel::{KernelState, StateChange};
use crate::last_event::last_event;
use crate::spans::events::{Recorded, SpanEvents};
use crate::spans::machine::Machine;

/// The analysis that computes [`Latency`].
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::analysis::read;
/// use lttv_state::latency::{Family, LatencyAnalysis, Settings};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let analysis = LatencyAnalysis::new(Settings::new());
/// let found = read(&Traceset::open(path)?).threads(2).run(analysis);
/// assert!(found.errors.is_empty());
/// assert_eq!(found.output.traces()[0].total(Family::WakeUp).durations().count(), 247);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LatencyAnalysis {
    settings: Settings,
    events: SpanEvents,
    /// The traces, before their first events.
    traces: Vec<TraceLatencies>,
    /// The traces whose spans are read one by one.
    traceset: Option<Traceset>,
}

/// The name of saved states.
#[cfg(feature = "checkpoint-files")]
const SAVED: &str = "latency";

/// The fields and outcomes of the events of a slice.
#[derive(Debug, Default)]
pub struct Slice(Recorded);

/// The state between two slices.
#[derive(Debug, Clone)]
pub struct State(Vec<Machine>);

/// The figures so far, without open durations.
#[derive(Debug, Clone)]
pub struct Part(Vec<TraceLatencies>);

impl LatencyAnalysis {
    /// Creates the analysis.
    pub fn new(settings: Settings) -> Self {
        let new = match settings.selection.is_some() || settings.figures.division.is_some() {
            true => SpanEvents::for_figures_of_spans,
            false => SpanEvents::for_figures,
        };
        let events = new(settings.families, settings.periods.clone());
        LatencyAnalysis { settings, events, traces: Vec::new(), traceset: None }
    }
}

impl KernelAnalysis for LatencyAnalysis {
    type State = State;
    type Slice = Slice;
    type Part = Part;
    type Output = Latency;

    fn keeps_state(&self) -> bool {
        true
    }

    fn prepare(&mut self, contexts: &Contexts, kernel: &KernelState) {
        let missing = self.events.prepare(contexts, kernel);
        let traces = contexts.traces().iter().zip(missing).map(|(trace, missing)| {
            TraceLatencies::new(kernel, trace, &self.settings.figures, missing)
        });
        self.traces = traces.collect();
        let reads_spans =
            self.settings.selection.is_some() || self.settings.figures.division.is_some();
        self.traceset = reads_spans.then(|| contexts.traceset().clone());
    }

    fn options(&self) -> u64 {
        self.settings.periods.checksum()
    }

    fn state_bytes(State(machines): &State, _: Option<&State>) -> usize {
        machines.iter().map(Machine::bytes).sum()
    }

    fn attach(&self, context: &mut TracesetContext<'_>, kernel: &mut KernelOfContext<'_>) {
        self.events.attach(context, kernel);
    }

    #[cfg(feature = "checkpoint-files")]
    fn save(&self, State(machines): &State, to: &mut OwnStates) {
        // Periods of the user contain values of events.
        if self.settings.periods.is_empty() {
            to.put(SAVED, 0, Machine::to_bytes(machines));
        }
    }

    #[cfg(feature = "checkpoint-files")]
    fn saved(&self, _: &KernelState, from: &OwnStates) -> Option<State> {
        let bytes = from.get(SAVED, 0).filter(|_| self.settings.periods.is_empty())?;
        Machine::decoded(bytes, self.traces.len()).map(State)
    }

    fn begin(&self, _: &KernelState, _: Window) -> (State, Part) {
        let machines = self.traces.iter().map(|_| Machine::default()).collect();
        (State(machines), Part(self.traces.clone()))
    }

    fn enter(&self, _: &mut State, part: &mut Part, kernel: &KernelState, window: Window) {
        for (of, state) in part.0.iter_mut().zip(kernel.traces()) {
            let begin = window.start.max(state.start_time().as_ns());
            of.collector = Collector::new(&self.settings.figures, begin);
        }
    }

    fn end_window(&self, state: &mut State, at_end: State) {
        *state = at_end;
    }

    #[inline]
    fn record(
        &self,
        slice: &mut Slice,
        of: (usize, bool),
        (trace, _): (TraceIndex, TracefileNumber),
        event: &Event<'_>,
    ) {
        self.events.record(&mut slice.0, of, trace, event);
    }

    fn begin_slice(&self, state: &mut State, slice: &mut Slice) {
        self.events.begin_slice(&mut slice.0, state.0.len());
    }

    #[inline]
    fn changed(&self, all: &mut State, slice: &mut Slice, kernel: &KernelState, of: StateChange) {
        self.events.changed(&mut all.0, &mut slice.0, kernel, of);
    }

    fn end_slice(&self, all: &mut State, slice: &mut Slice, events: EventsOfSlice<'_>) {
        self.events.end_slice(&mut all.0, &mut slice.0, events.events.len());
    }

    fn add(&self, part: &mut Part, slice: &mut Slice, _: EventsOfSlice<'_>) {
        for (TraceLatencies { collector, .. }, log) in part.0.iter_mut().zip(&slice.0.logs) {
            match &self.traceset {
                None => log.outcomes.iter().for_each(|outcome| collector.put(*outcome)),
                Some(traceset) => self.events.lookup.with_names(|names| {
                    let selection = self.settings.selection.as_ref();
                    collect(log, traceset, selection, names, collector);
                }),
            }
            log.last.into_iter().for_each(|time| collector.passed(time));
        }
    }

    fn clear(&self, slice: &mut Slice) {
        slice.0.clear();
    }

    fn finish(&self, State(machines): State, Part(mut traces): Part, end: End<'_>) -> Latency {
        for (of, machine) in traces.iter_mut().zip(machines) {
            of.machine = machine;
            of.collector.finish();
        }
        // Of a read that was stopped, all traces have been read to the same time.
        let last = traces.iter().map(|of| of.collector.last).max();
        let reached = end.reached.map(Timestamp::as_ns).or(last).filter(|_| end.is_stopped);
        let until = reached.into_iter().chain(end.window.end).min().unwrap_or(i64::MAX);
        let of_traces = (0..).map(TraceIndex).zip(end.kernel.traces()).zip(&traces);
        let of_traces = of_traces.map(|((trace, state), of)| {
            let end = last_event(&of.trace).as_ns().min(until);
            let mut machine = of.machine.clone();
            let mut open = self.events.open(trace, state, &mut machine, end).spans;
            if let Some((selection, open)) = self.settings.selection.as_ref().zip(open.as_mut()) {
                self.events.lookup.with_names(|names| selection.retain(open, names));
            }
            let open = open.iter().flatten().map(Open::of).collect();
            let is_selection = self.settings.selection.is_some();
            TraceLatency::new(
                (state, machine),
                of,
                &self.settings.periods,
                end,
                (open, is_selection),
            )
        });
        Latency { traces: of_traces.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::check;
    use crate::latency::{Family, GroupBy};

    #[test]
    fn slices_of_any_sizes_add_up() {
        let of = |of: &TraceLatency| {
            let rows = Family::ALL.map(|family| of.rows(family, GroupBy::ThreadAndSubject));
            let top = Family::ALL.map(|family| of.top(family).to_vec());
            format!("{rows:?} {top:?} {:?} {:?} {:?}", of.open(), of.unmatched(), of.span())
        };
        let digest = |found: Latency| found.traces().iter().map(of).collect::<Vec<_>>();
        check(LatencyAnalysis::new(Settings::new()), digest, 37);
    }
}
