//! Sums of fields: work that is cheap but cannot be skipped.

use ltt_read::columns::{Column, ColumnValues, Columns};
use ltt_read::{Event, FieldInfo, StrValue, Visitor};

/// The sums of all fields of some events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    /// The sum of all integers and booleans, modulo 2⁶⁴.
    pub integers: u64,
    /// The exclusive or of the bits of all floating-point numbers.
    pub floats: u64,
    /// The total length of all strings and blobs in bytes.
    pub bytes: u64,
}

impl Sums {
    /// Adds all fields of an event's contexts and payload.
    #[inline]
    pub fn add(&mut self, event: &Event<'_>) {
        event.visit_body(self);
    }

    /// Adds all values of columns.
    #[inline]
    pub fn add_columns(&mut self, columns: &Columns) {
        columns.columns().iter().map(Column::values).for_each(|values| self.values(values));
    }

    fn values(&mut self, values: &ColumnValues) {
        match values {
            ColumnValues::Unsigned(values) => {
                self.integer(values.iter().fold(0, |sum, value| sum.wrapping_add(*value)));
            }
            ColumnValues::Signed(values) => {
                self.integer(values.iter().fold(0, |sum, value| sum.wrapping_add(*value as u64)));
            }
            ColumnValues::Float(values) => {
                self.floats = values.iter().fold(self.floats, |bits, value| bits ^ value.to_bits());
            }
            ColumnValues::Bool(values) => {
                self.integer(values.iter().map(|value| u64::from(*value)).sum());
            }
            ColumnValues::Bytes { bytes, .. } => self.bytes += bytes.len() as u64,
            ColumnValues::List { elements, .. } => self.values(elements),
            _ => {}
        }
    }

    /// Adds an integer to the sums.
    #[inline]
    pub fn integer(&mut self, value: u64) {
        self.integers = self.integers.wrapping_add(value);
    }
}

impl Visitor for Sums {
    #[inline]
    fn uint(&mut self, _: &FieldInfo, value: u64) {
        self.integer(value);
    }

    #[inline]
    fn sint(&mut self, _: &FieldInfo, value: i64) {
        self.integer(value as u64);
    }

    #[inline]
    fn boolean(&mut self, _: &FieldInfo, value: bool) {
        self.integer(value.into());
    }

    #[inline]
    fn bits(&mut self, _: &FieldInfo, value: u64) {
        self.integer(value);
    }

    #[inline]
    fn float(&mut self, _: &FieldInfo, value: f64) {
        self.floats ^= value.to_bits();
    }

    #[inline]
    fn string(&mut self, _: &FieldInfo, value: StrValue<'_>) {
        self.bytes += value.bytes.len() as u64;
    }

    #[inline]
    fn blob(&mut self, _: &FieldInfo, value: &[u8]) {
        self.bytes += value.len() as u64;
    }
}
