//! Time windows.

use std::ops::{Bound, RangeBounds};

use ltt_read::Timestamp;

/// A time window. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The time from which on time counts.
    pub(crate) start: i64,
    /// The time up to which time counts; `None` for that of the last event.
    pub(crate) end: Option<i64>,
    /// The time of the first event after the window; `None` if it contains all further events.
    pub(crate) until: Option<i64>,
}

impl Window {
    /// Creates the window of all events.
    pub fn everything() -> Self {
        Window { start: i64::MIN, end: None, until: None }
    }

    /// Creates the window of a range of times. An event at a bound is in it if the bound is included;
    /// time always counts between the bounds.
    pub fn of(range: &impl RangeBounds<Timestamp>) -> Self {
        let start = match range.start_bound() {
            Bound::Included(start) | Bound::Excluded(start) => start.as_ns(),
            Bound::Unbounded => i64::MIN,
        };
        let (end, until) = match range.end_bound() {
            Bound::Included(end) => (Some(end.as_ns()), end.as_ns().checked_add(1)),
            Bound::Excluded(end) => (Some(end.as_ns()), Some(end.as_ns())),
            Bound::Unbounded => (None, None),
        };
        Window { start, end, until }
    }

    /// Returns `true` if the window has no limits.
    pub fn is_everything(&self) -> bool {
        self.start == i64::MIN && self.until.is_none()
    }

    /// Returns the start; `None` if there is none.
    pub fn start(&self) -> Option<Timestamp> {
        (self.start > i64::MIN).then(|| Timestamp::from_ns(self.start))
    }

    /// Returns the time up to which time counts; `None` if that is the last event.
    pub fn end(&self) -> Option<Timestamp> {
        self.end.map(Timestamp::from_ns)
    }

    /// Returns `true` if an event at a time is in the window.
    #[inline]
    pub(crate) fn contains(&self, time: Timestamp) -> bool {
        let ns = time.as_ns();
        ns >= self.start && self.until.is_none_or(|until| ns < until)
    }

    /// Returns the time before which events are in the window; `None` if there is none.
    pub(crate) fn until(&self) -> Option<Timestamp> {
        self.until.map(Timestamp::from_ns)
    }
}
