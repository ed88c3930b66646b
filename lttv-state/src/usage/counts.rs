//! Counts of pages, packets and switches.

use std::ops::AddAssign;

/// Numbers of memory pages. An allocation of order `n` is one of 2ⁿ pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Pages {
    /// The number of pages that were allocated.
    pub allocated: u64,
    /// The number of pages that were freed.
    pub freed: u64,
    /// The number of allocations that failed.
    pub failures: u64,
}

impl Pages {
    /// Returns the number of allocated pages minus that of freed ones. Pages may have been
    /// allocated before the trace, and freed by another thread.
    pub fn net(&self) -> i64 {
        self.allocated.wrapping_sub(self.freed) as i64
    }
}

impl AddAssign for Pages {
    fn add_assign(&mut self, other: Self) {
        self.allocated = self.allocated.saturating_add(other.allocated);
        self.freed = self.freed.saturating_add(other.freed);
        self.failures = self.failures.saturating_add(other.failures);
    }
}

/// Numbers of network packets and their bytes, with headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Traffic {
    /// The number of packets.
    pub packets: u64,
    /// The number of bytes.
    pub bytes: u64,
}

impl Traffic {
    pub(super) fn packet(bytes: u64) -> Self {
        Traffic { packets: 1, bytes }
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.packets = self.packets.saturating_add(other.packets);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// The activity of a machine in some time, besides the use of its CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Activity {
    /// The number of times that a CPU switched to another thread.
    pub switches: u64,
    /// The number of migrations of threads to another CPU.
    pub migrations: u64,
    /// The memory pages.
    pub pages: Pages,
    /// The packets that were sent.
    pub sent: Traffic,
    /// The packets that were received.
    pub received: Traffic,
    /// The number of TCP segments that were sent again.
    pub retransmissions: u64,
}

impl AddAssign for Activity {
    fn add_assign(&mut self, other: Self) {
        self.switches = self.switches.saturating_add(other.switches);
        self.migrations = self.migrations.saturating_add(other.migrations);
        self.pages += other.pages;
        self.sent += other.sent;
        self.received += other.received;
        self.retransmissions = self.retransmissions.saturating_add(other.retransmissions);
    }
}

/// The time that a CPU spent at a clock frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FrequencyTime {
    pub(super) time: u64,
    /// The sum of time and frequency, in ns · Hz.
    pub(super) cycles: u128,
}

impl FrequencyTime {
    pub(super) fn add(&mut self, hz: u64, time: u64) {
        self.time = self.time.saturating_add(time);
        self.cycles = self.cycles.saturating_add(u128::from(hz) * u128::from(time));
    }

    pub(super) fn add_all(&mut self, other: &FrequencyTime) {
        self.time = self.time.saturating_add(other.time);
        self.cycles = self.cycles.saturating_add(other.cycles);
    }

    /// Returns the mean frequency in Hz; `None` for no time.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.time > 0).then(|| self.cycles as f64 / self.time as f64)
    }
}
