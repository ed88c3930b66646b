//! Reads the events that pass a filter, and as little other data as possible.

use ltt_read::order::{Decision, SelectiveRead};
use ltt_read::{Error, Event, Merge, Notice, Timestamp};

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
    selective: SelectiveRead,
    /// `true` if all events pass.
    all: bool,
}

impl<'f> FilteredEvents<'f> {
    pub(crate) fn new(filters: &'f Filters) -> Self {
        let wanted = |trace, tracefile| filters.can_match(trace, tracefile);
        let mut merge = Merge::with_tracefiles(filters.traces(), wanted);
        let mut selective = SelectiveRead::new(Box::default(), filters.spans());
        selective.enter_spans(&mut merge, None);
        FilteredEvents { filters, merge, selective, all: filters.matches_all() }
    }

    /// Returns the next event that passes. `None` after the last one.
    #[allow(clippy::should_implement_trait)] // events borrow the merge
    #[inline]
    pub fn next(&mut self) -> Option<Event<'_>> {
        if self.all {
            return self.merge.next();
        }
        let look = |event: &Event<'_>| match self.filters.matches(event) {
            true => Decision::Take,
            false => Decision::Leave,
        };
        loop {
            // Whether the events at the greatest time pass has not been tested.
            self.selective.next(&mut self.merge, Timestamp::MAX, look)?;
            let is_tested = |event: &Event<'_>| event.timestamp() != Some(Timestamp::MAX);
            if self
                .merge
                .current()
                .is_some_and(|event| is_tested(&event) || self.filters.matches(&event))
            {
                return self.merge.current();
            }
        }
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
