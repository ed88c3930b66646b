//! The extension that reads the events of traces for the machine.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Timestamp, Trace, TraceIndex, TracefileIndex};
use lttv_context::synchronize::matching::{Direction, Hosts, MessageEvents, Rules};
use lttv_context::{EventCall, Extension, Handle, Setup, Subscription};
use lttv_hooks::Priority;

use super::cause::PackedSource;
use super::graph::{GraphTrace, WaitGraph};
use super::machine::{At, ContextKind, Machine, Named, OfTrace, WakeEvent};
use super::recorded::{EventUse, NeededEvents, Recorded};
use crate::kernel::{
    ExecutionMode, KernelState, NameId, Process, ProcessIndex, Rule, SwitchedOut, Tid, TraceState,
};

/// The priority of the hooks: after the kernel state, before hooks that may read the graph.
const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// The wait graph of the events so far, as an extension of a context.
///
/// [`WaitGraph::attach`] creates it. It is part of the state of the context: after a seek with
/// state, it is that of all events before the position. Checkpoints share the graph with each
/// other, but cannot be stored in files.
#[derive(Debug)]
pub struct WaitState {
    kernel: Handle<KernelState>,
    machine: Machine,
    traces: Vec<FollowedTrace>,
    messages: Option<MessageEvents>,
    first: Machine,
}

/// A trace of the graph.
#[derive(Debug)]
struct FollowedTrace {
    trace: Arc<Trace>,
    missing: Vec<NeededEvents>,
    is_kernel: bool,
}

/// The wait graph in a checkpoint.
#[derive(Debug, Clone)]
pub struct SavedWaitState(Machine);

impl WaitState {
    pub(super) fn new(kernel: Handle<KernelState>) -> Self {
        let empty = || Machine::new(Vec::new(), 0);
        let (machine, first) = (empty(), empty());
        WaitState { kernel, machine, traces: Vec::new(), messages: None, first }
    }

    /// Returns the graph of the events so far, as final: all events of the traceset have been read.
    /// It ends with the last event of a kernel trace.
    pub(super) fn graph(&self, kernel: &KernelState) -> WaitGraph {
        let kernels = self.traces.iter().filter(|of| of.is_kernel);
        let last = kernels.map(|of| crate::last_event::last_event(&of.trace).as_ns()).max();
        self.graph_until(kernel, Timestamp::from_ns(last.unwrap_or(i64::MIN)))
    }

    /// Returns the graph of the events so far, up to a time that has been read to.
    pub(super) fn graph_until(&self, kernel: &KernelState, end: Timestamp) -> WaitGraph {
        let machine = &self.machine;
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

    /// Applies an event that the kernel state has applied.
    #[inline]
    fn event(&mut self, state: &TraceState, trace: usize, event: &Event<'_>, of: &FollowedType) {
        let effect = state.effect();
        let Some(cpu) = effect.cpu() else { return };
        let at = At { trace, place: effect.place(), cpu, time: effect.time().as_ns() };
        if let Some(since) = effect.lost_since() {
            self.lost(state, at, since.as_ns());
        }
        let FollowedType { rule, .. } = of;
        let machine = &mut self.machine;
        let number = |slot| rule.number(event, slot).unwrap_or(u32::MAX);
        let subject = || effect.subject().and_then(|ix| state.process(ix));
        let named = |tid| named(tid, subject());
        match &of.event_use {
            EventUse::Switch => self.switch(state, at, event, rule),
            EventUse::Waking | EventUse::WakeUp => {
                let wake = match of.event_use {
                    EventUse::Waking => WakeEvent::Waking,
                    _ => WakeEvent::WakeUp,
                };
                if let Some(tid) = rule.tid(event, 0) {
                    machine.wake(at, named(tid), wake);
                }
            }
            EventUse::Fork => {
                if let Some(tid) = rule.tid(event, 0) {
                    machine.fork(at, named(tid));
                }
            }
            EventUse::Dump => {
                if let Some(tid) = rule.tid(event, 0) {
                    machine.dumped(at, named(tid), rule.integer(event, 5) == Some(WAITING));
                }
            }
            EventUse::Raise => machine.raise(at, number(0)),
            EventUse::Irq => {
                machine.enter(at, ContextKind::Irq, PackedSource::irq(number(0)));
            }
            EventUse::Softirq => {
                let number = number(0);
                machine.enter(at, ContextKind::Softirq(number), PackedSource::softirq(number));
            }
            EventUse::Vector => machine.enter(at, of.vector, of.source),
            EventUse::Leave(kind) => machine.leave(at, *kind),
            EventUse::Completed => machine.completed(at, rule.device(event)),
            EventUse::Other => {}
        }
    }

    #[inline]
    fn switch(&mut self, state: &TraceState, at: At, event: &Event<'_>, rule: &Rule) {
        let (Some(previous), Some(next)) = (rule.tid(event, 0), rule.tid(event, 1)) else { return };
        let out = rule.encoding.decode(rule.integer(event, 2).unwrap_or(0));
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
        self.machine.switch(at, named(previous, from), out, call, named(next, to));
    }

    /// Applies a loss of events: the kernel state tells whose state it lost.
    #[cold]
    fn lost(&mut self, state: &TraceState, at: At, since: i64) {
        self.machine.lost(at, since);
        for process in state.changed_processes().iter().filter_map(|ix| state.process(*ix)) {
            if let Some(tid) = process.tid().filter(|tid| *tid > 0) {
                self.machine.lost_thread(at, tid, since);
            }
        }
    }

    /// Applies a packet that is sent or received.
    fn packet(&mut self, at: At, event: &Event<'_>) {
        let Some(end) = self.messages.as_mut().and_then(|messages| messages.end_of(event)) else {
            return;
        };
        match end.direction {
            Direction::Send => self.machine.sent(at, end.protocol, end.key),
            Direction::Receive => self.machine.received(at, end.protocol, end.key),
        }
    }
}

/// The status of a thread that waits, in state dumps.
const WAITING: u64 = 5;

#[inline]
fn named(tid: Tid, process: Option<&Process>) -> Named {
    let of = process.filter(|process| process.tid() == Some(tid));
    let (pid, name) = of.map_or((None, NameId::EMPTY), |of| (of.pid(), of.name()));
    Named { tid, pid, name }
}

fn names_of_irqs(state: &TraceState) -> Vec<NameId> {
    state.sources(crate::kernel::SourceKind::Irq).iter().map(|source| source.name()).collect()
}

/// An event type with its use.
#[derive(Debug)]
struct FollowedType {
    event_use: EventUse,
    rule: Rule,
    /// The interrupt of the processor that the event enters.
    vector: ContextKind,
    source: PackedSource,
}

impl FollowedType {
    fn new(event_use: EventUse, rule: &Rule, state: &TraceState) -> Self {
        let captured = rule.captured.as_deref().unwrap_or_default();
        let name = state.shared_names().find(captured).unwrap_or(NameId::EMPTY);
        let vector = ContextKind::Vector(captured == "local_timer");
        FollowedType { event_use, rule: rule.clone(), vector, source: PackedSource::vector(name) }
    }
}

/// Returns the place of an event that the kernel state does not follow.
fn place_of(call: &EventCall<'_, '_>, kernel: &KernelState) -> Option<At> {
    let trace = call.trace.index();
    let (cpu, place) = kernel.cpu_and_place(trace, call.tracefile.number(), &call.event)?;
    Some(At { trace: trace.0, place: place?, cpu, time: call.time().as_ns() })
}

impl Extension for WaitState {
    type Checkpoint = SavedWaitState;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let kernel = setup.extensions[handle].kernel;
        let contexts = setup.contexts;
        let traceset = contexts.traceset();
        let messages = MessageEvents::new(traceset, &Hosts::of(traceset), &Rules::built_in());
        let (mut traces, mut machines, mut begin) = (Vec::new(), Vec::new(), None);
        for trace in contexts.traces() {
            let index = trace.index();
            let is_packet = |id| messages.wants(index, id);
            let recorded = Recorded::of(trace.trace(), is_packet);
            let state = setup.extensions.get(kernel).and_then(|kernel| kernel.trace(index));
            let is_kernel = KernelState::follows(trace.trace());
            machines.push(OfTrace::new(recorded.has_interrupts()));
            let missing = recorded.missing();
            traces.push(FollowedTrace { trace: trace.trace().clone(), missing, is_kernel });
            let Some(state) = state.filter(|_| is_kernel) else { continue };
            if has_events(trace.trace()) {
                let start = state.start_time().as_ns();
                begin = Some(begin.map_or(start, |begin: i64| begin.min(start)));
            }
            for (id, event_use, rule) in recorded.uses() {
                let of = FollowedType::new(event_use, rule, state);
                let events = Subscription::to_type(index, id).priority(AFTER_STATE);
                if matches!(of.event_use, EventUse::Other) {
                    setup.hooks.on_event(events, move |call| {
                        let state = call.extensions.get(kernel).and_then(|of| of.trace(index));
                        if state.is_some_and(|state| state.effect().lost_since().is_some()) {
                            follow(call, handle, kernel, &of);
                        }
                    });
                } else {
                    setup.hooks.on_event(events, move |call| follow(call, handle, kernel, &of));
                }
            }
            for (id, is_entry) in recorded.timers() {
                let events = Subscription::to_type(index, id).priority(AFTER_STATE);
                setup.hooks.on_event(events, move |call| {
                    let at = call.extensions.get(kernel).and_then(|of| place_of(call, of));
                    let (Some(at), Some(waits)) = (at, call.extensions.get_mut(handle)) else {
                        return;
                    };
                    let source = PackedSource::HIGH_RESOLUTION_TIMER;
                    match is_entry {
                        true => waits.machine.enter(at, ContextKind::Timer, source),
                        false => waits.machine.leave(at, ContextKind::Timer),
                    }
                });
            }
            let types =
                (0..trace.trace().schema().event_types.len()).map(|at| EventTypeId(at as u32));
            for id in types.filter(|id| is_packet(*id)) {
                let events = Subscription::to_type(index, id).priority(AFTER_STATE);
                setup.hooks.on_event(events, move |call| {
                    let at = call.extensions.get(kernel).and_then(|of| place_of(call, of));
                    let (Some(at), Some(waits)) = (at, call.extensions.get_mut(handle)) else {
                        return;
                    };
                    waits.packet(at, &call.event);
                });
            }
        }
        let waits = &mut setup.extensions[handle];
        waits.first = Machine::new(machines, begin.unwrap_or(0));
        waits.machine = waits.first.clone();
        (waits.traces, waits.messages) = (traces, Some(messages));
    }

    fn reset(&mut self) {
        self.machine = self.first.clone();
    }

    fn save(&self) -> SavedWaitState {
        SavedWaitState(self.machine.clone())
    }

    fn restore(&mut self, saved: &SavedWaitState) {
        self.machine = saved.0.clone();
    }

    fn checkpoint_bytes(saved: &SavedWaitState, before: Option<&SavedWaitState>) -> usize {
        saved.0.bytes_since(before.map(|before| &before.0))
    }
}

/// Applies an event of a followed type.
#[inline]
fn follow(
    call: &mut EventCall<'_, '_>,
    handle: Handle<WaitState>,
    kernel: Handle<KernelState>,
    of: &FollowedType,
) {
    let trace = call.trace.index();
    let Some((waits, kernel)) = call.extensions.get_pair_mut(handle, kernel) else { return };
    let Some(state) = kernel.trace(trace) else { return };
    waits.event(state, trace.0, &call.event, of);
}

/// Returns `true` if a trace has events.
fn has_events(trace: &Arc<Trace>) -> bool {
    let mut cursors = (0..trace.tracefiles().len()).map(|at| trace.cursor(TracefileIndex(at)));
    cursors.any(|mut cursor| matches!(cursor.next(), Ok(Some(_))))
}
