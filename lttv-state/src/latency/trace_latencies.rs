//! The latencies of a trace, while they are collected.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Trace, TraceIndex};
use lttv_context::TraceContext;

use super::collector::Collector;
use crate::kernel::KernelState;
use crate::kernel::needs::{EventKind, Need};
use crate::spans::action::Action;
use crate::spans::family::Family;
use crate::spans::machine::Machine;

/// The latencies of a trace.
#[derive(Debug, Clone)]
pub(super) struct TraceLatencies {
    pub(super) trace: Arc<Trace>,
    pub(super) machine: Machine,
    pub(super) collector: Collector,
    /// The events that each family lacks.
    pub(super) missing: Vec<(Family, Vec<Need>)>,
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
) -> Vec<(Family, Vec<Need>)> {
    let has_transition = |transition| {
        let is_it = |(id, action): &(EventTypeId, Action)| {
            kernel.transition(index, *id) == Some(transition) && !matches!(action, Action::Other)
        };
        actions.iter().any(is_it)
    };
    let has_futexes = || {
        let is_it = |action: &Action| matches!(action, Action::Entry(of) if of.futex.is_some());
        actions.iter().any(|(_, action)| is_it(action))
    };
    // The name of a call may be recorded as a number.
    let has = |kind| match kind {
        EventKind::Transition(of) => has_transition(of),
        EventKind::Without(of) => !has_transition(of),
        EventKind::Named(_) => has_futexes(),
    };
    let missing = Family::ALL.into_iter().map(|family| {
        let missing = family.needs().iter().filter(|need| !need.is_met(has));
        (family, missing.copied().collect::<Vec<_>>())
    });
    missing.filter(|(_, missing)| !missing.is_empty()).collect()
}
