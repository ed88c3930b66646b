//! The numbers of counters.

use std::cmp::Ordering;
use std::fmt;

use ltt_read::Value;

/// The value of a counter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Number {
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
}

impl Number {
    pub(super) const ZERO: Number = Number::Integer(0);

    /// Returns the number in the value of a field; `None` if it is not one.
    pub(super) fn of(value: &Value<'_>) -> Option<Number> {
        Some(match *value {
            Value::Uint(value) | Value::Bits(value) => Number::Integer(value.into()),
            Value::Sint(value) => Number::Integer(value.into()),
            Value::Bool(value) => Number::Integer(value.into()),
            Value::Float(value) if !value.is_nan() => Number::Float(value),
            _ => return None,
        })
    }

    /// Returns the number in floating point, which may be rounded.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Integer(number) => number as f64,
            Number::Float(number) => number,
        }
    }

    pub(super) fn plus(self, other: Number) -> Number {
        match (self, other) {
            (Number::Integer(a), Number::Integer(b)) => Number::Integer(a.saturating_add(b)),
            (a, b) => Number::Float(a.as_f64() + b.as_f64()),
        }
    }

    /// Returns the product with a time in ns.
    pub(super) fn times(self, time: u64) -> Number {
        match self {
            Number::Integer(number) => Number::Integer(number.saturating_mul(time.into())),
            Number::Float(number) => Number::Float(number * time as f64),
        }
    }

    fn order(self, other: Number) -> Ordering {
        match (self, other) {
            (Number::Integer(a), Number::Integer(b)) => a.cmp(&b),
            (a, b) => a.as_f64().total_cmp(&b.as_f64()),
        }
    }

    pub(super) fn least(self, other: Number) -> Number {
        if other.order(self) == Ordering::Less { other } else { self }
    }

    pub(super) fn greatest(self, other: Number) -> Number {
        if other.order(self) == Ordering::Greater { other } else { self }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Integer(number) => number.fmt(f),
            Number::Float(number) => number.fmt(f),
        }
    }
}
