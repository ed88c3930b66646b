//! The shares of time that the statistics have: the same numbers as `lttv stats` prints.

use lttv_state::stats::{CpuSum, TraceStatistics};

/// A part of the time of statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    /// The part, in ns.
    pub(super) part: u64,
    /// The time of the statistics, in ns.
    pub(super) whole: u64,
}

impl Share {
    /// Returns the time during which a CPU was busy, as [`CpuSum::busy_percent`] defines it.
    pub(super) fn of_cpu(cpu: &CpuSum, trace: &TraceStatistics) -> Self {
        Share { part: cpu.busy_time, whole: trace.time() }
    }

    /// Returns the share in per cent; 0 if there is no time.
    pub(super) fn percent(self) -> f64 {
        self.part as f64 * 100.0 / self.whole.max(1) as f64
    }
}
