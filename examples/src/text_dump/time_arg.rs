//! Times in arguments: `--begin`, `--end`, `--timerange`.

use std::str::FromStr;

use jiff::civil;
use jiff::tz::TimeZone;
use ltt_read::Timestamp;

use crate::report::Usage;

/// A time in one of the notations for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeArg {
    /// Seconds since the origin of the clock: `[-]SEC[.NANO]`.
    Origin(Timestamp),
    /// Date and time: `YYYY-MM-DD [hh:mm[:ss[.NANO]]]`.
    DateTime(civil::DateTime),
    /// Time of day: `hh:mm[:ss[.NANO]]`, on the day of the first event.
    TimeOfDay(civil::Time),
}

/// An error from parsing or resolving a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeArgError {
    /// The text fits no notation.
    #[error(
        "expected `YYYY-MM-DD [hh:mm[:ss[.NANO]]]`, `hh:mm[:ss[.NANO]]` or `[-]SECONDS[.NANO]`"
    )]
    Notation,
    /// The text fits a notation, but there is no such time, or it cannot be represented.
    #[error("no such time between the years 1678 and 2262")]
    Range,
    /// The text of a range is not a pair of times separated by a comma.
    #[error("expected `BEGIN,END` or `[BEGIN,END]`")]
    Pair,
    /// A time of day without an event to take the date from.
    #[error("a time without a date needs a trace whose events have times")]
    NoDate,
}

impl FromStr for TimeArg {
    type Err = TimeArgError;

    fn from_str(text: &str) -> Result<Self, TimeArgError> {
        if let Some(date) = text.get(..10).filter(|t| t.as_bytes()[4] == b'-') {
            let date = parse_date(date)?;
            let time = match text[10..].strip_prefix([' ', 'T']) {
                Some(time) => parse_time(time)?,
                None if text.len() == 10 => civil::Time::midnight(),
                None => return Err(TimeArgError::Notation),
            };
            return Ok(TimeArg::DateTime(date.to_datetime(time)));
        }
        if text.contains(':') {
            return parse_time(text).map(TimeArg::TimeOfDay);
        }
        let (negative, abs) = match text.strip_prefix('-') {
            Some(abs) => (true, abs),
            None => (false, text),
        };
        let (seconds, ns) = abs
            .split_once('.')
            .map_or(Ok((abs, 0)), |(s, fraction)| parse_fraction(fraction).map(|ns| (s, ns)))?;
        let seconds: i128 = digits(seconds)?.parse().map_err(|_| TimeArgError::Range)?;
        let total = seconds.checked_mul(1_000_000_000).map(|s| s + i128::from(ns));
        let total = total.map(|t| if negative { -t } else { t });
        let total = total.and_then(|t| i64::try_from(t).ok()).ok_or(TimeArgError::Range)?;
        Ok(TimeArg::Origin(Timestamp::from_ns(total)))
    }
}

impl TimeArg {
    /// Returns `true` if the time has no date.
    pub fn needs_date(&self) -> bool {
        matches!(self, TimeArg::TimeOfDay(_))
    }

    /// Returns the point in time. `first` is the time of the first event, from which a time of
    /// day takes its date.
    ///
    /// # Errors
    ///
    /// If the time cannot be represented, or if it has no date and `first` is `None`.
    pub fn resolve(
        &self,
        zone: &TimeZone,
        first: Option<Timestamp>,
    ) -> Result<Timestamp, TimeArgError> {
        let civil = match self {
            TimeArg::Origin(time) => return Ok(*time),
            TimeArg::DateTime(civil) => *civil,
            TimeArg::TimeOfDay(time) => {
                let first = first.ok_or(TimeArgError::NoDate)?;
                let first = jiff::Timestamp::from_nanosecond(first.as_ns().into())
                    .map_err(|_| TimeArgError::Range)?;
                zone.to_datetime(first).date().to_datetime(*time)
            }
        };
        let instant = zone.to_timestamp(civil).map_err(|_| TimeArgError::Range)?;
        let ns = i64::try_from(instant.as_nanosecond()).map_err(|_| TimeArgError::Range)?;
        Ok(Timestamp::from_ns(ns))
    }
}

/// Checks that a time window does not end before it begins.
///
/// # Errors
///
/// If `end` is before `begin`.
pub fn check_order(begin: Option<Timestamp>, end: Option<Timestamp>) -> Result<(), Usage> {
    match (begin, end) {
        (Some(begin), Some(end)) if begin > end => {
            Err(Usage::new(format_args!("the begin {begin} is after the end {end}")))
        }
        _ => Ok(()),
    }
}

/// A pair of times, as in `--timerange`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeRange {
    /// The first time of the range.
    pub begin: TimeArg,
    /// The last time of the range, inclusive.
    pub end: TimeArg,
}

impl FromStr for TimeRange {
    type Err = TimeArgError;

    fn from_str(text: &str) -> Result<Self, TimeArgError> {
        let inner = match text.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or(TimeArgError::Pair)?,
            None => text,
        };
        let (begin, end) = inner.split_once(',').ok_or(TimeArgError::Pair)?;
        Ok(TimeRange { begin: begin.trim().parse()?, end: end.trim().parse()? })
    }
}

fn parse_date(text: &str) -> Result<civil::Date, TimeArgError> {
    let mut parts = text.split('-');
    let (year, month, day) = (part(&mut parts, 4)?, part(&mut parts, 2)?, part(&mut parts, 2)?);
    let (month, day) = (month as i8, day as i8); // two digits fit
    civil::Date::new(year, month, day).map_err(|_| TimeArgError::Range)
}

fn parse_time(text: &str) -> Result<civil::Time, TimeArgError> {
    let (clock, ns) = text.split_once('.').map_or(Ok((text, 0)), |(clock, fraction)| {
        parse_fraction(fraction).map(|ns| (clock, ns))
    })?;
    let seconds_given = clock.len() > 5;
    if !seconds_given && clock.len() != text.len() {
        return Err(TimeArgError::Notation);
    }
    let mut parts = clock.split(':');
    let hour = part(&mut parts, 2)?;
    let minute = part(&mut parts, 2)?;
    let second = if seconds_given { part(&mut parts, 2)? } else { 0 };
    if parts.next().is_some() {
        return Err(TimeArgError::Notation);
    }
    civil::Time::new(hour as i8, minute as i8, second as i8, ns).map_err(|_| TimeArgError::Range)
}

/// Parses one to nine digits after the decimal point, as nanoseconds.
fn parse_fraction(text: &str) -> Result<i32, TimeArgError> {
    if text.len() > 9 {
        return Err(TimeArgError::Notation);
    }
    let value: i32 = digits(text)?.parse().map_err(|_| TimeArgError::Notation)?;
    Ok(value * 10i32.pow(9 - text.len() as u32))
}

/// Parses the next part, of exactly `width` digits.
fn part<'a>(parts: &mut impl Iterator<Item = &'a str>, width: usize) -> Result<i16, TimeArgError> {
    let text = parts.next().filter(|t| t.len() == width).ok_or(TimeArgError::Notation)?;
    digits(text)?.parse().map_err(|_| TimeArgError::Notation)
}

fn digits(text: &str) -> Result<&str, TimeArgError> {
    let all = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    all.then_some(text).ok_or(TimeArgError::Notation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(text: &str) -> Result<i64, TimeArgError> {
        let first = Timestamp::from_ns(1_795_230_127_783_410_916);
        text.parse::<TimeArg>()?.resolve(&TimeZone::UTC, Some(first)).map(Timestamp::as_ns)
    }

    #[test]
    fn all_notations() {
        let day = 1_795_219_200_000_000_000;
        let hm = day + (3 * 3600 + 2 * 60) * 1_000_000_000;
        assert_eq!(ns("1795230127"), Ok(1_795_230_127_000_000_000));
        assert_eq!(ns("1795230127.8"), Ok(1_795_230_127_800_000_000));
        assert_eq!(ns("-5.000000001"), Ok(-5_000_000_001));
        assert_eq!(ns("2026-11-21"), Ok(day));
        assert_eq!(ns("2026-11-21 03:02"), Ok(hm));
        assert_eq!(ns("2026-11-21T03:02"), Ok(hm));
        assert_eq!(ns("2026-11-21 03:02:07.8"), Ok(hm + 7_800_000_000));
        assert_eq!(ns("03:02"), Ok(hm));
        assert_eq!(ns("03:02:07.000000008"), Ok(hm + 7_000_000_008));
    }

    #[test]
    fn invalid_times_are_refused() {
        for bad in [
            "",
            "-",
            ".5",
            "1.",
            "1.1234567891",
            "1e3",
            "0x10",
            " 1",
            "3:2:8",
            "03:02.5",
            "03:02:08:1",
            "2026-11-21  03:02",
            "2026-1-21 03:02",
            "2026-11-21x",
            "€€€€",
            "2026-11-2€ 03:02",
        ] {
            assert_eq!(ns(bad), Err(TimeArgError::Notation), "{bad}");
        }
        for bad in [
            "2026-13-01",
            "25:00",
            "9999-01-01",
            "9223372037",
            "99999999999999999999999999999999999999999",
        ] {
            assert_eq!(ns(bad), Err(TimeArgError::Range), "{bad}");
        }
        let time: TimeArg = "03:02".parse().unwrap();
        assert!(time.needs_date());
        assert_eq!(time.resolve(&TimeZone::UTC, None), Err(TimeArgError::NoDate));
    }

    #[test]
    fn time_ranges() {
        let range: TimeRange = "[03:02:07,5]".parse().unwrap();
        assert_eq!(range, "03:02:07,5".parse().unwrap());
        assert_eq!(range.end, TimeArg::Origin(Timestamp::from_ns(5_000_000_000)));
        assert_eq!("5".parse::<TimeRange>(), Err(TimeArgError::Pair));
        assert_eq!("[5,6".parse::<TimeRange>(), Err(TimeArgError::Pair));
    }
}
