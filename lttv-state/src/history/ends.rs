//! The times at which the intervals of a run end: increasing numbers, stored in
//! little space, and so that each is found in a few steps.
//!
//! Each number is cut in two. Its low bits stand in an array, as they are. Its
//! high bits are the number of a *bucket*; of the buckets it is noted how many
//! numbers come before each. There are so many that a bucket has 8 to 16 numbers
//! if these are spread evenly.
//!
//! ```text
//! heads  for each bucket but the first: how many numbers are before it, in as
//!        many bits as their count needs
//! lows   of each number, in `low_bits`
//! ```
//! What the sizes are follows from the count and the block's span of time: see
//! [`Shape`].
//!
//! In a bucket a number is searched for by halving, in steps that do not depend on
//! what is found: a processor cannot guess where the search will go, and guessing wrong
//! costs it more than a step.

use std::hint::select_unpredictable;

use super::bits::{self, BitWriter, width_of};

/// No block has more.
const MOST: u32 = 1 << 30;

/// How numbers are cut.
#[derive(Debug, Clone, Copy)]
struct Shape {
    low_bits: u32,
    buckets: u32,
    head_width: u32,
}

impl Shape {
    /// For `count` numbers that are less than `span`.
    #[inline(always)]
    fn of(span: u64, count: u32) -> Shape {
        // Without branches: a processor cannot guess how many numbers come next.
        let several = count >= 8;
        // A few numbers are worth more buckets: their heads are narrow.
        let buckets = (count >> select_unpredictable(count < 64, 2, 3)) | 1;
        let width = width_of(span) - u32::from(several);
        let low_bits = width.saturating_sub(select_unpredictable(several, buckets.ilog2(), 0));
        let buckets = span.checked_shr(low_bits).unwrap_or(0) as u32 + 1;
        Shape { low_bits, buckets, head_width: width_of(count.into()) }
    }

    /// The bucket of a number.
    #[inline(always)]
    fn bucket(&self, number: u64) -> u64 {
        // 64 bits may be low.
        number.checked_shr(self.low_bits).unwrap_or(0)
    }

    /// Bits of all heads.
    #[inline(always)]
    fn heads(&self) -> usize {
        (self.buckets as usize - 1) * self.head_width as usize
    }
}

/// Appends numbers that increase and are less than `span`.
pub(super) fn write(writer: &mut BitWriter<'_>, span: u64, numbers: &[u64]) {
    let shape = Shape::of(span, numbers.len() as u32);
    let mut before = 0;
    for bucket in 1..shape.buckets {
        while before < numbers.len() && shape.bucket(numbers[before]) < bucket.into() {
            before += 1;
        }
        writer.put(before as u64, shape.head_width);
    }
    let mask = bits::mask(shape.low_bits);
    numbers.iter().for_each(|number| writer.put(number & mask, shape.low_bits));
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
    shape: Shape,
    /// Bits where these begin.
    heads_at: usize,
    lows_at: usize,
}

impl<'d> Ends<'d> {
    /// The numbers that [`write`] put at bit `at`, and the bit where they end.
    /// None if there cannot be so many.
    #[inline(always)]
    pub(super) fn read(data: &'d [u8], at: usize, span: u64, count: u32) -> Option<(Self, usize)> {
        // They are all different: so their bits are not fewer than they are.
        if u64::from(count) > span || count > MOST {
            return None;
        }
        let shape = Shape::of(span, count);
        let lows_at = at + shape.heads();
        let end = lows_at + count as usize * shape.low_bits as usize;
        Some((Ends { data, count, shape, heads_at: at, lows_at }, end))
    }

    #[inline(always)]
    fn low(&self, index: u32) -> u64 {
        let at = self.lows_at + index as usize * self.shape.low_bits as usize;
        bits::get(self.data, at, self.shape.low_bits)
    }

    /// How many numbers are before a bucket, or the one behind the last.
    #[inline(always)]
    fn head(&self, bucket: u32) -> u32 {
        // Before the first one there is something to be read, whatever it is.
        let width = self.shape.head_width as usize;
        let at = (self.heads_at + bucket as usize * width).saturating_sub(width);
        let head = bits::get(self.data, at, self.shape.head_width) as u32;
        let head = select_unpredictable(bucket == 0, 0, head);
        let head = select_unpredictable(bucket >= self.shape.buckets, self.count, head);
        // Damage could make it anything.
        head.min(self.count)
    }

    #[inline(always)]
    fn bucket(&self, bucket: u32) -> Bucket {
        let first = self.head(bucket);
        Bucket { bucket, first, behind: self.head(bucket + 1).max(first) }
    }

    #[inline(always)]
    fn get_in(&self, bucket: u32, index: u32) -> u64 {
        let high = u64::from(bucket).checked_shl(self.shape.low_bits).unwrap_or(0);
        high | self.low(index)
    }

    /// The number at an index.
    #[inline(always)]
    pub(super) fn get(&self, index: u32) -> u64 {
        self.get_near(&self.bucket(0), index)
    }

    /// The number at an index, which is likely to be in a bucket or in those beside it.
    #[inline(always)]
    fn get_near(&self, near: &Bucket, index: u32) -> u64 {
        let beside = match index {
            _ if index < near.first => near.bucket.wrapping_sub(1),
            _ if index < near.behind => return self.get_in(near.bucket, index),
            _ => near.bucket + 1,
        };
        if beside < self.shape.buckets {
            let beside = self.bucket(beside);
            if beside.first <= index && index < beside.behind {
                return self.get_in(beside.bucket, index);
            }
        }
        self.get_far(index)
    }

    fn get_far(&self, index: u32) -> u64 {
        let (mut first, mut left) = (0, self.shape.buckets);
        while left > 1 {
            let half = left / 2;
            if self.head(first + half) <= index {
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

    /// The first number that is not below `number`, and the one before. Those who ask
    /// for one after the other keep `near`, which is None at first.
    #[inline(always)]
    pub(super) fn at_or_above(&self, near: &mut Option<Bucket>, number: u64) -> Option<Found> {
        let bucket = self.shape.bucket(number);
        if bucket >= self.shape.buckets.into() {
            return None;
        }
        let bucket = match near {
            Some(near) if u64::from(near.bucket) == bucket => near,
            _ => near.insert(self.bucket(bucket as u32)),
        };
        let low = number & bits::mask(self.shape.low_bits);
        let Bucket { bucket: high, first, behind } = *bucket;
        let index = self.first_low(first, behind, low);
        if index >= self.count {
            return None;
        }
        let number = match index < behind {
            true => self.get_in(high, index),
            false => self.get_near(bucket, index),
        };
        let before = match index {
            0 => None,
            _ if index > first => Some(self.get_in(high, index - 1)),
            _ => Some(self.get_near(bucket, index - 1)),
        };
        Some(Found { index, before, number })
    }

    /// The first index whose low part is not below `low`, of a bucket's.
    #[inline(always)]
    fn first_low(&self, first: u32, behind: u32, low: u64) -> u32 {
        let Ends { data, lows_at, shape: Shape { low_bits, .. }, .. } = *self;
        let at = |index: u32| lows_at + index as usize * low_bits as usize;
        let end = at(behind);
        // How many are below; the same steps for all counts that are about as great.
        let mut step = (behind - first + 1).next_power_of_two() / 2;
        let mut step_bits = step as usize * low_bits as usize;
        let (mut index, mut index_at) = (first, at(first));
        while step > 0 {
            let next_at = index_at + step_bits;
            // Behind the last one there is something to be read, whatever it is.
            let below = bits::get(data, next_at - low_bits as usize, low_bits) < low;
            let further = below & (next_at <= end);
            index = select_unpredictable(further, index + step, index);
            index_at = select_unpredictable(further, next_at, index_at);
            step /= 2;
            step_bits /= 2;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(span: u64, numbers: &[u64]) -> Result<(), TestCaseError> {
        let mut out = vec![0xff; 3];
        let mut writer = BitWriter::new(&mut out);
        writer.put(1, 3);
        write(&mut writer, span, numbers);
        writer.finish();
        let end = out.len();
        out.push(0xff);
        let (ends, found_end) = Ends::read(&out, 27, span, numbers.len() as u32).unwrap();
        prop_assert_eq!(end, found_end.div_ceil(8));

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
        assert!(Ends::read(&[], 0, 3, 4).is_none());
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
