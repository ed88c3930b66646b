//! Hooks that follow the kernel state.

use std::sync::Arc;

use ltt_read::schema::{EventTypeId, Format};
use ltt_read::{Timestamp, Trace, TraceIndex};
use lttv_context::{Handle, Subscription, TracesetContext};
use lttv_hooks::Priority;
use lttv_state::kernel::{KernelState, Transition};

/// The priority of hooks that read the kernel state after each event.
pub const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// Returns the time of the last event that the state has followed.
pub fn last_event(kernel: &KernelState) -> Timestamp {
    let times = kernel.traces().filter_map(|of| of.effect().cpu().map(|_| of.effect().time()));
    times.max().unwrap_or(Timestamp::MIN)
}

/// Creates the kernel state for some traces: for those of LTTng 0.x it is that of LTTV, which did
/// not look ahead.
pub fn kernel_state(traces: &[Arc<Trace>]) -> KernelState {
    match traces.iter().any(|trace| trace.schema().format == Format::Legacy) {
        true => KernelState::new().without_looking_ahead(),
        false => KernelState::new(),
    }
}

/// Returns the event types whose transition is `wanted`, for hooks after the kernel state.
pub fn events_of(
    context: &TracesetContext<'_>,
    kernel: Handle<KernelState>,
    wanted: impl Fn(Transition) -> bool,
) -> Vec<Subscription> {
    let state = &context.extensions()[kernel];
    let mut events = Vec::new();
    for (trace, of) in (0..).map(TraceIndex).zip(context.traceset().traces()) {
        for id in (0..of.schema().event_types.len() as u32).map(EventTypeId) {
            if state.transition(trace, id).is_some_and(&wanted) {
                events.push(Subscription::to_type(trace, id).priority(AFTER_STATE));
            }
        }
    }
    events
}
