//! Points in time as dates.

use jiff::tz::TimeZone;
use ltt_read::Timestamp;

/// Returns the date and time of a point in time, with the name of the zone:
/// `2026-11-21 03:36:56.400000000 UTC`. A time without a date is a number of seconds.
///
/// ```
/// use jiff::tz::TimeZone;
/// use ltt_read::Timestamp;
/// use lttv_common::time::date_text;
///
/// let time = Timestamp::from_ns(1_795_233_416_400_000_007);
/// assert_eq!(date_text(time, &TimeZone::UTC), "2026-11-21 03:56:56.400000007 UTC");
/// ```
pub fn date_text(time: Timestamp, zone: &TimeZone) -> String {
    let Ok(instant) = jiff::Timestamp::from_nanosecond(time.as_ns().into()) else {
        return time.to_string();
    };
    let zoned = instant.to_zoned(zone.clone());
    let date = zoned.strftime("%Y-%m-%d %H:%M:%S");
    let nanosecond = time.as_ns().rem_euclid(1_000_000_000);
    format!("{date}.{nanosecond:09} {}", zoned.strftime("%Z"))
}
