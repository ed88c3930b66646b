//! What is wrong with an expression, and where.

use std::fmt;

use ltt_read::metadata::Span;

/// One thing that is wrong with an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Where it is: bytes of the expression's text.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// Said of the place itself; may be empty.
    pub label: String,
    /// Why, or how to mend it.
    pub help: Option<String>,
    /// A text that could stand instead of the bytes of this span.
    pub replacement: Option<(Span, String)>,
}

impl Diagnostic {
    /// Something is wrong at a place.
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        let (message, label) = (message.into(), String::new());
        Diagnostic { span, message, label, help: None, replacement: None }
    }

    /// Says something of the place.
    pub(crate) fn label(self, label: impl Into<String>) -> Self {
        Diagnostic { label: label.into(), ..self }
    }

    /// Adds a hint.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Diagnostic { help: Some(help.into()), ..self }
    }

    /// Adds what could stand at a place.
    pub(crate) fn replace(self, span: Span, text: impl Into<String>) -> Self {
        Diagnostic { replacement: Some((span, text.into())), ..self }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.label.is_empty() {
            write!(f, ": {}", self.label)?;
        }
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        if let Some((_, text)) = &self.replacement {
            write!(f, " (perhaps `{text}`)")?;
        }
        Ok(())
    }
}

/// An expression that cannot be used: what is wrong with it, all that could be
/// found out at once.
///
/// `Display` gives a line for each, with the column;
#[cfg_attr(feature = "render", doc = "[`render`](Self::render) draws the expression")]
#[cfg_attr(not(feature = "render"), doc = "`render` (a feature) draws the expression")]
/// with the places underlined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct FilterError {
    text: String,
    diagnostics: Vec<Diagnostic>,
}

impl FilterError {
    /// Sorted by place.
    pub(crate) fn new(text: &str, mut diagnostics: Vec<Diagnostic>) -> Self {
        diagnostics.sort_by_key(|d| (d.span.start, d.span.end));
        diagnostics.dedup();
        FilterError { text: text.to_owned(), diagnostics }
    }

    /// The expression's text; spans refer to it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is wrong, in the order of the text; at least one.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            let before = self.text.get(..diagnostic.span.start as usize).unwrap_or(&self.text);
            write!(f, "column {}: {diagnostic}", before.chars().count() + 1)?;
        }
        Ok(())
    }
}
