//! Merge keys, by which events are ordered.

use crate::base::time::Timestamp;
use crate::cursor::Cursor;

/// The key of a tracefile without further events, greater than every key of an event.
pub(super) const END: u128 = u128::MAX;

/// The bit that is set in a key unless its event was accepted by the filter of
/// [`Merge::next_taken`](super::Merge::next_taken).
pub(super) const UNTESTED: u128 = 1;

/// Returns the key of a cursor's current event: the time, then the tracefile's number, as
/// one integer that compares in two instructions. The bit [`UNTESTED`] is the lowest and
/// does not affect the order.
#[inline(always)]
pub(super) fn key(cursor: &Cursor, number: u32) -> u128 {
    key_at(cursor.current().timestamp.unwrap_or(Timestamp::MIN), number) | UNTESTED
}

/// Returns the key of an accepted event at a time.
#[inline(always)]
pub(super) fn key_at(time: Timestamp, number: u32) -> u128 {
    let ordered = (time.as_ns() as u64) ^ 1 << 63;
    u128::from(ordered) << 64 | u128::from(number) << 1
}

/// Returns the time in a key.
pub(super) fn time_of(key: u128) -> Timestamp {
    Timestamp::from_ns(((key >> 64) as u64 ^ 1 << 63) as i64)
}

/// Returns the tracefile's number in a key.
#[inline(always)]
pub(super) fn number_of(key: u128) -> u32 {
    (key as u64 >> 1) as u32
}
