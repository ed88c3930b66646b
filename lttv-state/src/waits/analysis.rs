//! The analysis that builds a wait graph.

use std::sync::{Arc, Mutex, PoisonError};

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Timestamp, Trace, TraceIndex, TracefileIndex, TracefileNumber};
use lttv_context::Contexts;
use lttv_context::synchronize::matching::{Direction, Hosts, MessageEvents, Rules};

use super::cause::PackedSource;
use super::graph::{GraphTrace, WaitGraph};
use super::input::{Input, Inputs};
use super::machine::{At, ContextKind, Machine, Named, OfTrace, WakeEvent};
use super::needs::{NEEDS, PACKETS};
use super::recorded::{EventUse, Recorded};
use crate::analysis::{End, KernelAnalysis, Window};
#[cfg(feature = "checkpoint-files")]
use crate::kernel::OwnStates;
use crate::kernel::needs::{Need, RecordedEvents};
use crate::kernel::{
    ExecutionMode, KernelState, LossOnCpu, NameId, OtherEvent, Process, ProcessIndex,
    ProcessStatus, Rule, StateChange, SwitchedOut, Tid, TraceState,
};

/// The analysis that builds a [`WaitGraph`].
///
/// The graph of a window contains what happens in it, and the open intervals at its start: all queries
/// of a graph name a part of the window.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::analysis::read;
/// use lttv_state::waits::WaitAnalysis;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let found = read(&Traceset::open(path)?).threads(2).run(WaitAnalysis::new());
/// assert!(found.errors.is_empty());
/// assert!(found.output.timelines().len() > 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct WaitAnalysis {
    traces: Vec<FollowedTrace>,
    messages: Mutex<Option<MessageEvents>>,
    first: State,
}

/// The name of saved states.
#[cfg(feature = "checkpoint-files")]
const SAVED: &str = "waits";

/// A trace of the graph.
#[derive(Debug)]
struct FollowedTrace {
    trace: Arc<Trace>,
    missing: Vec<Need>,
    is_kernel: bool,
    /// The event types with their use.
    types: Vec<Option<Box<FollowedType>>>,
}

/// An event type with its use.
#[derive(Debug)]
struct FollowedType {
    event_use: EventUse,
    /// The rule of an event that changes the kernel state.
    rule: Option<Rule>,
    /// The interrupt of the processor that the event enters.
    vector: ContextKind,
    source: PackedSource,
}

/// The timelines so far.
#[derive(Debug, Clone)]
pub struct State(Machine);

impl Default for State {
    fn default() -> Self {
        State(Machine::new(Vec::new(), 0))
    }
}

/// The fields of the events of a slice.
#[derive(Debug, Default)]
pub struct Slice(Inputs);

impl WaitAnalysis {
    /// Creates the analysis.
    pub fn new() -> Self {
        Self::default()
    }

    #[inline]
    fn followed(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&FollowedType> {
        self.traces.get(trace.0)?.types.get(event_type.index())?.as_deref()
    }

    /// Returns the graph of the timelines, up to a time that has been read to.
    fn graph(&self, machine: &Machine, kernel: &KernelState, end: Timestamp) -> WaitGraph {
        let traces = self.traces.iter().enumerate().map(|(index, of)| {
            let state = kernel.trace(TraceIndex(index));
            GraphTrace {
                missing: of.missing.clone(),
                is_kernel: of.is_kernel,
                names: state.map(TraceState::shared_names).unwrap_or_default(),
                irqs: state.map_or_else(Vec::new, names_of_irqs),
                devices: machine.traces.get(index).map(|of| of.devices.clone()).unwrap_or_default(),
            }
        });
        let traces = traces.collect();
        WaitGraph::new(machine, traces, end.as_ns().max(machine.last), |trace, tid| {
            let state = kernel.trace(TraceIndex(trace))?;
            let (_, process) = state.find(tid)?;
            Some((process.pid(), process.name()))
        })
    }
}

impl KernelAnalysis for WaitAnalysis {
    type State = State;
    type Slice = Slice;
    type Part = ();
    type Output = WaitGraph;

    /// Timers and packets change no state.
    const EVERY_EVENT: bool = true;

    fn keeps_state(&self) -> bool {
        true
    }

    fn state_bytes(state: &State, before: Option<&State>) -> usize {
        state.0.bytes_since(before.map(|before| &before.0))
    }

    fn prepare(&mut self, contexts: &Contexts, kernel: &KernelState) {
        let traceset = contexts.traceset();
        let messages = MessageEvents::new(traceset, &Hosts::of(traceset), &Rules::built_in());
        let (mut machines, mut begin) = (Vec::new(), None);
        self.traces.clear();
        for of in contexts.traces() {
            let (index, trace) = (of.index(), of.trace());
            let is_packet = |id| messages.wants(index, id);
            let recorded = Recorded::of(trace, is_packet);
            let is_kernel = KernelState::follows(trace);
            machines.push(OfTrace::new(recorded.has_interrupts(), kernel.ran_first(index)));
            let events = RecordedEvents::of(trace);
            let is_met = |need: &Need| match *need == PACKETS {
                true => recorded.has_packets(),
                false => events.meets(need),
            };
            let missing = NEEDS.iter().filter(|need| !is_met(need)).copied().collect();
            let state = kernel.trace(index).filter(|_| is_kernel);
            let types =
                state.map_or_else(Vec::new, |state| followed_types(trace, &recorded, state));
            self.traces.push(FollowedTrace { trace: trace.clone(), missing, is_kernel, types });
            if let Some(state) = state.filter(|_| has_events(trace)) {
                let start = state.start_time().as_ns();
                begin = Some(begin.map_or(start, |begin: i64| begin.min(start)));
            }
        }
        self.first = State(Machine::new(machines, begin.unwrap_or(0)));
        self.messages = Mutex::new(Some(messages));
    }

    fn begin(&self, _: &KernelState, _: Window) -> (State, ()) {
        (self.first.clone(), ())
    }

    fn enter(&self, state: &mut State, (): &mut (), _: &KernelState, _: Window) {
        state.0.forget_past();
    }

    #[cfg(feature = "checkpoint-files")]
    fn save(&self, state: &State, to: &mut OwnStates) {
        to.put(SAVED, 0, state.0.to_bytes());
    }

    #[cfg(feature = "checkpoint-files")]
    fn saved(&self, _: &KernelState, from: &OwnStates) -> Option<State> {
        self.first.0.decoded(from.get(SAVED, 0)?).map(State)
    }

    fn end_window(&self, state: &mut State, at_end: State) {
        *state = at_end;
    }

    #[inline]
    fn record(
        &self,
        slice: &mut Slice,
        (number, _): (usize, bool),
        (trace, _): (TraceIndex, TracefileNumber),
        event: &Event<'_>,
    ) {
        let Some(of) = self.followed(trace, event.type_id()) else { return };
        let input = match (&of.event_use, &of.rule) {
            (EventUse::Packet, _) => {
                let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(end) = messages.as_mut().and_then(|messages| messages.end_of(event))
                else {
                    return;
                };
                let is_sent = end.direction == Direction::Send;
                Input::Message { is_sent, protocol: end.protocol, key: end.key.into() }
            }
            (event_use, Some(rule)) => match Input::of(event_use, rule, event) {
                Some(input) => input,
                None => return,
            },
            _ => return,
        };
        slice.0.push(number, input);
    }

    #[inline]
    fn changed(&self, all: &mut State, slice: &mut Slice, kernel: &KernelState, of: StateChange) {
        let input = slice.0.next(of.number);
        let Some(state) = kernel.trace(of.trace) else { return };
        let effect = state.effect();
        let (trace, time) = (of.trace.0, effect.time().as_ns());
        for loss in effect.losses() {
            all.lost(state, trace, loss);
        }
        let Some(followed) = self.followed(of.trace, of.event_type) else { return };
        let Some(cpu) = effect.cpu() else { return };
        let at = At { trace, place: effect.place(), cpu, time };
        all.event(state, at, followed, input);
    }

    #[inline]
    fn unchanged(&self, all: &mut State, slice: &mut Slice, kernel: &KernelState, of: OtherEvent) {
        let input = slice.0.next(of.number);
        let Some(followed) = self.followed(of.trace, of.event_type) else { return };
        let (Some(state), Some(place)) = (kernel.trace(of.trace), of.place) else { return };
        let Some(cpu) = of.elsewhere.or_else(|| Some(state.cpu_at(place)?.number())) else {
            return;
        };
        let at = At { trace: of.trace.0, place, cpu, time: of.time.as_ns() };
        let (machine, timer) = (&mut all.0, PackedSource::HIGH_RESOLUTION_TIMER);
        match (&followed.event_use, input) {
            (EventUse::TimerEntry, _) => machine.enter(at, ContextKind::Timer, timer),
            (EventUse::TimerExit, _) => machine.leave(at, ContextKind::Timer),
            (EventUse::Packet, Some(Input::Message { is_sent: true, protocol, key })) => {
                machine.sent(at, *protocol, key);
            }
            (EventUse::Packet, Some(Input::Message { is_sent: false, protocol, key })) => {
                machine.received(at, *protocol, key);
            }
            _ => {}
        }
    }

    fn clear(&self, slice: &mut Slice) {
        slice.0.clear();
    }

    fn finish(&self, State(machine): State, (): (), end: End<'_>) -> WaitGraph {
        let kernels = self.traces.iter().filter(|of| of.is_kernel);
        let last = || kernels.map(|of| crate::last_event::last_event(&of.trace)).max();
        // The graph of a read that was stopped ends with its last event.
        let stopped = end.reached.or_else(|| end.is_stopped.then_some(Timestamp::MIN));
        let until = stopped.or_else(|| {
            let last = last()?;
            Some(end.window.end().map_or(last, |end| end.min(last)))
        });
        let until = until.unwrap_or(Timestamp::MIN).as_ns().max(machine.last);
        let (until, mut state) = (Timestamp::from_ns(until), State(machine));
        // Events after a window have told of its losses.
        let is_open = end.window.end().is_none();
        for (trace, of) in end.kernel.traces().enumerate().filter(|_| is_open) {
            of.losses_before(until).for_each(|loss| state.lost(of, trace, &loss));
        }
        self.graph(&state.0, end.kernel, until)
    }
}

/// Returns the event types of a trace with their use.
fn followed_types(
    trace: &Trace,
    recorded: &Recorded,
    state: &TraceState,
) -> Vec<Option<Box<FollowedType>>> {
    let mut types: Vec<_> = trace.schema().event_types.iter().map(|_| None).collect();
    let (vector, source) = (ContextKind::Vector(false), PackedSource::HIGH_RESOLUTION_TIMER);
    for (id, event_use, rule) in recorded.uses() {
        types[id.index()] = Some(Box::new(FollowedType::new(event_use, rule, state)));
    }
    for (id, event_use) in recorded.others() {
        // Events that change the state as well have their use there.
        let other = || Box::new(FollowedType { event_use, rule: None, vector, source });
        types[id.index()].get_or_insert_with(other);
    }
    types
}

impl FollowedType {
    fn new(event_use: EventUse, rule: &Rule, state: &TraceState) -> Self {
        let captured = rule.captured.as_deref().unwrap_or_default();
        let name = state.shared_names().find(captured).unwrap_or(NameId::EMPTY);
        let vector = ContextKind::Vector(captured == "local_timer");
        let (rule, source) = (Some(rule.clone()), PackedSource::vector(name));
        FollowedType { event_use, rule, vector, source }
    }
}

impl State {
    /// Applies an event that the kernel state has applied.
    #[inline]
    fn event(&mut self, state: &TraceState, at: At, of: &FollowedType, input: Option<&Input>) {
        let machine = &mut self.0;
        let subject = || state.effect().subject().and_then(|ix| state.process(ix));
        let named = |tid| named(tid, subject());
        match (&of.event_use, input) {
            (_, Some(Input::Switch { previous, next, state: left })) => {
                if let Some(rule) = &of.rule {
                    let out = rule.encoding.decode(*left);
                    self.switch(state, at, (*previous, *next), out);
                }
            }
            (EventUse::Waking, Some(Input::Thread(tid))) => {
                machine.wake(at, named(*tid), WakeEvent::Waking);
            }
            (EventUse::WakeUp, Some(Input::Thread(tid))) => {
                machine.wake(at, named(*tid), WakeEvent::WakeUp);
            }
            (EventUse::Fork, Some(Input::Thread(tid))) => machine.fork(at, named(*tid)),
            (EventUse::Dump, Some(Input::Thread(tid))) => {
                let status = subject().map(Process::status);
                machine.dumped(at, named(*tid), status == Some(ProcessStatus::Wait));
            }
            // The kernel state infers the states of threads that no event but the dump has named.
            (EventUse::DumpEnd, _) => {
                let waits = |of: &Process| of.status() == ProcessStatus::Wait;
                for process in state.processes().map(|(_, of)| of).filter(|of| waits(of)) {
                    if let Some(tid) = process.tid() {
                        machine.dumped(at, self::named(tid, Some(process)), true);
                    }
                }
            }
            (EventUse::Raise, Some(Input::Number(number))) => machine.raise(at, *number),
            (EventUse::Irq, Some(Input::Number(number))) => {
                machine.enter(at, ContextKind::Irq, PackedSource::irq(*number));
            }
            (EventUse::Softirq, Some(Input::Number(number))) => {
                let source = PackedSource::softirq(*number);
                machine.enter(at, ContextKind::Softirq(*number), source);
            }
            (EventUse::Vector, _) => machine.enter(at, of.vector, of.source),
            (EventUse::Leave(kind), _) => machine.leave(at, *kind),
            (_, Some(Input::Device(device))) => machine.completed(at, *device),
            _ => {}
        }
    }

    #[inline]
    fn switch(
        &mut self,
        state: &TraceState,
        at: At,
        (previous, next): (Tid, Tid),
        out: SwitchedOut,
    ) {
        let waited = state.effect().waited();
        let process = |ix: Option<ProcessIndex>| ix.and_then(|ix| state.process(ix));
        let (from, to) = (waited.and_then(|of| of.previous), waited.map(|of| of.process));
        let (from, to) = (process(from), process(to));
        let call = match (out, from) {
            (SwitchedOut::Blocked, Some(from)) if from.mode() == ExecutionMode::Syscall => {
                from.submode()
            }
            _ => NameId::EMPTY,
        };
        self.0.switch(at, named(previous, from), out, call, named(next, to));
    }

    /// Applies a loss of events: the kernel state tells whose state it lost.
    #[cold]
    fn lost(&mut self, state: &TraceState, trace: usize, loss: &LossOnCpu) {
        let at = At { trace, place: loss.place, cpu: loss.cpu(), time: loss.since };
        self.0.lost(at, loss.is_told_again);
        for process in loss.processes.iter().filter_map(|ix| state.process(*ix)) {
            if let Some(tid) = process.tid().filter(|tid| *tid > 0) {
                self.0.lost_thread(at, tid);
            }
        }
    }
}

#[inline]
fn named(tid: Tid, process: Option<&Process>) -> Named {
    let of = process.filter(|process| process.tid() == Some(tid));
    let (pid, name) = of.map_or((None, NameId::EMPTY), |of| (of.pid(), of.name()));
    Named { tid, pid, name }
}

fn names_of_irqs(state: &TraceState) -> Vec<NameId> {
    state.sources(crate::kernel::SourceKind::Irq).iter().map(|source| source.name()).collect()
}

/// Returns `true` if a trace has events.
fn has_events(trace: &Arc<Trace>) -> bool {
    let mut cursors = (0..trace.tracefiles().len()).map(|at| trace.cursor(TracefileIndex(at)));
    cursors.any(|mut cursor| matches!(cursor.next(), Ok(Some(_))))
}
