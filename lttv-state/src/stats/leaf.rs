//! The leaves of statistics: what is counted, and for what.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;

use super::durations::Durations;
use super::tally::Tally;
use crate::kernel::{ExecutionMode, NameId, Process, Serial};

/// For what is counted: the finest division.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeafKey {
    /// Of the process.
    pub process: Serial,
    /// Number of the CPU.
    pub cpu: u32,
    /// Address of the function of the program, 0 if not known.
    pub function: u64,
    /// Its mode.
    pub mode: ExecutionMode,
    /// Its submode.
    pub submode: NameId,
}

/// What is counted. Times are in ns.
///
/// Parts of a trace may be counted apart and added: numbers wrap, so that a part may
/// take back what another had counted before it was known better.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// How long a CPU was on exactly this.
    pub cpu_time: u64,
    /// How long a CPU was on this or what interrupted it, of what ended.
    pub cumulative_cpu_time: u64,
    /// From begin to end, of each that ended.
    pub durations: Durations,
    /// Events, by type.
    pub events: Tally,
    /// How long those had lasted at the end of the trace that had not ended then.
    pub open_time: u64,
    /// How long the process waited within it, for something or for a CPU.
    pub wait_time: u64,
}

impl LeafKey {
    /// That of what a process does on a CPU.
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

    /// The same as `==`, but all in one: which part is another cannot be predicted.
    #[inline]
    pub(super) fn is(&self, other: &LeafKey) -> bool {
        (self.process == other.process)
            & (self.cpu == other.cpu)
            & (self.function == other.function)
            & (self.mode == other.mode)
            & (self.submode == other.submode)
    }
}

impl Counts {
    /// From begin to end, or to the end of the trace.
    pub fn elapsed_time(&self) -> u64 {
        self.durations.total().wrapping_add(self.open_time)
    }

    /// Adds others.
    pub fn add(&mut self, other: &Counts) {
        self.cpu_time = self.cpu_time.wrapping_add(other.cpu_time);
        self.cumulative_cpu_time = self.cumulative_cpu_time.wrapping_add(other.cumulative_cpu_time);
        self.durations.add(&other.durations);
        self.open_time = self.open_time.wrapping_add(other.open_time);
        self.wait_time = self.wait_time.wrapping_add(other.wait_time);
        self.events.add(&other.events);
    }
}

/// Leaves that were counted, found by key.
#[derive(Debug, Clone, Default)]
pub(super) struct Leaves {
    leaves: Vec<(LeafKey, Counts)>,
    /// The place of each, once one was asked for.
    places: HashMap<LeafKey, usize, Quick>,
}

/// No key twice.
impl From<Vec<(LeafKey, Counts)>> for Leaves {
    fn from(leaves: Vec<(LeafKey, Counts)>) -> Self {
        Leaves { leaves, places: HashMap::default() }
    }
}

impl Leaves {
    /// What was counted for a key.
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

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&LeafKey, &Counts)> {
        self.leaves.iter().map(|(key, counts)| (key, counts))
    }

    pub(super) fn into_all(self) -> Vec<(LeafKey, Counts)> {
        self.leaves
    }

    pub(super) fn add(&mut self, other: &Leaves) {
        other.iter().for_each(|(key, counts)| self.at(*key).add(counts));
    }
}

/// How keys of a few small integers are hashed.
pub(super) type Quick = BuildHasherDefault<Mix>;

/// A hasher for keys of a few small integers: fast, and as good as they need. What
/// a hostile trace could choose, process serials and modes, it cannot choose freely.
#[derive(Debug, Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
