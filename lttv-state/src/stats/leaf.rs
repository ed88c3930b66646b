//! The leaves of statistics: what is counted, and for what.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;

use super::durations::Durations;
use super::tally::Tally;
use crate::kernel::{Ended, ExecutionMode, NameId, Process, Serial};

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
#[repr(C)] // what most events change comes first
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

impl Counts {
    /// From begin to end, or to the end of the trace.
    pub fn elapsed_time(&self) -> u64 {
        self.durations.total().wrapping_add(self.open_time)
    }

    /// Counts the time from one point to another as that of a CPU. If the other is
    /// before the one, it is taken back.
    #[inline]
    pub(super) fn charge(&mut self, from: i64, to: i64) {
        self.cpu_time = self.cpu_time.wrapping_add(to.wrapping_sub(from) as u64);
    }

    /// Counts a time that this lasted.
    #[inline]
    pub(super) fn ended(&mut self, ended: &Ended) {
        self.durations.count(ended.elapsed);
        self.cumulative_cpu_time = self.cumulative_cpu_time.wrapping_add(ended.cpu_time);
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

/// A leaf. There are many, and each event is about another: what most of them change of
/// it is in one line of the cache.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
struct Leaf {
    counts: Counts,
    key: LeafKey,
}

/// All leaves, found by key.
#[derive(Debug, Clone, Default)]
pub(super) struct Leaves {
    leaves: Vec<Leaf>,
    /// Places looked for lately: by hash, one of each.
    recent: Vec<(LeafKey, u32)>,
    places: HashMap<LeafKey, u32, BuildHasherDefault<Mix>>,
}

/// So many places are remembered: as many as 10 bits tell apart.
const RECENT: usize = 1 << 10;

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
}

impl Leaves {
    /// The place of a leaf, made if it is new.
    #[inline]
    pub(super) fn place(&mut self, key: LeafKey) -> u32 {
        let hash = key.process.0.wrapping_mul(0x9e37_79b1)
            ^ (key.submode.index() as u32).wrapping_mul(0x85eb_ca6b)
            ^ (key.cpu << 3 ^ key.mode as u32).wrapping_mul(0xc2b2_ae35);
        let at = (hash >> (u32::BITS - RECENT.ilog2())) as usize;
        match self.recent.get(at) {
            Some((recent, place)) if *recent == key => *place,
            _ => self.find(key, at),
        }
    }

    #[inline(never)]
    fn find(&mut self, key: LeafKey, at: usize) -> u32 {
        let place = self.find_or_add(key);
        if self.recent.is_empty() {
            self.recent = vec![(key, place); RECENT];
        }
        self.recent[at] = (key, place);
        place
    }

    fn find_or_add(&mut self, key: LeafKey) -> u32 {
        *self.places.entry(key).or_insert_with(|| {
            self.leaves.push(Leaf { counts: Counts::default(), key });
            self.leaves.len() as u32 - 1
        })
    }

    #[inline]
    pub(super) fn at(&mut self, place: u32) -> &mut Counts {
        &mut self.leaves[place as usize].counts
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&LeafKey, &Counts)> {
        self.leaves.iter().map(|leaf| (&leaf.key, &leaf.counts))
    }

    pub(super) fn add(&mut self, other: &Leaves) {
        for (key, counts) in other.iter() {
            let place = self.find_or_add(*key);
            self.at(place).add(counts);
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_events_touch_is_in_one_line() {
        let line = 64;
        assert_eq!(std::mem::offset_of!(Leaf, counts), 0);
        assert!(std::mem::offset_of!(Counts, open_time) <= line);
        assert!(size_of::<Leaf>() <= 2 * line);
    }
}
