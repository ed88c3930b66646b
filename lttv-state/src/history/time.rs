//! Conversion between half-open ranges of [`Timestamp`]s and the first and last times that
//! blocks contain, in ns.
//!
//! [`Timestamp::MAX`] as an end is included, since there is no later end.

use ltt_read::Timestamp;

/// Returns the end of a range whose last time is `last`, in ns.
#[inline(always)]
pub(super) const fn end_after(last: i64) -> Timestamp {
    Timestamp::from_ns(last.saturating_add(1))
}

/// Returns the last time of a range that ends at `end`, in ns; `None` if every range that
/// ends there is empty.
#[inline(always)]
pub(super) fn last_before(end: Timestamp) -> Option<i64> {
    match end {
        Timestamp::MAX => Some(i64::MAX),
        end => end.as_ns().checked_sub(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_excluded_except_for_the_last_time() {
        assert_eq!(end_after(-1), Timestamp::from_ns(0));
        assert_eq!(last_before(Timestamp::from_ns(0)), Some(-1));
        for last in [i64::MAX, i64::MAX - 1] {
            assert_eq!(end_after(last), Timestamp::MAX);
        }
        assert_eq!(last_before(Timestamp::MAX), Some(i64::MAX));
        assert_eq!(last_before(Timestamp::MIN), None);
    }
}
