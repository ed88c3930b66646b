//! Offsets of clocks in the form that both formats allow.

use crate::schema::ClockClass;

/// Returns the offset of a clock in seconds and cycles, normalized to cycles from 0 to
/// less than a second. Neither format allows negative cycles, and CTF 2 no cycles of a
/// second or more.
pub(super) fn clock_offset(clock: &ClockClass) -> (i64, i64) {
    let (seconds, cycles) = (clock.offset_seconds, clock.offset_cycles);
    if u64::try_from(cycles).is_ok_and(|cycles| cycles < clock.frequency) {
        return (seconds, cycles);
    }
    let frequency = i128::from(clock.frequency.max(1));
    let all = i128::from(seconds) * frequency + i128::from(cycles);
    (all.div_euclid(frequency) as i64, all.rem_euclid(frequency) as i64)
}
