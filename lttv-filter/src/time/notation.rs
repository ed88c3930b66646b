//! Instants as text.

use std::fmt::Write;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::civil::{NS_PER_S, write_fraction, write_offset};

/// A notation of instants. The text of each is accepted as input, and means the same instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Notation {
    /// Seconds since the origin of the clock: `1795230127.783410916`.
    #[default]
    Seconds,
    /// Nanoseconds since the origin of the clock: `1795230127783410916`.
    Nanoseconds,
    /// The time of day: `03:02:07.783410916`, for traces of less than a day. An offset follows
    /// where clocks are set back: `02:30:00.000000000+02:00`.
    TimeOfDay,
    /// Date and time: `2026-11-21 03:02:07.783410916`. An offset follows where clocks are set back.
    DateTime,
    /// Date and time with the name of the time zone: `2026-11-21 03:02:07.783410916 UTC`.
    DateTimeZone,
}

impl Notation {
    /// Formats an instant, given in ns since the origin of the clock.
    pub(crate) fn text(self, ns: i128, zone: &TimeZone) -> String {
        match self {
            Notation::Seconds => seconds(ns),
            Notation::Nanoseconds => ns.to_string(),
            Notation::TimeOfDay | Notation::DateTime | Notation::DateTimeZone => {
                self.civil(ns, zone).unwrap_or_else(|| seconds(ns))
            }
        }
    }

    fn civil(self, ns: i128, zone: &TimeZone) -> Option<String> {
        let instant = jiff::Timestamp::from_nanosecond(ns).ok()?;
        let info = zone.to_offset_info(instant);
        let at = info.offset().to_datetime(instant);
        let mut text = String::new();
        if self != Notation::TimeOfDay {
            write!(text, "{:04}-{:02}-{:02} ", at.year(), at.month(), at.day()).ok()?;
        }
        let (hour, minute, second) = (at.hour(), at.minute(), at.second());
        write!(text, "{hour:02}:{minute:02}:{second:02}.{:09}", at.subsec_nanosecond()).ok()?;
        if self == Notation::DateTimeZone {
            write!(text, " {}", info.abbreviation()).ok()?;
        } else if is_ambiguous(at, zone) {
            write_offset(&mut text, info.offset().seconds()).ok()?;
        }
        Some(text)
    }
}

fn seconds(ns: i128) -> String {
    let (sign, abs) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    let per_second = u128::from(NS_PER_S.unsigned_abs());
    format!("{sign}{}.{:09}", abs / per_second, abs % per_second)
}

fn is_ambiguous(at: DateTime, zone: &TimeZone) -> bool {
    zone.to_ambiguous_timestamp(at).is_ambiguous()
}

/// Returns the shortest text of an instant as a date, which expressions accept as well. The offset
/// is that of the zone, and follows if it is needed.
pub(crate) fn text_of(ns: i64, zone: &TimeZone) -> String {
    let Ok(instant) = jiff::Timestamp::from_nanosecond(ns.into()) else {
        return seconds(ns.into());
    };
    let offset = zone.to_offset(instant);
    let at = offset.to_datetime(instant);
    let mut text = format!("{:04}-{:02}-{:02}T", at.year(), at.month(), at.day());
    // Writing to a string does not fail.
    _ = write!(text, "{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second());
    _ = write_fraction(&mut text, at.subsec_nanosecond().into());
    if is_ambiguous(at, zone) {
        _ = write_offset(&mut text, offset.seconds());
    }
    text
}
