//! Processors.

use super::table::ProcessIx;

/// So many CPUs at most are told apart (Linux allows 8192).
pub(super) const MAX_CPUS: usize = 1 << 14;

/// The number that all CPUs beyond that have in common.
pub(super) const OTHERS: u32 = u32::MAX;

/// A processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct Cpu {
    pub(super) number: u32,
    /// Who runs there.
    pub(super) running: ProcessIx,
    /// Who runs when nobody else does.
    pub(super) idle: ProcessIx,
    /// Stands in for who runs while that is not known.
    pub(super) nobody: ProcessIx,
    /// Time of the last event there, in ns.
    pub(super) last: i64,
    /// Soft interrupts raised and not begun, a bit each.
    pub(super) pending_softirqs: u32,
    pub(super) frequency: Option<u64>,
}

impl Cpu {
    /// Its number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Who runs there. While that is not known, it is a process without an id.
    pub fn running(&self) -> ProcessIx {
        self.running
    }

    /// What stands in for who runs there, while that is not known.
    pub fn nobody(&self) -> ProcessIx {
        self.nobody
    }

    /// Its idle process.
    pub fn idle(&self) -> ProcessIx {
        self.idle
    }

    /// Whether a soft interrupt of a number was raised there and has not begun.
    pub fn is_softirq_pending(&self, number: u32) -> bool {
        1u32.checked_shl(number).is_some_and(|bit| self.pending_softirqs & bit != 0)
    }

    /// The soft interrupts that were raised there and have not begun, a bit each.
    pub fn pending_softirqs(&self) -> u32 {
        self.pending_softirqs
    }

    /// Its clock frequency in Hz, if the trace told.
    pub fn frequency(&self) -> Option<u64> {
        self.frequency
    }
}
