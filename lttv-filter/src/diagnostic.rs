//! Errors in expressions, and notes on them.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;

use crate::span::Span;

/// An error in an expression, or a note on it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The span in the expression's text, in bytes.
    pub span: Span,
    /// The message: a lower-case sentence without a full stop.
    pub message: String,
    /// A label for the span; empty if there is none.
    pub label: String,
    /// An explanation, or a hint how to fix the error.
    pub help: Option<String>,
    /// A suggested replacement for the bytes of a span.
    pub replacement: Option<(Span, String)>,
}

impl Diagnostic {
    /// Creates a diagnostic for a span.
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        let (message, label) = (message.into(), String::new());
        Diagnostic { span, message, label, help: None, replacement: None }
    }

    /// Sets the label of the span.
    pub(crate) fn label(self, label: impl Into<String>) -> Self {
        Diagnostic { label: label.into(), ..self }
    }

    /// Sets the explanation or hint.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Diagnostic { help: Some(help.into()), ..self }
    }

    /// Sets the suggested replacement of a span.
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

/// An error from parsing or compiling an expression. It contains all faults that were
/// found at once.
///
/// `Display` writes one line per fault, with the column, while
#[cfg_attr(feature = "render", doc = "[`render`](Self::render) draws the expression")]
#[cfg_attr(not(feature = "render"), doc = "`render` (a feature) draws the expression")]
/// with the faults underlined.
///
/// The cause is always the expression, not the data that is read: a program reports it as
/// a usage error. `Debug` writes the same text as `Display`, for programs whose `main` returns
/// this error.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub struct FilterError {
    kind: FilterErrorKind,
    text: String,
    diagnostics: Vec<Diagnostic>,
}

/// The maximum number of reported faults.
pub(crate) const MAX_ERRORS: usize = 20;

/// The kind of a [`FilterError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FilterErrorKind {
    /// The text of the expression is empty or blank.
    Empty,
    /// The text or tree is not a valid expression.
    Syntax,
    /// The expression refers to a field that no record has, or compares values that
    /// cannot be compared.
    Meaning,
}

impl FilterError {
    /// Creates an error with its faults sorted by span, and at most [`MAX_ERRORS`] of
    /// them.
    pub(crate) fn new(kind: FilterErrorKind, text: &str, mut diagnostics: Vec<Diagnostic>) -> Self {
        sort(&mut diagnostics);
        diagnostics.truncate(MAX_ERRORS);
        FilterError { kind, text: text.to_owned(), diagnostics }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> FilterErrorKind {
        self.kind
    }

    /// Returns the expression's text, to which spans refer.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the faults, at least 1 and at most 20, in the order of the text.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl fmt::Debug for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        lines(f, &self.text, &self.diagnostics)
    }
}

/// Notes on a valid expression: parts that are never or always true.
///
/// `Display` writes one line per note, with the column, while
#[cfg_attr(feature = "render", doc = "[`render`](Self::render) draws the expression")]
#[cfg_attr(not(feature = "render"), doc = "`render` (a feature) draws the expression")]
/// with the parts underlined.
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
/// column 1: this is true wherever `next_prio` is present: \
/// `next_prio` holds integers from -2147483648 to 2147483647
/// column 41: this part is never true: `event.name` never equals this \
/// (perhaps `\"sched_switch\"`)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilterNotes {
    text: String,
    diagnostics: Vec<Diagnostic>,
}

impl FilterNotes {
    /// Creates notes, sorted by span.
    pub(crate) fn new(text: &str, mut diagnostics: Vec<Diagnostic>) -> Self {
        sort(&mut diagnostics);
        FilterNotes { text: text.to_owned(), diagnostics: repeated_less(diagnostics) }
    }

    /// Returns `true` if there are no notes.
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Returns the expression's text, to which spans refer.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the notes, in the order of the text. A note on the whole expression comes
    /// before those on its parts.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl fmt::Display for FilterNotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        lines(f, &self.text, &self.diagnostics)
    }
}

/// The maximum number of notes with the same message, each on a part of its own.
const MAX_SAME: usize = 3;

/// Leaves out notes that repeat a message often. The last one that is kept says how many follow.
fn repeated_less(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    for diagnostic in &diagnostics {
        counts.entry(&diagnostic.message).or_default().1 += 1;
    }
    let mut kept = Vec::new();
    for diagnostic in &diagnostics {
        let (number, all) = counts.entry(&diagnostic.message).or_default();
        *number += 1;
        match *number {
            MAX_SAME if *all > MAX_SAME => {
                let more = *all - MAX_SAME;
                let parts = if more == 1 { "part" } else { "parts" };
                let message = format!("{}, and {more} more {parts}", diagnostic.message);
                kept.push(Diagnostic { message, ..diagnostic.clone() });
            }
            number if number <= MAX_SAME => kept.push(diagnostic.clone()),
            _ => {}
        }
    }
    kept
}

/// Sorts by start of the span, longer spans first, and removes duplicates.
fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|d| (d.span.start, Reverse(d.span.end)));
    diagnostics.dedup();
}

/// Writes one line per diagnostic, with the column.
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
