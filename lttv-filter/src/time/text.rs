//! Times as they were typed.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use jiff::tz::Offset;

use super::civil::{self, CivilError, CivilTime, NS_PER_S};
use super::error::{TimeError, TimeErrorKind};
use super::length::{decimal, length};

/// A time as a user typed it, in one of the notations of an [`Environment`](crate::Environment).
///
/// It is parsed before traces are opened, and becomes an instant with them:
/// [`Environment::resolve`](crate::Environment::resolve).
///
/// ```
/// use lttv_filter::TimeText;
///
/// let time: TimeText = "14:03:05.2".parse()?;
/// assert_eq!(time.to_string(), "14:03:05.2");
/// let error = "14h03".parse::<TimeText>().unwrap_err();
/// assert!(error.to_string().starts_with("`14h03` is not a time"));
/// # Ok::<(), lttv_filter::TimeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeText {
    text: String,
    pub(crate) form: Form,
}

/// The notation and value of a time. Numbers are in ns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// A date and time, and the name of the time zone that follows it.
    Date(CivilTime, Option<String>),
    /// A time of day since midnight, and its offset from UTC.
    TimeOfDay(i64, Option<Offset>),
    /// A number of seconds or nanoseconds.
    Integer(i128),
    /// Seconds since the origin, with a point.
    Seconds(i128),
    /// A length with a unit since the origin.
    SinceOrigin(i64),
    /// A length after the first event.
    AfterFirst(i64),
    /// A length before the last event.
    BeforeLast(i64),
}

impl TimeText {
    /// Returns the text as it was typed.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns `true` if the time counts from the first event: `+20ms`.
    pub(crate) fn is_after_first(&self) -> bool {
        matches!(self.form, Form::AfterFirst(_))
    }
}

impl Display for TimeText {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for TimeText {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let form = parse(text).map_err(|kind| kind.of(text))?;
        Ok(TimeText { text: text.to_owned(), form })
    }
}

fn parse(text: &str) -> Result<Form, TimeErrorKind> {
    if let Some(after) = text.strip_prefix('+') {
        return length(after, Some(NS_PER_S)).map(Form::AfterFirst);
    }
    let has_unit = text.ends_with(|c: char| c.is_alphabetic() && c != 'Z' && c != 'z');
    let is_date = text.get(..10).is_some_and(|date| date.as_bytes()[4] == b'-');
    if let Some(before) = text.strip_prefix('-')
        && has_unit
    {
        return length(before, None).map(Form::BeforeLast);
    }
    if is_date {
        return date(text);
    }
    if text.contains(':') {
        return time_of_day(text);
    }
    if has_unit {
        return length(text, None).map(Form::SinceOrigin);
    }
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let signed = |number: i128| if is_negative { -number } else { number };
    match digits.contains('.') {
        true => decimal(digits, NS_PER_S).map(|ns| Form::Seconds(signed(ns))),
        false => decimal(digits, 1).map(|number| Form::Integer(signed(number))),
    }
}

/// Parses a date and time, which the name of a zone may follow.
fn date(text: &str) -> Result<Form, TimeErrorKind> {
    let of = |text: &str| civil::date_time(text).map_err(kind);
    // The first blank is that between the date and the time.
    let last = text
        .rfind(' ')
        .filter(|at| *at > 10 && text[11..].starts_with(|c: char| c.is_ascii_digit()));
    match last {
        Some(at) if text[at + 1..] == *"UTC" => {
            let time = of(&text[..at])?;
            if time.offset.is_some() {
                return Err(TimeErrorKind::Notation);
            }
            Ok(Form::Date(CivilTime { offset: Some(Offset::UTC), ..time }, None))
        }
        Some(at) => {
            let (time, name) = (of(&text[..at])?, &text[at + 1..]);
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | ':');
            if time.offset.is_some() || name.is_empty() || !name.chars().all(is_name) {
                return Err(TimeErrorKind::Notation);
            }
            Ok(Form::Date(time, Some(name.to_owned())))
        }
        None => of(text).map(|time| Form::Date(time, None)),
    }
}

/// Parses a time of day, which an offset may follow.
fn time_of_day(text: &str) -> Result<Form, TimeErrorKind> {
    let (clock, offset) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => (&text[..at], Some(civil::offset(&text[at..]).map_err(kind)?)),
        None => (text, None),
    };
    civil::time_of_day(clock).map(|ns| Form::TimeOfDay(ns, offset)).map_err(kind)
}

fn kind(error: CivilError) -> TimeErrorKind {
    match error {
        CivilError::Time | CivilError::Date => TimeErrorKind::Notation,
        CivilError::Range => TimeErrorKind::Range,
    }
}
