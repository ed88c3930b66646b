//! Counting the events of a window.

use std::ops::ControlFlow;

use ltt_read::{Event, Listener, Merge, Timestamp};

use crate::window::Window;

/// Counts the events of a window as a merge goes over them.
pub(crate) struct Tally {
    /// The window; one without bounds goes from the first time to the last.
    begin: Timestamp,
    end: Timestamp,
    is_everything: bool,
    events: u64,
    is_over: bool,
}

impl Tally {
    pub(crate) fn new(window: Window) -> Self {
        Tally {
            begin: window.begin.unwrap_or(Timestamp::MIN),
            end: window.end.unwrap_or(Timestamp::MAX),
            is_everything: window.is_everything(),
            events: 0,
            is_over: false,
        }
    }

    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Whether the window has been left behind.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }
}

impl Listener for Tally {
    /// It wants the first event behind the window, to stop at it.
    #[inline]
    fn wants(&mut self, _: usize, event: &Event<'_>) -> bool {
        let Some(time) = event.timestamp() else {
            self.events += u64::from(self.is_everything);
            return false;
        };
        // One whose clock went back may be out of the window between others.
        self.events += u64::from(self.begin <= time && time <= self.end);
        time > self.end
    }

    fn hear(&mut self, _: &Merge, _: usize, _: &Event<'_>) -> ControlFlow<()> {
        self.is_over = true;
        ControlFlow::Break(())
    }
}
