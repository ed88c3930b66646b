//! Losses of events that are known before they begin.

use super::effect::LossOnCpu;

/// The losses of a trace's events that have not begun yet, or of which no event has told yet.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// Losses that have not begun, in the order of time.
    ahead: Vec<LossAhead>,
    /// Losses that have begun since the last event.
    passed: Vec<LossOnCpu>,
}

/// A loss of events of a CPU that has not begun yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LossAhead {
    /// The time of the last event before it, in ns.
    pub(super) time: i64,
    /// The index of the CPU.
    pub(super) place: u32,
    /// The index of the tracefile in its trace.
    pub(super) tracefile: u32,
}

impl Losses {
    /// Adds a loss.
    pub(super) fn add(&mut self, loss: LossAhead) {
        let at = self.ahead.partition_point(|of| of.time <= loss.time);
        self.ahead.insert(at, loss);
    }

    /// Returns `true` if a loss has begun since the last event.
    #[inline]
    pub(super) fn has_passed(&self) -> bool {
        !self.passed.is_empty()
    }

    /// Returns and removes the first loss, if it begins before a time.
    #[inline]
    pub(super) fn take_before(&mut self, time: i64) -> Option<LossAhead> {
        let is_before = self.ahead.first().is_some_and(|loss| loss.time < time);
        is_before.then(|| self.ahead.remove(0))
    }

    /// Returns and removes the loss of a tracefile.
    pub(super) fn take_of(&mut self, tracefile: u32) -> Option<LossAhead> {
        let at = self.ahead.iter().position(|loss| loss.tracefile == tracefile)?;
        Some(self.ahead.remove(at))
    }

    /// Adds losses that have begun, to be told with the next event.
    pub(super) fn pass(&mut self, losses: impl IntoIterator<Item = LossOnCpu>) {
        self.passed.extend(losses);
    }

    /// Returns and removes those that have begun since the last event.
    pub(super) fn take_passed(&mut self) -> std::vec::Drain<'_, LossOnCpu> {
        self.passed.drain(..)
    }

    /// Returns those that have not begun.
    pub(super) fn ahead(&self) -> &[LossAhead] {
        &self.ahead
    }

    /// Sets those that have not begun.
    pub(super) fn set_ahead(&mut self, ahead: &[LossAhead]) {
        self.ahead = ahead.to_vec();
        self.passed.clear();
    }
}
