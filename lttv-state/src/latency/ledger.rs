//! The durations of each family, thread and subject.

use hashbrown::HashMap;

use super::sample::{Sample, TopList};
use crate::durations::{Distribution, Spread};
use crate::fast_hash::FastHash;
use crate::spans::family::Family;
use crate::spans::subjects::OTHERS;
use crate::spans::threads::ThreadId;

/// The maximum number of leaves of a trace; further ones share one for each family.
const MAX_LEAVES: usize = 1 << 17;

/// The key of a leaf: a family, the thread, the number of the subject within the family, such
/// as a system call or a device, and that of the [division](super::division).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) family: Family,
    pub(super) subject: u32,
    pub(super) thread: ThreadId,
    pub(super) part: u32,
}

impl Key {
    /// Returns the key as two integers: thread numbers have 24 bits.
    fn packed(self) -> (u64, u32) {
        let Key { family, subject, thread, part } = self;
        ((family as u64) << 56 | u64::from(thread.0) << 32 | u64::from(subject), part)
    }
}

/// The durations of a thread and subject, or of several of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LatencyFigures {
    pub(super) durations: Distribution,
    pub(super) extra: Option<Box<Extra>>,
    /// The longest durations, if they are wanted of each row.
    pub(super) top: Option<Box<TopList>>,
}

/// The figures that only some families have.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Extra {
    pub(super) net: Spread,
    /// The number of failures by error number, in ascending order.
    pub(super) errors: Vec<(u16, u64)>,
    pub(super) bytes: u64,
    pub(super) sectors: u64,
    pub(super) nested: u64,
}

impl LatencyFigures {
    /// Returns the durations.
    pub fn durations(&self) -> &Distribution {
        &self.durations
    }

    /// Returns the durations of interrupt handlers without the time of those that interrupted
    /// them, in ns. Other families have none.
    pub fn net(&self) -> Option<&Spread> {
        self.extra.as_ref().map(|extra| &extra.net).filter(|net| net.count() > 0)
    }

    /// Returns the number of interrupt handlers that others interrupted.
    pub fn nested(&self) -> u64 {
        self.extra.as_ref().map_or(0, |extra| extra.nested)
    }

    /// Iterates over the error numbers of system calls that failed, with the number of failures.
    pub fn errors(&self) -> impl Iterator<Item = (u16, u64)> {
        self.extra.iter().flat_map(|extra| extra.errors.iter().copied())
    }

    /// Returns the number of system calls that failed.
    pub fn failures(&self) -> u64 {
        self.errors().map(|(_, count)| count).sum()
    }

    /// Returns the number of bytes that system calls read or wrote.
    pub fn bytes(&self) -> u64 {
        self.extra.as_ref().map_or(0, |extra| extra.bytes)
    }

    /// Returns the number of sectors, of 512 bytes, of the disk requests.
    pub fn sectors(&self) -> u64 {
        self.extra.as_ref().map_or(0, |extra| extra.sectors)
    }

    /// Returns the longest durations, the longest first; none unless those of each row are
    /// [wanted](super::Settings::top_of_rows).
    pub fn top(&self) -> &[Sample] {
        self.top.as_ref().map_or(&[], |top| top.samples())
    }

    /// Returns the figures of which only some families have any, to be changed.
    pub(super) fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    /// Adds the figures of other durations.
    pub fn add(&mut self, other: &LatencyFigures) {
        self.durations.add_all(&other.durations);
        if let Some(other) = &other.extra {
            let mine = self.extra();
            mine.net.add_all(&other.net);
            other.errors.iter().for_each(|(error, count)| mine.count_error(*error, *count));
            mine.bytes = mine.bytes.saturating_add(other.bytes);
            mine.sectors = mine.sectors.saturating_add(other.sectors);
            mine.nested += other.nested;
        }
        if let Some(other) = &other.top {
            let mine = self.top.get_or_insert_with(|| Box::new(TopList::new(other.limit())));
            other.samples().iter().for_each(|sample| mine.add(*sample));
            mine.finish();
        }
    }
}

impl Extra {
    /// Adds failures with an error number.
    pub(super) fn count_error(&mut self, error: u16, count: u64) {
        match self.errors.binary_search_by_key(&error, |of| of.0) {
            Ok(at) => self.errors[at].1 += count,
            Err(at) => self.errors.insert(at, (error, count)),
        }
    }
}

/// All leaves of a trace, by key.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    places: HashMap<(u64, u32), u32, FastHash>,
    leaves: Vec<(Key, LatencyFigures)>,
}

impl Ledger {
    /// Returns the figures of a key. Keys beyond the limit share one for each family: the second
    /// value is then `false`.
    #[inline]
    pub(super) fn at(&mut self, key: Key) -> (&mut LatencyFigures, bool) {
        let (place, is_own) = match self.places.get(&key.packed()) {
            Some(place) => (*place as usize, true),
            None => self.add(key),
        };
        (&mut self.leaves[place].1, is_own)
    }

    #[cold]
    fn add(&mut self, key: Key) -> (usize, bool) {
        let is_full = self.leaves.len() >= MAX_LEAVES;
        let others = Key { thread: ThreadId::OTHERS, subject: OTHERS, part: OTHERS, ..key };
        let key = if is_full { others } else { key };
        let leaves = &mut self.leaves;
        let place = *self.places.entry(key.packed()).or_insert_with(|| {
            leaves.push((key, LatencyFigures::default()));
            leaves.len() as u32 - 1
        });
        (place as usize, !is_full)
    }

    /// Iterates over all leaves.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &(Key, LatencyFigures)> {
        self.leaves.iter()
    }

    /// Adds the leaves of a later part, whose numbers of parts a function converts.
    pub(super) fn add_all(&mut self, later: &Ledger, part: impl Fn(u32) -> u32) {
        for (key, figures) in later.iter() {
            let key = Key { part: part(key.part), ..*key };
            self.at(key).0.add(figures);
        }
    }
}
