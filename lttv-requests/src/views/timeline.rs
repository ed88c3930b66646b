//! Rows of segments: what was in which state when.

use std::collections::HashMap;
use std::hash::Hash;

use ltt_read::Timestamp;

use crate::window::TimeWindow;

/// Rows of segments in a time window, no finer than a resolution.
///
/// What changes its state more than once within one column (a stretch as long as
/// the resolution) gets but one segment that begins there, in the last of these
/// states, marked as [crowded](Segment::crowded). So there are never more segments
/// in a row than columns, however many events there are. With a resolution of 1 ns
/// nothing is left out.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_requests::TimeWindow;
/// use lttv_requests::views::Timeline;
///
/// let at = Timestamp::from_ns;
/// let window = TimeWindow::new(at(0), at(100)).expect("not empty");
/// let mut timeline: Timeline<&str, char> = Timeline::new(window, 10);
/// for (time, state) in [(0, 'a'), (42, 'b'), (44, 'c'), (61, 'a')] {
///     timeline.set("row", at(time), state);
/// }
/// timeline.know(at(100));
/// let row = timeline.row(&"row").expect("it was set");
/// let segments: Vec<_> =
///     row.segments().map(|s| (s.begin.ns(), s.end.ns(), s.state, s.crowded)).collect();
/// assert_eq!(segments, [(0, 42, 'a', false), (42, 61, 'c', true), (61, 100, 'a', false)]);
/// ```
#[derive(Debug, Clone)]
pub struct Timeline<K, S> {
    window: TimeWindow,
    resolution: u64,
    rows: Vec<Row<K, S>>,
    by_key: HashMap<K, usize>,
    known: Timestamp,
    /// Where what was known before it scrolled back begins; the window's end if
    /// there is no such thing.
    later: Timestamp,
}

/// A row of a [`Timeline`].
#[derive(Debug, Clone)]
pub struct Row<K, S> {
    key: K,
    closed: Vec<Segment<S>>,
    /// Its end is not known yet.
    open: Option<Segment<S>>,
    /// What was known before the timeline scrolled back.
    later: Vec<Segment<S>>,
    /// How far all of the timeline is known.
    known: Timestamp,
}

/// A stretch of time in one state; its end does not belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<S> {
    /// When it begins.
    pub begin: Timestamp,
    /// When it ends: not before it begins.
    pub end: Timestamp,
    /// The state.
    pub state: S,
    /// Whether there were other states soon after its begin, too short to be shown.
    pub crowded: bool,
}

impl<K: Clone + Eq + Hash, S: Copy + PartialEq> Timeline<K, S> {
    /// No rows yet. The resolution is in ns, and 1 at least.
    pub fn new(window: TimeWindow, resolution: u64) -> Self {
        Timeline {
            window,
            resolution: resolution.max(1),
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
        self.resolution
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
        self.set_at(row, time, state);
    }

    /// What it is that the row of a key shows ends at a time; the row stays.
    pub fn end(&mut self, key: &K, time: Timestamp) {
        if let Some(row) = self.by_key.get(key) {
            self.end_at(*row, time);
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
        self.rows.iter_mut().for_each(|row| row.known = known);
    }

    /// The stretch that is to be filled; `None` if there is none.
    pub fn missing(&self) -> Option<TimeWindow> {
        TimeWindow::new(self.known, self.later)
    }

    /// Moves the window by whole columns, and keeps what is known of it. Rows of
    /// which nothing is left go: tells for each whether it stays. `None` if nothing
    /// can be kept.
    #[cfg(feature = "state")]
    pub(super) fn scroll(&mut self, window: TimeWindow, resolution: u64) -> Option<Vec<bool>> {
        let (old, new) = (self.window, window);
        let by = old.begin().ns().abs_diff(new.begin().ns());
        let is_filling_gap = self.later < old.end();
        if resolution.max(1) != self.resolution || by % self.resolution != 0 || is_filling_gap {
            return None;
        }
        let known = self.known;
        let (begin, end) = if new.begin() >= old.begin() {
            (new.begin(), known.min(new.end()))
        } else {
            // In the first column, changes of before it began are not known.
            let begin = old.begin().ns().saturating_add_unsigned(self.resolution);
            (Timestamp::from_ns(begin), new.end())
        };
        if begin >= end || end > known {
            return None;
        }
        for row in &mut self.rows {
            row.close(known);
            row.closed.retain(|segment| segment.begin < end && segment.end > begin);
            for segment in &mut row.closed {
                segment.begin = segment.begin.max(begin);
                segment.end = segment.end.min(end);
            }
        }
        let stays: Vec<bool> = self.rows.iter().map(|row| !row.closed.is_empty()).collect();
        self.rows.retain(|row| !row.closed.is_empty());
        self.by_key = (0..).zip(&self.rows).map(|(at, row)| (row.key.clone(), at)).collect();
        self.window = new;
        (self.known, self.later) = (end, new.end());
        if begin > new.begin() {
            (self.known, self.later) = (new.begin(), begin);
            self.rows.iter_mut().for_each(|row| row.later = std::mem::take(&mut row.closed));
            // Up to its end all is known already, then.
            debug_assert!(end == new.end());
        }
        let known = self.known;
        self.rows.iter_mut().for_each(|row| row.known = known);
        Some(stays)
    }

    /// The place of the row of a key among all; it is made if it is new.
    pub(crate) fn place(&mut self, key: K) -> usize {
        *self.by_key.entry(key.clone()).or_insert_with(|| {
            let (closed, later) = (Vec::new(), Vec::new());
            self.rows.push(Row { key, closed, open: None, later, known: self.known });
            self.rows.len() - 1
        })
    }

    pub(crate) fn set_at(&mut self, row: usize, time: Timestamp, state: S) {
        let time = time.max(self.window.begin());
        let column = self.column(time);
        let Some(row) = self.rows.get_mut(row) else { return };
        let fresh = Segment { begin: time, end: time, state, crowded: false };
        let Some(open) = &mut row.open else {
            // Perhaps it only goes on.
            let last = row.closed.pop_if(|last| last.end == time && last.state == state);
            row.open = Some(last.unwrap_or(fresh));
            return;
        };
        if open.state == state {
            return;
        }
        if open.begin < column {
            row.closed.push(Segment { end: time, ..*open });
            *open = fresh;
            return;
        }
        open.crowded |= time > open.begin;
        open.state = state;
        // Perhaps it went back to what it was.
        if let Some(last) = row.closed.last()
            && last.state == state
            && last.end == open.begin
        {
            *open = Segment { crowded: last.crowded || open.crowded, ..*last };
            row.closed.pop();
        }
    }

    pub(crate) fn end_at(&mut self, row: usize, time: Timestamp) {
        let time = time.max(self.window.begin());
        let column = self.column(time);
        let Some(row) = self.rows.get_mut(row) else { return };
        let Some(open) = row.open.take().filter(|open| time > open.begin) else { return };
        if open.begin < column {
            row.closed.push(Segment { end: time, ..open });
        } else if let Some(last) = row.closed.last_mut() {
            last.crowded = true;
        }
    }

    /// The begin of the column of a time.
    fn column(&self, time: Timestamp) -> Timestamp {
        let begin = self.window.begin().ns();
        let within = time.ns().abs_diff(begin) % self.resolution;
        Timestamp::from_ns(time.ns().saturating_sub_unsigned(within))
    }
}

impl<K, S: Copy> Row<K, S> {
    /// What it is the row of.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Its segments in order, as far as known. There may be gaps between them.
    pub fn segments(&self) -> impl Iterator<Item = Segment<S>> + '_ {
        let open = self.open.filter(|open| open.begin < self.known);
        let open = open.map(|open| Segment { end: self.known, ..open });
        self.closed.iter().copied().chain(open).chain(self.later.iter().copied())
    }

    /// What is open ends here.
    fn close(&mut self, end: Timestamp) {
        let open = self.open.take().filter(|open| open.begin < end);
        self.closed.extend(open.map(|open| Segment { end, ..open }));
    }

    /// All is known up to where the later segments begin.
    fn join(&mut self, later: Timestamp)
    where
        S: PartialEq,
    {
        self.close(later);
        let mut rest = std::mem::take(&mut self.later).into_iter().peekable();
        if let Some(last) = self.closed.last_mut()
            && let Some(next) = rest.next_if(|n| n.begin == last.end && n.state == last.state)
        {
            *last = Segment { begin: last.begin, crowded: last.crowded || next.crowded, ..next };
        }
        self.closed.extend(rest);
    }
}
