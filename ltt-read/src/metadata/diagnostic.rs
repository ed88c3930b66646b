//! What can be wrong with metadata text, and where.

use std::fmt;

/// A range of bytes of the metadata text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }
}

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The metadata is understood all the same.
    Warning,
    /// The metadata cannot be used.
    Error,
}

/// One thing that is wrong in metadata text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub span: Span,
    /// What is wrong, and what was expected instead.
    pub message: String,
    /// The constructs around the place, outermost first
    /// ("in `event` block", "in member `len`").
    pub context: Vec<Context>,
    /// How to mend it, if there is a good guess.
    pub help: Option<String>,
}

/// A construct that surrounds the place of a [`Diagnostic`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Where the construct begins.
    pub span: Span,
    /// What it is.
    pub what: String,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            span,
            message: message.into(),
            context: Vec::new(),
            help: None,
        }
    }

    /// A warning at a place.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(span, message) }
    }

    /// Adds the construct around those named so far.
    #[must_use]
    pub fn within(mut self, span: Span, what: impl Into<String>) -> Self {
        self.context.insert(0, Context { span, what: what.into() });
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Line and column, both counted from 1; columns count bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineColumn {
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

impl LineColumn {
    /// The line and column of a byte of a text.
    pub fn of(text: &str, offset: u32) -> Self {
        let before = &text.as_bytes()[..text.len().min(offset as usize)];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |n| n + 1);
        LineColumn {
            line: memchr::memchr_iter(b'\n', before).count() as u32 + 1,
            column: (before.len() - line_start) as u32 + 1,
        }
    }
}

/// Metadata that cannot be used, and why.
///
/// `Display` gives a line for each diagnostic: `LINE:COLUMN: MESSAGE` and the
/// constructs around it, innermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetadataError {
    /// Everything that was found, in text order; at least one is an error.
    pub diagnostics: Vec<Diagnostic>,
    /// Line and column of each diagnostic.
    pub places: Vec<LineColumn>,
    /// The line of text at each diagnostic, without its line break.
    pub lines: Vec<String>,
}

impl MetadataError {
    pub(crate) fn new(text: &str, diagnostics: Vec<Diagnostic>) -> Self {
        let places = diagnostics.iter().map(|d| LineColumn::of(text, d.span.start)).collect();
        let lines = diagnostics.iter().map(|d| line_at(text, d.span.start)).collect();
        MetadataError { diagnostics, places, lines }
    }
}

/// The line that holds a byte, cut to a width that a terminal can show.
fn line_at(text: &str, offset: u32) -> String {
    let offset = text.len().min(offset as usize);
    let bytes = text.as_bytes();
    let start = memchr::memrchr(b'\n', &bytes[..offset]).map_or(0, |n| n + 1);
    let end = memchr::memchr(b'\n', &bytes[offset..]).map_or(bytes.len(), |n| offset + n);
    String::from_utf8_lossy(&bytes[start..end]).chars().take(2000).collect()
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            let place = self.places[i];
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
