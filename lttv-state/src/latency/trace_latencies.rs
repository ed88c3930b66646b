//! The latencies of a trace, while they are collected.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Trace, TraceIndex};
use lttv_context::TraceContext;

use super::action::Action;
use super::collector::Collector;
use super::family::Family;
use super::machine::Machine;
use crate::kernel::KernelState;

/// The latencies of a trace.
#[derive(Debug, Clone)]
pub(super) struct TraceLatencies {
    pub(super) trace: Arc<Trace>,
    pub(super) machine: Machine,
    pub(super) collector: Collector,
    /// The events that each family lacks.
    pub(super) missing: Vec<(Family, Vec<&'static str>)>,
}

impl TraceLatencies {
    /// Creates the latencies of a trace before its first event, with the actions of its event types.
    pub(super) fn new(
        kernel: &KernelState,
        trace: &TraceContext,
        top: usize,
    ) -> (Self, Vec<(EventTypeId, Action)>) {
        let (index, trace) = (trace.index(), trace.trace());
        let types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
        let actions = types.filter_map(|id| Some((id, Action::of(kernel, trace, index, id)?)));
        let actions: Vec<_> = actions.collect();
        let begin = kernel.trace(index).map_or(0, |state| state.start_time().as_ns());
        let latencies = TraceLatencies {
            trace: trace.clone(),
            machine: Machine::default(),
            collector: Collector::new(top, begin),
            missing: missing(kernel, index, &actions),
        };
        (latencies, actions)
    }
}

/// Returns the families for which a trace lacks events, each with the events.
fn missing(
    kernel: &KernelState,
    index: TraceIndex,
    actions: &[(EventTypeId, Action)],
) -> Vec<(Family, Vec<&'static str>)> {
    let has = |transition| {
        let is_it = |(id, action): &(EventTypeId, Action)| {
            kernel.transition(index, *id) == Some(transition) && !matches!(action, Action::Other)
        };
        actions.iter().any(is_it)
    };
    let has_futexes = actions.iter().any(|(_, action)| match action {
        Action::Entry(entry) => entry.futex.is_some(),
        _ => false,
    });
    let missing = Family::ALL.into_iter().map(|family| {
        let needs = family.needs().iter().filter(|(transition, _)| !has(*transition));
        let mut events: Vec<_> = needs.map(|(_, event)| *event).collect();
        if family == Family::Futex && events.is_empty() && !has_futexes {
            events.push("syscall_entry_futex");
        }
        (family, events)
    });
    missing.filter(|(_, events)| !events.is_empty()).collect()
}
