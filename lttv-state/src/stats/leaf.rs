//! The leaves of statistics: the finest division of time and events.

use std::iter::Sum;

use hashbrown::HashMap;

use super::extra::{Extra, RequestCounts};
use super::tally::{Tally, TallySum};
use crate::durations::Durations;
use crate::fast_hash::FastHash;
use crate::kernel::{ExecutionMode, NameId, Process, Serial};

/// The key of a leaf: a process on a CPU in a function, mode and submode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeafKey {
    /// The serial number of the process.
    pub process: Serial,
    /// The CPU number.
    pub cpu: u32,
    /// The address of the program function; 0 if unknown.
    pub function: u64,
    /// The execution mode of the process.
    pub mode: ExecutionMode,
    /// The submode: the name of the system call, interrupt or exception.
    pub submode: NameId,
}

/// The counters of a leaf. Times are in ns.
///
/// The counts of parts of a trace can be added. Times wrap around, so that a part may
/// subtract time that an earlier part counted with less information.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// The time that a CPU spent in this leaf, without nested frames, in ns.
    pub cpu_time: u64,
    /// The time that a CPU spent in this leaf and in frames nested in it, in ns; for frames
    /// that ended, and at the end of the statistics for those still open.
    pub cumulative_cpu_time: u64,
    /// The durations of frames that ended, from entry to exit. They are never cut at the start
    /// of a [window](super#windows); [`elapsed_time`](Self::elapsed_time) is.
    pub durations: Durations,
    /// The number of events by type.
    pub events: Tally,
    /// The time from entry to the end of the statistics, of frames that were still open then, in
    /// ns.
    pub open_time: u64,
    /// The time that the process waited within this leaf, for something or for a CPU, in
    /// ns.
    pub wait_time: u64,
    /// The part of `durations` before the start of a window, in ns.
    pub(super) before_start: u64,
    /// The counters that only some leaves have; `None` if all are 0.
    pub(super) extra: Option<Box<Extra>>,
}

impl LeafKey {
    /// Creates the key for the current function and frame of a process on a CPU.
    #[inline]
    pub(super) fn of(process: &Process, cpu: u32) -> Self {
        let top = process.top();
        LeafKey {
            process: process.serial(),
            cpu,
            function: process.function(),
            mode: top.mode(),
            submode: top.submode(),
        }
    }

    /// Compares two keys like `==`, but without branches: the part that differs cannot be
    /// predicted.
    #[inline]
    pub(super) fn eq_branchless(&self, other: &LeafKey) -> bool {
        (self.process == other.process)
            & (self.cpu == other.cpu)
            & (self.function == other.function)
            & (self.mode == other.mode)
            & (self.submode == other.submode)
    }
}

impl Counts {
    /// Returns the time from entry to exit, or to the end of the statistics, of all frames, in
    /// ns. The time of frames that were entered before a window counts from its start.
    pub fn elapsed_time(&self) -> u64 {
        self.durations.total().wrapping_add(self.open_time).wrapping_sub(self.before_start)
    }

    /// Returns the number of bytes that system calls read. They count for the leaf of the
    /// system call.
    pub fn bytes_read(&self) -> u64 {
        self.extra.as_ref().map_or(0, |extra| extra.bytes_read)
    }

    /// Returns the number of bytes that system calls wrote. They count for the leaf of the
    /// system call.
    pub fn bytes_written(&self) -> u64 {
        self.extra.as_ref().map_or(0, |extra| extra.bytes_written)
    }

    /// Returns the numbers of steps of requests to block devices. A step counts for the leaf
    /// that its CPU was on, like its event: a request is often completed while another
    /// process is interrupted.
    pub fn requests(&self) -> RequestCounts {
        let mut sum = RequestCounts::default();
        self.requests_by_device().for_each(|(_, counts)| sum.add(&counts));
        sum
    }

    /// Iterates over the devices with requests, as the index in
    /// [`TraceStatistics::devices`](super::TraceStatistics::devices), with their requests.
    /// The index is `None` for requests whose events name no device, as in LTTng 0.x.
    pub fn requests_by_device(&self) -> impl Iterator<Item = (Option<usize>, RequestCounts)> {
        let all = self.extra.iter().flat_map(|extra| &extra.requests);
        all.map(|(device, counts)| (device.map(|at| at as usize), *counts))
    }

    /// Adds the counts of another leaf or part.
    pub fn add(&mut self, other: &Counts) {
        self.add_without_events(other);
        self.events.add(&other.events);
    }

    /// Adds all but the event counts.
    fn add_without_events(&mut self, other: &Counts) {
        self.cpu_time = self.cpu_time.wrapping_add(other.cpu_time);
        self.cumulative_cpu_time = self.cumulative_cpu_time.wrapping_add(other.cumulative_cpu_time);
        self.durations.add(&other.durations);
        self.open_time = self.open_time.wrapping_add(other.open_time);
        self.wait_time = self.wait_time.wrapping_add(other.wait_time);
        self.before_start = self.before_start.wrapping_add(other.before_start);
        if let Some(other) = &other.extra {
            self.extra.get_or_insert_default().add(other);
        }
    }
}

impl<'c> Sum<&'c Counts> for Counts {
    /// Returns the sum of the counts of many leaves.
    fn sum<I: Iterator<Item = &'c Counts>>(all: I) -> Self {
        let (mut sum, mut events) = (Counts::default(), TallySum::default());
        for counts in all {
            sum.add_without_events(counts);
            events.add(&counts.events);
        }
        Counts { events: events.into_tally(), ..sum }
    }
}

/// The counted leaves, found by key.
#[derive(Debug, Clone, Default)]
pub(super) struct Leaves {
    leaves: Vec<(LeafKey, Counts)>,
    /// The index of each leaf, filled when a key is first looked up.
    places: HashMap<LeafKey, usize, FastHash>,
}

/// Each key must occur once only.
impl From<Vec<(LeafKey, Counts)>> for Leaves {
    fn from(leaves: Vec<(LeafKey, Counts)>) -> Self {
        Leaves { leaves, places: HashMap::default() }
    }
}

impl Leaves {
    /// Returns the counts of a key, which are added if it is new.
    pub(super) fn at(&mut self, key: LeafKey) -> &mut Counts {
        if self.places.len() < self.leaves.len() {
            let keys = self.leaves.iter().map(|(key, _)| *key);
            self.places = keys.zip(0..).collect();
        }
        let place = *self.places.entry(key).or_insert_with(|| {
            self.leaves.push((key, Counts::default()));
            self.leaves.len() - 1
        });
        &mut self.leaves[place].1
    }

    /// Sorts the leaves by the rank of each, given in their order. Those without a rank are the last
    /// ones, and keep their order.
    pub(super) fn sort_by_rank<R: Ord + Copy>(&mut self, ranks: &[R]) {
        let mut places: Vec<usize> = (0..self.leaves.len()).collect();
        // `None` would be before all others.
        places.sort_by_key(|at| (ranks.get(*at).is_none(), ranks.get(*at)));
        // Leaves change places in cycles: copies would take as much memory again.
        for begin in 0..places.len() {
            let mut at = begin;
            while places[at] != begin {
                let next = std::mem::replace(&mut places[at], at);
                self.leaves.swap(at, next);
                at = next;
            }
            places[at] = at;
        }
        self.places.clear();
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&LeafKey, &Counts)> {
        self.leaves.iter().map(|(key, counts)| (key, counts))
    }

    pub(super) fn into_vec(self) -> Vec<(LeafKey, Counts)> {
        self.leaves
    }

    /// Adds the counts of other leaves by key.
    pub(super) fn add(&mut self, other: &Leaves) {
        other.iter().for_each(|(key, counts)| self.at(*key).add(counts));
    }
}
