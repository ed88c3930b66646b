//! Types of fields, as far as comparing goes.

use std::sync::Arc;

use ltt_read::schema::RangeSet;

/// What values a field has.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FieldType {
    /// Integers, labels, truth values, times.
    Integer(IntegerType),
    /// Floating-point numbers.
    Float,
    /// Text: bytes that are UTF-8, or meant to be.
    Text,
    /// What cannot be compared: it is there or not. Says what it is
    /// (`a structure`).
    Opaque(&'static str),
}

/// What integers a field has.
#[derive(Debug, Clone, PartialEq)]
pub struct IntegerType {
    /// The least.
    pub low: i128,
    /// The greatest.
    pub high: i128,
    /// Names of numbers.
    pub labels: Vec<Label>,
    /// What the numbers are.
    pub unit: Unit,
}

/// A name for some numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The name.
    pub name: Arc<str>,
    /// The numbers.
    pub ranges: RangeSet,
}

/// What numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Just numbers (or nanoseconds, if compared with a span of time).
    Number,
    /// False is 0, true is 1.
    Truth,
    /// Points in time, in nanoseconds from the origin of a clock.
    Time,
}

impl FieldType {
    /// Integers of so many bits.
    pub fn integer(bits: u32, signed: bool) -> Self {
        let bits = bits.clamp(1, 64);
        let (low, high) = match signed {
            true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            false => (0, (1i128 << bits) - 1),
        };
        FieldType::Integer(IntegerType { low, high, labels: Vec::new(), unit: Unit::Number })
    }

    /// Truth values: integers 0 and 1.
    pub fn truth() -> Self {
        FieldType::Integer(IntegerType { low: 0, high: 1, labels: Vec::new(), unit: Unit::Truth })
    }

    /// Points in time, in signed nanoseconds.
    pub fn time() -> Self {
        let (low, high) = (i64::MIN.into(), i64::MAX.into());
        FieldType::Integer(IntegerType { low, high, labels: Vec::new(), unit: Unit::Time })
    }

    /// What it is, for error messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            FieldType::Integer(i) => match i.unit {
                Unit::Time => "a time",
                Unit::Truth => "a truth value",
                Unit::Number if !i.labels.is_empty() => "an enumeration",
                Unit::Number => "an integer",
            },
            FieldType::Float => "a floating-point number",
            FieldType::Text => "text",
            FieldType::Opaque(what) => what,
        }
    }
}
