//! Literals in expressions.

use super::exact::ExactNumber;
use crate::time::CivilTime;

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
