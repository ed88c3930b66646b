//! Receivers of events in [`Merge::drive`].

use std::ops::ControlFlow;

use super::Merge;
use crate::event::Event;
use crate::trace::TracefileNumber;

/// A receiver of selected events while a merge reads all of them: see [`Merge::drive`].
pub trait EventSink {
    /// Returns `true` if the sink wants an event. `tracefile` is the number of its
    /// tracefile, as in [`Merge::current_tracefile`].
    fn accepts(&mut self, tracefile: TracefileNumber, event: &Event<'_>) -> bool;

    /// Receives a wanted event, which is the current event of `merge`. Returns
    /// [`ControlFlow::Break`] to make the merge stop after this event. A sink that wants no event
    /// need not implement it.
    fn receive(
        &mut self,
        merge: &Merge,
        tracefile: TracefileNumber,
        event: &Event<'_>,
    ) -> ControlFlow<()> {
        _ = (merge, tracefile, event);
        ControlFlow::Continue(())
    }
}
