//! Those who account for what a machine goes through.

use std::any::Any;
use std::fmt::Debug;

use ltt_read::schema::EventTypeId;

use super::machine::TraceState;
use super::transition::Transition;

/// Is told of a trace's events by the [`KernelState`](super::KernelState) itself, right
/// after the state: that costs less than hooks of its own, which would each have to find
/// it and the state again.
pub(crate) trait Follower: Any + Debug + Send {
    /// An event has been applied to the state.
    fn applied(&mut self, state: &TraceState, transition: Transition, event: Told);

    /// There was an event that changes nothing.
    fn passed(&mut self, event: Told);
}

/// What followers are told of each event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub(crate) event_type: EventTypeId,
    pub(crate) cpu: u32,
    /// Of its delivery, in ns.
    pub(crate) time: i64,
}
