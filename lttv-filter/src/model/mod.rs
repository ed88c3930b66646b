//! What filters need to know of the records that they choose from.
//!
//! For traces all of this is there: see [`Filter`](crate::Filter). A program that
//! has records of its own, all of one type, describes them by [`Columns`]; for
//! several types it implements [`Model`] for what they are in general, and
//! [`Record`] for each of them; [`Compiled`](crate::Compiled) has an example.

mod columns;
mod field_type;
mod found;

use std::borrow::Cow;
use std::fmt::Debug;

pub use columns::{Columns, RecordFilter};
pub use field_type::{FieldType, IntegerType, Label, Unit};
pub use found::{Constant, ConstantValue, Found, Problem, Readable};

use crate::syntax::Selector;

/// What records there are, and what fields they have.
///
/// Records have types, numbered from 0, as events have: what a selector means
/// is found out once for each type, and never again for a record.
pub trait Model {
    /// What a record is asked with for the value of a field.
    type Field: Clone + Debug;

    /// How many types there are.
    fn types(&self) -> u32;

    /// What a selector means for records of a type.
    fn find(&self, record_type: u32, selector: &Selector) -> Found<Self::Field>;

    /// What is wrong with a selector, asked when it means nothing for any type,
    /// or before anything else.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn check(&self, selector: &Selector) -> Result<(), Problem>;
}

/// One record.
pub trait Record<F> {
    /// Number of its type.
    fn record_type(&self) -> u32;

    /// The value of an integer field, signed ones sign-extended; `None` if this
    /// record does not have it.
    fn integer(&self, field: &F) -> Option<u64>;

    /// The value of a floating-point field; `None` if this record does not have
    /// it.
    fn float(&self, field: &F) -> Option<f64>;

    /// The text of a text field, in UTF-8 as far as it is sound; `None` if this
    /// record does not have it.
    fn text<'a>(&'a self, field: &F) -> Option<Cow<'a, [u8]>>;

    /// Whether this record has a field of any other kind.
    fn has(&self, field: &F) -> bool;
}
