//! Figures of heaps that are being collected in a context.

use std::ops::{Bound, RangeBounds};

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Extensions, Handle, TracesetContext};

use super::figures::Heap;
use super::state::HeapState;

/// A handle of figures that are being collected in a context. It is valid only in that context.
#[derive(Debug, Clone, Copy)]
pub struct HeapHandle(Handle<HeapState>);

impl Heap {
    /// Registers the collection of figures of the events that
    /// [`read`](TracesetContext::read) reads from now on; replayed events are not counted. `state`
    /// must be attached to the context, and its state must be current. A collection that was
    /// registered before with this state ends.
    pub fn attach(context: &mut TracesetContext<'_>, state: Handle<HeapState>) -> HeapHandle {
        Self::attach_window(context, state, ..)
    }

    /// Registers the collection of figures in a time window, at the start of which the context
    /// stands with its state: after
    /// [`ContextState::seek_time`](lttv_context::ContextState::seek_time). Allocations and frees are
    /// those in the window; blocks that are live at its end may be older.
    pub fn attach_window(
        context: &mut TracesetContext<'_>,
        state: Handle<HeapState>,
        window: impl RangeBounds<Timestamp>,
    ) -> HeapHandle {
        let until = match window.end_bound() {
            Bound::Included(end) => end.as_ns().saturating_add(1),
            Bound::Excluded(end) => end.as_ns(),
            Bound::Unbounded => i64::MAX,
        };
        context.extensions_mut()[state].collect(until);
        HeapHandle(state)
    }
}

impl HeapHandle {
    /// Returns the figures collected so far. `extensions` are those of the context, which hooks
    /// have access to as well.
    ///
    /// The figures are empty if `extensions` are those of another context.
    pub fn take(self, extensions: &Extensions) -> Heap {
        let Some(state) = extensions.get(self.0) else { return Heap::default() };
        let Some(stacks) = extensions.get(state.stacks()) else { return Heap::default() };
        let traces = (0..).map_while(|trace| state.figures(TraceIndex(trace), stacks));
        Heap { traces: traces.collect() }
    }
}
