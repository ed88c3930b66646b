//! Sums of times: where the time of a thread went, and who ended its waits.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use ltt_read::Timestamp;

use super::cause::{Cause, WakeSource};
use super::graph::{TimelineId, WaitGraph};
use super::interval::{Interval, ThreadState};
use crate::durations::Spread;
use crate::kernel::NameId;

/// The times of a thread by state and cause.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StateTimes {
    unknown: Spread,
    running: Spread,
    preempted: Spread,
    woken: Spread,
    blocked: [Spread; Cause::ALL.len()],
    asleep: u64,
}

impl StateTimes {
    /// Returns the times in a state.
    pub fn of(&self, state: ThreadState) -> &Spread {
        match state {
            ThreadState::Unknown => &self.unknown,
            ThreadState::Running => &self.running,
            ThreadState::Preempted => &self.preempted,
            ThreadState::Woken => &self.woken,
            ThreadState::Blocked(cause) => &self.blocked[cause as usize],
        }
    }

    fn of_mut(&mut self, state: ThreadState) -> &mut Spread {
        match state {
            ThreadState::Unknown => &mut self.unknown,
            ThreadState::Running => &mut self.running,
            ThreadState::Preempted => &mut self.preempted,
            ThreadState::Woken => &mut self.woken,
            ThreadState::Blocked(cause) => &mut self.blocked[cause as usize],
        }
    }

    /// Iterates over the states in which the thread was, with their times.
    pub fn all(&self) -> impl Iterator<Item = (ThreadState, &Spread)> {
        use ThreadState::*;
        let states = [Unknown, Running, Preempted, Woken].into_iter();
        let states = states.chain(Cause::ALL.map(Blocked));
        states.map(|state| (state, self.of(state))).filter(|(_, times)| times.count() > 0)
    }

    /// Returns the time in all states, in ns: the part of the window that the timeline covers.
    pub fn total(&self) -> u64 {
        self.all().map(|(_, times)| times.total()).sum()
    }

    /// Returns the time for which the thread was able to run and waited for a CPU, in ns.
    pub fn ready(&self) -> u64 {
        self.preempted.total().saturating_add(self.woken.total())
    }

    /// Returns the time for which the thread was blocked, in ns.
    pub fn blocked(&self) -> u64 {
        self.blocked.iter().map(|times| times.total()).sum()
    }

    /// Returns the part of [`blocked`](Self::blocked) before the first event that names the thread, in ns: that
    /// event shows that it had slept, but no event before does.
    pub fn asleep(&self) -> u64 {
        self.asleep
    }
}

/// The waits of a thread that ended in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blocker {
    /// The thread that ended them; `None` if no thread did.
    pub thread: Option<TimelineId>,
    /// The source of the wake-ups that ended them, if no thread did.
    pub source: WakeSource,
    /// Their cause.
    pub cause: Cause,
    /// The system call in which the thread was blocked; [`NameId::EMPTY`] if unknown.
    pub call: NameId,
    /// Their number and times.
    pub times: Spread,
}

impl WaitGraph {
    /// Returns the times of a thread in a window, by state and cause. Intervals are cut to the
    /// window, so that their sum is never more than its length.
    pub fn times(&self, id: TimelineId, window: Range<Timestamp>) -> StateTimes {
        let mut times = StateTimes::default();
        let told = self.timeline(id).map_or(Timestamp::MIN, |of| of.start());
        for interval in self.intervals(id, window) {
            if matches!(interval.state, ThreadState::Blocked(_)) && interval.start < told {
                let until = told.min(interval.end).as_ns();
                times.asleep += until.abs_diff(interval.start.as_ns());
            }
            times.of_mut(interval.state).add(interval.time(), interval.end.as_ns());
        }
        times
    }

    /// Returns the direct blockers of a thread in a window: the waits by the thread or the source
    /// that ended them, the cause and the system call, the longest sums first.
    pub fn blockers(&self, id: TimelineId, window: Range<Timestamp>) -> Vec<Blocker> {
        let mut sums: BTreeMap<_, Spread> = BTreeMap::new();
        for interval in self.intervals(id, window) {
            let Interval { state: ThreadState::Blocked(cause), call, source, link, .. } = interval
            else {
                continue;
            };
            let source = if link.is_some() { WakeSource::None } else { source };
            let key = (link.map(|link| link.from), source, cause, call);
            sums.entry(key).or_default().add(interval.time(), interval.end.as_ns());
        }
        let blocker =
            |((thread, source, cause, call), times)| Blocker { thread, source, cause, call, times };
        let mut blockers: Vec<_> = sums.into_iter().map(blocker).collect();
        blockers.sort_by_key(|of| Reverse(of.times.total()));
        blockers
    }
}
