//! Points in time as dates.

use ltt_read::Timestamp;
use lttv_filter::{Environment, Notation, Zone};

/// Returns the date and time of a point in time, with the name of the zone:
/// `2026-11-21 03:36:56.400000000 UTC`.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_common::time::date_text;
/// use lttv_filter::Zone;
///
/// let time = Timestamp::from_ns(1_795_233_416_400_000_007);
/// assert_eq!(date_text(time, &Zone::UTC), "2026-11-21 03:56:56.400000007 UTC");
/// ```
pub fn date_text(time: Timestamp, zone: &Zone) -> String {
    Environment::new().in_zone(zone.clone()).in_notation(Notation::DateTimeZone).format(time)
}
