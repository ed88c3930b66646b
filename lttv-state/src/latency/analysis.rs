//! Latencies as an analysis: the state is followed in order, and figures are added on any thread.

use crc32fast::Hasher as Crc32;
use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Timestamp, TraceIndex, TracefileIndex, TracefileNumber};
use lttv_context::{Contexts, TracesetContext};

use super::collector::Collector;
use super::trace_latencies::TraceLatencies;
use super::{Latency, Settings, TraceLatency};
use crate::analysis::{End, EventsOfSlice, KernelAnalysis, KernelOfContext, Window};
#[cfg(feature = "checkpoint-files")]
use crate::kernel::OwnStates;
use crate::kernel::{KernelState, StateChange};
use crate::last_event::last_event;
use crate::spans::action::Action;
use crate::spans::inputs::{Input, RecordedEvent, RecordedInputs};
use crate::spans::machine::Machine;
use crate::spans::outcome::{At, Log};
use crate::spans::period::{PendingPeriods, PeriodHooks, RecordedPeriods};

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
    /// The traces, before their first events.
    traces: Vec<TraceLatencies>,
    /// The meaning of event types, by trace.
    actions: Vec<Vec<Option<Meaning>>>,
    /// The index of each tracefile in its trace.
    tracefiles: Vec<TracefileIndex>,
    pending: PendingPeriods,
}

/// The name of saved states.
#[cfg(feature = "checkpoint-files")]
const SAVED: &str = "latency";

/// The meaning of the events of a type, and what is recorded of them.
#[derive(Debug)]
struct Meaning {
    action: Box<Action>,
    inputs: Vec<Input>,
}

/// The fields and outcomes of the events of a slice.
#[derive(Debug, Default)]
pub struct Slice {
    inputs: RecordedInputs,
    periods: RecordedPeriods,
    /// The outcomes, by trace.
    logs: Vec<Log>,
}

/// The state between two slices.
#[derive(Debug, Clone)]
pub struct State(Vec<Machine>);

/// The figures so far, without open durations.
#[derive(Debug, Clone)]
pub struct Part(Vec<TraceLatencies>);

impl LatencyAnalysis {
    /// Creates the analysis.
    pub fn new(settings: Settings) -> Self {
        let (traces, actions, tracefiles, pending) = Default::default();
        LatencyAnalysis { settings, traces, actions, tracefiles, pending }
    }

    /// Applies the periods of events up to a change of the state, with or without those of the change.
    #[inline]
    fn apply_periods(&self, all: &mut State, slice: &mut Slice, until: (usize, bool)) {
        let Slice { periods, logs, .. } = slice;
        periods.apply_until(until, |trace, found| {
            logs[trace].is_on = found.counts;
            all.0[trace].apply_period(&self.settings.periods, found, &mut logs[trace]);
        });
    }

    #[inline]
    fn meaning(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Meaning> {
        self.actions.get(trace.0)?.get(event_type.index())?.as_ref()
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
        for trace in contexts.traces() {
            let (mut latencies, known) = TraceLatencies::new(kernel, trace, self.settings.top);
            let collector = latencies.collector;
            latencies.collector = collector.with_intervals(self.settings.intervals.as_ref());
            self.traces.push(latencies);
            let types = trace.trace().schema().event_types.len();
            let mut of_trace: Vec<_> = (0..types).map(|_| None).collect();
            for (id, action) in known {
                let inputs = action.inputs();
                of_trace[id.index()] = Some(Meaning { action: Box::new(action), inputs });
            }
            self.actions.push(of_trace);
        }
        self.tracefiles = contexts.tracefiles().iter().map(|of| of.index()).collect();
    }

    fn options(&self) -> u64 {
        let mut hasher = Crc32::new();
        hasher.update(self.settings.periods.identity().as_bytes());
        hasher.finalize().into()
    }

    fn state_bytes(State(machines): &State, _: Option<&State>) -> usize {
        machines.iter().map(|machine| size_of::<Machine>() + machine.bytes()).sum()
    }

    fn attach(&self, context: &mut TracesetContext<'_>, kernel: &mut KernelOfContext<'_>) {
        if !self.settings.periods.is_empty() {
            let (periods, pending) = (self.settings.periods.clone(), self.pending.clone());
            let kernel = kernel(context);
            context.attach(PeriodHooks { kernel, periods, pending });
        }
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
            let collector = Collector::new(self.settings.top, begin);
            of.collector = collector.with_intervals(self.settings.intervals.as_ref());
        }
    }

    fn end_window(&self, state: &mut State, at_end: State) {
        *state = at_end;
    }

    #[inline]
    fn record(
        &self,
        slice: &mut Slice,
        (number, counts): (usize, bool),
        (trace, _): (TraceIndex, TracefileNumber),
        event: &Event<'_>,
    ) {
        let meaning = self.meaning(trace, event.type_id());
        if let Some(Meaning { inputs, .. }) = meaning
            && !inputs.is_empty()
        {
            slice.inputs.push(inputs, event);
        }
        if let Some(mut found) = self.pending.take() {
            found.iter_mut().for_each(|found| found.counts &= counts);
            // Any change of the state has a meaning.
            slice.periods.push((number, meaning.is_some()), trace.0, found);
        }
    }

    fn begin_slice(&self, state: &mut State, slice: &mut Slice) {
        slice.logs.resize_with(state.0.len(), || Log::of_figures(self.settings.families));
    }

    #[inline]
    fn changed(&self, all: &mut State, slice: &mut Slice, kernel: &KernelState, of: StateChange) {
        let StateChange { trace, tracefile, event_type, counts, number, .. } = of;
        let Some(Meaning { action, inputs }) = self.meaning(trace, event_type) else { return };
        self.apply_periods(all, slice, (number, false));
        let Slice { inputs: recorded, logs, .. } = slice;
        let event = match inputs.len() {
            0 => RecordedEvent::NONE,
            fields => recorded.next(fields),
        };
        let Some(state) = kernel.trace(trace) else { return };
        let effect = state.effect();
        let Some(cpu) = effect.cpu() else { return };
        let (place, time) = (effect.place(), effect.time().as_ns());
        let at = At { cpu, place, time, tracefile: self.tracefiles[tracefile.0], event: None };
        let log = &mut logs[trace.0];
        log.is_on = counts;
        all.0[trace.0].apply(state, action, &event, &at, log);
        self.apply_periods(all, slice, (number, true));
    }

    fn end_slice(&self, state: &mut State, slice: &mut Slice, events: EventsOfSlice<'_>) {
        self.apply_periods(state, slice, (events.events.len(), true));
    }

    fn add(&self, part: &mut Part, slice: &mut Slice, _: EventsOfSlice<'_>) {
        for (TraceLatencies { collector, .. }, log) in part.0.iter_mut().zip(&slice.logs) {
            log.outcomes.iter().for_each(|outcome| collector.put(*outcome));
            log.last.into_iter().for_each(|time| collector.passed(time));
        }
    }

    fn clear(&self, slice: &mut Slice) {
        slice.inputs.clear();
        slice.periods.clear();
        for log in &mut slice.logs {
            log.clear();
        }
    }

    fn finish(&self, State(machines): State, Part(mut traces): Part, end: End<'_>) -> Latency {
        for (of, machine) in traces.iter_mut().zip(machines) {
            of.machine = machine;
        }
        // Of a read that was stopped, all traces have been read to the same time.
        let last = traces.iter().map(|of| of.collector.last).max();
        let reached = end.reached.map(Timestamp::as_ns).or(last).filter(|_| end.is_stopped);
        let until = reached.into_iter().chain(end.window.end).min().unwrap_or(i64::MAX);
        let of_traces = end.kernel.traces().zip(&traces).map(|(state, of)| {
            let end = last_event(&of.trace).as_ns().min(until);
            TraceLatency::new(state, of, &self.settings.periods, end)
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
