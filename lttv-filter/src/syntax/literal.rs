//! Literals in expressions.

use jiff::SignedDuration;
use jiff::civil::{self, Date, Time};
use jiff::tz::Offset;

use super::exact::ExactNumber;

/// The kind and value of a literal. Its meaning depends on the type of the field that it
/// is compared with: text can be a label, and a number can be a time in seconds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LiteralKind {
    /// A number without a point and an exponent: `-12`, `0x1f`.
    Integer(ExactNumber),
    /// A number with a point or an exponent: `0.5`, `1e-3`. Compared with a floating-point
    /// field, it means the nearest double.
    Decimal(ExactNumber),
    /// A truth value: `true` or `false`.
    Bool(bool),
    /// A text, label or pattern.
    Text(String),
    /// A duration in ns: `12ms`, `0.5ns`.
    Duration(ExactNumber),
    /// A time of day, in ns since midnight: `03:02:07.5`.
    TimeOfDay(i64),
    /// A date with a time: `2026-11-21T03:02:07.5Z`.
    DateTime(CivilTime),
}

/// A civil date and time, optionally with an offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CivilTime {
    pub(crate) at: civil::DateTime,
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

    /// Returns the time of day, in ns since midnight.
    pub fn ns_of_day(&self) -> u64 {
        let ns = self.at.time().duration_since(Time::midnight()).as_nanos();
        ns.try_into().unwrap_or_default() // not negative
    }

    /// Returns the offset in seconds east of Greenwich. `None` for the zone of the
    /// environment.
    pub fn offset(&self) -> Option<i32> {
        self.offset.map(Offset::seconds)
    }
}

impl LiteralKind {
    /// Converts a double to the shortest decimal number that rounds to it. Returns `None`
    /// if it is not finite.
    ///
    /// ```
    /// use lttv_filter::{LiteralKind, Selector};
    ///
    /// let half = LiteralKind::decimal(0.5).expect("a finite number");
    /// assert_eq!(Selector::field("load").gt(half).to_string(), "load > 0.5");
    /// assert_eq!(LiteralKind::decimal(f64::NAN), None);
    /// ```
    pub fn decimal(number: f64) -> Option<Self> {
        ExactNumber::from_double(number).map(LiteralKind::Decimal)
    }

    /// Returns the name of the kind, for error messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            LiteralKind::Integer(_) => "an integer",
            LiteralKind::Decimal(_) => "a decimal fraction",
            LiteralKind::Bool(_) => "a truth value",
            LiteralKind::Text(_) => "text",
            LiteralKind::Duration(_) => "a duration",
            LiteralKind::TimeOfDay(_) => "a time of day",
            LiteralKind::DateTime(_) => "a date",
        }
    }
}

impl From<&str> for LiteralKind {
    fn from(text: &str) -> Self {
        LiteralKind::Text(text.to_owned())
    }
}

impl From<String> for LiteralKind {
    fn from(text: String) -> Self {
        LiteralKind::Text(text)
    }
}

impl From<bool> for LiteralKind {
    fn from(truth: bool) -> Self {
        LiteralKind::Bool(truth)
    }
}

macro_rules! from_integer {
    ($($from:ty),*) => {$(
        impl From<$from> for LiteralKind {
            fn from(number: $from) -> Self {
                LiteralKind::Integer(i128::from(number).into())
            }
        }
    )*};
}

from_integer!(u32, u64, i32, i64);
