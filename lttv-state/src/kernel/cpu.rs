//! CPUs and the processes that run on them.

use super::table::ProcessIndex;

/// The maximum number of CPUs with entries of their own (Linux allows 8192).
pub(crate) const MAX_CPUS: usize = 1 << 14;

/// The number of the entry that all further CPUs share.
pub(super) const OTHERS: u32 = u32::MAX;

/// A CPU of a traced machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct Cpu {
    pub(super) number: u32,
    /// The process that runs on the CPU.
    pub(super) running: ProcessIndex,
    /// The idle process of the CPU.
    pub(super) idle: ProcessIndex,
    /// The placeholder for the running process while that is unknown.
    pub(super) unknown_process: ProcessIndex,
    /// The time of the last event on the CPU, in ns.
    pub(super) last: i64,
    /// The softirqs that were raised and have not started, one bit each.
    pub(super) pending_softirqs: u32,
    pub(super) frequency: Option<u64>,
}

impl Cpu {
    /// Returns the CPU number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the process that runs on the CPU. While it is unknown, this is a placeholder
    /// without an id.
    pub fn running(&self) -> ProcessIndex {
        self.running
    }

    /// Returns the placeholder that represents the running process while that is unknown.
    pub(crate) fn unknown_process(&self) -> ProcessIndex {
        self.unknown_process
    }

    /// Returns the idle process of the CPU.
    pub fn idle(&self) -> ProcessIndex {
        self.idle
    }

    /// Returns `true` if the softirq of a number was raised on the CPU and has not started.
    pub fn is_softirq_pending(&self, number: u32) -> bool {
        1u32.checked_shl(number).is_some_and(|bit| self.pending_softirqs & bit != 0)
    }

    /// Returns the softirqs that were raised on the CPU and have not started, one bit each.
    pub fn pending_softirqs(&self) -> u32 {
        self.pending_softirqs
    }

    /// Returns the clock frequency of the CPU in Hz; `None` if the trace does not contain
    /// it.
    pub fn frequency(&self) -> Option<u64> {
        self.frequency
    }
}
