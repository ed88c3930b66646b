//! Durations by interval of time.

use std::collections::BTreeMap;

use crate::durations::Distribution;
use crate::spans::family::Family;

/// The durations of intervals of equal length.
#[derive(Debug, Clone)]
pub(super) struct OverTime {
    /// The start of the first interval, in ns.
    start: i64,
    /// The length of the intervals, in ns.
    length: u64,
    /// The durations by the number of the interval in which they ended, and by family.
    durations: BTreeMap<(u64, Family), Distribution>,
}

impl OverTime {
    /// Creates intervals of a length in ns (at least 1) from a time on, in ns.
    pub(super) fn new(start: i64, length: u64) -> Self {
        OverTime { start, length: length.max(1), durations: BTreeMap::new() }
    }

    /// Returns the same intervals without durations.
    pub(super) fn empty(&self) -> Self {
        OverTime::new(self.start, self.length)
    }

    /// Adds a duration that ended at a time, in ns. One before the first interval counts there.
    pub(super) fn add(&mut self, family: Family, duration: u64, end: i64) {
        let passed = if end > self.start { end.abs_diff(self.start) } else { 0 };
        let of = self.durations.entry((passed / self.length, family)).or_default();
        of.add(duration, end);
    }

    /// Adds the durations of the same intervals of a later part.
    pub(super) fn add_all(&mut self, later: &OverTime) {
        for (key, durations) in &later.durations {
            self.durations.entry(*key).or_default().add_all(durations);
        }
    }

    /// Returns the durations of a family in an interval, by its number from 0; `None` if there are none.
    pub(super) fn get(&self, interval: u64, family: Family) -> Option<&Distribution> {
        self.durations.get(&(interval, family))
    }
}
