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
    let ns = cursor.current().timestamp.map_or(i64::MIN, Timestamp::ns);
    let ordered = (ns as u64) ^ 1 << 63;
    u128::from(ordered) << 64 | u128::from(number) << 1 | OPEN
}

/// The number in a key.
#[inline(always)]
pub(super) fn number_of(key: u128) -> u32 {
    (key as u64 >> 1) as u32
}
