//! Wait times of processes.

use super::facts::ProcessFacts;
use crate::durations::Durations;
use crate::kernel::{LostWait, Wait};

/// The wait times of a process and the number of its switch-ins. They are separate from the
/// other facts about the process because they change with each switch.
#[derive(Debug, Clone, Default)]
#[repr(align(64))] // one cache line
pub(super) struct Waits {
    blocked_time: u64,
    ready_time: u64,
    times_scheduled: u64,
    wakeup_latency: Durations,
    /// True if the other facts about the process have been noted.
    pub(super) is_described: bool,
}

impl Waits {
    /// Adds the wait before a switch-in.
    #[inline]
    pub(super) fn count(&mut self, waited: &Wait) {
        self.blocked_time = self.blocked_time.wrapping_add(waited.blocked);
        self.ready_time = self.ready_time.wrapping_add(waited.ready);
        self.times_scheduled += 1;
        let latency = waited.since_wakeup;
        self.wakeup_latency.push_if(latency.is_some(), latency.unwrap_or(0));
    }

    /// Adds a wait up to a loss of events.
    pub(super) fn lose(&mut self, wait: &LostWait) {
        self.blocked_time = self.blocked_time.wrapping_add(wait.blocked);
        self.ready_time = self.ready_time.wrapping_add(wait.ready);
    }

    /// Returns `true` if the process was never switched in, and lost no wait.
    pub(super) fn is_empty(&self) -> bool {
        (self.times_scheduled, self.blocked_time, self.ready_time) == (0, 0, 0)
    }

    /// Adds the waits to the facts about the process.
    pub(super) fn add_to(&self, facts: &mut ProcessFacts) {
        facts.blocked_time = facts.blocked_time.wrapping_add(self.blocked_time);
        facts.ready_time = facts.ready_time.wrapping_add(self.ready_time);
        facts.times_scheduled += self.times_scheduled;
        facts.wakeup_latency.add(&self.wakeup_latency);
    }
}
