//! The times at which the intervals of a run end: increasing numbers, stored in
//! little space, and so that finding one needs to look at a few only.
//!
//! Each number is cut in two. Its low bits stand in an array, as they are. Its
//! high bits are the number of a *bucket*; of the buckets it is noted how many
//! numbers come before each. There are so many that a bucket has 2 to 8 numbers
//! if these are spread evenly.
//!
//! ```text
//! heads  for each bucket but the first: how many numbers are before it, in as
//!        many bits as their count needs
//! lows   of each number, in `low_bits`
//! ```
//! What the sizes are follows from the count and the block's span of time: see
//! [`Shape`].

use super::bits::{self, BitWriter, width_of};

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
        let width = width_of(span);
        let head_width = width_of(count.into());
        if count < 8 {
            return Shape { low_bits: width, buckets: 1, head_width };
        }
        let low_bits = (width - 1).saturating_sub((count / 4).ilog2());
        Shape { low_bits, buckets: (span >> low_bits) as u32 + 1, head_width }
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

/// A number of a run: its index, and its bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) index: u32,
    bucket: u32,
}

/// Two numbers that follow each other: what a time is between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) position: Position,
    /// The number before; None if there is none.
    pub(super) before: Option<u64>,
    pub(super) number: u64,
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
        if u64::from(count) > span {
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
        if bucket == 0 {
            return 0;
        }
        if bucket >= self.shape.buckets {
            return self.count;
        }
        let width = self.shape.head_width;
        let at = self.heads_at + (bucket as usize - 1) * width as usize;
        // Damage could make it anything.
        (bits::get(self.data, at, width) as u32).min(self.count)
    }

    #[inline(always)]
    pub(super) fn get(&self, position: Position) -> u64 {
        let high = u64::from(position.bucket).checked_shl(self.shape.low_bits).unwrap_or(0);
        high | self.low(position.index)
    }

    pub(super) fn first(&self) -> Option<Position> {
        self.from_bucket(0, 0)
    }

    pub(super) fn last(&self) -> Option<Position> {
        self.to_bucket(self.count.checked_sub(1)?, self.shape.buckets - 1)
    }

    #[inline(always)]
    pub(super) fn next(&self, position: Position) -> Option<Position> {
        self.from_bucket(position.index + 1, position.bucket)
    }

    #[inline(always)]
    pub(super) fn previous(&self, position: Position) -> Option<Position> {
        self.to_bucket(position.index.checked_sub(1)?, position.bucket)
    }

    /// The position of an index whose bucket is `bucket` or a later one.
    #[inline(always)]
    fn from_bucket(&self, index: u32, bucket: u32) -> Option<Position> {
        if index >= self.count {
            return None;
        }
        if index < self.head(bucket + 1) {
            return Some(Position { index, bucket });
        }
        let (mut low, mut high) = (bucket + 1, self.shape.buckets - 1);
        // Mostly it is the next one.
        let mut step = 1;
        while low < high && self.head((low + step).min(high)) <= index {
            low = (low + step).min(high);
            step *= 2;
        }
        high = (low + step).min(high);
        while low < high {
            let middle = low + (high - low) / 2;
            match index < self.head(middle + 1) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Some(Position { index, bucket: low })
    }

    /// The position of an index, which there is, whose bucket is `bucket` or an
    /// earlier one.
    #[inline(always)]
    fn to_bucket(&self, index: u32, bucket: u32) -> Option<Position> {
        if index >= self.head(bucket) {
            return Some(Position { index, bucket });
        }
        let (mut low, mut high) = (0, bucket.saturating_sub(1));
        let mut step = 1;
        while low < high && self.head(high.saturating_sub(step)) > index {
            high = high.saturating_sub(step);
            step *= 2;
        }
        low = high.saturating_sub(step).max(low);
        while low < high {
            let middle = high - (high - low) / 2;
            match index >= self.head(middle) {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        Some(Position { index, bucket: low })
    }

    /// The first number that is not below `number`, and the one before.
    #[inline(always)]
    pub(super) fn at_or_above(&self, number: u64) -> Option<Found> {
        let bucket = self.shape.bucket(number);
        if bucket >= self.shape.buckets.into() {
            return None;
        }
        let bucket = bucket as u32;
        let low = number & bits::mask(self.shape.low_bits);
        let (first, behind) = (self.head(bucket), self.head(bucket + 1));
        let index = self.first_low(first, behind, low);
        let position = match index < behind {
            true => Position { index, bucket },
            false => self.from_bucket(index, bucket)?,
        };
        let before = match index {
            0 => None,
            _ if index > first => Some(Position { index: index - 1, bucket }),
            _ => self.to_bucket(index - 1, bucket),
        };
        let before = before.map(|before| self.get(before));
        Some(Found { position, before, number: self.get(position) })
    }

    /// The first index whose low part is not below `low`, of a bucket's.
    #[inline(always)]
    fn first_low(&self, mut first: u32, mut behind: u32, low: u64) -> u32 {
        // Few: one after the other is quicker then.
        while behind.saturating_sub(first) > 8 {
            let middle = first + (behind - first) / 2;
            match self.low(middle) < low {
                true => first = middle + 1,
                false => behind = middle,
            }
        }
        while first < behind && self.low(first) < low {
            first += 1;
        }
        first
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

        let mut at = ends.first();
        let mut all = Vec::new();
        while let Some(position) = at {
            prop_assert_eq!(position.index as usize, all.len());
            all.push(position);
            at = ends.next(position);
        }
        let values: Vec<u64> = all.iter().map(|p| ends.get(*p)).collect();
        prop_assert_eq!(&values, numbers);
        prop_assert_eq!(ends.last(), all.last().copied());
        for pair in all.windows(2) {
            prop_assert_eq!(ends.previous(pair[1]), Some(pair[0]));
        }
        if let Some(first) = all.first() {
            prop_assert_eq!(ends.previous(*first), None);
        }
        for number in numbers {
            for wanted in [number.saturating_sub(1), *number, number.saturating_add(1)] {
                let expected = numbers.partition_point(|n| *n < wanted);
                let found = ends.at_or_above(wanted);
                prop_assert_eq!(found.map(|f| f.position), all.get(expected).copied());
                if let Some(found) = found {
                    prop_assert_eq!(found.number, numbers[expected]);
                    let before = expected.checked_sub(1).map(|before| numbers[before]);
                    prop_assert_eq!(found.before, before);
                }
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn numbers_are_found(
            steps in prop::collection::vec((0u32..40, any::<u64>()), 0..60),
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
