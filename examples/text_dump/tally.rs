//! Counting the events of a window.

use std::ops::ControlFlow;

use ltt_read::{Event, Listener, Merge};

use crate::window::Window;

/// Counts the events of a window as a merge goes over them.
pub(crate) struct Tally {
    window: Window,
    events: u64,
    is_over: bool,
}

impl Tally {
    pub(crate) fn new(window: Window) -> Self {
        Tally { window, events: 0, is_over: false }
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
        let time = event.timestamp();
        // One whose clock went back may be out of the window between others.
        self.events += u64::from(self.window.contains(time));
        self.window.end.is_some_and(|end| time.is_some_and(|time| time > end))
    }

    fn hear(&mut self, _: &Merge, _: usize, _: &Event<'_>) -> ControlFlow<()> {
        self.is_over = true;
        ControlFlow::Break(())
    }
}
