//! Preparing a kernel state for traces, and for their later versions.

use std::sync::Arc;

use ltt_read::{Trace, TraceIndex};
use lttv_context::{Contexts, Handle, Setup, Subscription};
use lttv_hooks::Priority;

use super::extension::{KernelState, Machine};
use super::initial::first_of;
use super::packets::PacketTracker;
use super::rule::Rule;

/// Adds hooks, machines and trackers for the event types, traces and tracefiles that a state does
/// not know yet.
pub(super) fn grow(handle: Handle<KernelState>, setup: &mut Setup<'_, '_>) {
    let contexts = setup.contexts;
    add_trackers(&mut setup.extensions[handle], contexts);
    for trace in contexts.traces() {
        let (index, trace) = (trace.index(), trace.trace());
        let types = trace.schema().event_types.len();
        let state = &mut setup.extensions[handle];
        let known = state.traces.get(index.0).map(Machine::types);
        let restarts = known.is_some() && !has_started(state, contexts, index);
        if known == Some(types) && !restarts {
            continue;
        }
        let mut rules = rules_of(trace);
        match state.traces.get_mut(index.0) {
            Some(machine) => {
                machine.add_types(trace, &rules);
                if restarts {
                    state.restart(trace, index, &rules);
                }
            }
            None => {
                let machine = state.machine(trace, &mut rules);
                state.traces.push(machine);
            }
        }
        for rule in rules.into_iter().skip(known.unwrap_or(0)).flatten() {
            let events = Subscription::to_type(index, rule.event_type).priority(Priority::STATE);
            match known {
                None => setup.hooks.on_event(events, move |call| {
                    KernelState::follow(handle, call, index, &rule);
                }),
                Some(_) => add_late(handle, setup, events, index, Arc::unwrap_or_clone(rule)),
            };
        }
    }
}

/// Returns the rules for the event types of a trace.
pub(super) fn rules_of(trace: &Arc<Trace>) -> Vec<Option<Arc<Rule>>> {
    Rule::all(trace).into_iter().map(|rule| rule.map(Arc::new)).collect()
}

/// Adds the hook for an event type that was declared later. Checkpoints may be older than its
/// names, so that these are looked up at each event.
fn add_late(
    handle: Handle<KernelState>,
    setup: &mut Setup<'_, '_>,
    events: Subscription,
    index: TraceIndex,
    mut rule: Rule,
) -> lttv_hooks::HookId {
    let captured = rule.captured.clone();
    setup.hooks.on_event(events, move |call| {
        if let Some(name) = &captured
            && let Some(state) = call.extensions.get_mut(handle)
            && let Some(state) = state.trace_mut(index)
        {
            rule.name = state.intern(name.as_bytes());
        }
        KernelState::follow(handle, call, index, &rule);
    })
}

/// Adds the packet trackers of tracefiles that are new, and sets the CPUs of those without events
/// so far.
pub(super) fn add_trackers(state: &mut KernelState, contexts: &Contexts) {
    for tracefile in contexts.tracefiles() {
        let at = tracefile.number().0;
        if state.packets.get(at).is_some_and(|packet| *packet != state.first_packets[at]) {
            continue;
        }
        let (cpu, _) = first_of(tracefile.trace(), tracefile.index());
        let tracker = PacketTracker::new(cpu.unwrap_or(0));
        for trackers in [&mut state.packets, &mut state.first_packets] {
            match trackers.get_mut(at) {
                Some(known) => *known = tracker,
                None => trackers.push(tracker),
            }
        }
    }
}

/// Returns `true` if an event has changed the state of a trace.
fn has_started(state: &KernelState, contexts: &Contexts, trace: TraceIndex) -> bool {
    let numbers = contexts.tracefiles_of(trace).map(|tracefile| tracefile.number().0);
    let mut trackers = numbers.map(|at| (state.packets.get(at), state.first_packets.get(at)));
    trackers.any(|(now, first)| now != first)
}
