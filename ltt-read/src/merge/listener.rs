//! Who hears of the events that a merge goes over.

use std::ops::ControlFlow;

use super::Merge;
use crate::event::Event;

/// Hears of those events that it wants while a merge goes over all of them: see
/// [`Merge::tell`].
pub trait Listener {
    /// Whether it wants an event of the tracefile of a
    /// [number](Merge::current_tracefile).
    fn wants(&mut self, tracefile: usize, event: &Event<'_>) -> bool;

    /// Hears of an event that it wants, of the merge as it stands there. To break is to
    /// have the merge stop behind this event.
    fn hear(&mut self, merge: &Merge, tracefile: usize, event: &Event<'_>) -> ControlFlow<()>;
}
