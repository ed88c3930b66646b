//! The queue of the k-way merge for many tracefiles.

use std::mem;

use super::key::END;

/// The size of a digit in bits.
const DIGIT: u32 = 4;

/// The number of values of a digit.
const VALUES: usize = 1 << DIGIT;

/// The number of digits of a key.
const LEVELS: usize = (u128::BITS / DIGIT) as usize;

/// The number of keys in the front after it was filled, if there are as many.
const FRONT: usize = 256;

/// The largest number of keys of a bucket that are added to the front at once.
const ADDED: usize = 128;

/// A priority queue of keys that hardly ever go back: a radix heap. See Ahuja, Mehlhorn, Orlin and
/// Tarjan, Faster algorithms for the shortest path problem, 1990.
///
/// A key is moved from one bucket to a finer one a few times, whatever the number of keys, and
/// always with those beside it in memory. A heap or a tournament tree of as many keys needs a way
/// through memory that is different for each of them. The least keys are sorted, so that what comes
/// next is known in advance.
#[derive(Debug)]
pub(super) struct RadixQueue {
    /// All keys below `limit`, in descending order. Empty only if there are no keys.
    front: Vec<u128>,
    limit: u128,
    /// A number that is not above any key in the buckets.
    base: u128,
    /// The other keys, by the highest digit in which they differ from `base` (the level), and by
    /// this digit.
    buckets: Box<[Vec<u128>]>,
    /// For each level, a bit for each of its buckets that is not empty.
    filled: [u16; LEVELS],
    /// A bit for each level that is not empty.
    levels: u32,
}

impl RadixQueue {
    /// Creates a queue without keys.
    pub(super) fn new() -> Self {
        RadixQueue {
            front: Vec::new(),
            limit: 0,
            base: 0,
            buckets: vec![Vec::new(); LEVELS * VALUES].into(),
            filled: [0; LEVELS],
            levels: 0,
        }
    }

    /// Returns the least key; [`END`] if there is none.
    #[inline(always)]
    pub(super) fn least(&self) -> u128 {
        self.front.last().copied().unwrap_or(END)
    }

    /// Returns the least keys, in descending order.
    #[inline(always)]
    pub(super) fn front(&self) -> &[u128] {
        &self.front
    }

    /// Returns all keys, in no order.
    pub(super) fn keys(&self) -> impl Iterator<Item = u128> + '_ {
        self.front.iter().chain(self.buckets.iter().flatten()).copied()
    }

    /// Adds a key, which is not [`END`].
    #[inline]
    pub(super) fn push(&mut self, key: u128) {
        if key < self.limit {
            let at = self.front.partition_point(|other| *other > key);
            return self.front.insert(at, key);
        }
        self.put(key);
        if self.front.is_empty() {
            self.fill_front();
        }
    }

    /// Removes the least key and returns it; [`END`] if there is none.
    #[inline]
    pub(super) fn pop(&mut self) -> u128 {
        let key = self.front.pop().unwrap_or(END);
        if self.front.is_empty() {
            self.fill_front();
        }
        key
    }

    /// Puts a key that is not below `base` nor [`END`] into its bucket: that of any event before
    /// the queue [starts](Self::start).
    #[inline(always)]
    pub(super) fn put(&mut self, key: u128) {
        let level = (key ^ self.base).checked_ilog2().unwrap_or(0) / DIGIT;
        let value = (key >> (level * DIGIT)) as usize % VALUES;
        self.buckets[level as usize * VALUES + value].push(key);
        self.filled[level as usize] |= 1 << value;
        self.levels |= 1 << level;
    }

    /// Finds the least keys among those that were added.
    pub(super) fn start(&mut self) {
        self.fill_front();
    }

    /// Moves the least keys to the front, which is empty.
    #[inline(never)]
    fn fill_front(&mut self) {
        while self.front.len() < FRONT && self.levels != 0 {
            let level = self.levels.trailing_zeros();
            let filled = &mut self.filled[level as usize];
            let value = filled.trailing_zeros() as usize;
            *filled &= *filled - 1;
            if *filled == 0 {
                self.levels &= self.levels - 1;
            }
            let shift = level * DIGIT;
            let digits = self.base >> shift;
            self.base = (digits - digits % VALUES as u128 + value as u128) << shift;
            self.limit = self.base.saturating_add(1 << shift);
            let bucket = &mut self.buckets[level as usize * VALUES + value];
            if bucket.len() <= ADDED || level == 0 {
                self.front.append(bucket);
            } else {
                // The memory of large buckets is not kept.
                mem::take(bucket).into_iter().for_each(|key| self.put(key));
            }
        }
        self.front.sort_unstable_by(|a, b| b.cmp(a));
    }
}
