//! Reads the events that pass a filter, and as little other data as possible.

use ltt_read::selection::Spans;
use ltt_read::{Decision, Error, Event, Merge, Notice};

use crate::filters::Filters;

/// A reader of the events that pass a filter, in time order.
///
/// Tracefiles in which no event can pass are not read, nor are packets outside of the
/// spans of time in which events can pass. The other packets are read, but only events
/// that pass are merged.
///
/// The result is the part of the full read that passes, in the same order, even where
/// clocks go back: see [`Merge::delivered_by`](ltt_read::Merge::delivered_by).
#[derive(Debug)]
pub struct FilteredEvents<'f> {
    filters: &'f Filters,
    merge: Merge,
    spans: Spans,
    /// `true` if all events pass.
    all: bool,
}

impl<'f> FilteredEvents<'f> {
    pub(crate) fn new(filters: &'f Filters) -> Self {
        let wanted = |trace, tracefile| filters.can_match(trace, tracefile);
        let mut merge = Merge::with_tracefiles(filters.traces(), wanted);
        let mut spans = Spans::new(filters.spans());
        spans.enter(&mut merge, None);
        FilteredEvents { filters, merge, spans, all: filters.matches_all() }
    }

    /// Returns the next event that passes. `None` after the last one.
    #[allow(clippy::should_implement_trait)] // events borrow the merge
    #[inline]
    pub fn next(&mut self) -> Option<Event<'_>> {
        if self.all {
            return self.merge.next();
        }
        let filters = self.filters;
        while let Some(last) = self.spans.last() {
            let past = |event: &Event<'_>| event.timestamp().is_some_and(|time| time > last);
            let event = self.merge.next_taken(|event| {
                if filters.matches(event) {
                    Decision::Take
                } else if past(event) {
                    Decision::Stop
                } else {
                    Decision::Leave
                }
            })?;
            match event.timestamp().filter(|_| past(&event)) {
                // The event may be in a later span.
                Some(time) => self.spans.move_on(&mut self.merge, time),
                None => return self.merge.current(),
            }
        }
        None
    }

    /// Returns the merge that is read, for its errors and position.
    pub fn merge(&self) -> &Merge {
        &self.merge
    }

    /// Returns and removes the notices since the last call: see [`Merge::take_notices`].
    pub fn take_notices(&mut self) -> Vec<Notice> {
        self.merge.take_notices()
    }

    /// Ends the read, like [`Merge::finish`].
    ///
    /// # Errors
    ///
    /// Returns the first error that the merge met, if the traces are damaged.
    pub fn finish(self) -> Result<(), Error> {
        self.merge.finish()
    }
}
