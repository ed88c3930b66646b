//! From clock ticks to nanoseconds, exactly as LTTV did it.

use std::ops::Range;

use super::double::{Double, PRECISION};
use crate::time::Timestamp;

const NS_PER_S: u64 = 1_000_000_000;

/// Frequencies in Hz that most conversions need no division for.
const COMMON: Range<u64> = 1 << 20..1 << 38;
/// How much an estimate may be wrong, for each nanosecond, in 2⁻⁶⁴ ns: by 2⁻⁵² for
/// the rounding of doubles, and by less than 2⁹ ticks for that of the reciprocal.
const REACH: u64 = (1 << (64 - (PRECISION - 1))) + (1 << 9);

/// Which way a trace's `freq_scale` works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// It divides the frequency (2.3 and later).
    Multiplies(u32),
    /// It multiplies the frequency (before 2.3).
    Divides(u32),
}

/// Converts a trace's ticks to nanoseconds since its clock's zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TickClock {
    ticks: Ticks,
    /// Ticks and nanoseconds from which distances are counted: before 2.5 those
    /// of the trace's start, then both 0. It makes a difference in rounding.
    base: (u64, u64),
    /// Distances below this, of 2⁵⁰ ns (13 days) at most, may be far from rounding.
    limit: u64,
}

impl TickClock {
    /// A clock that counts from the trace's start, as readers before 2.5 did.
    pub(super) fn from_start(frequency: u64, scale: Scale, start: u64) -> Self {
        let ticks = Ticks::new(frequency, scale);
        TickClock::new(ticks, (start, ticks.to_ns(start)))
    }

    /// A clock that counts from its zero.
    pub(super) fn from_zero(frequency: u64, scale: Scale) -> Self {
        TickClock::new(Ticks::new(frequency, scale), (0, 0))
    }

    fn new(ticks: Ticks, base: (u64, u64)) -> Self {
        // Later on sums need no check then.
        let limit = if base.1 < 1 << 62 { ticks.limit / 4 } else { 0 };
        TickClock { ticks, base, limit }
    }

    /// The time of a tick count; `None` if it is beyond the range of times.
    #[inline(always)]
    pub(crate) fn timestamp(&self, cycles: u64) -> Option<Timestamp> {
        self.far_from_rounding(cycles).or_else(|| self.exactly(cycles))
    }

    /// The same, where no rounding matters: for most.
    #[inline(always)]
    pub(super) fn far_from_rounding(&self, cycles: u64) -> Option<Timestamp> {
        let (start, start_ns) = self.base;
        let ticks = cycles.wrapping_sub(start);
        if ticks >= self.limit {
            return None;
        }
        let ns = self.ticks.far_from_rounding(ticks)?;
        Some(Timestamp::from_ns((start_ns + ns) as i64))
    }

    #[inline(never)]
    fn exactly(&self, cycles: u64) -> Option<Timestamp> {
        let (start, start_ns) = self.base;
        let ns = match cycles.checked_sub(start) {
            Some(after) => start_ns.checked_add(self.ticks.to_ns(after))?,
            None => start_ns.checked_sub(self.ticks.to_ns(start - cycles))?,
        };
        i64::try_from(ns).ok().map(Timestamp::from_ns)
    }
}

/// Converts a number of ticks: `ticks · 10⁹ · scale / frequency`, each step
/// rounded to a double, the result cut to whole nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    frequency: u64,
    scale: Scale,
    /// Without a scale: `10⁹ / frequency · 2^(64 - shift)`, rounded down, with as
    /// little shift as that takes.
    reciprocal: u64,
    shift: u32,
    /// Tick counts below this, of at most 53 bits and 2⁵² ns (52 days), take
    /// no division; 0 with a scale.
    limit: u64,
}

impl Ticks {
    fn new(frequency: u64, scale: Scale) -> Self {
        let plain = matches!(scale, Scale::Multiplies(1) | Scale::Divides(1));
        let (mut reciprocal, mut shift) = (0, 0);
        if plain && COMMON.contains(&frequency) {
            // At 1 MHz it takes 10 bits, and of the tick counts 11 are free.
            let quotient =
                |shift: u32| (u128::from(NS_PER_S) << 64 >> shift) / u128::from(frequency);
            shift = (0..=10).find(|shift| quotient(*shift) >> 64 == 0).unwrap_or(0);
            reciprocal = quotient(shift) as u64;
        }
        let most = (u128::from(frequency) << (PRECISION - 1)) / u128::from(NS_PER_S);
        let limit = if reciprocal == 0 { 0 } else { most.min(1 << PRECISION) as u64 };
        Ticks { frequency, scale, reciprocal, shift, limit }
    }

    fn to_ns(self, ticks: u64) -> u64 {
        match ticks < self.limit {
            true => self.quickly(ticks),
            false => self.step_by_step(ticks),
        }
    }

    /// The result for a tick count of up to 2⁵⁰ ns, if it is so far from whole
    /// nanoseconds that no rounding matters.
    #[inline(always)]
    fn far_from_rounding(&self, ticks: u64) -> Option<u64> {
        let (ns, fraction) = self.estimate(ticks);
        let reach = (ns + 1) * REACH;
        let is_far = fraction.wrapping_sub(reach) < (2 * reach).wrapping_neg();
        is_far.then_some(ns)
    }

    /// About `ticks · 10⁹ / frequency`, and not more than that: the whole part and
    /// the fraction.
    #[inline(always)]
    fn estimate(&self, ticks: u64) -> (u64, u64) {
        let product = u128::from(ticks << self.shift) * u128::from(self.reciprocal);
        ((product >> 64) as u64, product as u64)
    }

    fn step_by_step(&self, ticks: u64) -> u64 {
        let second = Double::new(NS_PER_S);
        let product = match self.scale {
            Scale::Multiplies(scale) => {
                Double::new(ticks).times(second).times(Double::new(scale.into()))
            }
            Scale::Divides(scale) => {
                Double::new(ticks).times(second.over(Double::new(scale.into())))
            }
        };
        product.over(Double::new(self.frequency)).trunc()
    }

    /// Exact quotient and rest of `ticks · 10⁹ / frequency`, of a tick count
    /// below the limit.
    fn divide(&self, ticks: u64) -> (u64, u64) {
        let (ns, _) = self.estimate(ticks);
        // The estimate is at most 1 too small, so that 64 bits do for the rest.
        let rest = ticks.wrapping_mul(NS_PER_S).wrapping_sub(ns.wrapping_mul(self.frequency));
        if rest < self.frequency { (ns, rest) } else { (ns + 1, rest - self.frequency) }
    }

    /// What the doubles give, by the exact quotient, below the limit.
    fn quickly(&self, ticks: u64) -> u64 {
        let (mut ns, rest) = self.divide(ticks);
        // What rounding adds to the product.
        let product = u128::from(ticks) * u128::from(NS_PER_S);
        let excess = (128 - product.leading_zeros()).saturating_sub(PRECISION);
        let low = product as u64 & ((1 << excess) - 1);
        let half = (1 << excess) >> 1;
        let odd = (product as u64 >> excess) & 1;
        let up = excess > 0 && low + odd > half;
        // It is less than the frequency.
        let added = (u64::from(up) << excess) as i64 - low as i64;
        let frequency = self.frequency as i64;
        let mut rest = rest as i64 + added;
        if rest >= frequency {
            (ns, rest) = (ns + 1, rest - frequency);
        } else if rest < 0 {
            (ns, rest) = (ns.saturating_sub(1), rest + frequency);
        }
        // A quotient within half a unit in the last place below a whole number
        // is rounded to that.
        let fraction_bits = (ns | 1).leading_zeros() - (64 - PRECISION);
        let near = ((frequency - rest) as u64) <= self.frequency >> (fraction_bits + 1).min(63);
        ns + u64::from(near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frequencies of real traces, and others.
    const FREQUENCIES: [u64; 10] = [
        1,
        1000,
        62_500_000,
        1_000_000_000,
        1_985_412_000,
        1_987_809_000,
        2_394_199_000,
        3_999_999_937,
        40_000_000_000,
        1 << 59,
    ];

    #[test]
    fn the_quick_way_agrees_with_doubles() {
        let mut seed = 3u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed ^ seed >> 31
        };
        for frequency in FREQUENCIES {
            let ticks = Ticks::new(frequency, Scale::Multiplies(1));
            let mut quick = 0;
            for round in 0..100_000u64 {
                let t = random() >> (8 + round % 50);
                let hard = (t as f64 * 1e9 / frequency as f64) as u64;
                assert_eq!(ticks.to_ns(t), hard, "{t} at {frequency}");
                assert_eq!(ticks.step_by_step(t), hard, "{t} at {frequency}");
                quick += u32::from(t < ticks.limit);
                let clock = TickClock::from_zero(frequency, Scale::Multiplies(1));
                let time = clock.timestamp(t).map(Timestamp::ns);
                assert_eq!(time, i64::try_from(hard).ok(), "{t} at {frequency}");
            }
            assert!(quick > 10_000 || !COMMON.contains(&frequency), "{quick} at {frequency}");
        }
    }

    #[test]
    fn whole_results_and_those_just_below() {
        for frequency in FREQUENCIES {
            let ticks = Ticks::new(frequency, Scale::Multiplies(1));
            for whole in [1u64, 10, 999_999_999, 123_456_789_012, 1 << 50] {
                let near = (u128::from(whole) * u128::from(frequency) / 1_000_000_000) as u64;
                for t in near.saturating_sub(2)..near.saturating_add(3) {
                    let hard = (t as f64 * 1e9 / frequency as f64) as u64;
                    assert_eq!(ticks.to_ns(t), hard, "{t} at {frequency}");
                }
            }
        }
    }

    #[test]
    fn scales_work_either_way() {
        let ns = |scale, t| TickClock::from_zero(62_500_000, scale).timestamp(t).unwrap().ns();
        assert_eq!(ns(Scale::Multiplies(32), 2_000_000_000), 1_024_000_000_000);
        assert_eq!(ns(Scale::Divides(32), 2_000_000_000), 1_000_000_000);
        assert_eq!(ns(Scale::Divides(3), 3), 16);
    }

    #[test]
    fn times_before_and_after_the_start() {
        let clock = TickClock::from_start(3, Scale::Multiplies(1), 10);
        let ns = |t| clock.timestamp(t).map(Timestamp::ns);
        assert_eq!(ns(10), Some(3_333_333_333));
        assert_eq!(ns(11), Some(3_333_333_333 + 333_333_333));
        assert_eq!(ns(9), Some(3_333_333_333 - 333_333_333));
        assert_eq!(
            TickClock::from_zero(0, Scale::Multiplies(1)).timestamp(5).map(|t| t.ns()),
            Some(0)
        );
        assert_eq!(TickClock::from_zero(1, Scale::Multiplies(9)).timestamp(u64::MAX), None);
    }
}
