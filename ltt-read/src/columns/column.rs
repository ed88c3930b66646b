//! A column: the values of one field.

use super::kind::Kind;
use crate::event::Value;

/// The values of a field in the rows of [`Columns`](super::Columns).
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    values: ColumnValues,
    /// A bit for each row, from the lowest one of the first byte on, which is 1 if the event has the
    /// field. Empty as long as all events have it.
    present: Vec<u8>,
}

/// The values of a column.
///
/// Rows without a value have 0, `false`, or no bytes or elements. The vectors have the form of the
/// arrays of Apache Arrow, which can take them over.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ColumnValues {
    /// Unsigned integers, enumerations and bit fields.
    Unsigned(Vec<u64>),
    /// Signed integers and enumerations.
    Signed(Vec<i64>),
    /// Floating-point numbers of any recorded size.
    Float(Vec<f64>),
    /// Booleans.
    Bool(Vec<bool>),
    /// Texts as recorded, up to their terminator, and blobs.
    Bytes {
        /// The start of each value in `bytes`, and the end of the last one.
        offsets: Vec<i64>,
        /// The bytes of all values.
        bytes: Vec<u8>,
    },
    /// Arrays.
    List {
        /// The start of each array in `elements`, and the end of the last one.
        offsets: Vec<i64>,
        /// The elements of all arrays.
        elements: Box<ColumnValues>,
    },
}

impl Column {
    pub(super) fn new(kind: &Kind) -> Self {
        Column { values: ColumnValues::new(kind), present: Vec::new() }
    }

    /// Returns the values of all rows.
    pub fn values(&self) -> &ColumnValues {
        &self.values
    }

    /// Returns `true` if the event of a row has the field. Fields in variants and options, and
    /// elements of arrays, may be absent.
    pub fn has(&self, row: usize) -> bool {
        self.present.is_empty()
            || self.present.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1)
    }

    /// Returns the values, and a bit for each row, from the lowest one of the first byte on, which
    /// is 1 if the event has the field; `None` if all events have it.
    pub fn into_parts(self) -> (ColumnValues, Option<Vec<u8>>) {
        let present = (!self.present.is_empty()).then_some(self.present);
        (self.values, present)
    }

    pub(super) fn values_mut(&mut self) -> &mut ColumnValues {
        &mut self.values
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.present.clear();
    }

    /// Adds an integer of 64 bits.
    #[inline]
    pub(super) fn push_integer(&mut self, value: Option<u64>) {
        self.note(value.is_some());
        let value = value.unwrap_or_default();
        match &mut self.values {
            ColumnValues::Unsigned(values) => values.push(value),
            ColumnValues::Signed(values) => values.push(value as i64),
            _ => debug_assert!(false, "the column is not one of integers"),
        }
    }

    /// Adds a value.
    pub(super) fn push(&mut self, value: Option<Value<'_>>) {
        self.note(value.is_some());
        self.values.push(value);
    }

    /// Notes whether the next row has a value.
    #[inline]
    fn note(&mut self, has_value: bool) {
        if !has_value || !self.present.is_empty() {
            self.note_slowly(has_value);
        }
    }

    #[cold]
    fn note_slowly(&mut self, has_value: bool) {
        let row = self.values.len();
        if self.present.is_empty() {
            self.present = vec![u8::MAX; row / 8];
            self.present.push(((1_u16 << (row % 8)) - 1) as u8);
        } else if self.present.len() <= row / 8 {
            self.present.push(0);
        }
        if let Some(last) = self.present.last_mut() {
            *last |= u8::from(has_value) << (row % 8);
        }
    }
}

impl ColumnValues {
    fn new(kind: &Kind) -> Self {
        match kind {
            Kind::Unsigned => ColumnValues::Unsigned(Vec::new()),
            Kind::Signed => ColumnValues::Signed(Vec::new()),
            Kind::Float => ColumnValues::Float(Vec::new()),
            Kind::Bool => ColumnValues::Bool(Vec::new()),
            Kind::Bytes => ColumnValues::Bytes { offsets: vec![0], bytes: Vec::new() },
            Kind::List(element) => {
                let elements = Box::new(ColumnValues::new(element));
                ColumnValues::List { offsets: vec![0], elements }
            }
        }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            ColumnValues::Unsigned(values) => values.len(),
            ColumnValues::Signed(values) => values.len(),
            ColumnValues::Float(values) => values.len(),
            ColumnValues::Bool(values) => values.len(),
            ColumnValues::Bytes { offsets, .. } | ColumnValues::List { offsets, .. } => {
                offsets.len() - 1
            }
        }
    }

    /// Returns `true` if there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn clear(&mut self) {
        match self {
            ColumnValues::Unsigned(values) => values.clear(),
            ColumnValues::Signed(values) => values.clear(),
            ColumnValues::Float(values) => values.clear(),
            ColumnValues::Bool(values) => values.clear(),
            ColumnValues::Bytes { offsets, bytes } => {
                offsets.truncate(1);
                bytes.clear();
            }
            ColumnValues::List { offsets, elements } => {
                offsets.truncate(1);
                elements.clear();
            }
        }
    }

    /// Adds a value of the kind of the column, or that of a row without one.
    fn push(&mut self, value: Option<Value<'_>>) {
        match self {
            ColumnValues::Unsigned(values) => {
                values.push(value.and_then(|value| value.as_u64()).unwrap_or_default());
            }
            ColumnValues::Signed(values) => {
                values.push(value.and_then(|value| value.as_i64()).unwrap_or_default());
            }
            ColumnValues::Float(values) => {
                values.push(value.and_then(|value| value.as_f64()).unwrap_or_default());
            }
            ColumnValues::Bool(values) => {
                values.push(value.and_then(|value| value.as_bool()).unwrap_or_default());
            }
            ColumnValues::Bytes { offsets, bytes } => {
                match value {
                    Some(Value::Str(text)) => bytes.extend_from_slice(text.bytes),
                    Some(Value::Blob(blob)) => bytes.extend_from_slice(blob),
                    _ => {}
                }
                offsets.push(bytes.len() as i64);
            }
            ColumnValues::List { offsets, elements } => {
                if let Some(Value::Array(array)) = value {
                    array.iter().for_each(|element| elements.push(Some(element)));
                }
                offsets.push(elements.len() as i64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presence_has_a_bit_for_each_row() {
        for first_absent in [0, 1, 7, 8, 9, 17] {
            let mut column = Column::new(&Kind::Unsigned);
            for row in 0..30_u64 {
                let is_present = row < first_absent || row % 3 == 0;
                column.push_integer(is_present.then_some(row));
            }
            for row in 0..30_u64 {
                assert_eq!(column.has(row as usize), row < first_absent || row % 3 == 0, "{row}");
            }
            assert!(!column.has(30));
            column.clear();
            column.push_integer(Some(1));
            assert!(column.has(0));
        }
    }
}
