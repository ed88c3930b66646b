//! The events of a trace that have stacks.

use std::sync::Arc;

use ltt_read::Trace;
use ltt_read::schema::EventTypeId;

use super::fields::{Chain, SampleFields};
use super::samples::WeightUnit;
use crate::kernel::{Rule, Transition};

/// A type of events with stacks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackEvent {
    /// The name of the event type; that of events with stacks of their own, `ftrace:kernel_stack` and `ftrace:user_stack`,
    /// stands for all events before them.
    pub name: Arc<str>,
    /// The cause of the events.
    pub kind: StackEventKind,
    /// The unit of the weight of a stack.
    pub unit: WeightUnit,
}

/// The cause of events with stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StackEventKind {
    /// A clock or a counter that has reached a value.
    Counter,
    /// The execution of a place in the kernel or in a program.
    Tracepoint,
    /// A switch, which takes the thread of the stack from its CPU.
    Switch,
    /// Any event before it on the same CPU.
    Before,
}

/// Returns the types of events with stacks that a trace [may have](Trace::may_have_events).
///
/// ```
/// use ltt_read::Trace;
/// use lttv_state::stack_samples::stack_events;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
/// // Its events have no stacks.
/// let trace = Trace::open(path)?;
/// assert!(stack_events(&trace).is_empty());
/// # Ok::<(), ltt_read::Error>(())
/// ```
pub fn stack_events(trace: &Arc<Trace>) -> Vec<StackEvent> {
    let types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
    let all = types.filter_map(|id| {
        let of = StackEvent::of(trace, id)?;
        trace.may_have_events(|other| other == id).then_some(of)
    });
    let all: Vec<_> = all.collect();
    // Events with an address alone stand for stacks only where there are none.
    let has_stacks = all.iter().any(|(_, is_flat)| !is_flat);
    all.into_iter().filter(|(_, is_flat)| !(has_stacks && *is_flat)).map(|(of, _)| of).collect()
}

impl StackEvent {
    /// Returns the events of a type, and `true` if they have one address in place of a stack; `None` without either.
    fn of(trace: &Trace, id: EventTypeId) -> Option<(Self, bool)> {
        let fields = SampleFields::of(trace, id)?;
        let kind = match &fields.chain {
            Chain::None => return None,
            Chain::Before { .. } => StackEventKind::Before,
            _ if is_switch(trace, id) => StackEventKind::Switch,
            _ if fields.is_counter => StackEventKind::Counter,
            _ => StackEventKind::Tracepoint,
        };
        let is_flat = matches!(fields.chain, Chain::Address(_));
        let (name, unit) = (trace.event_type(id).name().into(), fields.unit(trace, id));
        Some((StackEvent { name, kind, unit }, is_flat))
    }
}

/// Returns `true` if events of a type are switches from one thread to another.
pub(super) fn is_switch(trace: &Trace, id: EventTypeId) -> bool {
    Rule::of(trace, id).is_some_and(|rule| rule.transition == Transition::Switch)
}

/// Returns `true` if an event type has a name, with or without the system before it.
pub(super) fn is_named(trace: &Trace, id: EventTypeId, name: &str) -> bool {
    trace.event_type(id).name() == name || trace.short_name(id) == Some(name)
}
