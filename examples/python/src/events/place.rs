//! The places of events.

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Position, Timestamp, TraceIndex, TracefileIndex};

/// The place of an event, by which it is read again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) trace: TraceIndex,
    pub(super) tracefile: TracefileIndex,
    pub(super) id: EventTypeId,
    pub(super) position: Position,
    pub(super) time: Option<Timestamp>,
}

impl Place {
    pub(super) fn of(event: &Event<'_>) -> Place {
        Place {
            trace: event.trace_index(),
            tracefile: event.tracefile_index(),
            id: event.type_id(),
            position: event.position(),
            time: event.timestamp(),
        }
    }
}
