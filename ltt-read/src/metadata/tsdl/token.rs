//! Tokens of TSDL.

use crate::metadata::Span;

/// The kind of a token. Its text is found by its span.
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
    /// An invalid token; reported when the parser reaches it.
    Bad(Bad),
    End,
}

/// The problem of an invalid token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    Character,
    UnterminatedString,
    UnterminatedCharacter,
    UnterminatedComment,
    NumberSuffix,
}

/// Reserved words. The type words of C (`int`, `unsigned`, …) are not among them, since
/// producers alias them like other names.
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
    /// Returns the keyword with this spelling.
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

/// A token with its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

impl TokenKind {
    /// Returns `true` if the token is spelled like a name: an identifier or a reserved
    /// word.
    pub(super) fn is_word(self) -> bool {
        matches!(self, TokenKind::Identifier | TokenKind::Keyword(_))
    }
}
