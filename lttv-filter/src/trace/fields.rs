//! Keys of fields of events.

use ltt_read::Field;

use super::state::StateField;

/// A field of an event, its packet, tracefile or state.
#[derive(Debug, Clone)]
pub(crate) enum TraceField {
    /// An integer of fixed size, the most common and fastest kind.
    Plain(Field),
    /// A text in UTF-8 of constant length.
    Text(Field),
    /// A field of any other type.
    Any(Field),
    /// The timestamp, in ns.
    Time,
    /// The clock value, in cycles.
    Cycles,
    /// The index of the tracefile.
    Tracefile,
    /// A field of the state.
    State(StateField),
}

impl PartialEq for TraceField {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (TraceField::Time, TraceField::Time)
            | (TraceField::Cycles, TraceField::Cycles)
            | (TraceField::Tracefile, TraceField::Tracefile) => true,
            (TraceField::State(a), TraceField::State(b)) => a == b,
            _ => false,
        }
    }
}
