//! Reading what passes a filter, and as little else as possible.

use ltt_read::{Event, Merge};

use crate::filter::TimeWindow;
use crate::filters::Filters;

/// The events that pass a filter, in time order.
///
/// Tracefiles in which none can pass are not touched; packets that lie outside
/// of the times for which any can are not read. The others are read, but only
/// events that pass are put in order.
///
/// In a tracefile whose clock goes back, events that come late are passed if
/// their packet lies behind the times wanted: see
/// [`Merge::seek`](ltt_read::Merge::seek).
#[derive(Debug)]
pub struct Matches<'f> {
    filters: &'f Filters,
    merge: Merge,
    windows: Vec<TimeWindow>,
    /// Which of them is read.
    window: usize,
}

impl<'f> Matches<'f> {
    pub(crate) fn new(filters: &'f Filters) -> Self {
        let wanted = |trace, tracefile| filters.can_match(trace, tracefile);
        let mut merge = Merge::of_tracefiles(filters.traces(), wanted);
        let windows = filters.windows();
        match windows.first() {
            Some(first) if first.first > TimeWindow::ALL.first => merge.seek(first.first),
            _ => {}
        }
        Matches { filters, merge, windows, window: 0 }
    }

    /// The next event that passes; `None` after the last.
    #[allow(clippy::should_implement_trait)] // events borrow the merge
    pub fn next(&mut self) -> Option<Event<'_>> {
        let filters = self.filters;
        while let Some(window) = self.windows.get(self.window) {
            let last = window.last;
            if last == TimeWindow::ALL.last {
                return self.merge.next_where(|event| filters.matches(event));
            }
            let past = |event: &Event<'_>| event.timestamp().is_some_and(|time| time > last);
            let wanted = |event: &Event<'_>| past(event) || filters.matches(event);
            let beyond = match self.merge.next_where(wanted) {
                None => return None,
                Some(event) => event.timestamp().filter(|_| past(&event)),
            };
            let Some(time) = beyond else { return self.merge.current() };
            // The event may be in a window that comes later.
            while self.windows.get(self.window).is_some_and(|window| window.last < time) {
                self.window += 1;
            }
            match self.windows.get(self.window) {
                Some(next) if next.first > time => self.merge.seek(next.first),
                _ => self.merge.put_back(),
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
