//! What an event is asked with.

use ltt_read::Field;

use super::state::StateField;

/// A field of an event, or of what is around it.
#[derive(Debug, Clone)]
pub(crate) enum TraceField {
    /// An integer of fixed size: the common case, and the fastest.
    Plain(Field),
    /// A text in UTF-8 of constant length.
    Text(Field),
    /// Any other field.
    Any(Field),
    /// The time, in nanoseconds.
    Time,
    /// The clock's value, in cycles.
    Cycles,
    /// The number of the tracefile.
    Tracefile,
    /// Something of the state.
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
