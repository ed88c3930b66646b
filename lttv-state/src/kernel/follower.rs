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
    /// An event of a type has been applied to the state: its
    /// [effect](TraceState::effect) is that of the event.
    fn applied(&mut self, state: &TraceState, transition: Transition, event_type: EventTypeId);

    /// There was an event of a CPU that changes nothing, delivered at a time in ns. The
    /// CPU has a place if the state knows it.
    fn passed(&mut self, cpu: u32, place: Option<usize>, event_type: EventTypeId, time: i64);
}
