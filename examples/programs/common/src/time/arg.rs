//! Times in arguments: `--begin`, `--end`, `--timerange`, prompts.

use std::str::FromStr;

use jiff::civil;
use jiff::tz::TimeZone;
use ltt_read::{TimeSpan, Timestamp};

/// The notations of times, for the help of programs.
pub const HELP: &str = "\
Times:
  YYYY-MM-DD [hh:mm[:ss[.NANO]]]   a date and time (local, unless --utc)
  hh:mm[:ss[.NANO]]                on the day of the first event
  [-]SEC[.NANO]                    seconds since the origin of the clock
  +TIME, -TIME                     after the first, before the last event: +1.5, +20ms, -1s
A Z after a date or a time of day means UTC. Units are ns, us, ms, s, min and h.";

/// Nanoseconds per second.
const NS: i64 = 1_000_000_000;

/// The units of lengths of time, in ns.
const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", NS),
    ("min", 60 * NS),
    ("m", 60 * NS),
    ("h", 3600 * NS),
];

/// A time in one of the notations for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeArg {
    /// Seconds since the origin of the clock: `[-]SEC[.NANO]`.
    Origin(Timestamp),
    /// Date and time: `YYYY-MM-DD [hh:mm[:ss[.NANO]]]`, in UTC if a `Z` follows.
    DateTime(civil::DateTime, Place),
    /// Time of day: `hh:mm[:ss[.NANO]]`, on the day of the first event.
    TimeOfDay(civil::Time, Place),
    /// Nanoseconds after the first event: `+20ms`.
    AfterFirst(i64),
    /// Nanoseconds before the last event: `-1s`.
    BeforeLast(i64),
}

/// The zone of a date or time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The time zone of the program.
    Local,
    /// UTC, by a `Z` after the time.
    Utc,
}

/// An error from parsing or resolving a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeArgError {
    /// The text fits no notation.
    #[error(
        "expected `YYYY-MM-DD [hh:mm[:ss[.NANO]]]`, `hh:mm[:ss[.NANO]]`, `[-]SECONDS[.NANO]`, \
         or a time from the first event such as `+20ms` or before the last one such as `-1s`"
    )]
    Notation,
    /// The text fits a notation, but there is no such time, or it cannot be represented.
    #[error("no such time between the years 1678 and 2262")]
    Range,
    /// The text of a range is not a pair of times.
    #[error("expected `FROM..TO`, `FROM,TO` or `[FROM,TO]`")]
    Pair,
    /// A time that relates to an event, without an event that has a time.
    #[error("this time needs a trace whose events have times")]
    NoDate,
}

impl FromStr for TimeArg {
    type Err = TimeArgError;

    fn from_str(text: &str) -> Result<Self, TimeArgError> {
        if let Some(length) = text.strip_prefix('+') {
            return parse_length(length, Some(NS)).map(TimeArg::AfterFirst);
        }
        if let Some(length) = text.strip_prefix('-')
            && text.ends_with(char::is_alphabetic)
        {
            return parse_length(length, None).map(TimeArg::BeforeLast);
        }
        let (text, place) = match text.strip_suffix('Z') {
            Some(rest) => (rest, Place::Utc),
            None => (text, Place::Local),
        };
        if let Some(date) = text.get(..10).filter(|t| t.as_bytes()[4] == b'-') {
            let date = parse_date(date)?;
            let time = match text[10..].strip_prefix([' ', 'T']) {
                Some(time) => parse_time(time)?,
                None if text.len() == 10 => civil::Time::midnight(),
                None => return Err(TimeArgError::Notation),
            };
            return Ok(TimeArg::DateTime(date.to_datetime(time), place));
        }
        if text.contains(':') {
            return parse_time(text).map(|time| TimeArg::TimeOfDay(time, place));
        }
        if place == Place::Utc {
            return Err(TimeArgError::Notation);
        }
        let (negative, abs) = match text.strip_prefix('-') {
            Some(abs) => (true, abs),
            None => (false, text),
        };
        let total = parse_decimal(abs, NS)?;
        let total = if negative { -total } else { total };
        let total = i64::try_from(total).map_err(|_| TimeArgError::Range)?;
        Ok(TimeArg::Origin(Timestamp::from_ns(total)))
    }
}

impl TimeArg {
    /// Returns the point in time. `events` returns the times of the first and the last event,
    /// and is only called if the time relates to them.
    ///
    /// # Errors
    ///
    /// If the time cannot be represented, or if it relates to an event and `events` returns
    /// `None`.
    pub fn resolve(
        &self,
        zone: &TimeZone,
        events: impl FnOnce() -> Option<TimeSpan>,
    ) -> Result<Timestamp, TimeArgError> {
        let zone_of = |place| match place {
            Place::Local => zone.clone(),
            Place::Utc => TimeZone::UTC,
        };
        let from = |time: Timestamp, length: Option<i64>| {
            let ns = length.and_then(|length| time.as_ns().checked_add(length));
            ns.map(Timestamp::from_ns).ok_or(TimeArgError::Range)
        };
        let events = || events().ok_or(TimeArgError::NoDate);
        let (civil, zone) = match self {
            TimeArg::Origin(time) => return Ok(*time),
            TimeArg::AfterFirst(length) => return from(events()?.start, Some(*length)),
            TimeArg::BeforeLast(length) => return from(events()?.end, length.checked_neg()),
            TimeArg::DateTime(civil, place) => (*civil, zone_of(*place)),
            TimeArg::TimeOfDay(time, place) => {
                let first = jiff::Timestamp::from_nanosecond(events()?.start.as_ns().into())
                    .map_err(|_| TimeArgError::Range)?;
                let zone = zone_of(*place);
                (zone.to_datetime(first).date().to_datetime(*time), zone)
            }
        };
        let instant = zone.to_timestamp(civil).map_err(|_| TimeArgError::Range)?;
        let ns = i64::try_from(instant.as_nanosecond()).map_err(|_| TimeArgError::Range)?;
        Ok(Timestamp::from_ns(ns))
    }
}

/// Parses a length of time: a decimal number and a unit. Without a unit it is a number of
/// `default` ns; `None` if the unit is required.
fn parse_length(text: &str, default: Option<i64>) -> Result<i64, TimeArgError> {
    let at = text.find(char::is_alphabetic).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let per = match unit {
        "" => default.ok_or(TimeArgError::Notation)?,
        _ => UNITS.iter().find(|it| it.0 == unit).ok_or(TimeArgError::Notation)?.1,
    };
    let total = parse_decimal(number.trim_end(), per)?;
    i64::try_from(total).map_err(|_| TimeArgError::Range)
}

/// Parses an offset with its sign, such as `+1.5ms`; without a unit, it is in seconds. Returns it in
/// ns.
///
/// # Errors
///
/// If the text fits no notation, or if the offset cannot be represented.
pub fn parse_offset(text: &str) -> Result<i64, TimeArgError> {
    match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(length), _) => parse_length(length, Some(NS)),
        (_, Some(length)) => parse_length(length, Some(NS)).map(|ns| -ns),
        _ => Err(TimeArgError::Notation),
    }
}

/// Parses a decimal number of `per` ns, with up to nine digits after the point. A part of a
/// nanosecond is refused.
fn parse_decimal(text: &str, per: i64) -> Result<i128, TimeArgError> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, i64::from(parse_fraction(fraction)?)),
        None => (text, 0),
    };
    let whole: i128 = digits(whole)?.parse().map_err(|_| TimeArgError::Range)?;
    let part = i128::from(fraction) * i128::from(per);
    if part % i128::from(NS) != 0 {
        return Err(TimeArgError::Notation);
    }
    let whole = whole.checked_mul(per.into()).ok_or(TimeArgError::Range)?;
    whole.checked_add(part / i128::from(NS)).ok_or(TimeArgError::Range)
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

    const FIRST: i64 = 1_795_230_127_783_410_916;
    const LAST: i64 = 1_795_230_129_000_000_007;

    fn in_zone(text: &str, zone: &TimeZone) -> Result<i64, TimeArgError> {
        let [start, end] = [FIRST, LAST].map(Timestamp::from_ns);
        let time = text.parse::<TimeArg>()?.resolve(zone, || Some(TimeSpan { start, end }));
        time.map(Timestamp::as_ns)
    }

    fn ns(text: &str) -> Result<i64, TimeArgError> {
        in_zone(text, &TimeZone::UTC)
    }

    #[test]
    fn all_notations() {
        let day = 1_795_219_200_000_000_000;
        let hm = day + (3 * 3600 + 2 * 60) * NS;
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
    fn a_z_means_utc_in_any_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let hour = 3600 * NS;
        for text in ["2026-11-21", "2026-11-21 03:02", "03:02:07.5"] {
            let utc = ns(text).unwrap();
            assert_eq!(in_zone(text, &zone), Ok(utc - hour), "{text}");
            assert_eq!(in_zone(&format!("{text}Z"), &zone), Ok(utc), "{text}");
        }
    }

    #[test]
    fn times_from_the_first_and_the_last_event() {
        for (text, length) in [
            ("0", 0),
            ("1.5", 1_500_000_000),
            ("20ms", 20_000_000),
            ("0.25ms", 250_000),
            ("7 us", 7_000),
            ("7µs", 7_000),
            ("3ns", 3),
            ("2min", 120 * NS),
            ("1h", 3600 * NS),
        ] {
            assert_eq!(ns(&format!("+{text}")), Ok(FIRST + length), "{text}");
            if text.ends_with(char::is_alphabetic) {
                assert_eq!(ns(&format!("-{text}")), Ok(LAST - length), "{text}");
            }
        }
        assert_eq!(ns("-1"), Ok(-NS), "without a unit, seconds of the clock");
        for bad in ["+", "+ms", "+-1s", "-+1s", "+1.5ns", "+1.0000000001s", "+1 week", "1s", "+1sZ"]
        {
            assert_eq!(ns(bad), Err(TimeArgError::Notation), "{bad}");
        }
        assert_eq!(ns("+9999999999999h"), Err(TimeArgError::Range));
        assert_eq!(ns("+9223372036s"), Err(TimeArgError::Range), "after the end of time");
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
            "1795230127Z",
            "Z",
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
        for text in ["03:02", "+1s", "-1s"] {
            let time: TimeArg = text.parse().unwrap();
            assert_eq!(time.resolve(&TimeZone::UTC, || None), Err(TimeArgError::NoDate));
        }
    }
}
