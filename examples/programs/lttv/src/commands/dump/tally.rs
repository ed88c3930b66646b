//! Counting of the events in a window.

use std::ops::ControlFlow;

use ltt_read::tuning::EventSink;
use ltt_read::{Event, Merge, Notice, Timestamp, TracefileNumber};
use lttv_common::time::Window;

/// A number of events, and what was met while they were counted.
pub(super) struct Counted {
    pub(super) events: u64,
    /// `true` if events follow the window.
    pub(super) is_followed: bool,
    pub(super) notices: Vec<Notice>,
    pub(super) notices_omitted: u64,
    pub(super) errors: Vec<ltt_read::Error>,
    pub(super) errors_omitted: u64,
}

/// A listener that counts the events in a window.
pub(super) struct Tally {
    window: Window,
    events: u64,
    /// The time after which the window may be complete; `None` to read all events.
    last: Option<Timestamp>,
    /// The time of the event after `last` at which the merge has stopped.
    stopped: Option<Timestamp>,
}

impl Tally {
    pub(super) fn new(window: Window) -> Self {
        Tally { window, events: 0, last: window.end, stopped: None }
    }

    /// Returns the number of events in the window.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// Returns `Some(true)` if the window is complete, `Some(false)` if reading must continue,
    /// and `None` if the merge has not stopped at the end of the window.
    ///
    /// If events of the window can still come, the merge stops next time after the last of
    /// them.
    pub(super) fn is_over(&mut self, merge: &mut Merge) -> Option<bool> {
        let (now, end) = self.stopped.take().zip(self.window.end)?;
        let by = merge.delivered_by(end.saturating_add(1));
        self.last = by.map(|by| by.saturating_sub(1));
        Some(by.is_some_and(|by| by <= now))
    }
}

impl EventSink for Tally {
    /// Accepts the first event after the window, to stop at it.
    #[inline]
    fn accepts(&mut self, _: TracefileNumber, event: &Event<'_>) -> bool {
        let time = event.timestamp();
        // Where a clock goes back, events outside of the window may come between others.
        self.events += u64::from(self.window.contains(time));
        self.last.is_some_and(|last| time.is_some_and(|time| time > last))
    }

    fn receive(&mut self, _: &Merge, _: TracefileNumber, event: &Event<'_>) -> ControlFlow<()> {
        self.stopped = event.timestamp();
        ControlFlow::Break(())
    }
}
