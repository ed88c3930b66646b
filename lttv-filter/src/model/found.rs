//! What a selector means.

use std::sync::Arc;

use ltt_read::metadata::Span;

use super::field_type::FieldType;
use crate::diagnostic::Diagnostic;

/// What a selector means for records of one type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Found<F> {
    /// Nothing: none of them has such a field.
    Nothing,
    /// The same for all of them.
    Constant(Constant),
    /// One of few values, known by its number: what the record has is an integer
    /// field, the index of the value here. `None` stands for a value that is not
    /// there. Comparing is done in advance, with each of them.
    OneOf(F, Arc<[Option<Constant>]>),
    /// A field of each record. If there are several, a record has at most one of
    /// them: they are the options of a variant.
    Fields(Vec<Readable<F>>),
}

/// A value that is known in advance.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// Its type: an integer, or text.
    pub of: FieldType,
    /// The value.
    pub value: ConstantValue,
}

/// The value of a [`Constant`].
#[derive(Debug, Clone, PartialEq)]
pub enum ConstantValue {
    /// A number.
    Integer(i128),
    /// Text.
    Text(String),
}

impl Constant {
    /// A number of 64 bits.
    pub fn integer(number: u64) -> Self {
        let value = ConstantValue::Integer(number.into());
        Constant { of: FieldType::integer(64, false), value }
    }

    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Constant { of: FieldType::Text, value: ConstantValue::Text(text.into()) }
    }
}

/// A field that can be read from a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Readable<F> {
    /// What to ask a record with.
    pub field: F,
    /// Its type.
    pub of: FieldType,
    /// Whether all records of the type have it.
    pub always: bool,
}

/// What is wrong with a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub(crate) diagnostic: Diagnostic,
    /// How many steps of the selector are known.
    pub(crate) known: u32,
}

impl Problem {
    /// Something is wrong at a place: usually that of a step.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Problem { diagnostic: Diagnostic::new(span, message), known: 0 }
    }

    /// Adds a hint.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Problem { diagnostic: self.diagnostic.help(help), ..self }
    }

    /// So many steps of the selector are known: of several traces, the one in which
    /// most are is the one that is meant.
    pub(crate) fn knowing(self, known: usize) -> Self {
        Problem { known: u32::try_from(known).unwrap_or(u32::MAX), ..self }
    }

    /// Adds the name that was probably meant, if there is one: see
    /// [`nearest`](ltt_read::metadata::nearest).
    #[must_use]
    pub fn nearest<'n>(self, wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        let span = self.diagnostic.span;
        match ltt_read::metadata::nearest(wanted, names) {
            Some(name) => Problem { diagnostic: self.diagnostic.replace(span, name), ..self },
            None => self,
        }
    }
}
