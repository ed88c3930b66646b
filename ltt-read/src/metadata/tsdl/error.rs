//! Errors of the parser.

use super::token::{Bad, TokenKind};
use crate::metadata::{Diagnostic, Span};

/// An error, boxed to keep results small.
#[derive(Debug)]
pub(super) struct Error {
    pub(super) diagnostic: Diagnostic,
    /// `true` if a lost earlier declaration may have caused the error.
    pub(super) consequence: bool,
}

pub(super) type Result<T> = std::result::Result<T, Box<Error>>;

impl Error {
    pub(super) fn new(span: Span, message: impl Into<String>) -> Box<Self> {
        Box::new(Error { diagnostic: Diagnostic::error(span, message), consequence: false })
    }

    pub(super) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.diagnostic = self.diagnostic.with_help(help);
        self
    }
}

/// Adds the construct around an error.
pub(super) trait Within {
    fn within(self, span: Span, what: &str) -> Self;
}

impl<T> Within for Result<T> {
    fn within(self, span: Span, what: &str) -> Self {
        self.map_err(|mut e| {
            e.diagnostic = e.diagnostic.within(span, what);
            e
        })
    }
}

/// Describes a found token: its text, or its problem.
pub(super) fn found(kind: TokenKind, text: &str) -> String {
    let shown: String = text.chars().take(40).collect();
    match kind {
        TokenKind::End => "the end of the metadata".into(),
        TokenKind::Bad(Bad::Character) => format!("the stray character {:?}", shown),
        TokenKind::Bad(Bad::UnterminatedString) => "a string without closing `\"`".into(),
        TokenKind::Bad(Bad::UnterminatedCharacter) => "a character without closing `'`".into(),
        TokenKind::Bad(Bad::UnterminatedComment) => "a comment without closing `*/`".into(),
        TokenKind::Bad(Bad::NumberSuffix) => format!("the malformed number `{shown}`"),
        _ => format!("`{shown}`"),
    }
}
