//! Tokens of TSDL.

use crate::metadata::Span;

/// What a token is; its text is found by its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Identifier,
    Keyword(Keyword),
    Integer,
    Character,
    String,
    LeftBrace,
    RightBrace,
    LeftBracket,
    RightBracket,
    LeftParenthesis,
    RightParenthesis,
    Less,
    Greater,
    Semicolon,
    Comma,
    Colon,
    Assign,
    TypeAssign,
    Dot,
    Ellipsis,
    Plus,
    Minus,
    Star,
    /// Something that is no token; the parser complains when it gets there.
    Bad(Bad),
    End,
}

/// Why there is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    Character,
    UnterminatedString,
    UnterminatedCharacter,
    UnterminatedComment,
    NumberSuffix,
}

/// Reserved words. C's own type words (`int`, `unsigned`, …) are not among
/// them: producers alias them like any other name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    Align,
    Callsite,
    Clock,
    Const,
    Enum,
    Env,
    Event,
    FloatingPoint,
    Integer,
    Stream,
    String,
    Struct,
    Trace,
    Typealias,
    Typedef,
    Variant,
}

impl Keyword {
    /// The keyword that a word is, if it is one.
    pub(super) fn of(word: &[u8]) -> Option<Keyword> {
        Some(match word {
            b"align" => Keyword::Align,
            b"callsite" => Keyword::Callsite,
            b"clock" => Keyword::Clock,
            b"const" => Keyword::Const,
            b"enum" => Keyword::Enum,
            b"env" => Keyword::Env,
            b"event" => Keyword::Event,
            b"floating_point" => Keyword::FloatingPoint,
            b"integer" => Keyword::Integer,
            b"stream" => Keyword::Stream,
            b"string" => Keyword::String,
            b"struct" => Keyword::Struct,
            b"trace" => Keyword::Trace,
            b"typealias" => Keyword::Typealias,
            b"typedef" => Keyword::Typedef,
            b"variant" => Keyword::Variant,
            _ => return None,
        })
    }
}

/// A token and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

impl TokenKind {
    /// Whether it is spelled like a name: an identifier or a reserved word.
    pub(super) fn is_word(self) -> bool {
        matches!(self, TokenKind::Identifier | TokenKind::Keyword(_))
    }
}
