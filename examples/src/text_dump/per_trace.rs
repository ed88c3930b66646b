//! What a format keeps for each trace.

use std::sync::Arc;

use ltt_read::Trace;

/// Something for each of several traces, found by the trace itself.
#[derive(Debug)]
pub(super) struct PerTrace<T> {
    items: Vec<(Arc<Trace>, T)>,
    /// The one found last: events come in runs.
    last: usize,
}

impl<T> PerTrace<T> {
    /// Makes one for each trace.
    pub(super) fn new(traces: &[Arc<Trace>], mut make: impl FnMut(usize, &Trace) -> T) -> Self {
        let item = |(i, trace): (usize, &Arc<Trace>)| (Arc::clone(trace), make(i, trace));
        PerTrace { items: traces.iter().enumerate().map(item).collect(), last: 0 }
    }

    /// That of a trace; `None` for a trace that is not among them.
    #[inline]
    pub(super) fn of(&mut self, trace: &Arc<Trace>) -> Option<&mut T> {
        let is_it = |(known, _): &(Arc<Trace>, T)| Arc::ptr_eq(known, trace);
        if !self.items.get(self.last).is_some_and(is_it) {
            self.last = self.items.iter().position(is_it)?;
        }
        self.items.get_mut(self.last).map(|(_, item)| item)
    }
}
