//! Literals of times of day and dates.

use std::fmt;

use jiff::civil::{Date, Time};
use jiff::tz::Offset;

use super::literal::{CivilTime, LiteralKind};

const NS_PER_S: i64 = 1_000_000_000;

/// An error in a time of day or date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeError {
    /// The text is not of the form `hh:mm[:ss[.fraction]]`.
    Time,
    /// The text is not of the form `YYYY-MM-DD[Thh:mm[:ss[.fraction]][Z|±hh:mm]]`.
    Date,
    /// The date or time does not exist.
    Range,
}

/// Parses a time of day.
pub(super) fn time_of_day(text: &str) -> Result<LiteralKind, TimeError> {
    let time = time(text)?;
    let ns = time.duration_since(Time::midnight()).as_nanos();
    i64::try_from(ns).map(LiteralKind::TimeOfDay).map_err(|_| TimeError::Range)
}

/// Parses a date, optionally with a time of day and an offset.
pub(super) fn date_time(text: &str) -> Result<LiteralKind, TimeError> {
    let mut parts = text.get(..10).ok_or(TimeError::Date)?.split('-');
    let mut part = |width| number(parts.next(), width, TimeError::Date);
    let date = Date::new(part(4)?, part(2)? as i8, part(2)? as i8).map_err(|_| TimeError::Range)?;
    let rest = &text[10..];
    let (clock, offset) = match rest.find(['Z', 'z', '+', '-']) {
        Some(at) => (&rest[..at], Some(offset(&rest[at..])?)),
        None => (rest, None),
    };
    let clock = match clock.strip_prefix(['T', 't', ' ']) {
        Some(clock) => time(clock)?,
        None if clock.is_empty() => Time::midnight(),
        None => return Err(TimeError::Date),
    };
    Ok(LiteralKind::DateTime(CivilTime { at: date.to_datetime(clock), offset }))
}

fn time(text: &str) -> Result<Time, TimeError> {
    let (clock, ns) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, self::fraction(fraction)?),
        None => (text, 0),
    };
    let mut parts = clock.split(':');
    let mut part = |width| number(parts.next(), width, TimeError::Time);
    let hour = if clock.find(':') == Some(1) { part(1)? } else { part(2)? };
    let minute = part(2)?;
    let second = if clock.matches(':').count() > 1 { part(2)? } else { 0 };
    if parts.next().is_some() || ns != 0 && clock.matches(':').count() == 1 {
        return Err(TimeError::Time);
    }
    // Two digits always fit.
    Time::new(hour as i8, minute as i8, second as i8, ns).map_err(|_| TimeError::Range)
}

fn offset(text: &str) -> Result<Offset, TimeError> {
    if text.eq_ignore_ascii_case("z") {
        return Ok(Offset::UTC);
    }
    let (sign, digits) = text.split_at(1);
    let mut parts = digits.split(':');
    let mut part = || number(parts.next(), 2, TimeError::Date);
    let seconds = i32::from(part()?) * 3600 + i32::from(part()?) * 60;
    if parts.next().is_some() {
        return Err(TimeError::Date);
    }
    let seconds = if sign == "-" { -seconds } else { seconds };
    Offset::from_seconds(seconds).map_err(|_| TimeError::Range)
}

/// Parses one to nine digits after the point, in ns.
fn fraction(text: &str) -> Result<i32, TimeError> {
    let digits = (1..=9).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit());
    let value: i32 = text.parse().ok().filter(|_| digits).ok_or(TimeError::Time)?;
    Ok(value * 10i32.pow(9 - text.len() as u32))
}

/// Parses a number of `width` digits (at most four).
fn number(text: Option<&str>, width: usize, error: TimeError) -> Result<i16, TimeError> {
    let text = text.filter(|t| t.len() == width && t.bytes().all(|c| c.is_ascii_digit()));
    text.and_then(|t| t.parse().ok()).ok_or(error)
}

/// Writes a time of day, which parses to an equal value.
pub(super) fn write_time_of_day(f: &mut impl fmt::Write, ns: i64) -> fmt::Result {
    let seconds = ns / NS_PER_S;
    write!(f, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
    write_fraction(f, ns % NS_PER_S)
}

/// Writes a date, which parses to an equal value.
pub(super) fn write_date_time(f: &mut impl fmt::Write, time: CivilTime) -> fmt::Result {
    let (date, clock) = (time.at.date(), time.at.time());
    write!(f, "{:04}-{:02}-{:02}T", date.year(), date.month(), date.day())?;
    write!(f, "{:02}:{:02}:{:02}", clock.hour(), clock.minute(), clock.second())?;
    write_fraction(f, clock.subsec_nanosecond().into())?;
    match time.offset.map(Offset::seconds) {
        None => Ok(()),
        Some(0) => f.write_char('Z'),
        Some(seconds) => {
            let (sign, abs) = (if seconds < 0 { '-' } else { '+' }, seconds.abs());
            write!(f, "{sign}{:02}:{:02}", abs / 3600, abs / 60 % 60)
        }
    }
}

fn write_fraction(f: &mut impl fmt::Write, ns: i64) -> fmt::Result {
    if ns == 0 {
        return Ok(());
    }
    write!(f, ".{}", format!("{ns:09}").trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(literal: Result<LiteralKind, TimeError>) -> Result<String, TimeError> {
        let mut text = String::new();
        match literal? {
            LiteralKind::TimeOfDay(ns) => write_time_of_day(&mut text, ns).unwrap(),
            LiteralKind::DateTime(time) => write_date_time(&mut text, time).unwrap(),
            other => panic!("{other:?}"),
        }
        Ok(text)
    }

    #[test]
    fn times_accept_all_forms() {
        for (text, as_printed) in [
            ("03:02", "03:02:00"),
            ("3:02:07", "03:02:07"),
            ("23:59:59.999999999", "23:59:59.999999999"),
            ("03:02:07.5", "03:02:07.5"),
        ] {
            assert_eq!(printed(time_of_day(text)).as_deref(), Ok(as_printed));
        }
        for (text, as_printed) in [
            ("2026-11-21", "2026-11-21T00:00:00"),
            ("2026-11-21 03:02", "2026-11-21T03:02:00"),
            ("2026-11-21T03:02:07.25Z", "2026-11-21T03:02:07.25Z"),
            ("2026-11-21T03:02:07+05:30", "2026-11-21T03:02:07+05:30"),
            ("2026-11-21t03:02:07-01:00", "2026-11-21T03:02:07-01:00"),
        ] {
            assert_eq!(printed(date_time(text)).as_deref(), Ok(as_printed));
        }
    }

    #[test]
    fn times_refuse_invalid_text() {
        for text in ["3", "3:2", "03:02.5", "03:02:08:1", "03:02:08.", "03:02:08.1234567891"] {
            assert_eq!(time_of_day(text), Err(TimeError::Time), "{text}");
        }
        assert_eq!(time_of_day("25:00"), Err(TimeError::Range));
        for text in ["2026-1-21", "2026-11-21T", "2026-11-21x", "2026-11-21T03:02+1"] {
            assert!(date_time(text).is_err(), "{text}");
        }
        assert_eq!(date_time("2026-13-01"), Err(TimeError::Range));
        assert_eq!(date_time("2026-11-21T03:02+99:00"), Err(TimeError::Range));
    }
}
