//! Times of day and dates as text.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

pub(super) const NS_PER_S: i64 = 1_000_000_000;

/// A civil date and time, optionally with an offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CivilTime {
    pub(crate) at: DateTime,
    /// The offset from UTC. `None` for the zone of [`Environment`](crate::Environment).
    pub(crate) offset: Option<Offset>,
}

impl CivilTime {
    /// Creates a date (year, month from 1, day from 1) and time (ns since midnight), with
    /// an offset in seconds east of Greenwich, or else in the zone of the
    /// [`Environment`](crate::Environment). Returns `None` if there is no such date or
    /// time.
    ///
    /// ```
    /// use lttv_filter::{CivilTime, LiteralKind, Selector};
    ///
    /// let noon = CivilTime::new((2026, 11, 21), 43_200_000_000_000, Some(3600)).expect("a day");
    /// let after = Selector::field("time").gt(LiteralKind::DateTime(noon));
    /// assert_eq!(after.to_string(), "time > 2026-11-21T12:00:00+01:00");
    /// assert_eq!(CivilTime::new((2026, 2, 29), 0, None), None);
    /// ```
    pub fn new(date: (i16, u8, u8), ns_of_day: u64, offset: Option<i32>) -> Option<Self> {
        let (year, month, day) = date;
        let date = Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()?;
        let ns = SignedDuration::from_nanos(ns_of_day.try_into().ok()?);
        let time = Time::midnight().checked_add(ns).ok()?;
        let offset = offset.map(Offset::from_seconds).transpose().ok()?;
        Some(CivilTime { at: date.to_datetime(time), offset })
    }

    /// Returns the year, month (from 1) and day (from 1).
    pub fn date(&self) -> (i16, u8, u8) {
        let date = self.at.date();
        (date.year(), date.month().unsigned_abs(), date.day().unsigned_abs())
    }

    /// Returns the offset in seconds east of Greenwich. `None` for the zone of the
    /// environment.
    pub fn offset(&self) -> Option<i32> {
        self.offset.map(Offset::seconds)
    }
}

/// An error in a time of day or date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CivilError {
    /// The text is not of the form `hh:mm[:ss[.fraction]]`.
    Time,
    /// The text is not of the form `YYYY-MM-DD[Thh:mm[:ss[.fraction]][Z|±hh:mm]]`.
    Date,
    /// The date or time does not exist.
    Range,
}

/// Parses a time of day, in ns since midnight.
pub(crate) fn time_of_day(text: &str) -> Result<i64, CivilError> {
    let time = time(text)?;
    let ns = time.duration_since(Time::midnight()).as_nanos();
    i64::try_from(ns).map_err(|_| CivilError::Range)
}

/// Parses a date, optionally with a time of day and an offset.
pub(crate) fn date_time(text: &str) -> Result<CivilTime, CivilError> {
    let mut parts = text.get(..10).ok_or(CivilError::Date)?.split('-');
    let mut part = |width| number(parts.next(), width, CivilError::Date);
    let date =
        Date::new(part(4)?, part(2)? as i8, part(2)? as i8).map_err(|_| CivilError::Range)?;
    let rest = &text[10..];
    let (clock, offset) = match rest.find(['Z', 'z', '+', '-']) {
        Some(at) => (&rest[..at], Some(offset(&rest[at..])?)),
        None => (rest, None),
    };
    let clock = match clock.strip_prefix(['T', 't', ' ']) {
        Some(clock) => time(clock)?,
        None if clock.is_empty() => Time::midnight(),
        None => return Err(CivilError::Date),
    };
    Ok(CivilTime { at: date.to_datetime(clock), offset })
}

fn time(text: &str) -> Result<Time, CivilError> {
    let (clock, ns) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, self::fraction(fraction)?),
        None => (text, 0),
    };
    let mut parts = clock.split(':');
    let mut part = |width| number(parts.next(), width, CivilError::Time);
    let hour = if clock.find(':') == Some(1) { part(1)? } else { part(2)? };
    let minute = part(2)?;
    let second = if clock.matches(':').count() > 1 { part(2)? } else { 0 };
    if parts.next().is_some() || ns != 0 && clock.matches(':').count() == 1 {
        return Err(CivilError::Time);
    }
    // Two digits always fit.
    Time::new(hour as i8, minute as i8, second as i8, ns).map_err(|_| CivilError::Range)
}

/// Parses an offset from UTC: `Z` or `±hh:mm`.
pub(super) fn offset(text: &str) -> Result<Offset, CivilError> {
    if text.eq_ignore_ascii_case("z") {
        return Ok(Offset::UTC);
    }
    let (is_negative, digits) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(digits), _) => (false, digits),
        (_, Some(digits)) => (true, digits),
        _ => return Err(CivilError::Date),
    };
    let mut parts = digits.split(':');
    let mut part = || number(parts.next(), 2, CivilError::Date);
    let seconds = i32::from(part()?) * 3600 + i32::from(part()?) * 60;
    // Before time zones, offsets had seconds.
    let seconds =
        if digits.matches(':').count() > 1 { seconds + i32::from(part()?) } else { seconds };
    if parts.next().is_some() {
        return Err(CivilError::Date);
    }
    let seconds = if is_negative { -seconds } else { seconds };
    Offset::from_seconds(seconds).map_err(|_| CivilError::Range)
}

/// Parses one to nine digits after the point, in ns.
pub(super) fn fraction(text: &str) -> Result<i32, CivilError> {
    let digits = (1..=9).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit());
    let value: i32 = text.parse().ok().filter(|_| digits).ok_or(CivilError::Time)?;
    Ok(value * 10i32.pow(9 - text.len() as u32))
}

/// Parses a number of `width` digits (at most four).
fn number(text: Option<&str>, width: usize, error: CivilError) -> Result<i16, CivilError> {
    let text = text.filter(|t| t.len() == width && t.bytes().all(|c| c.is_ascii_digit()));
    text.and_then(|t| t.parse().ok()).ok_or(error)
}

/// Writes a time of day, which parses to an equal value.
pub(crate) fn write_time_of_day(f: &mut impl fmt::Write, ns: i64) -> fmt::Result {
    let seconds = ns / NS_PER_S;
    write!(f, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
    write_fraction(f, ns % NS_PER_S)
}

/// Writes a date, which parses to an equal value.
pub(crate) fn write_date_time(f: &mut impl fmt::Write, time: CivilTime) -> fmt::Result {
    let (date, clock) = (time.at.date(), time.at.time());
    write!(f, "{:04}-{:02}-{:02}T", date.year(), date.month(), date.day())?;
    write!(f, "{:02}:{:02}:{:02}", clock.hour(), clock.minute(), clock.second())?;
    write_fraction(f, clock.subsec_nanosecond().into())?;
    match time.offset.map(Offset::seconds) {
        None => Ok(()),
        Some(0) => f.write_char('Z'),
        Some(seconds) => write_offset(f, seconds),
    }
}

/// Writes an offset in seconds east of Greenwich: `±hh:mm`.
pub(super) fn write_offset(f: &mut impl fmt::Write, seconds: i32) -> fmt::Result {
    let (sign, abs) = (if seconds < 0 { '-' } else { '+' }, seconds.abs());
    write!(f, "{sign}{:02}:{:02}", abs / 3600, abs / 60 % 60)?;
    if abs % 60 == 0 { Ok(()) } else { write!(f, ":{:02}", abs % 60) }
}

/// Writes the fraction of a second without zeros at its end, given in ns.
pub(super) fn write_fraction(f: &mut impl fmt::Write, ns: i64) -> fmt::Result {
    if ns == 0 {
        return Ok(());
    }
    write!(f, ".{}", format!("{ns:09}").trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed_time(text: &str) -> Result<String, CivilError> {
        let mut out = String::new();
        write_time_of_day(&mut out, time_of_day(text)?).unwrap();
        Ok(out)
    }

    fn printed_date(text: &str) -> Result<String, CivilError> {
        let mut out = String::new();
        write_date_time(&mut out, date_time(text)?).unwrap();
        Ok(out)
    }

    #[test]
    fn times_accept_all_forms() {
        for (text, as_printed) in [
            ("03:02", "03:02:00"),
            ("3:02:07", "03:02:07"),
            ("23:59:59.999999999", "23:59:59.999999999"),
            ("03:02:07.5", "03:02:07.5"),
        ] {
            assert_eq!(printed_time(text).as_deref(), Ok(as_printed));
        }
        for (text, as_printed) in [
            ("2026-11-21", "2026-11-21T00:00:00"),
            ("2026-11-21 03:02", "2026-11-21T03:02:00"),
            ("2026-11-21T03:02:07.25Z", "2026-11-21T03:02:07.25Z"),
            ("2026-11-21T03:02:07+05:30", "2026-11-21T03:02:07+05:30"),
            ("2026-11-21t03:02:07-01:00", "2026-11-21T03:02:07-01:00"),
        ] {
            assert_eq!(printed_date(text).as_deref(), Ok(as_printed));
        }
    }

    #[test]
    fn times_refuse_invalid_text() {
        for text in ["3", "3:2", "03:02.5", "03:02:08:1", "03:02:08.", "03:02:08.1234567891"] {
            assert_eq!(time_of_day(text), Err(CivilError::Time), "{text}");
        }
        assert_eq!(time_of_day("25:00"), Err(CivilError::Range));
        for text in ["2026-1-21", "2026-11-21T", "2026-11-21x", "2026-11-21T03:02+1"] {
            assert!(date_time(text).is_err(), "{text}");
        }
        assert_eq!(date_time("2026-13-01"), Err(CivilError::Range));
        assert_eq!(date_time("2026-11-21T03:02+99:00"), Err(CivilError::Range));
    }
}
