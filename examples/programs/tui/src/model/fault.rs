//! Errors in answers of the user.

use lttv_filter::FilterError;

/// An error in the answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Fault {
    /// The column in the answer, from 0.
    pub column: usize,
    /// The text of the error.
    pub text: String,
}

impl Fault {
    /// Creates an error in the whole answer.
    pub fn new(text: impl Into<String>) -> Self {
        Fault { column: 0, text: text.into() }
    }
}

impl From<FilterError> for Fault {
    /// Creates a fault from the first diagnostic of a filter.
    fn from(error: FilterError) -> Self {
        let Some(first) = error.diagnostics().first() else { return Fault::new(error.to_string()) };
        let before = error.text().get(..first.span.start as usize).unwrap_or_default();
        Fault { column: before.chars().count(), text: first.to_string() }
    }
}
