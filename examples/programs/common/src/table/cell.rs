//! The values in tables.

use ltt_read::Timestamp;

/// The kind of the values in a column, which decides their form in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text, aligned to the left.
    Text,
    /// Integers that identify something: all digits.
    Integer,
    /// Integers that count something: the thousands are separated.
    Count,
    /// Numbers in a unit that another column names, with or without fractions. They have the form of counts.
    Value,
    /// Numbers of bytes, in suitable units.
    Bytes,
    /// Numbers of bytes per second, in suitable units, with fractions.
    BytesPerSecond,
    /// Numbers.
    Decimal,
    /// Parts of a whole in per cent.
    Percent,
    /// Points in time.
    Time,
    /// Lengths of time in ns, in suitable units.
    Duration,
    /// Lengths of time in µs with fractions, in suitable units.
    Microseconds,
}

/// A value in a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// No value.
    Empty,
    /// A text.
    Text(String),
    /// An integer.
    Integer(i128),
    /// A number.
    Number(f64),
    /// A point in time.
    Time(Timestamp),
    /// A length of time in ns.
    Duration(u64),
    /// A difference between two lengths of time in ns.
    Difference(i128),
}

/// Returns a part of a whole in per cent, or nothing if there is no whole.
pub fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole != 0).then(|| part as f64 * 100.0 / whole as f64)
}

/// Returns the difference between two lengths of time in ns: the second one minus the first one.
pub fn difference(from: u64, to: u64) -> i128 {
    i128::from(to) - i128::from(from)
}

/// Returns a text, or nothing if it is empty.
pub fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Cell {
            fn from(number: $integer) -> Self {
                Cell::Integer(number.into())
            }
        }
    )*};
}

from_integers!(u8, u16, u32, u64, i32, i64);

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Cell::Integer(number as i128)
    }
}

impl From<Timestamp> for Cell {
    fn from(time: Timestamp) -> Self {
        Cell::Time(time)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Empty, Into::into)
    }
}
