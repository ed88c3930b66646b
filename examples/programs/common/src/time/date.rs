//! Points in time as dates.

use std::sync::Arc;

use ltt_read::schema::ClockOrigin;
use ltt_read::{Timestamp, Trace};
use lttv_filter::{Environment, Notation, Zone};

use crate::text::clock_text::ClockStyle;

/// Returns `true` if the times of a trace are dates: its clock counts from the Unix epoch. Others,
/// such as those of perf, count from the start of the machine.
pub fn has_dates(trace: &Trace) -> bool {
    let clock = trace.schema().clocks.first();
    clock.is_some_and(|clock| clock.origin == ClockOrigin::UnixEpoch)
}

/// Returns a notation for the times of traces: seconds in place of dates and times of day, unless all
/// of them [have dates](has_dates).
pub fn clock_of(style: ClockStyle, traces: &[Arc<Trace>]) -> ClockStyle {
    match style {
        ClockStyle::TimeOfDay | ClockStyle::DateTime
            if !traces.iter().all(|trace| has_dates(trace)) =>
        {
            ClockStyle::Seconds
        }
        _ => style,
    }
}

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
