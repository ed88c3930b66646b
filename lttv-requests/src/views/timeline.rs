//! Rows of segments over time.

use std::collections::HashMap;
use std::hash::Hash;

use ltt_read::Timestamp;

use super::row::{Columns, Row, SegmentState};
use super::time_window::TimeWindow;

/// Rows of segments in a time window, down to a resolution.
///
/// A row whose state changes more than once within a column (an interval as long as the
/// resolution) gets one *crowded* segment for the rest of that column. This segment has
/// the state that took most of it, and the length of time with
/// [activity](SegmentState::is_active). A row thus has at most two segments per column,
/// however many events there are, and sums of [`Segment::active`](super::Segment::active)
/// remain exact. With a resolution of 1 ns, segments are never crowded.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_requests::views::{SegmentState, TimeWindow, Timeline};
///
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// enum Is { Idle, Busy }
///
/// impl SegmentState for Is {
///     fn is_active(self) -> bool {
///         self == Is::Busy
///     }
/// }
///
/// let at = Timestamp::from_ns;
/// let window = TimeWindow::new(at(0), at(100)).expect("not empty");
/// let mut timeline: Timeline<&str, Is> = Timeline::new(window, 10);
/// for (time, state) in [(0, Is::Idle), (42, Is::Busy), (44, Is::Idle), (61, Is::Busy)] {
///     timeline.set("row", at(time), state);
/// }
/// timeline.know(at(100));
/// let row = timeline.row(&"row").expect("it was set");
/// let segments: Vec<_> =
///     row.segments().map(|s| (s.start.as_ns(), s.end.as_ns(), s.state, s.active)).collect();
/// assert_eq!(segments, [
///     (0, 42, Is::Idle, 0),
///     (42, 50, Is::Busy, 2), // crowded: 2 ns of its 8
///     (50, 61, Is::Idle, 0),
///     (61, 100, Is::Busy, 39),
/// ]);
/// ```
#[derive(Debug, Clone)]
pub struct Timeline<K, S> {
    window: TimeWindow,
    columns: Columns,
    rows: Vec<Row<K, S>>,
    by_key: HashMap<K, usize>,
    known: Timestamp,
    /// The start of the segments that were known before scrolling back. The window's end
    /// if there are none.
    later: Timestamp,
}

impl<K: Clone + Eq + Hash, S: SegmentState> Timeline<K, S> {
    /// Creates a timeline without rows. The resolution is in ns, and at least 1.
    pub fn new(window: TimeWindow, resolution: u64) -> Self {
        Timeline {
            window,
            columns: Columns::new(window.start(), resolution),
            rows: Vec::new(),
            by_key: HashMap::new(),
            known: window.start(),
            later: window.end(),
        }
    }

    /// Returns the time window.
    pub fn window(&self) -> TimeWindow {
        self.window
    }

    /// Returns the resolution in ns.
    pub fn resolution(&self) -> u64 {
        self.columns.width()
    }

    /// Returns the time up to which the timeline is filled. After scrolling back, there
    /// may be further segments after a gap.
    pub fn known_until(&self) -> Timestamp {
        self.known
    }

    /// Returns all rows, in the order in which they were added.
    pub fn rows(&self) -> &[Row<K, S>] {
        &self.rows
    }

    /// Returns the row of a key.
    pub fn row(&self, key: &K) -> Option<&Row<K, S>> {
        self.rows.get(*self.by_key.get(key)?)
    }

    /// Sets the state of the row of a key from a time on, adding the row if it is new.
    /// Times must not decrease; times before the window count as its start.
    pub fn set(&mut self, key: K, time: Timestamp, state: S) {
        let row = self.row_index(key);
        self.change(row, time, Some(state));
    }

    /// Ends the current segment of the row of a key at a time. The row remains.
    pub fn end(&mut self, key: &K, time: Timestamp) {
        if let Some(row) = self.by_key.get(key) {
            self.change(*row, time, None);
        }
    }

    /// Marks the timeline as filled up to a time, to which open segments extend.
    pub fn know(&mut self, time: Timestamp) {
        self.known = time.clamp(self.known, self.later);
        if self.known == self.later && self.later < self.window.end() {
            self.known = self.window.end();
            self.rows.iter_mut().for_each(|row| row.join(self.later));
            self.later = self.window.end();
        }
        let known = self.known;
        self.rows.iter_mut().for_each(|row| row.know(known));
    }

    /// Returns the interval that remains to be filled. `None` if there is none.
    pub fn missing(&self) -> Option<TimeWindow> {
        TimeWindow::new(self.known, self.later)
    }

    /// Moves the window by whole columns, and keeps the segments in the overlap. Rows
    /// without segments are removed. Returns, for each previous row, whether it stays.
    /// `None` if nothing can be kept.
    pub fn scroll(&mut self, window: TimeWindow, resolution: u64) -> Option<Vec<bool>> {
        let (old, new) = (self.window, window);
        let columns = Columns::new(new.start(), resolution);
        let by = old.start().as_ns().abs_diff(new.start().as_ns());
        let is_filling_gap = self.later < old.end();
        let is_aligned = columns.width() == self.columns.width() && by % columns.width() == 0;
        if !is_aligned || is_filling_gap {
            return None;
        }
        let known = self.known;
        let (begin, end) = if new.start() >= old.start() {
            (new.start(), known.min(new.end()))
        } else {
            // In the first column, changes before its start are not known.
            let begin = old.start().as_ns().saturating_add_unsigned(columns.width());
            (Timestamp::from_ns(begin), new.end())
        };
        if begin >= end || end > known {
            return None;
        }
        self.rows.iter_mut().for_each(|row| row.keep(known, begin, end));
        let stays: Vec<bool> = self.rows.iter().map(|row| !row.is_empty()).collect();
        self.rows.retain(|row| !row.is_empty());
        self.by_key = (0..).zip(&self.rows).map(|(at, row)| (row.key().clone(), at)).collect();
        (self.window, self.columns) = (new, columns);
        (self.known, self.later) = (end, new.end());
        if begin > new.start() {
            (self.known, self.later) = (new.start(), begin);
            self.rows.iter_mut().for_each(Row::defer_closed);
            // The previous window is filled up to the new end.
            debug_assert!(end == new.end());
        }
        let known = self.known;
        self.rows.iter_mut().for_each(|row| row.know(known));
        Some(stays)
    }

    /// Returns the index of the row of a key, adding the row if it is new.
    pub(super) fn row_index(&mut self, key: K) -> usize {
        *self.by_key.entry(key.clone()).or_insert_with(|| {
            self.rows.push(Row::new(key, self.known));
            self.rows.len() - 1
        })
    }

    /// Sets the state of a row from a time on; `None` for no state.
    #[inline]
    pub(super) fn change(&mut self, row: usize, time: Timestamp, state: Option<S>) {
        if let Some(row) = self.rows.get_mut(row) {
            row.change(self.columns, time.max(self.window.start()), state);
        }
    }
}
