//! The interface between a kernel state and the analyses that account for its changes.

use std::any::Any;
use std::fmt::Debug;

use ltt_read::schema::EventTypeId;

use super::machine::TraceState;
use super::transition::Transition;

/// An observer of a trace's events, called by the [`KernelState`](super::KernelState) right
/// after it applied an event. This costs less than a separate hook, which would have to
/// look up the observer and the state again.
pub(crate) trait Observer: Any + Debug + Send {
    /// Called when more has become known of a growing trace before its first event: `state` is the
    /// state before it, in place of an earlier one.
    fn started_again(&mut self, state: &TraceState) {
        let _ = state;
    }

    /// Called when a growing trace declares more event types, with their number now.
    fn types_declared(&mut self, types: usize) {
        let _ = types;
    }

    /// Called after an event has been applied to the state: the
    /// [effect](TraceState::effect) is that of the event.
    fn event_applied(
        &mut self,
        state: &TraceState,
        transition: Transition,
        event_type: EventTypeId,
    );

    /// Called for an event of a CPU that changes no state, with the time of its delivery in
    /// ns. `place` is the CPU's index in the state, if the state has the CPU.
    fn event_ignored(&mut self, cpu: u32, place: Option<usize>, event_type: EventTypeId, time: i64);
}
