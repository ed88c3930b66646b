//! Losses of events that are known before they begin.

use super::effect::LossOnCpu;

/// The losses of a trace's events that have not ended, or of which no event has told yet.
#[derive(Debug)]
pub(super) struct Losses {
    /// The losses that have not ended, in the order of time.
    open: Vec<OpenLoss>,
    /// The time of the first one that has not begun; the greatest time if all have.
    next: i64,
    /// The losses that have begun since the last event.
    passed: Vec<LossOnCpu>,
}

/// A loss of events of a CPU that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct OpenLoss {
    /// The time of the last event before it, in ns.
    pub(super) time: i64,
    /// The index of the CPU.
    pub(super) place: u32,
    /// The index of the tracefile in its trace.
    pub(super) tracefile: u32,
    /// `true` if the state follows it already.
    pub(super) has_begun: bool,
}

impl Default for Losses {
    fn default() -> Self {
        Losses { open: Vec::new(), next: i64::MAX, passed: Vec::new() }
    }
}

impl Losses {
    /// Adds a loss.
    pub(super) fn add(&mut self, loss: OpenLoss) {
        let at = self.open.partition_point(|of| of.time <= loss.time);
        self.open.insert(at, loss);
        self.find_next();
    }

    fn find_next(&mut self) {
        let mut ahead = self.open.iter().filter(|loss| !loss.has_begun);
        self.next = ahead.next().map_or(i64::MAX, |loss| loss.time);
    }

    /// Returns `true` if a loss has begun since the last event.
    #[inline]
    pub(super) fn has_passed(&self) -> bool {
        !self.passed.is_empty()
    }

    /// Begins the first loss that has not begun, if that is before a time.
    #[inline]
    pub(super) fn begin_before(&mut self, time: i64) -> Option<OpenLoss> {
        if self.next >= time { None } else { self.begin_next() }
    }

    #[cold]
    fn begin_next(&mut self) -> Option<OpenLoss> {
        let next = self.open.iter_mut().find(|loss| !loss.has_begun)?;
        next.has_begun = true;
        let next = *next;
        self.find_next();
        Some(next)
    }

    /// Returns and removes the loss of a tracefile.
    pub(super) fn end(&mut self, tracefile: u32) -> Option<OpenLoss> {
        let at = self.open.iter().position(|loss| loss.tracefile == tracefile)?;
        let loss = self.open.remove(at);
        self.find_next();
        Some(loss)
    }

    /// Adds losses that have begun, to be told with the next event.
    pub(super) fn pass(&mut self, losses: impl IntoIterator<Item = LossOnCpu>) {
        self.passed.extend(losses);
    }

    /// Returns and removes the losses that have begun since the last event.
    pub(super) fn take_passed(&mut self) -> std::vec::Drain<'_, LossOnCpu> {
        self.passed.drain(..)
    }

    /// Returns the losses that have not ended.
    pub(super) fn open(&self) -> &[OpenLoss] {
        &self.open
    }

    /// Sets the losses that have not ended.
    pub(super) fn set_open(&mut self, open: &[OpenLoss]) {
        self.open = open.to_vec();
        self.find_next();
        self.passed.clear();
    }
}
