//! Values in expressions.

use jiff::SignedDuration;
use jiff::civil::{self, Date, Time};
use jiff::tz::Offset;

use super::exact::ExactNumber;

/// A value in an expression. What it means depends on the field that it is
/// compared with: text may be a label, a number of seconds a time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LiteralKind {
    /// An integer.
    Int(i128),
    /// An integer of more than 128 bits.
    LargeInt(ExactNumber),
    /// A decimal fraction with at most 9 digits after the point, in units of
    /// 10⁻⁹: exact, for times.
    Decimal(i128),
    /// A number with an exponent, or with more digits after the point (finite): the one
    /// that the double is printed as.
    Float(f64),
    /// Any other number with a point or an exponent: it has more digits than a double.
    Number(ExactNumber),
    /// `true` or `false`.
    Bool(bool),
    /// Text, a label, or a pattern.
    Text(String),
    /// A number with a unit of time, in nanoseconds: `12ms`.
    Duration(i128),
    /// The same, if it has a part of a nanosecond, or is larger: `0.5ns`.
    FineDuration(ExactNumber),
    /// A time of day, in nanoseconds since midnight: `03:02:07.5`.
    TimeOfDay(i64),
    /// A date with a time: `2026-11-21T03:02:07.5Z`.
    DateTime(CivilTime),
}

/// A date and time as clocks on the wall show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CivilTime {
    pub(crate) at: civil::DateTime,
    /// How far the wall is from Greenwich; `None` for the zone of
    /// [`Environment`](crate::Environment).
    pub(crate) offset: Option<Offset>,
}

impl CivilTime {
    /// A time (in ns since midnight) of a day (year, month and day from 1), of a zone
    /// that is so many seconds east of Greenwich, or else that of the
    /// [`Environment`](crate::Environment). `None` if there is no such time.
    ///
    /// ```
    /// use lttv_filter::{CivilTime, LiteralKind, Selector};
    ///
    /// let noon = CivilTime::new((2026, 11, 21), 43_200_000_000_000, Some(3600)).expect("a day");
    /// let after = Selector::bare("time").gt(LiteralKind::DateTime(noon));
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

    /// Year, month and day.
    pub fn date(&self) -> (i16, u8, u8) {
        let date = self.at.date();
        (date.year(), date.month().unsigned_abs(), date.day().unsigned_abs())
    }

    /// Nanoseconds since midnight.
    pub fn ns_of_day(&self) -> u64 {
        let ns = self.at.time().duration_since(Time::midnight()).as_nanos();
        ns.try_into().unwrap_or_default() // not negative
    }

    /// Seconds east of Greenwich, if they are said.
    pub fn offset(&self) -> Option<i32> {
        self.offset.map(Offset::seconds)
    }
}

impl LiteralKind {
    /// What it is, for error messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            LiteralKind::Int(_) | LiteralKind::LargeInt(_) => "an integer",
            LiteralKind::Decimal(_) | LiteralKind::Float(_) | LiteralKind::Number(_) => {
                "a decimal fraction"
            }
            LiteralKind::Bool(_) => "a truth value",
            LiteralKind::Text(_) => "text",
            LiteralKind::Duration(_) | LiteralKind::FineDuration(_) => "a span of time",
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

impl From<f64> for LiteralKind {
    fn from(number: f64) -> Self {
        LiteralKind::Float(number)
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
                LiteralKind::Int(number.into())
            }
        }
    )*};
}

from_integer!(u8, u16, u32, u64, i8, i16, i32, i64);
