//! How much work one call may do.

use std::time::{Duration, Instant};

/// How much work a call may do: a number of events, or a time, or what comes
/// first of both.
///
/// Both count everything: events that are delivered and those that are only read
/// to bring state up to date.
///
/// ```
/// use std::time::Duration;
/// use lttv_requests::Budget;
///
/// let quick = Budget::time(Duration::from_millis(2)).and_events(10_000);
/// assert_eq!(quick.max_events(), Some(10_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    events: Option<u64>,
    time: Option<Duration>,
}

impl Budget {
    /// At most so many events. Zero is taken for one, since every call makes
    /// progress.
    pub const fn events(events: u64) -> Self {
        Budget { events: Some(events), time: None }
    }

    /// About so much time. It is looked at again and again, more often towards its
    /// end. One hook that takes long is not interrupted, nor is the making of the index
    /// of a tracefile that has none, when something is first sought there.
    pub const fn time(time: Duration) -> Self {
        Budget { events: None, time: Some(time) }
    }

    /// Also at most so many events.
    #[must_use]
    pub const fn and_events(self, events: u64) -> Self {
        Budget { events: Some(events), ..self }
    }

    /// How many events at most.
    pub const fn max_events(self) -> Option<u64> {
        self.events
    }

    /// How much time at most.
    pub const fn max_time(self) -> Option<Duration> {
        self.time
    }
}

impl Default for Budget {
    /// 6000 events.
    fn default() -> Self {
        Budget::events(6000)
    }
}

/// What one seek counts as, in events.
const SEEK: u64 = 256;
/// Effort that is always allowed, in events: else a small budget would not do for
/// a seek and what comes after it.
const LEAST_EFFORT: u64 = 2 * SEEK;
/// Events between looks at the clock: at first, while nothing is known of how long
/// they take, and at most.
const FIRST_SLICE: u64 = 8;
const MOST_SLICE: u64 = 1 << 16;
/// Events that a seek passes over between looks at the clock: some 20 µs.
const SEARCH_SLICE: u64 = 4096;

/// So much may hooks ask for in a call, however large its budget is: what they ask for
/// may make them ask for more, without an end.
const MOST_ACCEPTED: u64 = 1 << 16;

/// What is left of a budget.
#[derive(Debug)]
pub(crate) struct Meter {
    budget: Budget,
    begin: Instant,
    events: u64,
    effort: u64,
    /// How much was done that hooks asked for.
    accepted: u64,
    /// Whether hooks were asked once what they ask for.
    has_accepted: bool,
    /// Whether anything was done.
    has_begun: bool,
    slice: u64,
    slice_begin: Instant,
}

impl Meter {
    pub(crate) fn new(budget: Budget) -> Self {
        let begin = Instant::now();
        let (slice, slice_begin) = (FIRST_SLICE, begin);
        Meter {
            budget,
            begin,
            events: 0,
            effort: 0,
            accepted: 0,
            has_accepted: false,
            has_begun: false,
            slice,
            slice_begin,
        }
    }

    /// Whether the call is to end. Never before something was done.
    pub(crate) fn is_spent(&self) -> bool {
        let most = self.most_events();
        let is_through = self.events >= most
            || self.effort >= most.max(LEAST_EFFORT)
            || self.accepted >= MOST_ACCEPTED;
        self.has_begun && is_through || self.is_late()
    }

    /// Whether time is up, if something was done at least.
    pub(crate) fn is_late(&self) -> bool {
        self.has_begun && self.budget.time.is_some_and(|time| self.begin.elapsed() >= time)
    }

    /// What is left.
    pub(crate) fn left(&self) -> Budget {
        Budget {
            events: self.budget.events.map(|events| events.saturating_sub(self.events)),
            time: self.budget.time.map(|time| time.saturating_sub(self.begin.elapsed())),
        }
    }

    /// A seek was made.
    pub(crate) fn seek(&mut self) {
        self.effort += SEEK;
        self.has_begun = true;
    }

    /// So many things were done that hooks asked for. Those asked for before the call are
    /// no progress of it by themselves: at least one step follows.
    pub(crate) fn accept(&mut self, commands: usize) {
        self.accepted += commands as u64;
        self.effort += commands as u64;
        self.has_begun |= commands > 0 && self.has_accepted;
        self.has_accepted = true;
    }

    /// Whether as much was done at the end of a call as may be, whatever was before.
    pub(crate) fn is_enough_at_end(commands: usize) -> bool {
        commands as u64 >= LEAST_EFFORT
    }

    /// A request began or ended.
    pub(crate) fn step(&mut self) {
        self.effort += 1;
        self.has_begun = true;
    }

    /// Another request gets events from here on: they may take longer than those so
    /// far.
    pub(crate) fn prepare(&mut self) {
        self.slice = FIRST_SLICE;
    }

    /// How many events may be read before the next look: at least one.
    pub(crate) fn begin_slice(&mut self) -> u64 {
        let left = self.most_events().saturating_sub(self.events).max(1);
        if self.budget.time.is_none() {
            return left;
        }
        self.slice_begin = Instant::now();
        self.slice.min(left)
    }

    /// How many events a seek may pass over before the next look. Without a time it is
    /// not interrupted.
    pub(crate) fn search_slice(&self) -> u64 {
        self.budget.time.map_or(u64::MAX, |_| SEARCH_SLICE)
    }

    /// A seek got nearer to its end.
    pub(crate) fn searched(&mut self) {
        self.has_begun = true;
    }

    /// So many were read. The next slice will be such that it takes no more than a
    /// quarter of the time left.
    pub(crate) fn end_slice(&mut self, events: u64) {
        self.events += events;
        self.has_begun = true;
        // Reading none is something too: it showed that there is none to read.
        self.effort += u64::from(events == 0);
        let Some(time) = self.budget.time else { return };
        let left = time.saturating_sub(self.begin.elapsed());
        let took = self.slice_begin.elapsed().as_nanos().max(1);
        let fitting = left.as_nanos() / 4 * u128::from(events.max(1)) / took;
        let fitting = u64::try_from(fitting).unwrap_or(MOST_SLICE);
        // What was fast so far need not remain so.
        self.slice = fitting.min(self.slice * 4).clamp(1, MOST_SLICE);
    }

    fn most_events(&self) -> u64 {
        self.budget.events.map_or(u64::MAX, |events| events.max(1))
    }
}
