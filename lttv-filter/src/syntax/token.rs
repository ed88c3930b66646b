//! Tokens of the language.

use crate::span::Span;

use super::expr::Relation;
use super::literal::LiteralKind;

/// A token with its span.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    /// A name, keyword, root, or text without quotes.
    Word(String),
    /// A word with wildcards.
    Pattern(String),
    /// A name in backticks.
    Name(String),
    /// A number, time, or text in quotes.
    Literal(LiteralKind),
    And,
    Or,
    Xor,
    Not,
    Relation(Relation),
    Open,
    Close,
    OpenIndex,
    CloseIndex,
    Comma,
    Dot,
    Star,
    /// Invalid text, for which an error has been added.
    Bad,
    End,
}

impl TokenKind {
    /// Returns `true` for operators that join terms, as words or signs.
    pub(crate) fn is_logical(&self) -> bool {
        match self {
            TokenKind::And | TokenKind::Or | TokenKind::Xor => true,
            TokenKind::Word(_) => ["and", "or", "xor"].iter().any(|word| self.is_word(word)),
            _ => false,
        }
    }

    /// Returns `true` if the token is this keyword.
    pub(crate) fn is_word(&self, keyword: &str) -> bool {
        matches!(self, TokenKind::Word(word) if word.eq_ignore_ascii_case(keyword))
    }
}
