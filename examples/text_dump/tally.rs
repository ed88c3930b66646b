//! Counting the events of a window.

use std::ops::ControlFlow;

use ltt_read::{Event, Listener, Merge, Timestamp};

use crate::window::Window;

/// Counts the events of a window as a merge goes over them.
pub(crate) struct Tally {
    window: Window,
    events: u64,
    /// The time after which there may be nothing more in the window.
    last: Option<Timestamp>,
    /// The first time after that, once the merge has come to it.
    stopped: Option<Timestamp>,
}

impl Tally {
    pub(crate) fn new(window: Window) -> Self {
        Tally { window, events: 0, last: window.end, stopped: None }
    }

    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Whether it has stopped, since the window has been left behind. If events of the
    /// window may still come, it does not stop before the last of them again.
    pub(crate) fn is_over(&mut self, merge: &mut Merge) -> Option<bool> {
        let (now, end) = self.stopped.take().zip(self.window.end)?;
        let by = merge.delivered_by(end.saturating_add(1));
        self.last = by.map(|by| by.saturating_sub(1));
        Some(by.is_some_and(|by| by <= now))
    }
}

impl Listener for Tally {
    /// It wants the first event after the window, to stop at it.
    #[inline]
    fn wants(&mut self, _: usize, event: &Event<'_>) -> bool {
        let time = event.timestamp();
        // One whose clock went back may be out of the window between others.
        self.events += u64::from(self.window.contains(time));
        self.last.is_some_and(|last| time.is_some_and(|time| time > last))
    }

    fn hear(&mut self, _: &Merge, _: usize, event: &Event<'_>) -> ControlFlow<()> {
        self.stopped = event.timestamp();
        ControlFlow::Break(())
    }
}
