//! The times at which the intervals of a run end: increasing numbers, stored in
//! the least space that still allows finding one without reading all.
//!
//! This is the code of Elias and Fano. Each number is cut in two: its low bits
//! stand in an array, as they are. The high bits only tell how many numbers
//! fall into each *bucket* of equal high bits: for each bucket in turn, a 1 per
//! number and then a 0. With as many low bits as the mean distance of two
//! numbers has, there are at most three bits of this kind a number. The number
//! of index `i` whose 1 stands at bit `p` has the high part `p - i`.
//!
//! ```text
//! samples  per 64 buckets but the first ones: how many numbers are before these;
//!          u16 each, or u32 if there are more numbers
//! low      bits × count
//! high     count + (last >> bits) bits
//! ```
//! The parts begin at whole bytes.

use super::bits::{self, BitWriter, word};

/// Every so many buckets it is noted where they begin, so that the bucket of a
/// number is found by looking at a few words.
const SAMPLE: u32 = 64;

/// Bytes of a sample among so many numbers.
fn sample_width(count: u32) -> usize {
    if count <= u16::MAX.into() { 2 } else { 4 }
}

/// A number of a run: its index, and where its 1 stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) index: u32,
    bit: u32,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Ends<'d> {
    data: &'d [u8],
    pub(super) count: u32,
    low_bits: u32,
    high_len: u32,
    samples_at: usize,
    low_at: usize,
    high_at: usize,
}

/// How many low bits the numbers of a run have.
pub(super) fn low_bits(count: u32, last: u64) -> u32 {
    (last / u64::from(count.max(1))).checked_ilog2().unwrap_or(0)
}

/// Appends numbers: `count` of them, increasing, the greatest being `last`.
pub(super) fn write(out: &mut Vec<u8>, count: u32, last: u64, numbers: impl Fn(usize) -> u64) {
    let low = low_bits(count, last);
    let mut before = 0;
    for sample in 1..=(last >> low) / u64::from(SAMPLE) {
        let bucket = sample * u64::from(SAMPLE);
        while before < count && numbers(before as usize) >> low < bucket {
            before += 1;
        }
        out.extend_from_slice(&before.to_le_bytes()[..sample_width(count)]);
    }
    let mut writer = BitWriter::new(out);
    let mask = bits::mask(low);
    for i in 0..count as usize {
        writer.put(numbers(i) & mask, low);
    }
    writer.finish();
    let mut writer = BitWriter::new(out);
    let mut bucket = 0;
    for i in 0..count as usize {
        let high = numbers(i) >> low;
        let mut zeros = high - bucket;
        while zeros >= 63 {
            writer.put(0, 63);
            zeros -= 63;
        }
        writer.put(1 << zeros, zeros as u32 + 1);
        bucket = high;
    }
    writer.finish();
}

impl<'d> Ends<'d> {
    /// The numbers that [`write`] put at byte `at`, and where they end. `low_bits` is
    /// what [`low_bits`] tells. None if
    /// there cannot be so many.
    #[inline(always)]
    pub(super) fn read(
        data: &'d [u8],
        at: usize,
        (count, last, low_bits): (u32, u64, u32),
    ) -> Option<(Self, usize)> {
        let buckets = u64::from(u32::try_from(last >> low_bits).ok()?) * u64::from(count > 0);
        let samples = usize::try_from(buckets / u64::from(SAMPLE)).ok()?;
        let low_at = at.checked_add(samples.checked_mul(sample_width(count))?)?;
        let high_at = low_at + (count as usize * low_bits as usize).div_ceil(8);
        let high_len = u64::from(count) + buckets;
        let end = high_at + (high_len as usize).div_ceil(8);
        let high_len = u32::try_from(high_len).ok()?;
        (end <= data.len()).then_some((
            Ends { data, count, low_bits, high_len, samples_at: at, low_at, high_at },
            end,
        ))
    }

    #[inline(always)]
    fn low(&self, index: u32) -> u64 {
        let at = self.low_at * 8 + index as usize * self.low_bits as usize;
        bits::get(self.data, at, self.low_bits)
    }

    #[inline(always)]
    pub(super) fn get(&self, position: Position) -> u64 {
        let high = u64::from(position.bit.wrapping_sub(position.index));
        high << self.low_bits | self.low(position.index)
    }

    #[inline(always)]
    fn high_word(&self, index: u32) -> u64 {
        word(self.data, self.high_at + index as usize * 8)
    }

    pub(super) fn first(&self) -> Option<Position> {
        self.one_from(0, 0)
    }

    pub(super) fn last(&self) -> Option<Position> {
        Some(Position { index: self.count.checked_sub(1)?, bit: self.high_len - 1 })
    }

    #[inline(always)]
    pub(super) fn next(&self, position: Position) -> Option<Position> {
        self.one_from(position.bit + 1, position.index + 1)
    }

    /// The first 1 from `bit` on, `index` of them being before it.
    #[inline(always)]
    fn one_from(&self, bit: u32, index: u32) -> Option<Position> {
        if index >= self.count {
            return None;
        }
        let mut at = bit / 64;
        let mut ones = self.high_word(at) & (u64::MAX << (bit % 64));
        while ones == 0 {
            at += 1;
            if at * 64 >= self.high_len {
                return None;
            }
            ones = self.high_word(at);
        }
        Some(Position { index, bit: at * 64 + ones.trailing_zeros() })
    }

    pub(super) fn previous(&self, position: Position) -> Option<Position> {
        let index = position.index.checked_sub(1)?;
        let mut at = position.bit / 64;
        let mut ones = self.high_word(at) & bits::mask(position.bit % 64);
        while ones == 0 {
            at = at.checked_sub(1)?;
            ones = self.high_word(at);
        }
        Some(Position { index, bit: at * 64 + ones.ilog2() })
    }

    /// The first number that is not below `number`; looked for from `from` on,
    /// when it is known not to be before that.
    #[inline(always)]
    pub(super) fn at_or_above(&self, number: u64, from: Option<Position>) -> Option<Position> {
        let high = number >> self.low_bits;
        let low = number & bits::mask(self.low_bits);
        let high = u32::try_from(high).ok().filter(|high| *high < self.high_len)?;
        let start = self.sample_below(high, from);
        // The bucket begins behind as many zeros as its number.
        let mut at = start.bit / 64;
        let mut bits = self.high_word(at);
        let ones_before = (bits & bits::mask(start.bit % 64)).count_ones();
        let mut zeros = (at * 64 + ones_before).wrapping_sub(start.index);
        let mut sums = byte_sums(!bits);
        loop {
            let here = (sums >> 56) as u32;
            if zeros.wrapping_add(here) >= high {
                break;
            }
            zeros = zeros.wrapping_add(here);
            at += 1;
            if at * 64 >= self.high_len {
                return None;
            }
            bits = self.high_word(at);
            sums = byte_sums(!bits);
        }
        let bit = at * 64 + behind_ones(!bits, sums, high.wrapping_sub(zeros).min(64));
        let index = bit.wrapping_sub(high);
        let (mut index, mut bit) = (index, bit);
        let found = self.run_of_ones(bit, index);
        if found > 0 {
            let skip = self.first_low(index, found, low);
            index += skip;
            bit += skip;
        }
        self.one_from(bit, index)
    }

    /// The last noted position that is not behind the begin of a bucket; or
    /// `from`, if that is further on.
    #[inline(always)]
    fn sample_below(&self, bucket: u32, from: Option<Position>) -> Position {
        let from = from.unwrap_or(Position { index: 0, bit: 0 });
        let sample = bucket / SAMPLE;
        if sample == 0 {
            return from;
        }
        let width = sample_width(self.count);
        let noted = word(self.data, self.samples_at + (sample as usize - 1) * width) as u32;
        let index = if width == 2 { noted & 0xffff } else { noted }.min(self.count);
        let bit = index + sample * SAMPLE;
        // With damaged samples anything may come out; it ends in an error then.
        if bit > from.bit && bit < self.high_len { Position { index, bit } } else { from }
    }

    /// How many 1s follow each other from `bit` on, up to the last number.
    #[inline(always)]
    fn run_of_ones(&self, bit: u32, index: u32) -> u32 {
        let left = self.count.saturating_sub(index);
        let mut found = 0;
        while found < left {
            let at = bit + found;
            let ones = (self.high_word(at / 64) >> (at % 64)).trailing_ones();
            found += ones;
            if ones < 64 - at % 64 {
                break;
            }
        }
        found.min(left)
    }

    /// How many of `count` low parts from `index` on are below `low`; they
    /// increase.
    #[inline(always)]
    fn first_low(&self, index: u32, count: u32, low: u64) -> u32 {
        let (mut start, mut end) = (0, count);
        while start < end {
            let middle = start + (end - start) / 2;
            match self.low(index + middle) < low {
                true => start = middle + 1,
                false => end = middle,
            }
        }
        start
    }
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// In byte `i`, how many 1s the bytes up to `i` have. It costs no more than
/// counting them all, which not every processor has an instruction for.
#[inline(always)]
fn byte_sums(word: u64) -> u64 {
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let fours = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    ((fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(LOW)
}

/// The position behind the first `ones` 1s of a word that has so many; `sums`
/// are its [`byte_sums`].
#[inline(always)]
fn behind_ones(word: u64, sums: u64, ones: u32) -> u32 {
    if ones == 0 {
        return 0;
    }
    // The first byte up to which there are enough: compares all at once.
    let enough = ((sums | HIGH) - u64::from(ones) * LOW) & HIGH;
    let byte = enough.trailing_zeros() & 56;
    let before = (sums << 8 >> byte) as u8;
    let mut left = word >> byte;
    for _ in 1..ones.saturating_sub(before.into()) {
        left &= left.wrapping_sub(1);
    }
    byte + (left.trailing_zeros() + 1).min(64 - byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(numbers: &[u64]) -> Result<(), TestCaseError> {
        let last = numbers.last().copied().unwrap_or(0);
        let mut out = vec![0xff; 3];
        write(&mut out, numbers.len() as u32, last, |i| numbers[i]);
        let end = out.len();
        out.push(0xff);
        let count = numbers.len() as u32;
        let read = Ends::read(&out, 3, (count, last, low_bits(count, last)));
        let (ends, found_end) = read.unwrap();
        prop_assert_eq!(end, found_end);

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
        for (i, number) in numbers.iter().enumerate() {
            for wanted in [number.saturating_sub(1), *number, number.saturating_add(1)] {
                let expected = numbers.partition_point(|n| *n < wanted);
                let expected = all.get(expected).copied();
                prop_assert_eq!(ends.at_or_above(wanted, None), expected, "{}", wanted);
                for from in [i / 2, i.saturating_sub(1)] {
                    if numbers[from] <= wanted {
                        let from = all.get(from).copied();
                        prop_assert_eq!(ends.at_or_above(wanted, from), expected);
                    }
                }
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn numbers_are_found(steps in prop::collection::vec((0u32..40, any::<u64>()), 0..60)) {
            let mut at = 0u64;
            let mut numbers = Vec::new();
            for (shift, step) in steps {
                let next = at.saturating_add((step & bits::mask(shift)).max(1));
                if next > at {
                    numbers.push(next);
                }
                at = next;
            }
            check(&numbers)?;
        }
    }

    #[test]
    fn the_whole_range_and_nothing() {
        check(&[]).unwrap();
        check(&[0]).unwrap();
        check(&[u64::MAX]).unwrap();
        check(&[0, u64::MAX]).unwrap();
        check(&[0, 1, 2, 3, u64::MAX - 1, u64::MAX]).unwrap();
    }

    #[test]
    fn long_runs_use_samples() {
        let even: Vec<u64> = (0..5000).map(|i| i * 1000 + i % 7).collect();
        check(&even).unwrap();
        let bursts: Vec<u64> = (0..5000).map(|i| (i / 1500) * 10_000_000_000 + i).collect();
        check(&bursts).unwrap();
    }
}
