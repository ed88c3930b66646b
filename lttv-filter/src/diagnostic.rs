//! What is wrong with an expression, and where.

use std::cmp::Reverse;
use std::fmt;

use ltt_read::metadata::Span;

/// One thing that is wrong with an expression, or should be known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Where it is: bytes of the expression's text.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// Said of the place itself; may be empty.
    pub label: String,
    /// Why, or how to fix it.
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
///
/// It is always the expression that is wrong, as opposed to what is read: a program
/// reports it as an error of usage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct FilterError {
    kind: FilterErrorKind,
    text: String,
    diagnostics: Vec<Diagnostic>,
}

/// After so many faults the rest is of no interest.
pub(crate) const MAX_ERRORS: usize = 20;

/// What an expression is lacking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FilterErrorKind {
    /// There is no expression: the text is empty, or blank.
    Empty,
    /// The text, or the tree, is no expression.
    Syntax,
    /// The expression asks for what no record has, or compares what cannot be
    /// compared.
    Meaning,
}

impl FilterError {
    /// Sorted by place; no more than a person would read.
    pub(crate) fn new(kind: FilterErrorKind, text: &str, mut diagnostics: Vec<Diagnostic>) -> Self {
        sort(&mut diagnostics);
        diagnostics.truncate(MAX_ERRORS);
        FilterError { kind, text: text.to_owned(), diagnostics }
    }

    /// What the expression is lacking.
    pub fn kind(&self) -> FilterErrorKind {
        self.kind
    }

    /// The expression's text; spans refer to it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is wrong, in the order of the text: at least one thing, at most 20.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        lines(f, &self.text, &self.diagnostics)
    }
}

/// What should be known of an expression that can be used: that it is never or always
/// true, or that a part of it is.
///
/// `Display` gives a line for each note, with the column;
#[cfg_attr(feature = "render", doc = "[`render`](Self::render) draws the expression")]
#[cfg_attr(not(feature = "render"), doc = "`render` (a feature) draws the expression")]
/// with the places underlined.
///
/// ```
/// use lttv_filter::{Expression, Filters};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traces = ltt_read::open_all(path)?;
/// let expression = Expression::parse("next_prio < 3000000000 && event.name == sched_swich")?;
/// let filters = Filters::new(&expression, &traces)?;
/// assert_eq!(filters.notes().to_string(), "\
/// column 1: nothing passes this filter
/// column 1: this is true wherever `next_prio` is there: \
/// `next_prio` holds integers from -2147483648 to 2147483647
/// column 27: this part is never true (perhaps `\"sched_switch\"`)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilterNotes {
    text: String,
    diagnostics: Vec<Diagnostic>,
}

impl FilterNotes {
    /// Sorted by place.
    pub(crate) fn new(text: &str, mut diagnostics: Vec<Diagnostic>) -> Self {
        sort(&mut diagnostics);
        FilterNotes { text: text.to_owned(), diagnostics }
    }

    /// Whether there is nothing to note.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// The expression's text; spans refer to it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The notes, in the order of the text. One of the whole expression comes before
    /// those of its parts.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl fmt::Display for FilterNotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        lines(f, &self.text, &self.diagnostics)
    }
}

/// By place, what is longer first; each once.
fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|d| (d.span.start, Reverse(d.span.end)));
    diagnostics.dedup();
}

/// A line for each, with the column.
fn lines(f: &mut fmt::Formatter<'_>, text: &str, diagnostics: &[Diagnostic]) -> fmt::Result {
    for (i, diagnostic) in diagnostics.iter().enumerate() {
        if i > 0 {
            f.write_str("\n")?;
        }
        let before = text.get(..diagnostic.span.start as usize).unwrap_or(text);
        write!(f, "column {}: {diagnostic}", before.chars().count() + 1)?;
    }
    Ok(())
}
