//! The times at which the intervals of a run end: increasing numbers, stored in
//! little space, and so that each is found in a few steps.
//!
//! Each number is cut in two. Its low bits stand in an array of *entries* of whole
//! bytes, each together with its interval's value: who finds a time has the value at
//! hand. Its high bits are the number of a *bucket*; of the buckets it is noted how
//! many numbers come before each.
//!
//! ```text
//! heads    for each bucket but the first: how many numbers are before it, in as
//!          many bits as their count needs
//! entries  of each number, from a whole byte on: its low bits, then bits that are
//!          not ours, up to a whole byte
//! ```
//! How many low bits there are, and the block's span of time, tell how many buckets:
//! see [`Shape`].
//!
//! In a bucket a number is searched for without steps that depend on what is found: a
//! processor cannot guess where the search will go, and guessing wrong costs it more than
//! to look at a few numbers in vain. So many are halved, and of few all are looked at.

use std::hint::select_unpredictable;

use super::bits::{self, BitWriter, width_of, word};

/// No block has more: so two heads are read at once.
const MOST: u32 = (1 << 28) - 1;

/// No more bits are low: so they are read at once.
const MOST_LOW_BITS: u32 = 56;

/// So many numbers, or fewer, are all looked at.
const FEW: u32 = 8;

/// How numbers are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) low_bits: u32,
    low_mask: u64,
    pub(super) buckets: u32,
    /// Bytes of an entry.
    pub(super) stride: usize,
}

impl Shape {
    /// The one that takes the least space for `count` numbers that are less than `span`,
    /// with `apart` bits, up to 64, that are not ours.
    pub(super) fn best(span: u64, count: usize, apart: u32) -> Shape {
        let head_width = u64::from(width_of(count as u64));
        let shapes = (1..=15).filter_map(|bytes: u32| {
            let low_bits = (bytes * 8).checked_sub(apart)?.min(MOST_LOW_BITS);
            // With more buckets some would be empty: then an end has to be looked for in
            // those behind. And by many more, heads would take more than they save.
            let few = low_bits == MOST_LOW_BITS || span >> low_bits <= count as u64 / 2;
            Shape::of(span, low_bits, apart).filter(|_| few)
        });
        let bits = |shape: &Shape| {
            count as u64 * shape.stride as u64 * 8 + u64::from(shape.buckets) * head_width
        };
        // The last has the most low bits, so that there is always one.
        shapes.min_by_key(bits).unwrap_or(Shape {
            low_bits: 8,
            low_mask: 0xff,
            buckets: 1,
            stride: 1,
        })
    }

    /// The one with so many low bits. None if there is none.
    pub(super) fn of(span: u64, low_bits: u32, apart: u32) -> Option<Shape> {
        if low_bits > MOST_LOW_BITS || low_bits + apart == 0 {
            return None;
        }
        let buckets = u32::try_from(span >> low_bits).ok()?.checked_add(1)?;
        let stride = (low_bits + apart).div_ceil(8) as usize;
        Some(Shape { low_bits, low_mask: bits::short_mask(low_bits), buckets, stride })
    }

    /// The bucket of a number.
    #[inline(always)]
    fn bucket(&self, number: u64) -> u64 {
        number >> self.low_bits
    }

    /// The low bits of a number.
    #[inline(always)]
    pub(super) fn low(&self, number: u64) -> u64 {
        number & self.low_mask
    }

    #[inline(always)]
    fn low_at(&self, data: &[u8], entries: usize, index: u32) -> u64 {
        self.low(word(data, entries + index as usize * self.stride))
    }

    /// The first index from `first` to `behind` whose low part is not below `low`, of
    /// entries that are in one bucket.
    #[inline(always)]
    pub(super) fn first_low(
        &self,
        data: &[u8],
        entries: usize,
        first: u32,
        behind: u32,
        low: u64,
    ) -> u32 {
        let (mut index, mut left) = (first, behind - first);
        while left > FEW {
            let half = left / 2;
            let below = self.low_at(data, entries, index + half - 1) < low;
            index = select_unpredictable(below, index + half, index);
            left -= half;
        }
        let Shape { stride, .. } = *self;
        let few = data.get(entries + index as usize * stride..);
        let (Some(few), true) = (few.and_then(|few| few.first_chunk::<71>()), stride <= 8) else {
            let mut rest = index..index + left;
            let found = rest.find(|index| self.low_at(data, entries, *index) >= low);
            return found.unwrap_or(index + left);
        };
        // A bit for each, the first one lowest; and one behind the last.
        let not_below = |i: u32| {
            let at = i as usize * stride % 64;
            let entry = few[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
            u32::from(self.low(entry) >= low) << i
        };
        let all = (0..FEW).map(not_below).fold(1 << left, |all, one| all | one);
        index + all.trailing_zeros()
    }

    /// Appends the heads for numbers that increase.
    pub(super) fn write_heads(&self, writer: &mut BitWriter<'_>, numbers: &[u64]) {
        let width = width_of(numbers.len() as u64);
        let mut before = 0;
        for bucket in 1..self.buckets {
            while before < numbers.len() && self.bucket(numbers[before]) < bucket.into() {
                before += 1;
            }
            writer.put(before as u64, width);
        }
    }

    /// Appends the entry of a number, with the bits that are not ours.
    pub(super) fn write_entry(&self, out: &mut Vec<u8>, number: u64, apart: u64) {
        let entry = u128::from(apart) << self.low_bits | u128::from(self.low(number));
        out.extend_from_slice(&entry.to_le_bytes()[..self.stride]);
    }
}

/// Two numbers that follow each other: what a time is between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) index: u32,
    /// The number before; None if there is none.
    pub(super) before: Option<u64>,
    pub(super) number: u64,
}

/// The numbers that have their high bits in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    bucket: u32,
    /// Index of the first one, and behind the last one.
    first: u32,
    behind: u32,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Ends<'d> {
    data: &'d [u8],
    pub(super) count: u32,
    pub(super) shape: Shape,
    head_width: u32,
    head_mask: u64,
    /// The bit where the heads would begin if the first bucket had one.
    heads_at: usize,
    /// The byte where the entries begin.
    pub(super) entries_at: usize,
}

impl<'d> Ends<'d> {
    /// The numbers whose heads are at bit `at` and whose entries are behind. None if there
    /// cannot be so many.
    #[inline(always)]
    pub(super) fn read(data: &'d [u8], at: usize, shape: Shape, count: u32) -> Option<Ends<'d>> {
        if count > MOST {
            return None;
        }
        let head_width = width_of(count.into());
        let heads_at = at.wrapping_sub(head_width as usize);
        let heads = (shape.buckets as usize - 1) * head_width as usize;
        let entries_at = (at + heads).div_ceil(8);
        let head_mask = bits::short_mask(head_width);
        Some(Ends { data, count, shape, head_width, head_mask, heads_at, entries_at })
    }

    /// The byte behind the last entry.
    #[inline(always)]
    pub(super) fn behind(&self) -> usize {
        self.entry_at(self.count)
    }

    #[inline(always)]
    fn entry_at(&self, index: u32) -> usize {
        self.entries_at + index as usize * self.shape.stride
    }

    #[inline(always)]
    fn low(&self, index: u32) -> u64 {
        self.shape.low(word(self.data, self.entry_at(index)))
    }

    /// How many numbers are before a bucket, and before the next one.
    #[inline(always)]
    fn bucket(&self, bucket: u32) -> Bucket {
        let width = self.head_width;
        let at = self.heads_at.wrapping_add(bucket as usize * width as usize);
        // Before the first one, and behind the last, there is something to be read,
        // whatever it is.
        let pair = bits::word_at_bit(self.data, at);
        let first = (pair & self.head_mask) as u32;
        let behind = (pair >> (width % 64) & self.head_mask) as u32;
        let first = select_unpredictable(bucket == 0, 0, first);
        let behind = select_unpredictable(bucket + 1 >= self.shape.buckets, self.count, behind);
        // Damage could make them anything.
        let first = first.min(self.count);
        Bucket { bucket, first, behind: behind.min(self.count).max(first) }
    }

    #[inline(always)]
    fn get_in(&self, bucket: u32, index: u32) -> u64 {
        u64::from(bucket) << self.shape.low_bits | self.low(index)
    }

    /// The number at an index.
    #[inline(always)]
    pub(super) fn get(&self, index: u32) -> u64 {
        match self.shape.buckets {
            1 => self.low(index),
            _ => self.get_far(index),
        }
    }

    /// The number at an index, which is likely to be in the bucket beside one.
    #[inline(always)]
    fn get_near(&self, beside: u32, index: u32) -> u64 {
        if beside < self.shape.buckets {
            let beside = self.bucket(beside);
            if beside.first <= index && index < beside.behind {
                return self.get_in(beside.bucket, index);
            }
        }
        self.get_far(index)
    }

    #[inline(always)]
    fn get_far(&self, index: u32) -> u64 {
        let (mut first, mut left) = (0, self.shape.buckets);
        while left > 1 {
            let half = left / 2;
            if self.bucket(first + half).first <= index {
                first += half;
            }
            left -= half;
        }
        self.get_in(first, index)
    }

    /// The last index.
    pub(super) fn last(&self) -> Option<u32> {
        self.count.checked_sub(1)
    }

    /// The number behind the one at an index, if there is one, where `near` is the
    /// bucket in which a number was found last.
    #[inline(always)]
    pub(super) fn next(&self, near: &mut Option<Bucket>, index: u32) -> Option<u64> {
        if index >= self.count {
            return None;
        }
        if let Some(near) = near
            && near.first <= index
        {
            // Mostly it is in this bucket, or the next one.
            for _ in 0..2 {
                if index < near.behind {
                    return Some(self.get_in(near.bucket, index));
                }
                if near.bucket + 1 < self.shape.buckets {
                    *near = self.bucket(near.bucket + 1);
                }
            }
        }
        let number = self.get(index);
        *near = u32::try_from(self.shape.bucket(number)).ok().map(|bucket| self.bucket(bucket));
        Some(number)
    }

    /// The numbers in a bucket from an index on, each with its index and the bits that are not
    /// ours, of which higher ones are not theirs. Nothing if the bucket does not have the
    /// first of them, or an entry is more than can be read at once.
    #[inline(always)]
    pub(super) fn rest_of(
        &self,
        bucket: &Bucket,
        from: u32,
    ) -> impl Iterator<Item = (u32, u64, u64)> + use<'d> {
        let Ends { data, shape, .. } = *self;
        let fits = from >= bucket.first && shape.stride <= 8;
        let at = self.entry_at(from);
        let high = u64::from(bucket.bucket) << shape.low_bits;
        (from..if fits { bucket.behind } else { from }).zip(0..).map(move |(index, i)| {
            let entry = word(data, at + i * shape.stride);
            (index, high | shape.low(entry), entry >> (shape.low_bits % 64))
        })
    }

    /// The first number that is not below `number`, and the one before. Those who ask
    /// for one after the other keep `near`, which is None at first.
    #[inline(always)]
    pub(super) fn at_or_above(&self, near: &mut Option<Bucket>, number: u64) -> Option<Found> {
        let bucket = self.shape.bucket(number);
        if bucket >= self.shape.buckets.into() {
            return None;
        }
        if self.shape.buckets == 1 {
            return self.at_or_above_in_all(near, number);
        }
        let Bucket { bucket, first, behind } = *near.insert(self.bucket(bucket as u32));
        let index = self.first_low(first, behind, self.shape.low(number));
        if index >= self.count {
            return None;
        }
        let number = match index < behind {
            true => self.get_in(bucket, index),
            false => self.get_near(bucket + 1, index),
        };
        let before = match index {
            0 => None,
            _ if index > first => Some(self.get_in(bucket, index - 1)),
            _ => Some(self.get_near(bucket.wrapping_sub(1), index - 1)),
        };
        Some(Found { index, before, number })
    }

    /// The same where there is but one bucket, as in most runs.
    #[inline(always)]
    fn at_or_above_in_all(&self, near: &mut Option<Bucket>, number: u64) -> Option<Found> {
        *near = Some(Bucket { bucket: 0, first: 0, behind: self.count });
        let index = self.first_low(0, self.count, number);
        if index >= self.count {
            return None;
        }
        let before = index.checked_sub(1).map(|before| self.low(before));
        Some(Found { index, before, number: self.low(index) })
    }

    /// The first index whose low part is not below `low`, of a bucket's.
    #[inline(always)]
    fn first_low(&self, first: u32, behind: u32, low: u64) -> u32 {
        self.shape.first_low(self.data, self.entries_at, first, behind, low)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(span: u64, numbers: &[u64]) -> Result<(), TestCaseError> {
        let mut out = vec![0xff; 3];
        let shape = Shape::best(span, numbers.len(), 5);
        prop_assert_eq!(Shape::of(span, shape.low_bits, 5), Some(shape));
        let mut writer = BitWriter::new(&mut out);
        writer.put(1, 3);
        shape.write_heads(&mut writer, numbers);
        writer.finish();
        numbers.iter().for_each(|number| shape.write_entry(&mut out, *number, 0b10101));
        let end = out.len();
        out.push(0xff);
        let ends = Ends::read(&out, 27, shape, numbers.len() as u32).unwrap();
        prop_assert_eq!(end, ends.behind());

        let values: Vec<u64> = (0..ends.count).map(|index| ends.get(index)).collect();
        prop_assert_eq!(&values, numbers);
        prop_assert_eq!(ends.last().map(|last| ends.get(last)), numbers.last().copied());
        for number in numbers {
            for wanted in [number.saturating_sub(1), *number, number.saturating_add(1)] {
                let index = numbers.partition_point(|n| *n < wanted);
                let before = index.checked_sub(1).map(|before| numbers[before]);
                let expected = numbers.get(index).copied();
                let expected = expected.map(|number| Found { index: index as u32, before, number });
                let mut near = None;
                prop_assert_eq!(ends.at_or_above(&mut near, wanted), expected);
                prop_assert_eq!(ends.at_or_above(&mut near, wanted), expected);
                let (index, next) = (index + 1, numbers.get(index + 1).copied());
                prop_assert_eq!(ends.next(&mut near, index as u32), next);
                prop_assert_eq!(ends.next(&mut None, index as u32), next);
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn numbers_are_found(
            steps in prop::collection::vec((0u32..40, any::<u64>()), 0..200),
            behind in 1u64..1_000_000,
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
            check(at.saturating_add(behind), &numbers)?;
        }
    }

    #[test]
    fn the_whole_range_and_nothing() {
        check(0, &[]).unwrap();
        check(1, &[0]).unwrap();
        check(u64::MAX, &[u64::MAX - 1]).unwrap();
        check(u64::MAX, &[0, u64::MAX - 1]).unwrap();
        check(u64::MAX, &[0, 1, 2, 3, 4, 5, 6, 7, 8, u64::MAX - 2, u64::MAX - 1]).unwrap();
        check(20, &(0..20).collect::<Vec<_>>()).unwrap();
        let shape = Shape::best(u64::MAX, 1, 0);
        assert!(Ends::read(&[], 0, shape, MOST + 1).is_none());
        assert!(Shape::of(u64::MAX, 8, 3).is_none());
        assert!(Shape::of(1, MOST_LOW_BITS + 1, 3).is_none());
        assert!(Shape::of(1, 0, 0).is_none());
    }

    #[test]
    fn long_runs_even_and_in_bursts() {
        let even: Vec<u64> = (0..5000).map(|i| i * 1000 + i % 7).collect();
        check(5_000_000, &even).unwrap();
        let bursts: Vec<u64> = (0..5000).map(|i| (i / 1500) * 10_000_000_000 + i).collect();
        check(40_000_000_000, &bursts).unwrap();
        check(1 << 50, &bursts).unwrap();
    }
}
