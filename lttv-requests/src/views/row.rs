//! A row of a timeline: one segment after the other.

use ltt_read::Timestamp;

/// What a row of a [`Timeline`](super::Timeline) can be in for some time.
pub trait SegmentState: Copy + PartialEq {
    /// Whether there is work in it: where states are too short to be shown, one of
    /// these is told before others.
    fn is_active(self) -> bool;

    /// Whether it is drawn as another one, though it may say more than that one. Times
    /// of such states count together where they are too short to be shown.
    fn looks_like(self, other: Self) -> bool {
        self == other
    }
}

/// A row of a [`Timeline`](super::Timeline).
#[derive(Debug, Clone)]
pub struct Row<K, S> {
    key: K,
    closed: Vec<Segment<S>>,
    /// Its end is not known yet.
    open: Option<Open<S>>,
    /// How long the row was in which states in the column of a crowded segment.
    spent: Vec<(S, u64)>,
    /// What was known before the timeline scrolled back.
    later: Vec<Segment<S>>,
    /// How far all of the timeline is known.
    known: Timestamp,
    /// Whether any closed or later segment is active.
    was_active: bool,
}

/// A stretch of time in one state; its end does not belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<S> {
    /// When it begins.
    pub begin: Timestamp,
    /// When it ends: later than it begins.
    pub end: Timestamp,
    /// The state; of several, the active one that took most of it, or the one that
    /// did if none was active.
    pub state: S,
    /// How long there was work in it, in ns: all of it or nothing, unless it is
    /// crowded.
    pub active: u64,
    /// Whether it stands for several states, too short to be shown.
    pub crowded: bool,
}

/// The segment that has begun last.
#[derive(Debug, Clone, Copy)]
struct Open<S> {
    begin: Timestamp,
    /// The state now, and since when; `None` if there is nothing any more.
    state: Option<S>,
    since: Timestamp,
    /// If it is crowded: where it ends, with its column.
    crowd_end: Option<Timestamp>,
}

/// Columns, all of one width, counted from a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    begin: Timestamp,
    width: u64,
}

impl Columns {
    /// The width is in ns, and 1 at least.
    pub(super) fn new(begin: Timestamp, width: u64) -> Self {
        Columns { begin, width: width.max(1) }
    }

    pub(super) fn width(self) -> u64 {
        self.width
    }

    /// The begin of the column of a time.
    fn begin_of(self, time: Timestamp) -> Timestamp {
        let within = time.ns().abs_diff(self.begin.ns()) % self.width;
        Timestamp::from_ns(time.ns().saturating_sub_unsigned(within))
    }
}

impl<S> Segment<S> {
    /// How long it is, in ns.
    pub fn length(&self) -> u64 {
        self.end.ns().abs_diff(self.begin.ns())
    }
}

impl<S: SegmentState> Segment<S> {
    /// One state for all of its time.
    fn plain(begin: Timestamp, end: Timestamp, state: S) -> Self {
        let length = end.ns().abs_diff(begin.ns());
        let active = if state.is_active() { length } else { 0 };
        Segment { begin, end, state, active, crowded: false }
    }

    /// Several states, with the time spent in each; `None` if there was none.
    fn crowded(begin: Timestamp, end: Timestamp, spent: &[(S, u64)]) -> Option<Self> {
        let is_active = |(state, _): &&(S, u64)| state.is_active();
        let active = spent.iter().filter(is_active);
        let most = active.clone().max_by_key(|(_, time)| *time);
        let (state, _) = most.or_else(|| spent.iter().max_by_key(|(_, time)| *time))?;
        let active = active.map(|(_, time)| *time).sum();
        Some(Segment { begin, end, state: *state, active, crowded: true })
    }

    /// What of it is between two times; at least a part has to be.
    fn cut(self, begin: Timestamp, end: Timestamp) -> Self {
        let (begin, end) = (self.begin.max(begin), self.end.min(end));
        match self.crowded {
            false => Segment::plain(begin, end, self.state),
            // They are within a column: no cut goes through them but by what was not
            // known yet.
            true => {
                let length = end.ns().abs_diff(begin.ns());
                Segment { begin, end, active: self.active.min(length), ..self }
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

    /// What it is the row of.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Its segments in order, as far as known. There may be gaps between them.
    pub fn segments(&self) -> impl Iterator<Item = Segment<S>> + '_ {
        let open = self.open.and_then(|open| open.segment(&mut self.spent.clone(), self.known));
        self.closed.iter().copied().chain(open).chain(self.later.iter().copied())
    }

    /// Whether any of its segments is active.
    pub fn is_active(&self) -> bool {
        let open = self.open.and_then(|open| open.state).is_some_and(SegmentState::is_active);
        self.was_active || open || self.spent.iter().any(|(state, _)| state.is_active())
    }

    /// From a time on, no earlier than the last one, it is in a state, or in none.
    #[inline]
    pub(super) fn change(&mut self, columns: Columns, time: Timestamp, state: Option<S>) {
        match &self.open {
            Some(open) if open.state == state => {}
            None if state.is_none() => {}
            _ => self.change_really(columns, time, state),
        }
    }

    fn change_really(&mut self, columns: Columns, time: Timestamp, state: Option<S>) {
        self.settle(time);
        let Some(open) = &mut self.open else { return self.begin(time, state) };
        if open.state == state {
            return;
        }
        let column = columns.begin_of(time);
        if open.crowd_end.is_none() {
            if time <= open.begin {
                // It took no time.
                self.open = None;
                return self.begin(time, state);
            }
            if open.begin <= column {
                self.close(time);
                return self.begin(time, state);
            }
            let end = column.ns().saturating_add_unsigned(columns.width);
            open.crowd_end = Some(Timestamp::from_ns(end));
        }
        open.spend(&mut self.spent, time);
        open.state = state;
    }

    /// All of the timeline is known up to a time.
    pub(super) fn know(&mut self, time: Timestamp) {
        self.settle(time);
        self.known = time;
    }

    /// Forgets what is not between two times; nothing is known behind a third.
    pub(super) fn keep(&mut self, known: Timestamp, begin: Timestamp, end: Timestamp) {
        self.settle(known);
        self.close(known);
        self.closed.retain(|segment| segment.begin < end && segment.end > begin);
        self.closed.iter_mut().for_each(|segment| *segment = segment.cut(begin, end));
        self.was_active = self.closed.iter().any(|segment| segment.active > 0);
    }

    /// Whether it has no closed segment.
    pub(super) fn is_empty(&self) -> bool {
        self.closed.is_empty()
    }

    /// What is closed is later than what is to come.
    pub(super) fn put_off(&mut self) {
        self.later = std::mem::take(&mut self.closed);
    }

    /// All is known up to where the later segments begin.
    pub(super) fn join(&mut self, later: Timestamp) {
        self.settle(later);
        self.close(later);
        let mut rest = std::mem::take(&mut self.later).into_iter().peekable();
        if let Some(last) = self.closed.last_mut()
            && let Some(next) =
                rest.next_if(|next| !next.crowded && last.goes_on_as(next.begin, next.state))
        {
            *last = Segment::plain(last.begin, next.end, last.state);
        }
        self.closed.extend(rest);
    }

    /// A state begins, where nothing is open.
    fn begin(&mut self, time: Timestamp, state: Option<S>) {
        let Some(state) = state else { return };
        // Perhaps it only goes on.
        let last = self.closed.pop_if(|last| last.goes_on_as(time, state));
        self.open = Some(Open::new(last.map_or(time, |last| last.begin), state));
    }

    /// If the column of a crowded segment is over, so is the segment.
    fn settle(&mut self, time: Timestamp) {
        let Some(open) = self.open else { return };
        let Some(end) = open.crowd_end.filter(|end| *end <= time) else { return };
        self.close(end);
        self.begin(end, open.state);
    }

    /// What is open ends here.
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
    /// What it is up to a time, if it is anything.
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

    /// Counts the time that was spent in its state.
    fn spend(&mut self, spent: &mut Vec<(S, u64)>, time: Timestamp) {
        let length = time.ns().abs_diff(self.since.ns());
        self.since = time;
        let Some(state) = self.state.filter(|_| length > 0) else { return };
        match spent.iter_mut().find(|(known, _)| known.looks_like(state)) {
            Some((_, time)) => *time += length,
            None => spent.push((state, length)),
        }
    }
}

impl<S: PartialEq> Segment<S> {
    /// Whether a state at a time is but its own.
    fn goes_on_as(&self, time: Timestamp, state: S) -> bool {
        self.end == time && !self.crowded && self.state == state
    }
}
