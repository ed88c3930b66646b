//! Keys: what events are ordered by.

use crate::cursor::Cursor;
use crate::time::Timestamp;

/// Greater than every key of an event.
pub(super) const END: u128 = u128::MAX;

/// Set in the key of an event of which is not known that it was taken.
pub(super) const OPEN: u128 = 1;

/// Time, then number, as one integer that compares in two instructions. What is
/// to be known of the event comes last, and orders nothing.
#[inline(always)]
pub(super) fn key(cursor: &Cursor, number: u32) -> u128 {
    key_at(cursor.current().timestamp.unwrap_or(Timestamp::MIN), number) | OPEN
}

/// The key of a taken event at a time.
#[inline(always)]
pub(super) fn key_at(time: Timestamp, number: u32) -> u128 {
    let ordered = (time.ns() as u64) ^ 1 << 63;
    u128::from(ordered) << 64 | u128::from(number) << 1
}

/// The time in a key.
pub(super) fn time_of(key: u128) -> Timestamp {
    Timestamp::from_ns(((key >> 64) as u64 ^ 1 << 63) as i64)
}

/// The number in a key.
#[inline(always)]
pub(super) fn number_of(key: u128) -> u32 {
    (key as u64 >> 1) as u32
}
