//! Latencies in slices: the state is followed in order, and figures are added on any thread.

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Timestamp, TraceIndex, TracefileIndex, TracefileNumber};
use lttv_context::{Contexts, Handle, SliceAnalysis, TracesetContext};

use super::action::Action;
use super::extension::TraceLatencies;
use super::inputs::{Input, InputReader, OneEvent, RecordedInputs};
use super::machine::Machine;
use super::outcome::{At, Log, Outcomes};
use super::{Latency, Settings, TraceLatency};
use crate::kernel::{Followed, Follower, FollowerObserver, KernelState, RecordedEvents, Recorder};
use crate::last_event::last_event;

/// The latencies of whole traces, without periods, as an analysis in slices.
#[derive(Debug)]
pub(super) struct InSlices {
    recorder: Recorder,
    /// The meaning of event types, by trace.
    actions: Vec<Vec<Option<Meaning>>>,
    /// The trace of each tracefile, and its index there.
    tracefiles: Vec<(TraceIndex, TracefileIndex)>,
}

/// The meaning of the events of a type, and what is recorded of them.
#[derive(Debug)]
struct Meaning {
    action: Box<Action>,
    inputs: Vec<Input>,
}

/// A slice: its events, and what they lead to.
#[derive(Debug, Default)]
pub(super) struct Slice {
    recorded: RecordedEvents,
    inputs: RecordedInputs,
    /// The outcomes, by trace.
    logs: Vec<Log>,
}

/// The state between two slices.
#[derive(Debug)]
pub(super) struct State {
    follower: Follower,
    machines: Vec<Machine>,
}

/// The latencies of traces: the figures so far, without open durations.
#[derive(Debug)]
pub(super) struct Part(Vec<TraceLatencies>);

impl InSlices {
    /// Creates the analysis for the traces of a context, which is at their start, with the state and
    /// the figures there.
    pub(super) fn new(
        contexts: &Contexts,
        kernel: KernelState,
        settings: &Settings,
    ) -> (Self, State, Part) {
        let (recorder, kernel) = Recorder::new(contexts, kernel);
        let (mut traces, mut actions) = (Vec::new(), Vec::new());
        for trace in contexts.traces() {
            let (latencies, known) = TraceLatencies::new(&kernel, trace, settings.top);
            traces.push(latencies);
            let types = trace.trace().schema().event_types.len();
            let mut of_trace: Vec<_> = (0..types).map(|_| None).collect();
            for (id, action) in known {
                let inputs = action.inputs();
                of_trace[id.index()] = Some(Meaning { action: Box::new(action), inputs });
            }
            actions.push(of_trace);
        }
        let tracefiles = contexts.tracefiles().iter();
        let tracefiles = tracefiles.map(|of| (of.trace_index(), of.index())).collect();
        let machines = traces.iter().map(|_| Machine::default()).collect();
        let follower = Follower::new(contexts, recorder.clone(), kernel);
        let analysis = InSlices { recorder, actions, tracefiles };
        (analysis, State { follower, machines }, Part(traces))
    }

    #[inline]
    fn meaning(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Meaning> {
        self.actions.get(trace.0)?.get(event_type.index())?.as_ref()
    }
}

impl SliceAnalysis for InSlices {
    type Slice = Slice;
    type State = State;
    type Part = Part;

    const RECORDS: bool = true;

    fn attach(&self, context: &mut TracesetContext<'_>) -> Handle<Slice> {
        context.attach_data(Slice::default())
    }

    #[inline]
    fn record(&self, slice: &mut Slice, at: (TracefileNumber, Timestamp), event: &Event<'_>) {
        self.recorder.record_change(&mut slice.recorded, at, event);
        let Some((trace, _)) = self.tracefiles.get(at.0.0) else { return };
        if let Some(Meaning { inputs, .. }) = self.meaning(*trace, event.type_id())
            && !inputs.is_empty()
        {
            slice.inputs.push(inputs, event);
        }
    }

    fn resolve(&self, state: &mut State, slice: &mut Slice) {
        let Slice { recorded, inputs, logs } = slice;
        let State { follower, machines } = state;
        logs.resize_with(machines.len(), Log::default);
        let inputs = inputs.reader();
        follower.follow(recorded, &mut InOrder { analysis: self, machines, logs, inputs });
    }

    fn add(&self, part: &mut Part, slice: &mut Slice) {
        for (TraceLatencies { collector, .. }, log) in part.0.iter_mut().zip(&slice.logs) {
            log.outcomes.iter().for_each(|outcome| collector.put(*outcome));
            log.last.into_iter().for_each(|time| collector.passed(time));
        }
    }

    fn clear(&self, slice: &mut Slice) {
        slice.recorded.clear();
        slice.inputs.clear();
        for log in &mut slice.logs {
            log.outcomes.clear();
            log.last = None;
        }
    }
}

/// The machines after each event of a slice.
struct InOrder<'s> {
    analysis: &'s InSlices,
    machines: &'s mut [Machine],
    logs: &'s mut [Log],
    inputs: InputReader<'s>,
}

impl FollowerObserver for InOrder<'_> {
    #[inline]
    fn changed(&mut self, kernel: &mut KernelState, followed: Followed) {
        let Followed { trace, tracefile, event_type, .. } = followed;
        let Some(Meaning { action, inputs }) = self.analysis.meaning(trace, event_type) else {
            return;
        };
        let event = match inputs.len() {
            0 => OneEvent::NONE,
            fields => self.inputs.next(fields),
        };
        let Some(state) = kernel.trace(trace) else { return };
        let effect = state.effect();
        let Some(cpu) = effect.cpu() else { return };
        let (place, time) = (effect.place(), effect.time().as_ns());
        let at = At { cpu, place, time, tracefile: self.analysis.tracefiles[tracefile.0].1 };
        self.machines[trace.0].apply(state, action, &event, &at, &mut self.logs[trace.0]);
    }

    fn elsewhere(
        &mut self,
        _: (usize, i64),
        _: (TraceIndex, EventTypeId),
        _: (u32, Option<usize>),
    ) {
    }
}

/// Returns the latencies of the slices that a context has read, and the state after them.
pub(super) fn finished(
    (state, part): (State, Part),
    settings: &Settings,
    is_stopped: bool,
) -> (Latency, KernelState) {
    let Part(mut traces) = part;
    let kernel = state.follower.into_kernel();
    for (of, machine) in traces.iter_mut().zip(state.machines) {
        of.machine = machine;
    }
    // Of a read that was stopped, all traces have been read to the same time.
    let reached = traces.iter().map(|of| of.collector.last).max().filter(|_| is_stopped);
    let of_traces = kernel.traces().zip(&traces).map(|(state, of)| {
        let end = last_event(&of.trace).as_ns();
        let end = reached.map_or(end, |reached| end.min(reached));
        TraceLatency::new(state, of, &settings.periods, end)
    });
    (Latency { traces: of_traces.collect() }, kernel)
}

#[cfg(test)]
mod tests {
    use lttv_context::Traceset;
    use lttv_context::testing::check_slices;

    use super::*;
    use crate::latency::{By, Family};

    #[test]
    fn slices_of_any_sizes_add_up() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
        let traceset = Traceset::open(path).expect("the bundled trace");
        let settings = Settings::new();
        let new = |context: &TracesetContext<'_>| {
            InSlices::new(context.contexts(), KernelState::new(), &settings)
        };
        let (analysis, ..) = new(&TracesetContext::new(&traceset));
        let start = || {
            let context = TracesetContext::new(&traceset);
            let (_, state, part) = new(&context);
            (context, state, part)
        };
        let digest = |state, part| {
            let (latency, _) = finished((state, part), &settings, false);
            let of = |of: &TraceLatency| {
                let rows = Family::ALL.map(|family| of.rows(family, By::ThreadAndSubject));
                let top = Family::ALL.map(|family| of.top(family).to_vec());
                format!("{rows:?} {top:?} {:?} {:?} {:?}", of.open(), of.unmatched(), of.span())
            };
            latency.traces().iter().map(of).collect::<Vec<_>>()
        };
        check_slices(&analysis, start, digest, 37, 200);
    }
}
