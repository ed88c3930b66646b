//! Descriptions of records for filters.
//!
//! Traces need no description: see [`Filter`](crate::Filter). An application with records
//! of one type describes them by [`Columns`](crate::Columns). For several types, it implements [`Model`]
//! for the set of types and [`Record`] for the records; [`Compiled`](crate::Compiled) has
//! an example.

mod field_type;
mod found;

use std::borrow::Cow;
use std::fmt::Debug;

pub use field_type::{FieldType, IntegerKind, IntegerType, Label};
pub use found::{Constant, ConstantValue, FieldAccess, Resolution, SelectorError};

use crate::syntax::Selector;

/// The types of records, and their fields.
///
/// The types of records are numbered from 0, like event types. Each selector is resolved
/// once per type, not per record.
pub trait Model {
    /// The key by which the value of a field is read from a record.
    type Field: Clone + Debug;

    /// Returns the number of types.
    fn types(&self) -> u32;

    /// Finds the fields that a selector refers to in records of a type.
    fn find(&self, record_type: u32, selector: &Selector) -> Resolution<Self::Field>;

    /// Checks a selector. Called before [`find`](Self::find), and independently of a
    /// type.
    ///
    /// # Errors
    ///
    /// Returns an error if the selector is invalid for all types.
    fn check(&self, selector: &Selector) -> Result<(), SelectorError>;
}

/// A record that can be filtered.
pub trait Record<F> {
    /// Returns the number of the record's type.
    fn record_type(&self) -> u32;

    /// Returns the value of an integer field, sign-extended if it is signed. `None` if
    /// this record does not have the field.
    fn integer(&self, field: &F) -> Option<u64>;

    /// Returns the value of a floating-point field. `None` if this record does not have
    /// the field.
    fn float(&self, field: &F) -> Option<f64>;

    /// Returns the value of a text field in UTF-8, as far as it is valid. `None` if this
    /// record does not have the field.
    fn text<'a>(&'a self, field: &F) -> Option<Cow<'a, [u8]>>;

    /// Returns `true` if this record has a field of any other type.
    fn has(&self, field: &F) -> bool;
}
