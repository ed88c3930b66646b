//! Reading what passes a filter, and as little else as possible.

use ltt_read::choice::Spans;
use ltt_read::{Event, Look, Merge};

use crate::filters::Filters;

/// The events that pass a filter, in time order.
///
/// Tracefiles in which none can pass are not touched; packets that lie outside
/// of the times for which any can are not read. The others are read, but only
/// events that pass are put in order.
///
/// They are the events of the full read that pass, in the same order, even where clocks go
/// back: see [`Merge::delivered_by`](ltt_read::Merge::delivered_by).
#[derive(Debug)]
pub struct Matches<'f> {
    filters: &'f Filters,
    merge: Merge,
    spans: Spans,
    /// Whether nothing needs to be asked.
    all: bool,
}

impl<'f> Matches<'f> {
    pub(crate) fn new(filters: &'f Filters) -> Self {
        let wanted = |trace, tracefile| filters.can_match(trace, tracefile);
        let mut merge = Merge::of_tracefiles(filters.traces(), wanted);
        let mut spans = Spans::new(filters.spans());
        spans.enter(&mut merge, None);
        Matches { filters, merge, spans, all: filters.match_all() }
    }

    /// The next event that passes; `None` after the last.
    #[allow(clippy::should_implement_trait)] // events borrow the merge
    #[inline]
    pub fn next(&mut self) -> Option<Event<'_>> {
        if self.all {
            return self.merge.next();
        }
        let filters = self.filters;
        while let Some(last) = self.spans.last() {
            let past = |event: &Event<'_>| event.timestamp().is_some_and(|time| time > last);
            let event = self.merge.next_taken(|event| match () {
                () if filters.matches(event) => Look::Take,
                () if past(event) => Look::Stop,
                () => Look::Leave,
            })?;
            match event.timestamp().filter(|_| past(&event)) {
                // It may be in a span that comes later.
                Some(time) => self.spans.move_on(&mut self.merge, time),
                None => return self.merge.current(),
            }
        }
        None
    }

    /// The merge that is read: for errors, notices, and how far it is.
    pub fn merge(&self) -> &Merge {
        &self.merge
    }

    /// The merge that is read, to take its errors and notices. It must not be
    /// moved.
    pub fn merge_mut(&mut self) -> &mut Merge {
        &mut self.merge
    }
}
