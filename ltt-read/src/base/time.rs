//! Timestamps and clock arithmetic, with integers only.

use std::ops::{Add, AddAssign, Bound, RangeBounds, Sub, SubAssign};
use std::str::FromStr;
use std::time::{Duration, SystemTime};

/// The number of nanoseconds in a second.
pub(crate) const NS_PER_S: u64 = 1_000_000_000;

/// A point in time, in nanoseconds since the Unix epoch, or since the origin of a clock
/// without an absolute origin.
///
/// The range is that of an `i64`, about the years 1678 to 2262. A record whose time is
/// outside of it cannot be decoded.
///
/// Adding or subtracting a [`Duration`] with an operator panics if the result is out of
/// range; [`checked_add`](Self::checked_add) and [`checked_sub`](Self::checked_sub) do not.
/// A difference of two timestamps is an integer: see [`since`](Self::since) and
/// [`signed_ns_since`](Self::signed_ns_since).
///
/// ```
/// use ltt_read::Timestamp;
///
/// let time = Timestamp::from_ns(1_795_231_463_430_870_569);
/// assert_eq!(time.to_string(), "1795231463.430870569");
/// assert!(time < Timestamp::MAX);
/// assert_eq!("1795231463.430870569".parse::<Timestamp>(), Ok(time));
///
/// let later = time + std::time::Duration::from_millis(5);
/// assert_eq!(later.since(time), 5_000_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The earliest timestamp, `i64::MIN` ns.
    pub const MIN: Timestamp = Timestamp(i64::MIN);
    /// The latest timestamp, `i64::MAX` ns.
    pub const MAX: Timestamp = Timestamp(i64::MAX);

    /// Creates a timestamp from nanoseconds since the origin.
    pub const fn from_ns(ns: i64) -> Self {
        Timestamp(ns)
    }

    /// Returns the nanoseconds since the origin.
    pub const fn as_ns(self) -> i64 {
        self.0
    }

    /// Returns the nanoseconds from an earlier time to this one; 0 if `earlier` is not
    /// earlier.
    ///
    /// ```
    /// use ltt_read::Timestamp;
    ///
    /// let (begin, end) = (Timestamp::from_ns(-5), Timestamp::from_ns(10));
    /// assert_eq!(end.since(begin), 15);
    /// assert_eq!(begin.since(end), 0);
    /// ```
    pub const fn since(self, earlier: Timestamp) -> u64 {
        if earlier.0 < self.0 { self.0.abs_diff(earlier.0) } else { 0 }
    }

    /// Returns the timestamp `ns` nanoseconds later, at most [`MAX`](Self::MAX).
    #[must_use]
    pub const fn saturating_add(self, ns: u64) -> Timestamp {
        Timestamp(self.0.saturating_add_unsigned(ns))
    }

    /// Returns the timestamp `ns` nanoseconds earlier, at least [`MIN`](Self::MIN).
    #[must_use]
    pub const fn saturating_sub(self, ns: u64) -> Timestamp {
        Timestamp(self.0.saturating_sub_unsigned(ns))
    }

    /// Returns the nanoseconds from another time to this one; negative if `other` is later.
    ///
    /// The result needs 65 bits in the worst case, hence its type.
    ///
    /// ```
    /// use ltt_read::Timestamp;
    ///
    /// let (first, second) = (Timestamp::from_ns(-5), Timestamp::from_ns(10));
    /// assert_eq!(second.signed_ns_since(first), 15);
    /// assert_eq!(first.signed_ns_since(second), -15);
    /// ```
    pub const fn signed_ns_since(self, other: Timestamp) -> i128 {
        self.0 as i128 - other.0 as i128
    }

    /// Returns the timestamp a duration later; `None` if it is out of range.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use ltt_read::Timestamp;
    ///
    /// let time = Timestamp::from_ns(10);
    /// assert_eq!(time.checked_add(Duration::from_nanos(5)), Some(Timestamp::from_ns(15)));
    /// assert_eq!(Timestamp::MAX.checked_add(Duration::from_nanos(1)), None);
    /// ```
    #[must_use]
    pub const fn checked_add(self, duration: Duration) -> Option<Timestamp> {
        let ns = duration.as_nanos();
        if ns > u64::MAX as u128 {
            return None;
        }
        match self.0.checked_add_unsigned(ns as u64) {
            Some(ns) => Some(Timestamp(ns)),
            None => None,
        }
    }

    /// Returns the timestamp a duration earlier; `None` if it is out of range.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use ltt_read::Timestamp;
    ///
    /// let time = Timestamp::from_ns(10);
    /// assert_eq!(time.checked_sub(Duration::from_nanos(15)), Some(Timestamp::from_ns(-5)));
    /// assert_eq!(Timestamp::MIN.checked_sub(Duration::from_nanos(1)), None);
    /// ```
    #[must_use]
    pub const fn checked_sub(self, duration: Duration) -> Option<Timestamp> {
        let ns = duration.as_nanos();
        if ns > u64::MAX as u128 {
            return None;
        }
        match self.0.checked_sub_unsigned(ns as u64) {
            Some(ns) => Some(Timestamp(ns)),
            None => None,
        }
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    /// Returns the timestamp a duration later.
    ///
    /// # Panics
    ///
    /// If it is out of range.
    fn add(self, duration: Duration) -> Timestamp {
        self.checked_add(duration).expect("the sum is in the range of timestamps")
    }
}

impl AddAssign<Duration> for Timestamp {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Timestamp;

    /// Returns the timestamp a duration earlier.
    ///
    /// # Panics
    ///
    /// If it is out of range.
    fn sub(self, duration: Duration) -> Timestamp {
        self.checked_sub(duration).expect("the difference is in the range of timestamps")
    }
}

impl SubAssign<Duration> for Timestamp {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

/// An error from converting a time that is out of the range of the other type.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("time out of range")]
#[non_exhaustive]
pub struct TimeRangeError;

crate::debug_as_chain!(TimeRangeError);

impl From<Timestamp> for i64 {
    /// Returns the time in ns since the Unix epoch, or the origin of the clock.
    fn from(time: Timestamp) -> i64 {
        time.as_ns()
    }
}

impl TryFrom<SystemTime> for Timestamp {
    type Error = TimeRangeError;

    /// Converts a time of the system's clock.
    ///
    /// # Errors
    ///
    /// If the time is before 1677-09-21 or after 2262-04-11.
    fn try_from(time: SystemTime) -> Result<Self, TimeRangeError> {
        let epoch = Timestamp(0);
        let timestamp = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => epoch.checked_add(after),
            Err(error) => epoch.checked_sub(error.duration()),
        };
        timestamp.ok_or(TimeRangeError)
    }
}

impl TryFrom<Timestamp> for SystemTime {
    type Error = TimeRangeError;

    /// Converts a time since the Unix epoch, rounded to the precision of the system's clock.
    ///
    /// # Errors
    ///
    /// If `SystemTime` cannot represent it, on platforms without times before 1970. On Unix
    /// and Windows the conversion succeeds.
    fn try_from(time: Timestamp) -> Result<Self, TimeRangeError> {
        let distance = Duration::from_nanos(time.0.unsigned_abs());
        let time = match time.0 < 0 {
            true => SystemTime::UNIX_EPOCH.checked_sub(distance),
            false => SystemTime::UNIX_EPOCH.checked_add(distance),
        };
        time.ok_or(TimeRangeError)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Timestamp {
    /// Serializes the nanoseconds since the origin, as an integer.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Timestamp {
    /// Deserializes nanoseconds since the origin from an integer.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::Deserialize::deserialize(deserializer).map(Timestamp)
    }
}

/// An error from parsing a text that is not a [`Timestamp`].
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a timestamp: expected seconds with up to 9 decimals, within 64 bits of nanoseconds")]
#[non_exhaustive]
pub struct ParseTimestampError;

crate::debug_as_chain!(ParseTimestampError);

impl FromStr for Timestamp {
    type Err = ParseTimestampError;

    /// Parses the text that `Display` writes, `seconds.nanoseconds`. Decimals may be omitted
    /// at the end: `1.5` is 1 500 000 000 ns.
    ///
    /// # Errors
    ///
    /// If the text is anything else, or its time is out of range.
    fn from_str(text: &str) -> Result<Self, ParseTimestampError> {
        let are_digits = |s: &str| !s.is_empty() && s.bytes().all(|c| c.is_ascii_digit());
        let (is_negative, abs) = match text.strip_prefix('-') {
            Some(abs) => (true, abs),
            None => (false, text),
        };
        let (seconds, decimals) = abs.split_once('.').unwrap_or((abs, "0"));
        if !are_digits(seconds) || !are_digits(decimals) || decimals.len() > 9 {
            return Err(ParseTimestampError);
        }
        let seconds: u64 = seconds.parse().map_err(|_| ParseTimestampError)?;
        let decimals: u64 = format!("{decimals:0<9}").parse().map_err(|_| ParseTimestampError)?;
        let ns = i128::from(seconds) * i128::from(NS_PER_S) + i128::from(decimals);
        let ns = i64::try_from(if is_negative { -ns } else { ns });
        ns.map(Timestamp).map_err(|_| ParseTimestampError)
    }
}

impl std::fmt::Display for Timestamp {
    /// Writes `seconds.nanoseconds`, e.g. `1795231463.430870569`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let abs = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:09}", abs / NS_PER_S, abs % NS_PER_S)
    }
}

/// A span of time, both ends included.
///
/// ```
/// use ltt_read::{TimeSpan, Timestamp};
///
/// let at = Timestamp::from_ns;
/// let span = TimeSpan { start: at(10), end: at(20) };
/// assert!(span.contains(at(20)) && !span.contains(at(21)));
/// assert_eq!(span.join(TimeSpan { start: at(30), end: at(40) }).end, at(40));
/// assert!(TimeSpan::ALL.contains(Timestamp::MAX));
/// ```
// Exhaustive: a pair of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeSpan {
    /// The earliest time of the span.
    pub start: Timestamp,
    /// The latest time of the span.
    pub end: Timestamp,
}

impl TimeSpan {
    /// The span of all timestamps.
    pub const ALL: TimeSpan = TimeSpan { start: Timestamp::MIN, end: Timestamp::MAX };

    /// Returns `true` if the span contains a time.
    pub const fn contains(self, time: Timestamp) -> bool {
        self.start.0 <= time.0 && time.0 <= self.end.0
    }

    /// Returns the span from the earlier start to the later end.
    #[must_use]
    pub fn join(self, other: TimeSpan) -> TimeSpan {
        TimeSpan { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Both ends belong to the range, unlike that of `start..end`.
impl RangeBounds<Timestamp> for TimeSpan {
    fn start_bound(&self) -> Bound<&Timestamp> {
        Bound::Included(&self.start)
    }

    fn end_bound(&self) -> Bound<&Timestamp> {
        Bound::Included(&self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn display_has_nine_decimals() {
        assert_eq!(Timestamp::from_ns(1_500_000_000).to_string(), "1.500000000");
        assert_eq!(Timestamp::from_ns(-1).to_string(), "-0.000000001");
    }

    #[test]
    fn texts_that_are_no_timestamps_are_refused() {
        let ns = |text: &str| text.parse::<Timestamp>().map(Timestamp::as_ns);
        assert_eq!(ns("1.5"), Ok(1_500_000_000));
        assert_eq!(ns("-0.000000001"), Ok(-1));
        assert_eq!(ns("7"), Ok(7_000_000_000));
        assert_eq!(ns("9223372036.854775807"), Ok(i64::MAX));
        assert_eq!(ns("-9223372036.854775808"), Ok(i64::MIN));
        let bad = ["", "-", ".", "1.", ".5", "+1", "--1", "1.-5", "1,5", " 1", "1.0000000000"];
        let far = ["9223372036.854775808", "-9223372036.854775809", "99999999999999999999"];
        for text in bad.into_iter().chain(far) {
            assert_eq!(ns(text), Err(ParseTimestampError), "{text:?}");
        }
    }

    #[test]
    fn operators_panic_out_of_range() {
        let ns = Duration::from_nanos(1);
        assert!(std::panic::catch_unwind(|| Timestamp::MAX + ns).is_err());
        assert!(std::panic::catch_unwind(|| Timestamp::MIN - ns).is_err());
        assert_eq!(Timestamp::MIN.checked_add(Duration::MAX), None);
        assert_eq!(Timestamp::MAX.checked_sub(Duration::MAX), None);
    }

    fn times() -> impl Strategy<Value = Timestamp> {
        let edges = prop_oneof![Just(i64::MIN), Just(-1), Just(0), Just(i64::MAX)];
        prop_oneof![any::<i64>(), -3_000_000_000..3_000_000_000i64, edges].prop_map(Timestamp)
    }

    proptest! {
        #[test]
        fn texts_are_parsed_back(time in times()) {
            prop_assert_eq!(time.to_string().parse::<Timestamp>(), Ok(time));
        }

        #[test]
        fn texts_are_parsed_or_refused(text in "-?[0-9]{0,12}[.]?[0-9]{0,11}") {
            if let Ok(time) = text.parse::<Timestamp>() {
                let padded = time.to_string();
                let (text, negative_zero) = (text.trim_start_matches(['-', '0']), time.0 == 0);
                let padded = padded.trim_start_matches(['-', '0']);
                prop_assert!(negative_zero || padded.starts_with(text), "{} {}", text, padded);
            }
        }

        /// Times of systems with a precision of 1 ns.
        #[cfg(unix)]
        #[test]
        fn times_of_the_system_are_converted_back(time in times()) {
            let system = SystemTime::try_from(time).unwrap();
            prop_assert_eq!(Timestamp::try_from(system), Ok(time));
        }

        #[test]
        fn arithmetic_agrees_with_wide_integers(time in times(), other in times(), ns: u64) {
            let exact = |ns: i128| i64::try_from(ns).ok().map(Timestamp);
            let (wide, duration) = (i128::from(time.as_ns()), Duration::from_nanos(ns));
            prop_assert_eq!(time.checked_add(duration), exact(wide + i128::from(ns)));
            prop_assert_eq!(time.checked_sub(duration), exact(wide - i128::from(ns)));
            prop_assert_eq!(time.signed_ns_since(other), wide - i128::from(other.as_ns()));
            if let Some(later) = time.checked_add(duration) {
                prop_assert_eq!((time + duration, later - duration), (later, time));
                prop_assert_eq!(later.since(time), ns);
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn times_of_the_system_out_of_range_are_refused() {
        let far = SystemTime::UNIX_EPOCH + Duration::from_secs(9_223_372_037);
        assert_eq!(Timestamp::try_from(far), Err(TimeRangeError));
    }
}
