//! The budget of a call, and its consumption.

use std::time::{Duration, Instant};

/// A limit on the work of a call: a number of events, a time, or both, of which the first
/// to be reached ends the call.
///
/// Both limits cover all work: events that are delivered, and events that are only read
/// to bring state up to date.
///
/// ```
/// use std::time::Duration;
/// use lttv_requests::Budget;
///
/// let quick = Budget::time(Duration::from_millis(2)).and_events(10_000);
/// assert_ne!(quick, Budget::time(Duration::from_millis(2)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    events: Option<u64>,
    time: Option<Duration>,
}

impl Budget {
    /// Creates a budget of a number of events. Zero counts as one, since every call makes
    /// progress.
    pub const fn events(events: u64) -> Self {
        Budget { events: Some(events), time: None }
    }

    /// Creates a budget of about a duration. The clock is read repeatedly, more often
    /// towards the end. A hook that takes long is not interrupted, nor is building the
    /// index of a tracefile that has none when it is first sought. Where requests start or
    /// end together, a call starts or ends at least an eighth of them.
    pub const fn time(time: Duration) -> Self {
        Budget { events: None, time: Some(time) }
    }

    /// Adds a limit on the number of events.
    #[must_use]
    pub const fn and_events(self, events: u64) -> Self {
        Budget { events: Some(events), ..self }
    }
}

impl Default for Budget {
    /// Creates a budget of 6000 events.
    fn default() -> Self {
        Budget::events(6000)
    }
}

/// The cost of a seek, in events.
const SEEK_COST: u64 = 256;
/// The effort that is always allowed, in events. A smaller budget would not suffice for a
/// seek and the work after it.
const MIN_EFFORT: u64 = 2 * SEEK_COST;
/// The number of events between reads of the clock: at first, while their cost is
/// unknown, and at most.
const FIRST_SLICE: u64 = 8;
const MAX_SLICE: u64 = 1 << 16;
/// The number of events that a seek passes over between reads of the clock: about 20 µs.
const SEARCH_SLICE: u64 = 4096;

/// The maximum number of commands of hooks in a call, however large its budget is.
/// Commands can lead to more commands without end.
const MAX_COMMANDS: u64 = 1 << 16;

/// The consumption of a budget during a call.
#[derive(Debug)]
pub(crate) struct Meter {
    budget: Budget,
    start: Instant,
    events: u64,
    effort: u64,
    /// The number of executed commands of hooks.
    commands: u64,
    /// `true` if the queue of commands has been emptied once in this call.
    has_run_commands: bool,
    /// `true` if the call has made progress.
    has_progress: bool,
    slice: u64,
    slice_start: Instant,
}

impl Meter {
    pub(crate) fn new(budget: Budget) -> Self {
        let start = Instant::now();
        let (slice, slice_start) = (FIRST_SLICE, start);
        Meter {
            budget,
            start,
            events: 0,
            effort: 0,
            commands: 0,
            has_run_commands: false,
            has_progress: false,
            slice,
            slice_start,
        }
    }

    /// Returns whether the call has to end. Always `false` before there is progress.
    pub(crate) fn is_spent(&self) -> bool {
        let limit = self.event_limit();
        let is_exhausted = self.events >= limit
            || self.effort >= limit.max(MIN_EFFORT)
            || self.commands >= MAX_COMMANDS;
        self.has_progress && is_exhausted || self.is_out_of_time()
    }

    /// Returns whether the time limit has been reached. Always `false` before there is
    /// progress.
    pub(crate) fn is_out_of_time(&self) -> bool {
        self.has_progress && self.budget.time.is_some_and(|time| self.start.elapsed() >= time)
    }

    /// Returns the remaining budget.
    pub(crate) fn remaining(&self) -> Budget {
        Budget {
            events: self.budget.events.map(|events| events.saturating_sub(self.events)),
            time: self.budget.time.map(|time| time.saturating_sub(self.start.elapsed())),
        }
    }

    /// Counts a seek.
    pub(crate) fn count_seek(&mut self) {
        self.effort += SEEK_COST;
        self.has_progress = true;
    }

    /// Counts executed commands of hooks. The first count of a call contains the commands
    /// from before the call, which are no progress by themselves: at least one step has
    /// to follow.
    pub(crate) fn count_commands(&mut self, commands: usize) {
        self.commands += commands as u64;
        self.effort += commands as u64;
        self.has_progress |= commands > 0 && self.has_run_commands;
        self.has_run_commands = true;
    }

    /// Returns whether the number of commands executed at the end of a call has reached
    /// its limit, which does not depend on the previous work of the call.
    pub(crate) fn is_final_limit(commands: usize) -> bool {
        commands as u64 >= MIN_EFFORT
    }

    /// Returns the number of requests that a step starts or ends however late it is, if it
    /// has to look at a total number of requests for it. With a fixed number, a call whose
    /// time is spent on looking would let the number of calls grow with the requests.
    pub(crate) fn min_steps(total: usize) -> usize {
        total / 8 + 1
    }

    /// Counts the start or end of a request.
    pub(crate) fn count_step(&mut self) {
        self.effort += 1;
        self.has_progress = true;
    }

    /// Makes the next slice short, because another request has joined and events may now
    /// take longer.
    pub(crate) fn restart_slices(&mut self) {
        self.slice = FIRST_SLICE;
    }

    /// Starts a slice. Returns the number of events to read before the next read of the
    /// clock, at least 1.
    pub(crate) fn start_slice(&mut self) -> u64 {
        let left = self.event_limit().saturating_sub(self.events).max(1);
        if self.budget.time.is_none() {
            return left;
        }
        self.slice_start = Instant::now();
        self.slice.min(left)
    }

    /// Returns the number of events that a seek may pass over before the next read of the
    /// clock. Without a time limit, a seek is not interrupted.
    pub(crate) fn search_slice(&self) -> u64 {
        self.budget.time.map_or(u64::MAX, |_| SEARCH_SLICE)
    }

    /// Counts progress of a seek.
    pub(crate) fn count_search(&mut self) {
        self.has_progress = true;
    }

    /// Ends a slice in which a number of events was read. The length of the next slice is
    /// chosen to take at most a quarter of the remaining time.
    pub(crate) fn end_slice(&mut self, events: u64) {
        self.events += events;
        self.has_progress = true;
        // A read without events is progress, too: it has shown that there are none.
        self.effort += u64::from(events == 0);
        let Some(time) = self.budget.time else { return };
        let left = time.saturating_sub(self.start.elapsed());
        let took = self.slice_start.elapsed().as_nanos().max(1);
        let fitting = left.as_nanos() / 4 * u128::from(events.max(1)) / took;
        let fitting = u64::try_from(fitting).unwrap_or(MAX_SLICE);
        // Later events may take longer than those so far.
        self.slice = fitting.min(self.slice * 4).clamp(1, MAX_SLICE);
    }

    fn event_limit(&self) -> u64 {
        self.budget.events.map_or(u64::MAX, |events| events.max(1))
    }
}
