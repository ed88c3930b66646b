//! Timestamps and clock arithmetic, in integers only.

use crate::schema::ClockClass;

const NS_PER_S: u64 = 1_000_000_000;

/// A point in time: nanoseconds since the Unix epoch, or since the origin of
/// a clock that has no absolute one.
///
/// The range is that of `i64`: about the years 1678 to 2262. Times outside it
/// saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The earliest timestamp.
    pub const MIN: Timestamp = Timestamp(i64::MIN);
    /// The latest timestamp.
    pub const MAX: Timestamp = Timestamp(i64::MAX);

    /// From nanoseconds.
    pub const fn from_ns(ns: i64) -> Self {
        Timestamp(ns)
    }

    /// In nanoseconds.
    pub const fn ns(self) -> i64 {
        self.0
    }
}

impl std::fmt::Display for Timestamp {
    /// `seconds.nanoseconds`, e.g. `1795231463.430870569`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let abs = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:09}", abs / NS_PER_S, abs % NS_PER_S)
    }
}

/// Converts the cycles of one clock class to [`Timestamp`]s.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockConverter {
    /// `Some` if a cycle is a nanosecond: then only this has to be added.
    base_ns: Option<i64>,
    frequency: u64,
    offset_seconds: i64,
    offset_cycles: i64,
}

impl ClockConverter {
    pub(crate) fn new(clock: &ClockClass) -> Self {
        let base = i128::from(clock.offset_seconds) * i128::from(NS_PER_S)
            + i128::from(clock.offset_cycles);
        let base_ns = if clock.frequency == NS_PER_S { i64::try_from(base).ok() } else { None };
        ClockConverter {
            base_ns,
            frequency: clock.frequency.max(1),
            offset_seconds: clock.offset_seconds,
            offset_cycles: clock.offset_cycles,
        }
    }

    /// The time of a cycle count.
    #[inline(always)]
    pub(crate) fn timestamp(&self, cycles: u64) -> Timestamp {
        if let Some(base) = self.base_ns
            && let Ok(cycles) = i64::try_from(cycles)
        {
            return Timestamp(base.saturating_add(cycles));
        }
        self.general(cycles)
    }

    #[inline(never)]
    fn general(&self, cycles: u64) -> Timestamp {
        let cycles = i128::from(cycles) + i128::from(self.offset_cycles);
        let frequency = i128::from(self.frequency);
        // Seconds first: the product then stays within 128 bits whatever the
        // frequency.
        let seconds = i128::from(self.offset_seconds) + cycles.div_euclid(frequency);
        let rest = cycles.rem_euclid(frequency) * i128::from(NS_PER_S) / frequency;
        let ns = seconds * i128::from(NS_PER_S) + rest;
        Timestamp(i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX }))
    }
}

/// The new value of a clock whose low `bits` bits were read as `low`
/// (CTF 1.8.3 section 8, CTF 2 "clock value update procedure"): the upper bits
/// stay, plus one if the low ones wrapped.
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
        ClockConverter::new(&ClockClass {
            frequency,
            offset_seconds,
            offset_cycles,
            ..ClockClass::new("c")
        })
    }

    #[test]
    fn conversions() {
        assert_eq!(clock(NS_PER_S, 2, 5).timestamp(7).ns(), 2_000_000_012);
        assert_eq!(clock(NS_PER_S, 0, -10).timestamp(3).ns(), -7);
        assert_eq!(clock(1000, 1, 500).timestamp(250).ns(), 1_750_000_000);
        assert_eq!(clock(3, 0, 0).timestamp(1).ns(), 333_333_333);
        assert_eq!(clock(3_000_000_000, 0, 0).timestamp(u64::MAX).ns(), 6_148_914_691_236_517_205);
        assert_eq!(clock(1, 0, 0).timestamp(u64::MAX), Timestamp::MAX);
        assert_eq!(clock(1, i64::MIN, i64::MIN).timestamp(0), Timestamp::MIN);
        assert_eq!(clock(NS_PER_S, i64::MAX, 0).timestamp(0), Timestamp::MAX);
    }

    #[test]
    fn short_clock_fields_wrap_once() {
        assert_eq!(update_clock(0x1ff, 0x00, 8), 0x200);
        assert_eq!(update_clock(0x1ff, 0xff, 8), 0x1ff);
        assert_eq!(update_clock(5, 9, 64), 9);
        assert_eq!(update_clock(1000, 29, 7), 1053);
    }

    #[test]
    fn display() {
        assert_eq!(Timestamp::from_ns(1_500_000_000).to_string(), "1.500000000");
        assert_eq!(Timestamp::from_ns(-1).to_string(), "-0.000000001");
    }
}
