//! Access to the state of the traced system.

use std::borrow::Cow;

use ltt_read::{Event, Trace};

use crate::model::FieldType;

/// The number of a state field, defined by the state provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateField(pub u32);

/// The fields that can follow `state.`, used when a filter is compiled.
pub trait StateFields {
    /// Finds the field with a name (such as `process_name`), and its type.
    fn find(&self, name: &str) -> Option<(StateField, FieldType)>;

    /// Returns the names of all fields.
    fn names(&self) -> Vec<String>;

    /// Returns a short description of a field, for lists of choices. The default is empty.
    fn description(&self, name: &str) -> &'static str {
        _ = name;
        ""
    }

    /// Returns the name of the field that one of the words `tid`, `pid` and `comm` stands
    /// for, at events of a trace that do not record it themselves: the state of the thread
    /// that runs on the CPU of the event. `None`, the default, if the state knows nothing
    /// about the events of this trace.
    fn field_of_word(&self, word: &str, trace: &Trace) -> Option<&'static str> {
        _ = (word, trace);
        None
    }
}

/// Access to the state at an event, used for each event whose result depends on a
/// `state.` field. The state provider defines whether the state includes the effect of
/// the event itself; in LTTV, this follows from the priorities of hooks.
pub trait StateView {
    /// Returns the value of an integer field, sign-extended if it is signed. `None` if it
    /// is not known at this event.
    fn integer(&self, field: StateField, event: &Event<'_>) -> Option<u64>;

    /// Returns the value of a text field in UTF-8. `None` if it is not known at this
    /// event.
    fn text<'s>(&'s self, field: StateField, event: &Event<'_>) -> Option<Cow<'s, [u8]>>;
}

/// A state without fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoState;

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
