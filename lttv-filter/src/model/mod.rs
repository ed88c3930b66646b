//! Descriptions of records for filters.
//!
//! Traces need no description: see [`Filter`](crate::Filter). An application with records
//! of one type describes them by [`Columns`](crate::Columns). For several types, it
//! implements [`Model`]; [`RecordFilter`](crate::RecordFilter) has an example. Lists of its
//! fields are made by [`Vocabulary::of_fields`](crate::Vocabulary::of_fields).

mod field_type;
mod found;

use std::borrow::Cow;
use std::fmt::Debug;

pub use field_type::{FieldType, Hint, IntegerKind, IntegerType, Label, Spelling};
pub use found::{Constant, ConstantValue, FieldAccess, Resolution, SelectorError};

use crate::syntax::Selector;

/// The types of records, and the access to their fields.
///
/// The types of records are numbered from 0, like event types. Each selector is resolved
/// once per type, not per record.
pub trait Model {
    /// The key by which the value of a field is read from a record.
    type Field: Clone + Debug;

    /// The records, which may borrow for `'r`.
    type Record<'r>;

    /// Returns the number of types.
    fn types(&self) -> u32;

    /// Finds the fields that a selector refers to in records of a type.
    fn find(&self, record_type: u32, selector: &Selector) -> Resolution<Self::Field>;

    /// Finds the longer form of a name that a selector refers to: `CHANNEL.EVENT` for the
    /// name of an event. Text and patterns that contain a point are compared with both
    /// forms, others with the result of [`find`](Self::find) only. The default is no longer
    /// form.
    fn find_qualified(&self, record_type: u32, selector: &Selector) -> Resolution<Self::Field> {
        _ = (record_type, selector);
        Resolution::Nothing
    }

    /// Finds the shorter form of a name that a selector refers to: `sched_switch` for an event
    /// named `sched:sched_switch`. Text and patterns without a colon are compared with both
    /// forms, others with the result of [`find`](Self::find) only. The default is no shorter
    /// form.
    fn find_short(&self, record_type: u32, selector: &Selector) -> Resolution<Self::Field> {
        _ = (record_type, selector);
        Resolution::Nothing
    }

    /// Checks a selector. Called before [`find`](Self::find), and independently of a
    /// type.
    ///
    /// # Errors
    ///
    /// Returns an error if the selector is invalid for all types.
    fn check(&self, selector: &Selector) -> Result<(), SelectorError>;

    /// Returns the number of a record's type.
    fn record_type(record: &Self::Record<'_>) -> u32;

    /// Returns the value of an integer field, sign-extended if it is signed. `None` if
    /// the record does not have the field. The default is a record without integers.
    fn integer(record: &Self::Record<'_>, field: &Self::Field) -> Option<u64> {
        _ = (record, field);
        None
    }

    /// Returns the value of a floating-point field. `None` if the record does not have
    /// the field. The default is a record without such fields.
    fn float(record: &Self::Record<'_>, field: &Self::Field) -> Option<f64> {
        _ = (record, field);
        None
    }

    /// Returns the value of a text field in UTF-8, as far as it is valid. `None` if the
    /// record does not have the field. The default is a record without text.
    fn text<'a>(record: &'a Self::Record<'_>, field: &Self::Field) -> Option<Cow<'a, [u8]>> {
        _ = (record, field);
        None
    }

    /// Returns `true` if a record has a field of any other type. The default is `false`.
    fn has(record: &Self::Record<'_>, field: &Self::Field) -> bool {
        _ = (record, field);
        false
    }
}
