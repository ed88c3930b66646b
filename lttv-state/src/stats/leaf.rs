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
    recent: Vec<Recent>,
    places: HashMap<Key, u32, BuildHasherDefault<Mix>>,
}

/// So many places are remembered, in as many bits.
const RECENT_BITS: u32 = 10;

/// A leaf that was looked for.
#[derive(Debug, Clone, Copy)]
struct Recent {
    key: Key,
    place: u32,
}

/// A [`LeafKey`] that is compared fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    function: u64,
    pub(super) process: Serial,
    submode: NameId,
    /// CPU and mode.
    rest: u32,
}

const MODE_BITS: u32 = 3;

impl Key {
    /// Of no leaf: CPUs have smaller numbers.
    const NONE: Key =
        Key { function: 0, process: Serial(0), submode: NameId::EMPTY, rest: u32::MAX };

    /// That of a process on a CPU.
    #[inline]
    pub(super) fn of(process: &Process, cpu: u32) -> Self {
        let top = process.top();
        let key = Key {
            function: process.function(),
            process: process.serial(),
            submode: top.submode(),
            rest: cpu << MODE_BITS,
        };
        key.within(top.mode(), top.submode())
    }

    /// That of the same process on the same CPU in another mode.
    #[inline]
    pub(super) fn within(self, mode: ExecutionMode, submode: NameId) -> Self {
        let rest = self.rest >> MODE_BITS << MODE_BITS | mode as u32;
        Key { submode, rest, ..self }
    }

    #[inline]
    fn hash(self) -> usize {
        let hash = self.process.0.wrapping_mul(0x9e37_79b1)
            ^ (self.submode.index() as u32).wrapping_mul(0x85eb_ca6b)
            ^ (self.rest ^ self.function as u32).wrapping_mul(0xc2b2_ae35);
        (hash >> (u32::BITS - RECENT_BITS)) as usize
    }
}

impl From<LeafKey> for Key {
    fn from(key: LeafKey) -> Self {
        let LeafKey { process, cpu, function, mode, submode } = key;
        Key { function, process, submode, rest: cpu << MODE_BITS | mode as u32 }
    }
}

impl From<Key> for LeafKey {
    fn from(key: Key) -> Self {
        let Key { function, process, submode, rest } = key;
        let mode = ExecutionMode::ALL.get((rest & ((1 << MODE_BITS) - 1)) as usize);
        let mode = mode.copied().unwrap_or_default();
        LeafKey { process, cpu: rest >> MODE_BITS, function, mode, submode }
    }
}

impl Leaves {
    /// The place of a leaf, made if it is new.
    #[inline]
    pub(super) fn place(&mut self, key: Key) -> u32 {
        match self.recent.get(key.hash()) {
            Some(recent) if recent.key == key => recent.place,
            _ => self.find(key),
        }
    }

    #[inline(never)]
    fn find(&mut self, key: Key) -> u32 {
        let place = self.find_or_add(key);
        if self.recent.is_empty() {
            self.recent = vec![Recent { key: Key::NONE, place }; 1 << RECENT_BITS];
        }
        self.recent[key.hash()] = Recent { key, place };
        place
    }

    fn find_or_add(&mut self, key: Key) -> u32 {
        *self.places.entry(key).or_insert_with(|| {
            self.leaves.push(Leaf { counts: Counts::default(), key: key.into() });
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
            let place = self.find_or_add((*key).into());
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
