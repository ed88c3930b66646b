//! The reference points of relative times, and time windows.

use std::ops::Bound;
use std::sync::Arc;

use ltt_read::{TimeSpan, Timestamp, Trace};
use lttv_context::Bounds;
use lttv_filter::{Environment, TimeError, TimeText, TraceTimes, Zone};

/// The time zone and the traces that times in arguments relate to.
#[derive(Debug)]
pub struct Times<'t> {
    environment: Environment,
    times: TraceTimes<'t>,
}

/// A time window, both times inclusive; `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// The first time.
    pub begin: Option<Timestamp>,
    /// The last time.
    pub end: Option<Timestamp>,
}

/// An error from resolving a window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// The first time cannot be resolved.
    #[error("--begin: {0}")]
    Begin(TimeError),
    /// The last time cannot be resolved.
    #[error("--end: {0}")]
    End(TimeError),
    /// The window ends before it starts.
    #[error("the begin {begin} is after the end {end}")]
    Order {
        /// The first time.
        begin: Timestamp,
        /// The last time.
        end: Timestamp,
    },
    /// No event of the traces can lie in the window.
    #[error("the window is outside of the traces, whose events are from {} to {}", events.start, events.end)]
    Outside {
        /// The times of the first and the last event.
        events: TimeSpan,
    },
}

impl<'t> Times<'t> {
    /// Creates the times of some traces, with the time zone of notations without a zone.
    pub fn new(zone: Zone, traces: &'t [Arc<Trace>]) -> Self {
        Times { environment: Environment::new().in_zone(zone), times: TraceTimes::of(traces) }
    }

    /// Returns the times of the first and the last event. Returns `None` if no event has a time.
    /// The first call reads the start and the end of the traces.
    pub fn events(&self) -> Option<TimeSpan> {
        self.times.events()
    }

    /// Returns the point in time that an argument means.
    ///
    /// # Errors
    ///
    /// If the time means no instant of the traces, or several ones.
    pub fn resolve(&self, time: &TimeText) -> Result<Timestamp, TimeError> {
        self.environment.resolve(time, &self.times)
    }

    /// Returns the window from one time to another.
    ///
    /// # Errors
    ///
    /// If a time cannot be resolved, or if the window ends before it starts. A window outside of
    /// the traces is no error: see [`inside`](Self::inside).
    pub fn window(
        &self,
        begin: Option<&TimeText>,
        end: Option<&TimeText>,
    ) -> Result<Window, WindowError> {
        // The begin alone first, so that the error names the side.
        self.environment.resolve_window(begin, None, &self.times).map_err(WindowError::Begin)?;
        let window = self.environment.resolve_window(begin, end, &self.times);
        match window.map_err(WindowError::End)? {
            (Some(begin), Some(end)) if begin > end => Err(WindowError::Order { begin, end }),
            (begin, end) => Ok(Window { begin, end }),
        }
    }

    /// Checks that a window overlaps the time from the first to the last event.
    ///
    /// # Errors
    ///
    /// If it does not. Traces without times contain every window.
    pub fn inside(&self, window: Window) -> Result<(), WindowError> {
        if window.is_everything() {
            return Ok(());
        }
        let Some(events) = self.events() else { return Ok(()) };
        let is_after = window.begin.is_some_and(|begin| begin > events.end);
        let is_before = window.end.is_some_and(|end| end < events.start);
        if is_after || is_before { Err(WindowError::Outside { events }) } else { Ok(()) }
    }
}

impl Window {
    /// Returns `true` if an event of this time is in the window. An event without a time is
    /// only in a window without limits.
    #[inline]
    pub fn contains(self, time: Option<Timestamp>) -> bool {
        match time {
            Some(time) => {
                self.begin.is_none_or(|begin| time >= begin)
                    && self.end.is_none_or(|end| time <= end)
            }
            None => self.is_everything(),
        }
    }

    /// Returns `true` if the window has no limits.
    pub fn is_everything(self) -> bool {
        self.begin.is_none() && self.end.is_none()
    }

    /// Returns the window as a range.
    pub fn range(self) -> (Bound<Timestamp>, Bound<Timestamp>) {
        let bound = |time: Option<Timestamp>| time.map_or(Bound::Unbounded, Bound::Included);
        (bound(self.begin), bound(self.end))
    }

    /// Returns the bounds of a read up to the end of the window, inclusive.
    pub fn bounds(self) -> Bounds {
        match self.end.and_then(|end| end.as_ns().checked_add(1)) {
            Some(after) => Bounds::all().until(Timestamp::from_ns(after)),
            None => Bounds::all(),
        }
    }

    /// Returns the part of a time span in the window. Returns `None` if there is none.
    pub fn part_of(self, span: TimeSpan) -> Option<TimeSpan> {
        let start = self.begin.map_or(span.start, |begin| begin.max(span.start));
        let end = self.end.map_or(span.end, |end| end.min(span.end));
        (start <= end).then_some(TimeSpan { start, end })
    }
}
