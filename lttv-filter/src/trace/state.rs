//! The state of the traced system, as far as filters look at it.

use std::borrow::Cow;

use ltt_read::Event;

use crate::model::FieldType;

/// Number of a state field: what it means, its provider knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateField(pub u32);

/// What `state.` can be followed by: asked when a filter is compiled.
pub trait StateFields {
    /// The field of a name (`process_name`), and what values it has.
    fn find(&self, name: &str) -> Option<(StateField, FieldType)>;

    /// All names.
    fn names(&self) -> Vec<String>;
}

/// The state at an event: asked for each event that a `state.` field decides
/// on. When the state takes the event itself into account is up to who keeps
/// it; LTTV's hooks do at their priority.
pub trait StateView {
    /// An integer, signed ones sign-extended; `None` if it is not known at this
    /// event.
    fn integer(&self, field: StateField, event: &Event<'_>) -> Option<u64>;

    /// A text in UTF-8; `None` if it is not known at this event.
    fn text<'s>(&'s self, field: StateField, event: &Event<'_>) -> Option<Cow<'s, [u8]>>;
}

/// No state: all its fields are absent.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoState;

impl StateFields for NoState {
    fn find(&self, _: &str) -> Option<(StateField, FieldType)> {
        None
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

impl StateView for NoState {
    fn integer(&self, _: StateField, _: &Event<'_>) -> Option<u64> {
        None
    }

    fn text<'s>(&'s self, _: StateField, _: &Event<'_>) -> Option<Cow<'s, [u8]>> {
        None
    }
}
