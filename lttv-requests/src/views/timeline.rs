//! Rows of segments: what was in which state when.

use std::collections::HashMap;
use std::hash::Hash;

use ltt_read::Timestamp;

use super::row::{Columns, Row, SegmentState};
use crate::window::TimeWindow;

/// Rows of segments in a time window, no finer than a resolution.
///
/// What changes its state more than once within one column (a stretch as long as
/// the resolution) gets one segment for the rest of that column, which tells the state
/// that took most of it, and how long there was [work](SegmentState::is_active) in
/// it. So there are never more than two segments for a row and column, however many
/// events there are, and still no work is lost: sums of
/// [`Segment::active`](super::Segment::active) are exact. With a resolution of 1 ns nothing is left out.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_requests::TimeWindow;
/// use lttv_requests::views::{SegmentState, Timeline};
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
///     row.segments().map(|s| (s.begin.ns(), s.end.ns(), s.state, s.active)).collect();
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
    /// Where what was known before it scrolled back begins; the window's end if
    /// there is no such thing.
    later: Timestamp,
}

impl<K: Clone + Eq + Hash, S: SegmentState> Timeline<K, S> {
    /// No rows yet. The resolution is in ns, and 1 at least.
    pub fn new(window: TimeWindow, resolution: u64) -> Self {
        Timeline {
            window,
            columns: Columns::new(window.begin(), resolution),
            rows: Vec::new(),
            by_key: HashMap::new(),
            known: window.begin(),
            later: window.end(),
        }
    }

    /// Its time window.
    pub fn window(&self) -> TimeWindow {
        self.window
    }

    /// Its resolution in ns.
    pub fn resolution(&self) -> u64 {
        self.columns.width()
    }

    /// How far it is known. After scrolling back there may be more behind a gap.
    pub fn known_until(&self) -> Timestamp {
        self.known
    }

    /// All rows, in the order in which they came.
    pub fn rows(&self) -> &[Row<K, S>] {
        &self.rows
    }

    /// The row of a key.
    pub fn row(&self, key: &K) -> Option<&Row<K, S>> {
        self.rows.get(*self.by_key.get(key)?)
    }

    /// From a time on the row of a key is in a state. Times must not go back; those
    /// before the window are its begin.
    pub fn set(&mut self, key: K, time: Timestamp, state: S) {
        let row = self.place(key);
        self.change(row, time, Some(state));
    }

    /// What it is that the row of a key shows ends at a time; the row stays.
    pub fn end(&mut self, key: &K, time: Timestamp) {
        if let Some(row) = self.by_key.get(key) {
            self.change(*row, time, None);
        }
    }

    /// All is known up to a time: so far segments reach that did not end.
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

    /// The stretch that is to be filled; `None` if there is none.
    pub fn missing(&self) -> Option<TimeWindow> {
        TimeWindow::new(self.known, self.later)
    }

    /// Moves the window by whole columns, and keeps what is known of it. Rows of
    /// which nothing is left go: tells for each whether it stays. `None` if nothing
    /// can be kept.
    pub fn scroll(&mut self, window: TimeWindow, resolution: u64) -> Option<Vec<bool>> {
        let (old, new) = (self.window, window);
        let columns = Columns::new(new.begin(), resolution);
        let by = old.begin().ns().abs_diff(new.begin().ns());
        let is_filling_gap = self.later < old.end();
        let is_aligned = columns.width() == self.columns.width() && by % columns.width() == 0;
        if !is_aligned || is_filling_gap {
            return None;
        }
        let known = self.known;
        let (begin, end) = if new.begin() >= old.begin() {
            (new.begin(), known.min(new.end()))
        } else {
            // In the first column, changes of before it began are not known.
            let begin = old.begin().ns().saturating_add_unsigned(columns.width());
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
        if begin > new.begin() {
            (self.known, self.later) = (new.begin(), begin);
            self.rows.iter_mut().for_each(Row::put_off);
            // Up to its end all is known already, then.
            debug_assert!(end == new.end());
        }
        let known = self.known;
        self.rows.iter_mut().for_each(|row| row.know(known));
        Some(stays)
    }

    /// The place of the row of a key among all; it is made if it is new.
    pub(super) fn place(&mut self, key: K) -> usize {
        *self.by_key.entry(key.clone()).or_insert_with(|| {
            self.rows.push(Row::new(key, self.known));
            self.rows.len() - 1
        })
    }

    /// From a time on a row is in a state, or in none.
    #[inline]
    pub(super) fn change(&mut self, row: usize, time: Timestamp, state: Option<S>) {
        if let Some(row) = self.rows.get_mut(row) {
            row.change(self.columns, time.max(self.window.begin()), state);
        }
    }
}
