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
    /// The shortest duration that may be one of the longest.
    threshold: u64,
    /// The longest samples, and some of those that are no longer among them.
    samples: Vec<Sample>,
}

/// The number of samples above which a list drops those beyond its limit.
const MIN_DROP: usize = 64;

impl TopList {
    pub(super) fn new(limit: usize) -> Self {
        TopList { limit, threshold: if limit == 0 { u64::MAX } else { 0 }, samples: Vec::new() }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns `true` if a duration may enter the list.
    #[inline]
    pub(super) fn wants(&self, duration: u64) -> bool {
        duration >= self.threshold
    }

    /// Adds a sample, if it may be one of the longest.
    pub(super) fn add(&mut self, sample: Sample) {
        if self.limit == 0 {
            return;
        }
        self.samples.push(sample);
        // Half of the samples are dropped at a time, so that each costs the same.
        if self.samples.len() >= self.limit.saturating_mul(2).max(MIN_DROP) {
            self.drop_rest();
        }
    }

    /// Drops the samples beyond the limit.
    fn drop_rest(&mut self) {
        if self.samples.len() > self.limit {
            let (_, last, _) =
                self.samples.select_nth_unstable_by_key(self.limit - 1, Sample::order);
            self.threshold = last.duration();
            self.samples.truncate(self.limit);
        }
    }

    /// Puts the samples in order, the longest first.
    pub(super) fn finish(&mut self) {
        self.drop_rest();
        self.samples.sort_unstable_by_key(Sample::order);
    }

    pub(super) fn samples(&self) -> &[Sample] {
        &self.samples
    }
}
