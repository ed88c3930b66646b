//! Results of resolving selectors.

use std::sync::Arc;

use crate::span::Span;

use super::field_type::FieldType;
use crate::diagnostic::Diagnostic;

/// The result of resolving a selector for records of one type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Resolution<F> {
    /// No record of the type has such a field.
    Nothing,
    /// A constant value for all records of the type.
    Constant(Constant),
    /// One of a few known values. The integer field of a record is an index into the
    /// values; `None` stands for an absent value. Comparisons are evaluated in advance
    /// for each value.
    OneOf(F, Arc<[Option<Constant>]>),
    /// Fields of records. If there are several, a record has at most one of them: they
    /// are options of a variant.
    Fields(Vec<FieldAccess<F>>),
}

/// A value that is known in advance.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// The type of the value: an integer type or text.
    pub field_type: FieldType,
    /// The value, which has to be of this type.
    pub value: ConstantValue,
}

/// The value of a [`Constant`].
#[derive(Debug, Clone, PartialEq)]
pub enum ConstantValue {
    /// An integer, for an integer type.
    Integer(i128),
    /// A text, for the type of text.
    Text(String),
}

impl Constant {
    /// Creates a constant from an unsigned integer of 64 bits.
    pub fn integer(number: u64) -> Self {
        let value = ConstantValue::Integer(number.into());
        Constant { field_type: FieldType::integer(64, false), value }
    }

    /// Creates a constant from a text.
    pub fn text(text: impl Into<String>) -> Self {
        Constant { field_type: FieldType::Text, value: ConstantValue::Text(text.into()) }
    }
}

/// A field that can be read from a record.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldAccess<F> {
    /// The key for the functions of [`Model`](super::Model) that read records.
    pub field: F,
    /// The type of the field.
    pub field_type: FieldType,
    /// `true` if all records of the type have the field.
    pub always: bool,
}

/// An error in a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError {
    pub(crate) diagnostic: Diagnostic,
    /// The number of valid steps of the selector.
    pub(crate) valid_steps: u32,
}

impl SelectorError {
    /// Creates an error at a span, usually that of a step of the selector.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        SelectorError { diagnostic: Diagnostic::new(span, message), valid_steps: 0 }
    }

    /// Adds a hint to the message.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        SelectorError { diagnostic: self.diagnostic.help(help), ..self }
    }

    /// Sets the number of valid steps of the selector. Of several traces, the error of
    /// the one with most valid steps is reported.
    pub(crate) fn with_valid_steps(self, valid_steps: usize) -> Self {
        SelectorError { valid_steps: u32::try_from(valid_steps).unwrap_or(u32::MAX), ..self }
    }

    /// Adds the nearest name as a suggestion, if there is one: see
    /// [`nearest`](crate::nearest).
    #[must_use]
    pub fn nearest<'n>(self, wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        let span = self.diagnostic.span;
        match crate::suggestion::nearest(wanted, names) {
            Some(name) => SelectorError { diagnostic: self.diagnostic.replace(span, name), ..self },
            None => self,
        }
    }
}
