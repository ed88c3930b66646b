//! Rows of a timeline, and their segments.

use ltt_read::Timestamp;

/// A state of a row of a [`Timeline`](super::Timeline).
pub trait SegmentState: Copy + PartialEq {
    /// Returns whether the state is one of activity. Where states are too short to be
    /// shown, an active state takes precedence.
    fn is_active(self) -> bool;

    /// Returns whether the state is drawn like another one, though it may contain more
    /// information. Times in such states are added up where they are too short to be
    /// shown.
    fn looks_like(self, other: Self) -> bool {
        self == other
    }
}

/// A row of a [`Timeline`](super::Timeline).
#[derive(Debug, Clone)]
pub struct Row<K, S> {
    key: K,
    closed: Vec<Segment<S>>,
    /// The last segment, whose end is not known yet.
    open: Option<Open<S>>,
    /// The times spent in each state within the column of a crowded segment.
    spent: Vec<(S, u64)>,
    /// The segments known before the timeline scrolled back.
    later: Vec<Segment<S>>,
    /// The time up to which the timeline is filled.
    known: Timestamp,
    /// `true` if any closed or later segment is active.
    was_active: bool,
}

/// A half-open interval of time in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<S> {
    /// The start of the interval.
    pub start: Timestamp,
    /// The end of the interval, later than its start.
    pub end: Timestamp,
    /// The state. In a crowded segment, the active state that took most of it, or the
    /// state that did if none was active.
    pub state: S,
    /// The length of time in active states, in ns: all of the segment or 0, unless it is
    /// crowded.
    pub active: u64,
    /// `true` if the segment represents several states that are too short to be shown.
    pub crowded: bool,
}

/// A segment that has no end yet.
#[derive(Debug, Clone, Copy)]
struct Open<S> {
    begin: Timestamp,
    /// The current state; `None` after its end.
    state: Option<S>,
    since: Timestamp,
    /// The end of the segment with its column, if it is crowded.
    crowd_end: Option<Timestamp>,
}

/// Columns of equal width, counted from a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    begin: Timestamp,
    width: u64,
}

impl Columns {
    /// Creates columns with a width in ns, at least 1.
    pub(super) fn new(begin: Timestamp, width: u64) -> Self {
        Columns { begin, width: width.max(1) }
    }

    pub(super) fn width(self) -> u64 {
        self.width
    }

    /// Returns the start of the column of a time.
    fn begin_of(self, time: Timestamp) -> Timestamp {
        let within = time.as_ns().abs_diff(self.begin.as_ns()) % self.width;
        Timestamp::from_ns(time.as_ns().saturating_sub_unsigned(within))
    }
}

impl<S> Segment<S> {
    /// Returns the length in ns.
    pub fn length(&self) -> u64 {
        self.end.as_ns().abs_diff(self.start.as_ns())
    }
}

impl<S: SegmentState> Segment<S> {
    /// Creates a segment of one state.
    fn plain(begin: Timestamp, end: Timestamp, state: S) -> Self {
        let length = end.as_ns().abs_diff(begin.as_ns());
        let active = if state.is_active() { length } else { 0 };
        Segment { start: begin, end, state, active, crowded: false }
    }

    /// Creates a crowded segment from the times spent in each state. `None` if there are
    /// none.
    fn crowded(begin: Timestamp, end: Timestamp, spent: &[(S, u64)]) -> Option<Self> {
        let is_active = |(state, _): &&(S, u64)| state.is_active();
        let active = spent.iter().filter(is_active);
        let most = active.clone().max_by_key(|(_, time)| *time);
        let (state, _) = most.or_else(|| spent.iter().max_by_key(|(_, time)| *time))?;
        let active = active.map(|(_, time)| *time).sum();
        Some(Segment { start: begin, end, state: *state, active, crowded: true })
    }

    /// Returns the part between two times, which must not be empty.
    fn cut(self, begin: Timestamp, end: Timestamp) -> Self {
        let (begin, end) = (self.start.max(begin), self.end.min(end));
        match self.crowded {
            false => Segment::plain(begin, end, self.state),
            // Crowded segments lie within a column, so that only the part that was not
            // filled is cut off.
            true => {
                let length = end.as_ns().abs_diff(begin.as_ns());
                Segment { start: begin, end, active: self.active.min(length), ..self }
            }
        }
    }
}

impl<S> Open<S> {
    fn new(begin: Timestamp, state: S) -> Self {
        Open { begin, state: Some(state), since: begin, crowd_end: None }
    }
}

impl<K, S: SegmentState> Row<K, S> {
    pub(super) fn new(key: K, known: Timestamp) -> Self {
        let (closed, spent, later) = (Vec::new(), Vec::new(), Vec::new());
        Row { key, closed, open: None, spent, later, known, was_active: false }
    }

    /// Returns the key of the row.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Iterates over the segments in order, as far as they are known. There may be gaps
    /// between them.
    pub fn segments(&self) -> impl Iterator<Item = Segment<S>> + '_ {
        let open = self.open.and_then(|open| open.segment(&mut self.spent.clone(), self.known));
        self.closed.iter().copied().chain(open).chain(self.later.iter().copied())
    }

    /// Returns whether any segment is active.
    pub fn is_active(&self) -> bool {
        let open = self.open.and_then(|open| open.state).is_some_and(SegmentState::is_active);
        self.was_active || open || self.spent.iter().any(|(state, _)| state.is_active())
    }

    /// Sets the state from a time on, which is not before the last change; `None` for no
    /// state.
    #[inline]
    pub(super) fn change(&mut self, columns: Columns, time: Timestamp, state: Option<S>) {
        match &self.open {
            Some(open) if open.state == state => {}
            None if state.is_none() => {}
            _ => self.change_state(columns, time, state),
        }
    }

    fn change_state(&mut self, columns: Columns, time: Timestamp, state: Option<S>) {
        self.settle(time);
        let Some(open) = &mut self.open else { return self.begin(time, state) };
        if open.state == state {
            return;
        }
        let column = columns.begin_of(time);
        if open.crowd_end.is_none() {
            if time <= open.begin {
                // The segment has no length.
                self.open = None;
                return self.begin(time, state);
            }
            if open.begin <= column {
                self.close(time);
                return self.begin(time, state);
            }
            let end = column.as_ns().saturating_add_unsigned(columns.width);
            open.crowd_end = Some(Timestamp::from_ns(end));
        }
        open.spend(&mut self.spent, time);
        open.state = state;
    }

    /// Marks the row as filled up to a time.
    pub(super) fn know(&mut self, time: Timestamp) {
        self.settle(time);
        self.known = time;
    }

    /// Removes all segments outside of two times, after ending the open segment at a
    /// third.
    pub(super) fn keep(&mut self, known: Timestamp, begin: Timestamp, end: Timestamp) {
        self.settle(known);
        self.close(known);
        self.closed.retain(|segment| segment.start < end && segment.end > begin);
        self.closed.iter_mut().for_each(|segment| *segment = segment.cut(begin, end));
        self.was_active = self.closed.iter().any(|segment| segment.active > 0);
    }

    /// Returns whether the row has no closed segment.
    pub(super) fn is_empty(&self) -> bool {
        self.closed.is_empty()
    }

    /// Moves the closed segments to the later ones, because earlier ones will be filled
    /// in.
    pub(super) fn defer_closed(&mut self) {
        self.later = std::mem::take(&mut self.closed);
    }

    /// Joins the filled part to the later segments.
    pub(super) fn join(&mut self, later: Timestamp) {
        self.settle(later);
        self.close(later);
        let mut rest = std::mem::take(&mut self.later).into_iter().peekable();
        if let Some(last) = self.closed.last_mut()
            && let Some(next) =
                rest.next_if(|next| !next.crowded && last.continues_as(next.start, next.state))
        {
            *last = Segment::plain(last.start, next.end, last.state);
        }
        self.closed.extend(rest);
    }

    /// Starts a segment, when none is open.
    fn begin(&mut self, time: Timestamp, state: Option<S>) {
        let Some(state) = state else { return };
        // The last segment may continue.
        let last = self.closed.pop_if(|last| last.continues_as(time, state));
        self.open = Some(Open::new(last.map_or(time, |last| last.start), state));
    }

    /// Closes a crowded segment if its column has ended.
    fn settle(&mut self, time: Timestamp) {
        let Some(open) = self.open else { return };
        let Some(end) = open.crowd_end.filter(|end| *end <= time) else { return };
        self.close(end);
        self.begin(end, open.state);
    }

    /// Closes the open segment.
    fn close(&mut self, end: Timestamp) {
        let Some(open) = self.open.take() else { return };
        if let Some(segment) = open.segment(&mut self.spent, end) {
            self.was_active |= segment.active > 0;
            self.closed.push(segment);
        }
        self.spent.clear();
    }
}

impl<S: SegmentState> Open<S> {
    /// Returns the segment up to a time. `None` if it is empty.
    fn segment(mut self, spent: &mut Vec<(S, u64)>, end: Timestamp) -> Option<Segment<S>> {
        if self.begin >= end {
            return None;
        }
        if self.crowd_end.is_none() {
            return self.state.map(|state| Segment::plain(self.begin, end, state));
        }
        self.spend(spent, end);
        Segment::crowded(self.begin, end, spent)
    }

    /// Adds the time spent in the current state.
    fn spend(&mut self, spent: &mut Vec<(S, u64)>, time: Timestamp) {
        let length = time.as_ns().abs_diff(self.since.as_ns());
        self.since = time;
        let Some(state) = self.state.filter(|_| length > 0) else { return };
        match spent.iter_mut().find(|(known, _)| known.looks_like(state)) {
            Some((_, time)) => *time += length,
            None => spent.push((state, length)),
        }
    }
}

impl<S: PartialEq> Segment<S> {
    /// Returns whether a state at a time continues the segment.
    fn continues_as(&self, time: Timestamp, state: S) -> bool {
        self.end == time && !self.crowded && self.state == state
    }
}
