//! The event types of which a trace has events.

use std::sync::OnceLock;

/// The event types of which a trace has events, once a cursor has found them.
#[derive(Debug, Default)]
pub(crate) struct Occurrences {
    /// By event type, those among the first events of each tracefile.
    pub(crate) among_first: OnceLock<Box<[bool]>>,
    /// By event type, those among all events.
    pub(crate) among_all: OnceLock<Box<[bool]>>,
}
