//! Data of a format for each trace.

use std::sync::Arc;

use ltt_read::Trace;

/// An item for each of several traces, found by the trace itself.
#[derive(Debug)]
pub(super) struct PerTrace<T> {
    traces: Vec<Arc<Trace>>,
    items: Vec<T>,
    /// The index of the last item found: consecutive events are often of one trace.
    last: usize,
}

impl<T> PerTrace<T> {
    /// Creates an item for each trace.
    pub(super) fn new(traces: &[Arc<Trace>], mut make: impl FnMut(usize, &Trace) -> T) -> Self {
        let items = traces.iter().enumerate().map(|(i, trace)| make(i, trace)).collect();
        PerTrace { traces: traces.to_vec(), items, last: 0 }
    }

    /// Returns the item of a trace; `None` for an unknown trace.
    #[inline]
    pub(super) fn of(&mut self, trace: &Arc<Trace>) -> Option<&mut T> {
        if !self.traces.get(self.last).is_some_and(|known| Arc::ptr_eq(known, trace)) {
            self.last = self.traces.iter().position(|known| Arc::ptr_eq(known, trace))?;
        }
        self.items.get_mut(self.last)
    }
}
