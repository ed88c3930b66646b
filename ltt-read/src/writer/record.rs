//! Event records before encoding.

use super::value::FieldValue;
use crate::schema::EventTypeId;

/// An event record to write.
///
/// ```
/// # use ltt_read::{schema::EventTypeId, writer::{Record, FieldValue}};
/// let record = Record {
///     common_context: FieldValue::fields([("vpid", 12), ("vtid", 13)]),
///     payload: FieldValue::fields([("count", 3)]),
///     ..Record::new(EventTypeId(0), 1_000_000)
/// };
/// ```
// Exhaustive: records are written as literals.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The event type.
    pub event_type: EventTypeId,
    /// The clock value in cycles.
    pub timestamp: u64,
    /// The event header. Leave it automatic unless it has members without a role.
    pub header: FieldValue,
    /// The context that all event types of the stream class share.
    pub common_context: FieldValue,
    /// The context of this event type.
    pub specific_context: FieldValue,
    /// The payload of the event.
    pub payload: FieldValue,
}

impl Record {
    /// Creates a record with automatic values only.
    pub fn new(event_type: EventTypeId, timestamp: u64) -> Self {
        Record {
            event_type,
            timestamp,
            header: FieldValue::Auto,
            common_context: FieldValue::Auto,
            specific_context: FieldValue::Auto,
            payload: FieldValue::Auto,
        }
    }
}
