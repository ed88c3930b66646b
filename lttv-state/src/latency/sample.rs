//! Single durations, and lists of the longest ones.

use std::cmp::Reverse;

use ltt_read::{Timestamp, TracefileIndex};

use crate::spans::family::Family;
use crate::spans::threads::ThreadId;

/// A measured duration, with its place in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// The family that the duration belongs to.
    pub family: Family,
    /// The thread that it belongs to; [`ThreadId::NONE`] if that is unknown, and for interrupts.
    pub thread: ThreadId,
    /// The thread that ended it: that woke the thread. [`ThreadId::NONE`] if there is none, or if
    /// it is unknown.
    pub by: ThreadId,
    pub(super) subject: u32,
    /// The time of its begin.
    pub begin: Timestamp,
    /// The time of the event that ended it.
    pub end: Timestamp,
    /// The CPU of the event that ended it.
    pub cpu: u32,
    /// The tracefile that contains that event.
    pub tracefile: TracefileIndex,
}

impl Sample {
    /// Returns the duration in ns.
    pub fn duration(&self) -> u64 {
        self.end.since(self.begin)
    }

    /// Returns the key by which samples are listed: the longest first, and of equal ones the
    /// earliest.
    fn order(&self) -> (Reverse<u64>, Timestamp, u32, ThreadId, u32) {
        (Reverse(self.duration()), self.end, self.cpu, self.thread, self.subject)
    }
}

/// The longest durations of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TopList {
    limit: usize,
    /// The shortest duration that enters the full list.
    threshold: u64,
    samples: Vec<Sample>,
}

impl TopList {
    pub(super) fn new(limit: usize) -> Self {
        TopList { limit, threshold: if limit == 0 { u64::MAX } else { 0 }, samples: Vec::new() }
    }

    /// Returns `true` if a duration may enter the list.
    #[inline]
    pub(super) fn wants(&self, duration: u64) -> bool {
        duration >= self.threshold
    }

    /// Adds a sample, if it is one of the longest.
    pub(super) fn add(&mut self, sample: Sample) {
        if self.limit == 0 {
            return;
        }
        let at = self.samples.partition_point(|of| of.order() <= sample.order());
        if at >= self.limit {
            return;
        }
        self.samples.insert(at, sample);
        self.samples.truncate(self.limit);
        if let Some(last) = self.samples.get(self.limit - 1) {
            self.threshold = last.duration();
        }
    }

    pub(super) fn samples(&self) -> &[Sample] {
        &self.samples
    }
}
