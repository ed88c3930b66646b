//! Diagnostics of metadata text.

use std::fmt;

use crate::schema::span::Span;

/// The severity of a diagnostic.
// Exhaustive: a diagnostic either stops parsing or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The metadata can be used.
    Warning,
    /// The metadata cannot be used.
    Error,
}

/// A problem in metadata text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The severity of the problem.
    pub severity: Severity,
    /// The position of the problem in the text.
    pub span: Span,
    /// The problem, and the expected input.
    pub message: String,
    /// The constructs around the position, outermost first (for example "in `event`
    /// block", "in member `len`").
    pub context: Vec<Context>,
    /// A suggested fix, if there is a good guess.
    pub help: Option<String>,
}

/// A construct around the position of a [`Diagnostic`].
// Exhaustive: a construct has a name and a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The position of the construct.
    pub span: Span,
    /// The description of the construct.
    pub what: String,
}

impl Diagnostic {
    /// Creates an error at a position.
    pub(crate) fn error(span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            span,
            message: shortened(message.into()),
            context: Vec::new(),
            help: None,
        }
    }

    /// Creates a warning at a position.
    pub(crate) fn warning(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(span, message) }
    }

    /// Adds a construct around those that were added before.
    #[must_use]
    pub(crate) fn within(mut self, span: Span, what: impl Into<String>) -> Self {
        self.context.insert(0, Context { span, what: shortened(what.into()) });
        self
    }

    /// Adds a suggested fix.
    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shortened(help.into()));
        self
    }
}

/// The maximum number of characters of a text. Longer ones contain names or paths of the metadata, which
/// have any length.
const MOST: usize = 600;

/// Leaves out the middle of a long text.
fn shortened(text: String) -> String {
    let count = text.chars().count();
    if count <= MOST {
        return text;
    }
    let (start, end) = (MOST * 2 / 3, MOST / 3);
    let head = text.chars().take(start);
    head.chain(['…']).chain(text.chars().skip(count - end)).collect()
}

/// A line and column, both counted from 1. Columns count bytes.
// Exhaustive: a pair of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineColumn {
    /// The line number, from 1.
    pub line: u32,
    /// The column number in bytes, from 1.
    pub column: u32,
}

impl LineColumn {
    /// Computes the line and column of a byte offset in a text.
    pub(crate) fn of(text: &str, offset: u32) -> Self {
        let before = &text.as_bytes()[..text.len().min(offset as usize)];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |n| n + 1);
        LineColumn {
            line: memchr::memchr_iter(b'\n', before).count() as u32 + 1,
            column: (before.len() - line_start) as u32 + 1,
        }
    }
}

/// An error from metadata that cannot be used.
///
/// `Display` prints a line for each diagnostic: `LINE:COLUMN: MESSAGE` and the constructs
/// around the position, innermost first.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetadataError {
    /// The diagnostics in text order. At least one is an error.
    pub diagnostics: Vec<LocatedDiagnostic>,
}

/// A diagnostic with its place in the metadata text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocatedDiagnostic {
    /// The problem.
    pub diagnostic: Diagnostic,
    /// The line and column of its position.
    pub place: LineColumn,
    /// The text of that line, without its line break, at most 2000 characters.
    pub line: String,
}

impl MetadataError {
    pub(crate) fn new(text: &str, diagnostics: Vec<Diagnostic>) -> Self {
        let located = |diagnostic: Diagnostic| LocatedDiagnostic {
            place: LineColumn::of(text, diagnostic.span.start),
            line: line_at(text, diagnostic.span.start),
            diagnostic,
        };
        MetadataError { diagnostics: diagnostics.into_iter().map(located).collect() }
    }
}

/// Returns the line that contains a byte, truncated to 2000 characters.
fn line_at(text: &str, offset: u32) -> String {
    let offset = text.len().min(offset as usize);
    let bytes = text.as_bytes();
    let start = memchr::memrchr(b'\n', &bytes[..offset]).map_or(0, |n| n + 1);
    let end = memchr::memchr(b'\n', &bytes[offset..]).map_or(bytes.len(), |n| offset + n);
    String::from_utf8_lossy(&bytes[start..end]).chars().take(2000).collect()
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, located) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            let LocatedDiagnostic { diagnostic: d, place, .. } = located;
            write!(f, "{}:{}: {}", place.line, place.column, d.message)?;
            for c in d.context.iter().rev() {
                write!(f, ", {}", c.what)?;
            }
            if let Some(help) = &d.help {
                write!(f, " ({help})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for MetadataError {}

crate::debug_as_chain!(MetadataError);
