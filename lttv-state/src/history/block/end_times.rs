//! End times of the intervals of a column chunk: a compressed sequence of increasing
//! integers with fast search.
//!
//! The encoding splits each integer into low and high bits, as the Elias–Fano
//! representation does (P. Elias, *Efficient storage and retrieval by content and address
//! of static files*, J. ACM 21, 1974; R. Fano, *On the number of bits required to implement
//! an associative memory*, MIT, 1971). The high bits are the number of a *bucket*. Two
//! details differ from the textbook:
//!
//! * the number of integers before each bucket is stored as an integer of fixed width, not
//!   in unary in a bit vector. A bucket is then found by one read, without a select
//!   structure;
//! * the low bits of an integer share an *entry* of whole bytes with the symbol of its
//!   interval's value, so that one read returns both.
//!
//! ```text
//! bucket starts  for each bucket but the first: number of integers in earlier buckets, in as
//!                many bits as the number of all integers needs
//! entries        for each integer, from a whole byte on: its low bits, the symbol, padding to
//!                a whole byte
//! ```
//! The number of buckets follows from the number of low bits and the length of the block in
//! ns: see [`Split`].
//!
//! The search within a bucket has no branches that depend on the data, since mispredicted
//! branches would cost more than comparing a few entries in vain. A binary search halves
//! the range down to [`LINEAR_SEARCH`] entries, of which all are compared.

use std::hint::select_unpredictable;

use super::bits::{self, BitWriter, width_of, word};

/// The greatest number of integers in a chunk. Two bucket starts then fit into 57 bits,
/// which one read returns.
const MAX_COUNT: u32 = (1 << 28) - 1;

/// The greatest number of low bits, so that one read returns all of them.
const MAX_LOW_BITS: u32 = 56;

/// The number of entries up to which all are compared instead of halved.
const LINEAR_SEARCH: u32 = 8;

/// The split of integers into a bucket number and low bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) low_bits: u32,
    low_mask: u64,
    pub(crate) buckets: u32,
    /// The size of an entry, in bytes.
    pub(crate) stride: usize,
}

impl Split {
    /// Computes the split that takes the least space for `count` integers below `span`,
    /// whose entries also contain a symbol of `symbol_width` bits, up to 64.
    pub(crate) fn best(span: u64, count: usize, symbol_width: u32) -> Split {
        let start_width = u64::from(width_of(count as u64));
        let splits = (1..=15).filter_map(|bytes: u32| {
            let low_bits = (bytes * 8).checked_sub(symbol_width)?.min(MAX_LOW_BITS);
            // More buckets would leave some empty, and then a search has to continue in the
            // neighbouring ones. Many more would take more space for bucket starts than
            // they save.
            let few = low_bits == MAX_LOW_BITS || span >> low_bits <= count as u64 / 2;
            Split::of(span, low_bits, symbol_width).filter(|_| few)
        });
        let bits = |split: &Split| {
            count as u64 * split.stride as u64 * 8 + u64::from(split.buckets) * start_width
        };
        // The candidate with the most low bits is never filtered out, so the default is not
        // used.
        splits.min_by_key(bits).unwrap_or(Split {
            low_bits: 8,
            low_mask: 0xff,
            buckets: 1,
            stride: 1,
        })
    }

    /// Creates the split with `low_bits` low bits. `None` if entries would be empty, if
    /// there are too many low bits, or if the buckets exceed 32 bits.
    pub(crate) fn of(span: u64, low_bits: u32, symbol_width: u32) -> Option<Split> {
        if low_bits > MAX_LOW_BITS || low_bits + symbol_width == 0 {
            return None;
        }
        let buckets = u32::try_from(span >> low_bits).ok()?.checked_add(1)?;
        let stride = (low_bits + symbol_width).div_ceil(8) as usize;
        Some(Split { low_bits, low_mask: bits::short_mask(low_bits), buckets, stride })
    }

    /// Returns the bucket number of an integer: its high bits.
    #[inline(always)]
    fn bucket(&self, number: u64) -> u64 {
        number >> self.low_bits
    }

    /// Returns the low bits of an integer.
    #[inline(always)]
    pub(crate) fn low(&self, number: u64) -> u64 {
        number & self.low_mask
    }

    #[inline(always)]
    fn low_at(&self, data: &[u8], entries: usize, index: u32) -> u64 {
        self.low(word(data, entries + index as usize * self.stride))
    }

    /// Finds the first index in `first..end` whose low bits are not below `low`. The range
    /// must lie in one bucket. Returns `end` if there is none.
    #[inline(always)]
    pub(crate) fn lower_bound(
        &self,
        data: &[u8],
        entries: usize,
        first: u32,
        end: u32,
        low: u64,
    ) -> u32 {
        let (mut index, mut left) = (first, end - first);
        while left > LINEAR_SEARCH {
            let half = left / 2;
            let below = self.low_at(data, entries, index + half - 1) < low;
            index = select_unpredictable(below, index + half, index);
            left -= half;
        }
        let Split { stride, .. } = *self;
        let few = data.get(entries + index as usize * stride..);
        let (Some(few), true) = (few.and_then(|few| few.first_chunk::<71>()), stride <= 8) else {
            let mut rest = index..index + left;
            let found = rest.find(|index| self.low_at(data, entries, *index) >= low);
            return found.unwrap_or(index + left);
        };
        // One bit for each entry, the first entry lowest, and a sentinel after the last.
        let not_below = |i: u32| {
            let at = i as usize * stride % 64;
            let entry = few[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
            u32::from(self.low(entry) >= low) << i
        };
        let all = (0..LINEAR_SEARCH).map(not_below).fold(1 << left, |all, one| all | one);
        index + all.trailing_zeros()
    }

    /// Appends the bucket starts of a sequence of increasing integers.
    pub(crate) fn write_bucket_starts(&self, writer: &mut BitWriter<'_>, numbers: &[u64]) {
        let width = width_of(numbers.len() as u64);
        let mut before = 0;
        for bucket in 1..self.buckets {
            while before < numbers.len() && self.bucket(numbers[before]) < bucket.into() {
                before += 1;
            }
            writer.put(before as u64, width);
        }
    }

    /// Appends the entry of an integer, which also contains `symbol`.
    pub(crate) fn write_entry(&self, out: &mut Vec<u8>, number: u64, symbol: u64) {
        let entry = u128::from(symbol) << self.low_bits | u128::from(self.low(number));
        out.extend_from_slice(&entry.to_le_bytes()[..self.stride]);
    }
}

/// The result of a search: an integer and its predecessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Successor {
    pub(crate) index: u32,
    /// The predecessor; `None` for the first integer.
    pub(crate) before: Option<u64>,
    pub(crate) number: u64,
}

/// The range of indexes of the integers with the same high bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bucket {
    bucket: u32,
    /// The index of the first integer, and the index past the last one.
    first: u32,
    end: u32,
}

/// A view of the end times of a column chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndTimes<'d> {
    data: &'d [u8],
    pub(crate) count: u32,
    pub(crate) split: Split,
    start_width: u32,
    start_mask: u64,
    /// The bit offset at which the start of bucket 0 would be stored, if it were.
    starts_at: usize,
    /// The byte offset of the entries.
    pub(crate) entries_at: usize,
}

impl<'d> EndTimes<'d> {
    /// Creates a view of `count` integers whose bucket starts are at bit `at`, followed by
    /// their entries. `None` if `count` is too great for any chunk. The caller checks that
    /// the entries fit into `data`.
    #[inline(always)]
    pub(crate) fn read(
        data: &'d [u8],
        at: usize,
        split: Split,
        count: u32,
    ) -> Option<EndTimes<'d>> {
        if count > MAX_COUNT {
            return None;
        }
        let start_width = width_of(count.into());
        let starts_at = at.wrapping_sub(start_width as usize);
        let starts = (split.buckets as usize - 1) * start_width as usize;
        let entries_at = (at + starts).div_ceil(8);
        let start_mask = bits::short_mask(start_width);
        Some(EndTimes { data, count, split, start_width, start_mask, starts_at, entries_at })
    }

    /// Returns the byte offset past the last entry.
    #[inline(always)]
    pub(crate) fn entries_end(&self) -> usize {
        self.entry_at(self.count)
    }

    #[inline(always)]
    fn entry_at(&self, index: u32) -> usize {
        self.entries_at + index as usize * self.split.stride
    }

    #[inline(always)]
    fn low(&self, index: u32) -> u64 {
        self.split.low(word(self.data, self.entry_at(index)))
    }

    /// Reads the index range of a bucket.
    #[inline(always)]
    fn bucket(&self, bucket: u32) -> Bucket {
        let width = self.start_width;
        let at = self.starts_at.wrapping_add(bucket as usize * width as usize);
        // For the first and the last bucket, one of the two integers read here is not a
        // bucket start; it is replaced below.
        let pair = bits::word_at_bit(self.data, at);
        let first = (pair & self.start_mask) as u32;
        let end = (pair >> (width % 64) & self.start_mask) as u32;
        let first = select_unpredictable(bucket == 0, 0, first);
        let end = select_unpredictable(bucket + 1 >= self.split.buckets, self.count, end);
        // In damaged data the range may be anything.
        let first = first.min(self.count);
        Bucket { bucket, first, end: end.min(self.count).max(first) }
    }

    #[inline(always)]
    fn get_in(&self, bucket: u32, index: u32) -> u64 {
        u64::from(bucket) << self.split.low_bits | self.low(index)
    }

    /// Returns the integer with an index.
    #[inline(always)]
    pub(crate) fn get(&self, index: u32) -> u64 {
        match self.split.buckets {
            1 => self.low(index),
            _ => self.get_far(index),
        }
    }

    /// Returns the integer with an index that is probably in bucket `beside`.
    #[inline(always)]
    fn get_near(&self, beside: u32, index: u32) -> u64 {
        if beside < self.split.buckets {
            let beside = self.bucket(beside);
            if beside.first <= index && index < beside.end {
                return self.get_in(beside.bucket, index);
            }
        }
        self.get_far(index)
    }

    #[inline(always)]
    fn get_far(&self, index: u32) -> u64 {
        let (mut first, mut left) = (0, self.split.buckets);
        while left > 1 {
            let half = left / 2;
            if self.bucket(first + half).first <= index {
                first += half;
            }
            left -= half;
        }
        self.get_in(first, index)
    }

    /// Returns the index of the last integer. `None` if there are no integers.
    pub(crate) fn last(&self) -> Option<u32> {
        self.count.checked_sub(1)
    }

    /// Returns the integer with an index, if there is one. The search for its bucket starts
    /// at `hint`, the bucket of the previous result, which is updated.
    #[inline(always)]
    pub(crate) fn next(&self, hint: &mut Option<Bucket>, index: u32) -> Option<u64> {
        if index >= self.count {
            return None;
        }
        if let Some(hint) = hint
            && hint.first <= index
        {
            // The integer is usually in this bucket or in the next one.
            for _ in 0..2 {
                if index < hint.end {
                    return Some(self.get_in(hint.bucket, index));
                }
                if hint.bucket + 1 < self.split.buckets {
                    *hint = self.bucket(hint.bucket + 1);
                }
            }
        }
        let number = self.get(index);
        *hint = u32::try_from(self.split.bucket(number)).ok().map(|bucket| self.bucket(bucket));
        Some(number)
    }

    /// Iterates over the integers of a bucket from index `from` on: index, integer, and the
    /// entry's remaining bits. The symbol is in the lowest of these; higher ones belong to
    /// what follows. Empty if `from` precedes the bucket, or if entries are too wide for
    /// one read.
    #[inline(always)]
    pub(crate) fn entries_from(
        &self,
        bucket: &Bucket,
        from: u32,
    ) -> impl Iterator<Item = (u32, u64, u64)> + use<'d> {
        let EndTimes { data, split, .. } = *self;
        let fits = from >= bucket.first && split.stride <= 8;
        let at = self.entry_at(from);
        let high = u64::from(bucket.bucket) << split.low_bits;
        (from..if fits { bucket.end } else { from }).zip(0..).map(move |(index, i)| {
            let entry = word(data, at + i * split.stride);
            (index, high | split.low(entry), entry >> (split.low_bits % 64))
        })
    }

    /// Finds the first integer that is greater than or equal to `number`, and its
    /// predecessor. Stores the bucket of `number` in `hint`.
    #[inline(always)]
    pub(crate) fn next_geq(&self, hint: &mut Option<Bucket>, number: u64) -> Option<Successor> {
        let bucket = self.split.bucket(number);
        if bucket >= self.split.buckets.into() {
            return None;
        }
        if self.split.buckets == 1 {
            return self.next_geq_in_only_bucket(hint, number);
        }
        let Bucket { bucket, first, end } = *hint.insert(self.bucket(bucket as u32));
        let index = self.lower_bound(first, end, self.split.low(number));
        if index >= self.count {
            return None;
        }
        let number = match index < end {
            true => self.get_in(bucket, index),
            false => self.get_near(bucket + 1, index),
        };
        let before = match index {
            0 => None,
            _ if index > first => Some(self.get_in(bucket, index - 1)),
            _ => Some(self.get_near(bucket.wrapping_sub(1), index - 1)),
        };
        Some(Successor { index, before, number })
    }

    /// Performs the search of [`next_geq`](Self::next_geq) where there is only one bucket,
    /// as in most chunks.
    #[inline(always)]
    fn next_geq_in_only_bucket(&self, hint: &mut Option<Bucket>, number: u64) -> Option<Successor> {
        *hint = Some(Bucket { bucket: 0, first: 0, end: self.count });
        let index = self.lower_bound(0, self.count, number);
        if index >= self.count {
            return None;
        }
        let before = index.checked_sub(1).map(|before| self.low(before));
        Some(Successor { index, before, number: self.low(index) })
    }

    /// Finds the first index in `first..end`, which lies in one bucket, whose low bits are
    /// not below `low`.
    #[inline(always)]
    fn lower_bound(&self, first: u32, end: u32, low: u64) -> u32 {
        self.split.lower_bound(self.data, self.entries_at, first, end, low)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(span: u64, numbers: &[u64]) -> Result<(), TestCaseError> {
        let mut out = vec![0xff; 3];
        let split = Split::best(span, numbers.len(), 5);
        prop_assert_eq!(Split::of(span, split.low_bits, 5), Some(split));
        let mut writer = BitWriter::new(&mut out);
        writer.put(1, 3);
        split.write_bucket_starts(&mut writer, numbers);
        writer.finish();
        numbers.iter().for_each(|number| split.write_entry(&mut out, *number, 0b10101));
        let end = out.len();
        out.push(0xff);
        let ends = EndTimes::read(&out, 27, split, numbers.len() as u32).unwrap();
        prop_assert_eq!(end, ends.entries_end());

        let values: Vec<u64> = (0..ends.count).map(|index| ends.get(index)).collect();
        prop_assert_eq!(&values, numbers);
        prop_assert_eq!(ends.last().map(|last| ends.get(last)), numbers.last().copied());
        for number in numbers {
            for target in [number.saturating_sub(1), *number, number.saturating_add(1)] {
                let index = numbers.partition_point(|n| *n < target);
                let before = index.checked_sub(1).map(|before| numbers[before]);
                let expected = numbers.get(index).copied();
                let expected =
                    expected.map(|number| Successor { index: index as u32, before, number });
                let mut hint = None;
                prop_assert_eq!(ends.next_geq(&mut hint, target), expected);
                prop_assert_eq!(ends.next_geq(&mut hint, target), expected);
                let (index, next) = (index + 1, numbers.get(index + 1).copied());
                prop_assert_eq!(ends.next(&mut hint, index as u32), next);
                prop_assert_eq!(ends.next(&mut None, index as u32), next);
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn next_geq_finds_every_number(
            steps in prop::collection::vec((0u32..40, any::<u64>()), 0..200),
            beyond in 1u64..1_000_000,
        ) {
            let mut at = 0u64;
            let mut numbers = Vec::new();
            for (shift, step) in steps {
                let next = at.saturating_add((step & bits::mask(shift)).max(1));
                if next > at {
                    numbers.push(next);
                }
                at = next;
            }
            check(at.saturating_add(beyond), &numbers)?;
        }
    }

    #[test]
    fn extreme_and_empty_sequences_round_trip() {
        check(0, &[]).unwrap();
        check(1, &[0]).unwrap();
        check(u64::MAX, &[u64::MAX - 1]).unwrap();
        check(u64::MAX, &[0, u64::MAX - 1]).unwrap();
        check(u64::MAX, &[0, 1, 2, 3, 4, 5, 6, 7, 8, u64::MAX - 2, u64::MAX - 1]).unwrap();
        check(20, &(0..20).collect::<Vec<_>>()).unwrap();
        let split = Split::best(u64::MAX, 1, 0);
        assert!(EndTimes::read(&[], 0, split, MAX_COUNT + 1).is_none());
        assert!(Split::of(u64::MAX, 8, 3).is_none());
        assert!(Split::of(1, MAX_LOW_BITS + 1, 3).is_none());
        assert!(Split::of(1, 0, 0).is_none());
    }

    #[test]
    fn long_sequences_round_trip() {
        let even: Vec<u64> = (0..5000).map(|i| i * 1000 + i % 7).collect();
        check(5_000_000, &even).unwrap();
        let bursts: Vec<u64> = (0..5000).map(|i| (i / 1500) * 10_000_000_000 + i).collect();
        check(40_000_000_000, &bursts).unwrap();
        check(1 << 50, &bursts).unwrap();
    }
}
