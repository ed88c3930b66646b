//! The history of time windows, to go back to those before a zoom.

use lttv_requests::views::TimeWindow;

use crate::session::Session;

/// The greatest number of windows in either direction.
const MOST: usize = 200;

/// The windows before and after the current one.
#[derive(Debug)]
pub(crate) struct WindowHistory {
    current: TimeWindow,
    back: Vec<TimeWindow>,
    forward: Vec<TimeWindow>,
    /// `true` if the current window was reached by scrolling.
    is_scrolled: bool,
}

impl WindowHistory {
    /// Creates a history that starts with a window.
    pub(crate) fn new(current: TimeWindow) -> Self {
        WindowHistory { current, back: Vec::new(), forward: Vec::new(), is_scrolled: false }
    }

    /// Takes note of a window. Consecutive windows of the same width are one entry, since the
    /// user has only scrolled.
    fn visit(&mut self, window: TimeWindow) {
        if window == self.current {
            return;
        }
        let is_scrolled = window.width() == self.current.width();
        let before = std::mem::replace(&mut self.current, window);
        if !(is_scrolled && std::mem::replace(&mut self.is_scrolled, is_scrolled)) {
            self.is_scrolled = is_scrolled;
            self.back.push(before);
            if self.back.len() > MOST {
                self.back.remove(0);
            }
        }
        self.forward.clear();
    }

    /// Moves to the previous window, or to the next one after moving back. Returns the window;
    /// `None` if there is none.
    fn go(&mut self, back: bool) -> Option<TimeWindow> {
        let (from, to) = match back {
            true => (&mut self.back, &mut self.forward),
            false => (&mut self.forward, &mut self.back),
        };
        let window = from.pop()?;
        to.push(std::mem::replace(&mut self.current, window));
        self.is_scrolled = false;
        Some(window)
    }
}

impl Session {
    /// Starts the history with the current time window.
    pub(crate) fn forget_windows(&mut self) {
        self.windows = WindowHistory::new(self.tab.window());
    }

    /// Takes note of the time window after a key or a movement of the mouse.
    pub(crate) fn note_window(&mut self) {
        self.windows.visit(self.tab.window());
    }

    /// Shows the previous time window, or the next one after this. Returns `false` if there is
    /// none.
    pub fn go_to_window(&mut self, back: bool) -> bool {
        self.note_window();
        let Some(window) = self.windows.go(back) else { return false };
        self.tab.set_window(window, None);
        // A change of the traces may have limited the window.
        self.windows.current = self.tab.window();
        true
    }
}

#[cfg(test)]
mod tests {
    use ltt_read::Timestamp;

    use super::*;

    fn window(start: i64, end: i64) -> TimeWindow {
        let at = Timestamp::from_ns;
        TimeWindow::new(at(start), at(end)).expect("not empty")
    }

    #[test]
    fn zooms_are_undone_and_repeated() {
        let [all, half, part] = [window(0, 100), window(0, 50), window(10, 20)];
        let mut history = WindowHistory::new(all);
        [half, half, part].into_iter().for_each(|window| history.visit(window));
        assert_eq!(history.go(false), None);
        assert_eq!(
            [history.go(true), history.go(true), history.go(true)],
            [Some(half), Some(all), None]
        );
        assert_eq!([history.go(false), history.go(false)], [Some(half), Some(part)]);
        // After another zoom, there is nothing to repeat.
        assert_eq!(history.go(true), Some(half));
        history.visit(window(1, 2));
        assert_eq!(history.go(false), None);
        assert_eq!(history.go(true), Some(half));
    }

    #[test]
    fn scrolling_is_one_step() {
        let mut history = WindowHistory::new(window(0, 100));
        (0..5).for_each(|step| history.visit(window(10 + step, 20 + step)));
        assert_eq!(history.go(true), Some(window(10, 20)));
        assert_eq!(history.go(true), Some(window(0, 100)));
    }

    #[test]
    fn the_history_is_limited() {
        let mut history = WindowHistory::new(window(0, 1));
        (0..1000).for_each(|step| history.visit(window(0, 2 + step)));
        assert_eq!(std::iter::from_fn(|| history.go(true)).count(), MOST);
    }
}
