//! Conversion of clock ticks to nanoseconds, with the rounding of LTTV.

use std::ops::Range;

use super::double::{Double, PRECISION};
use crate::base::clock_transform::ClockTransform;
use crate::base::time::Timestamp;

const NS_PER_S: u64 = 1_000_000_000;

/// The frequencies in Hz for which most conversions need no division.
const FAST_FREQUENCIES: Range<u64> = 1 << 20..1 << 38;
/// The error bound of an estimate per nanosecond, in 2⁻⁶⁴ ns: 2⁻⁵² for the rounding of
/// doubles, and less than 2⁹ ticks for that of the reciprocal.
const ERROR_PER_NS: u64 = (1 << (64 - (PRECISION - 1))) + (1 << 9);

/// The direction in which a trace's `freq_scale` works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// The scale divides the frequency (since 2.3).
    Multiplies(u32),
    /// The scale multiplies the frequency (before 2.3).
    Divides(u32),
}

/// A conversion of ticks to nanoseconds since the clock's zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TickClock {
    ticks: Ticks,
    /// The ticks and nanoseconds from which distances are counted: those of the trace's
    /// start before 2.5, both 0 since then. The choice affects rounding.
    base: (u64, u64),
    /// The distance in ticks, of at most 2⁵⁰ ns (13 days), below which the fast path can
    /// be used.
    limit: u64,
    /// The transform of the recorded times; `None` if it changes nothing.
    transform: Option<ClockTransform>,
}

impl TickClock {
    /// Creates a clock that counts from the trace's start, as readers before 2.5 did.
    pub(crate) fn from_start(frequency: u64, scale: Scale, start: u64) -> Self {
        let ticks = Ticks::new(frequency, scale);
        TickClock::new(ticks, (start, ticks.to_ns(start)))
    }

    /// Creates a clock that counts from its zero.
    pub(crate) fn from_zero(frequency: u64, scale: Scale) -> Self {
        TickClock::new(Ticks::new(frequency, scale), (0, 0))
    }

    fn new(ticks: Ticks, base: (u64, u64)) -> Self {
        // With this limit, sums cannot overflow.
        let limit = if base.1 < 1 << 62 { ticks.limit / 4 } else { 0 };
        TickClock { ticks, base, limit, transform: None }
    }

    /// Returns the clock with a transform of its times, in place of the present one.
    pub(crate) fn transformed(self, transform: ClockTransform) -> Self {
        TickClock { transform: Some(transform).filter(|of| !of.is_identity()), ..self }
    }

    /// Returns the time of a tick count, or `None` if it is outside of the range of
    /// times.
    #[inline(always)]
    pub(crate) fn timestamp(&self, cycles: u64) -> Option<Timestamp> {
        match &self.transform {
            None => self.recorded(cycles),
            Some(transform) => transform.checked_apply(self.recorded(cycles)?),
        }
    }

    /// Returns the time of a tick count before the transform, or `None` if it is outside of the
    /// range of times.
    #[inline(always)]
    pub(crate) fn recorded(&self, cycles: u64) -> Option<Timestamp> {
        self.fast_recorded(cycles).or_else(|| self.slow_recorded(cycles))
    }

    /// Returns the time of a tick count if rounding cannot affect it, which is the most
    /// frequent case.
    #[inline(always)]
    pub(crate) fn fast_timestamp(&self, cycles: u64) -> Option<Timestamp> {
        let recorded = self.fast_recorded(cycles)?;
        match &self.transform {
            None => Some(recorded),
            Some(transform) => transform.checked_apply(recorded),
        }
    }

    #[inline(always)]
    fn fast_recorded(&self, cycles: u64) -> Option<Timestamp> {
        let (start, start_ns) = self.base;
        let ticks = cycles.wrapping_sub(start);
        if ticks >= self.limit {
            return None;
        }
        let ns = self.ticks.fast_ns(ticks)?;
        Some(Timestamp::from_ns((start_ns + ns) as i64))
    }

    #[inline(never)]
    fn slow_recorded(&self, cycles: u64) -> Option<Timestamp> {
        let (start, start_ns) = self.base;
        let ns = match cycles.checked_sub(start) {
            Some(after) => start_ns.checked_add(self.ticks.to_ns(after))?,
            None => start_ns.checked_sub(self.ticks.to_ns(start - cycles))?,
        };
        i64::try_from(ns).ok().map(Timestamp::from_ns)
    }
}

/// A conversion of a number of ticks: `ticks · 10⁹ · scale / frequency`, with each step
/// rounded to a double and the result truncated to whole nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    frequency: u64,
    scale: Scale,
    /// `10⁹ / frequency · 2^(64 - shift)`, rounded down, with the least `shift` for which
    /// it fits; 0 if conversions need a division.
    reciprocal: u64,
    shift: u32,
    /// The tick counts below this limit, of at most 53 bits and 2⁵² ns (52 days), need no
    /// division; 0 if all need one.
    limit: u64,
}

impl Ticks {
    fn new(frequency: u64, scale: Scale) -> Self {
        let plain = matches!(scale, Scale::Multiplies(1) | Scale::Divides(1));
        let (mut reciprocal, mut shift) = (0, 0);
        if plain && FAST_FREQUENCIES.contains(&frequency) {
            // 1 MHz needs a shift of 10 bits, and tick counts have 11 free bits.
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
            true => self.ns_by_division(ticks),
            false => self.ns_by_doubles(ticks),
        }
    }

    /// Returns the result for a tick count of at most 2⁵⁰ ns, if it is so far from whole
    /// nanoseconds that rounding cannot affect it.
    #[inline(always)]
    fn fast_ns(&self, ticks: u64) -> Option<u64> {
        let (ns, fraction) = self.estimate(ticks);
        let error = (ns + 1) * ERROR_PER_NS;
        let is_far = fraction.wrapping_sub(error) < (2 * error).wrapping_neg();
        is_far.then_some(ns)
    }

    /// Estimates `ticks · 10⁹ / frequency` from below: the whole part and the fraction in
    /// 2⁻⁶⁴ ns.
    #[inline(always)]
    fn estimate(&self, ticks: u64) -> (u64, u64) {
        let product = u128::from(ticks << self.shift) * u128::from(self.reciprocal);
        ((product >> 64) as u64, product as u64)
    }

    fn ns_by_doubles(&self, ticks: u64) -> u64 {
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

    /// Returns the exact quotient and remainder of `ticks · 10⁹ / frequency`, for a tick
    /// count below the limit.
    fn divide(&self, ticks: u64) -> (u64, u64) {
        let (ns, _) = self.estimate(ticks);
        // The estimate is at most 1 too small, so 64 bits suffice for the remainder.
        let rest = ticks.wrapping_mul(NS_PER_S).wrapping_sub(ns.wrapping_mul(self.frequency));
        if rest < self.frequency { (ns, rest) } else { (ns + 1, rest - self.frequency) }
    }

    /// Computes the result of double arithmetic from the exact quotient, for a tick count
    /// below the limit.
    fn ns_by_division(&self, ticks: u64) -> u64 {
        let (mut ns, rest) = self.divide(ticks);
        // The amount that rounding to a double adds to the product.
        let product = u128::from(ticks) * u128::from(NS_PER_S);
        let excess = (128 - product.leading_zeros()).saturating_sub(PRECISION);
        let low = product as u64 & ((1 << excess) - 1);
        let half = (1 << excess) >> 1;
        let odd = (product as u64 >> excess) & 1;
        let up = excess > 0 && low + odd > half;
        // The amount is less than the frequency.
        let added = (u64::from(up) << excess) as i64 - low as i64;
        let frequency = self.frequency as i64;
        let mut rest = rest as i64 + added;
        if rest >= frequency {
            (ns, rest) = (ns + 1, rest - frequency);
        } else if rest < 0 {
            (ns, rest) = (ns.saturating_sub(1), rest + frequency);
        }
        // A quotient at most half a unit in the last place below a whole number is
        // rounded to that number.
        let fraction_bits = (ns | 1).leading_zeros() - (64 - PRECISION);
        let near = ((frequency - rest) as u64) <= self.frequency >> (fraction_bits + 1).min(63);
        ns + u64::from(near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frequencies of real traces, and extreme ones.
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
    fn integer_arithmetic_agrees_with_doubles() {
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
                assert_eq!(ticks.ns_by_doubles(t), hard, "{t} at {frequency}");
                quick += u32::from(t < ticks.limit);
                let clock = TickClock::from_zero(frequency, Scale::Multiplies(1));
                let time = clock.timestamp(t).map(Timestamp::as_ns);
                assert_eq!(time, i64::try_from(hard).ok(), "{t} at {frequency}");
            }
            assert!(
                quick > 10_000 || !FAST_FREQUENCIES.contains(&frequency),
                "{quick} at {frequency}"
            );
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
        let ns = |scale, t| TickClock::from_zero(62_500_000, scale).timestamp(t).unwrap().as_ns();
        assert_eq!(ns(Scale::Multiplies(32), 2_000_000_000), 1_024_000_000_000);
        assert_eq!(ns(Scale::Divides(32), 2_000_000_000), 1_000_000_000);
        assert_eq!(ns(Scale::Divides(3), 3), 16);
    }

    #[test]
    fn times_before_and_after_the_start() {
        let clock = TickClock::from_start(3, Scale::Multiplies(1), 10);
        let ns = |t| clock.timestamp(t).map(Timestamp::as_ns);
        assert_eq!(ns(10), Some(3_333_333_333));
        assert_eq!(ns(11), Some(3_333_333_333 + 333_333_333));
        assert_eq!(ns(9), Some(3_333_333_333 - 333_333_333));
        assert_eq!(
            TickClock::from_zero(0, Scale::Multiplies(1)).timestamp(5).map(|t| t.as_ns()),
            Some(0)
        );
        assert_eq!(TickClock::from_zero(1, Scale::Multiplies(9)).timestamp(u64::MAX), None);
    }
}
