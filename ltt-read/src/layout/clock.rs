//! Clocks: conversion of cycles to times, and values of short clock fields.

use crate::base::clock_transform::ClockTransform;
use crate::base::time::{NS_PER_S, Timestamp};
use crate::schema::ClockClass;

/// A converter from the cycles of one clock class to [`Timestamp`]s.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockConverter {
    /// `true` if a cycle is a nanosecond and times are not transformed, so that only `base_ns`
    /// has to be added.
    linear: bool,
    /// `true` if a cycle is a nanosecond.
    of_ns: bool,
    /// The transform of the recorded times; `None` if it changes nothing.
    transform: Option<ClockTransform>,
    base_ns: i64,
    /// The greatest number of cycles that can be added to `base_ns` without overflow.
    max_cycles: u64,
    /// The seconds of the offset in nanoseconds, if 64-bit arithmetic suffices for all
    /// other terms.
    base_seconds_ns: Option<i64>,
    frequency: u64,
    offset_seconds: i64,
    offset_cycles: i64,
    wraps: bool,
}

impl ClockConverter {
    /// Creates the converter of a clock class whose times are transformed.
    pub(crate) fn new(clock: &ClockClass, transform: &ClockTransform) -> Self {
        let base = clock.offset_ns();
        let of_ns = clock.frequency == NS_PER_S && base.is_some();
        let transform = Some(*transform).filter(|transform| !transform.is_identity());
        ClockConverter {
            linear: of_ns && transform.is_none(),
            of_ns,
            transform,
            base_ns: base.unwrap_or(0),
            max_cycles: i64::MAX.abs_diff(base.unwrap_or(0)),
            base_seconds_ns: clock
                .offset_seconds
                .checked_mul(NS_PER_S as i64)
                .filter(|_| base.is_some() && clock.frequency <= u64::MAX / NS_PER_S),
            frequency: clock.frequency.max(1),
            offset_seconds: clock.offset_seconds,
            offset_cycles: clock.offset_cycles,
            wraps: base.is_none(),
        }
    }

    /// Converts cycles to a time; `None` if it is beyond the range of timestamps. If the
    /// clock's offset alone is beyond it, all times are computed modulo 2⁶⁴ ns, so that
    /// they can still be compared with each other.
    #[inline(always)]
    pub(crate) fn timestamp(&self, cycles: u64) -> Option<Timestamp> {
        if self.linear { self.linear(cycles) } else { self.general(cycles) }
    }

    /// Converts cycles like [`timestamp`](Self::timestamp), faster if the times of a clock whose
    /// cycle is a nanosecond are transformed.
    #[inline(always)]
    pub(crate) fn transformed(&self, cycles: u64) -> Option<Timestamp> {
        match &self.transform {
            Some(transform) if self.of_ns => transform.checked_apply(self.linear(cycles)?),
            _ => self.timestamp(cycles),
        }
    }

    /// Returns `true` if a cycle is a nanosecond and times are not transformed.
    pub(crate) fn is_linear(&self) -> bool {
        self.linear
    }

    /// Converts cycles like [`timestamp`](Self::timestamp), for a clock whose cycle is a
    /// nanosecond.
    #[inline(always)]
    pub(crate) fn linear(&self, cycles: u64) -> Option<Timestamp> {
        let time = Timestamp::from_ns(self.linear_ns(cycles));
        (cycles <= self.max_cycles).then_some(time)
    }

    /// Converts at most [`max_cycles`](Self::max_cycles) to a time in ns, for a clock whose cycle
    /// is a nanosecond.
    #[inline(always)]
    pub(crate) fn linear_ns(&self, cycles: u64) -> i64 {
        self.base_ns.wrapping_add_unsigned(cycles)
    }

    /// Returns the greatest number of cycles that has a time, for a clock whose cycle is a
    /// nanosecond.
    pub(crate) fn max_cycles(&self) -> u64 {
        self.max_cycles
    }

    #[inline(never)]
    fn general(&self, cycles: u64) -> Option<Timestamp> {
        match &self.transform {
            Some(transform) => transform.checked_apply(self.recorded(cycles)?),
            None => self.recorded(cycles),
        }
    }

    /// Converts cycles like [`timestamp`](Self::timestamp), to a time before the transform.
    #[inline]
    pub(crate) fn recorded(&self, cycles: u64) -> Option<Timestamp> {
        if self.of_ns {
            return self.linear(cycles);
        }
        // 64-bit divisions are several times faster than 128-bit ones. They suffice for
        // clocks below 18 GHz with a plausible offset.
        if let Some(base) = self.base_seconds_ns
            && let Some(cycles) = cycles.checked_add_signed(self.offset_cycles)
        {
            let (seconds, rest) = (cycles / self.frequency, cycles % self.frequency);
            let ns = rest * NS_PER_S / self.frequency;
            return base
                .checked_add_unsigned(seconds.checked_mul(NS_PER_S)?.checked_add(ns)?)
                .map(Timestamp::from_ns);
        }
        let cycles = i128::from(cycles) + i128::from(self.offset_cycles);
        let ns = exact_ns(self.offset_seconds, cycles, self.frequency);
        match i64::try_from(ns) {
            Ok(ns) => Some(Timestamp::from_ns(ns)),
            Err(_) if self.wraps => Some(Timestamp::from_ns(ns as i64)),
            Err(_) => None,
        }
    }
}

/// Converts the sum of `seconds` and `cycles` to nanoseconds, rounding down.
fn exact_ns(seconds: i64, cycles: i128, frequency: u64) -> i128 {
    let frequency = i128::from(frequency);
    // Whole seconds are separated first, so that the product fits in 128 bits for every
    // frequency.
    let seconds = i128::from(seconds) + cycles.div_euclid(frequency);
    let rest = cycles.rem_euclid(frequency) * i128::from(NS_PER_S) / frequency;
    seconds * i128::from(NS_PER_S) + rest
}

impl ClockClass {
    /// Returns the time of cycle 0, in nanoseconds from the clock's origin. `None` if
    /// that is beyond the range of [`Timestamp`]; the clock's timestamps are then
    /// computed modulo 2⁶⁴ ns.
    pub fn offset_ns(&self) -> Option<i64> {
        let cycles = i128::from(self.offset_cycles);
        exact_ns(self.offset_seconds, cycles, self.frequency.max(1)).try_into().ok()
    }

    /// Converts a cycle count of this clock to a time; `None` if it is beyond the range of
    /// [`Timestamp`].
    ///
    /// ```
    /// use ltt_read::schema::ClockClass;
    ///
    /// let clock = ClockClass { frequency: 1000, offset_seconds: 5, ..ClockClass::new("ms") };
    /// assert_eq!(clock.timestamp(250).map(|t| t.as_ns()), Some(5_250_000_000));
    /// ```
    pub fn timestamp(&self, cycles: u64) -> Option<Timestamp> {
        ClockConverter::new(self, &ClockTransform::IDENTITY).timestamp(cycles)
    }
}

/// Computes the new value of a clock whose low `bits` bits were read as `low` (CTF 1.8.3
/// section 8, CTF 2 "clock value update procedure"): the upper bits are those of `now`,
/// plus one if the low ones wrapped.
#[inline(always)]
pub(crate) fn update_clock(now: u64, low: u64, bits: u32) -> u64 {
    if bits >= 64 {
        return low;
    }
    let mask = (1u64 << bits) - 1;
    now.wrapping_add(low.wrapping_sub(now) & mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(frequency: u64, offset_seconds: i64, offset_cycles: i64) -> ClockConverter {
        let clock = ClockClass { frequency, offset_seconds, offset_cycles, ..ClockClass::new("c") };
        ClockConverter::new(&clock, &ClockTransform::IDENTITY)
    }

    #[test]
    fn cycles_are_converted_to_ns() {
        let ns = |c: ClockConverter, cycles| c.timestamp(cycles).map(Timestamp::as_ns);
        assert_eq!(ns(clock(NS_PER_S, 2, 5), 7), Some(2_000_000_012));
        assert_eq!(ns(clock(NS_PER_S, 0, -10), 3), Some(-7));
        assert_eq!(ns(clock(1000, 1, 500), 250), Some(1_750_000_000));
        assert_eq!(ns(clock(3, 0, 0), 1), Some(333_333_333));
        assert_eq!(ns(clock(3, 0, -1), 0), Some(-333_333_334));
        assert_eq!(ns(clock(3, -1, 7), 1), Some(1_666_666_666));
        assert_eq!(ns(clock(40_000_000_000, 1, 0), 80), Some(1_000_000_002));
        assert_eq!(ns(clock(3_000_000_000, 0, 0), u64::MAX), Some(6_148_914_691_236_517_205));
    }

    #[test]
    fn times_out_of_range() {
        assert_eq!(clock(1, 0, 0).timestamp(u64::MAX), None);
        assert_eq!(clock(NS_PER_S, 0, 0).timestamp(u64::MAX), None);
        assert_eq!(clock(NS_PER_S, 0, i64::MAX).timestamp(1), None);
        // With an absurd offset, all times wrap.
        let absurd = clock(NS_PER_S, 1_351_530_929_945_824_323, 1_234_567);
        let first = absurd.timestamp(0).unwrap();
        assert_eq!(absurd.timestamp(9).unwrap().as_ns() - first.as_ns(), 9);
        assert!(clock(1, i64::MIN, i64::MIN).timestamp(u64::MAX).is_some());
    }

    #[test]
    fn short_clock_fields_wrap_once() {
        assert_eq!(update_clock(0x1ff, 0x00, 8), 0x200);
        assert_eq!(update_clock(0x1ff, 0xff, 8), 0x1ff);
        assert_eq!(update_clock(5, 9, 64), 9);
        assert_eq!(update_clock(1000, 29, 7), 1053);
    }
}
