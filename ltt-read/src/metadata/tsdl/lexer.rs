//! The lexer: from text to tokens, on demand and without copying.

use memchr::{memchr, memmem};

use super::token::{Bad, Keyword, Token, TokenKind};
use crate::metadata::Span;

/// A lexer of TSDL text.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lexer { text, position: 0 }
    }

    /// Continues at another byte offset.
    pub(super) fn seek(&mut self, position: usize) {
        self.position = position;
    }

    /// Returns the next token. Returns [`TokenKind::End`] repeatedly at the end.
    pub(super) fn next(&mut self) -> Token {
        let bytes = self.text.as_bytes();
        let first = loop {
            match bytes.get(self.position) {
                Some(c) if is_blank(*c) => self.position += 1,
                Some(b'/') => match self.comment() {
                    Comment::Skipped => {}
                    Comment::None => break b'/',
                    Comment::Unterminated(bad) => return bad,
                },
                Some(c) => break *c,
                None => return self.token(TokenKind::End, self.position, 0),
            }
        };
        let start = self.position;
        if is_word_byte(first) {
            return if first.is_ascii_digit() { self.number(start) } else { self.word(start) };
        }
        self.punctuation(first, start)
    }

    /// Returns the token at `start`, which is neither a word nor a number.
    fn punctuation(&mut self, first: u8, start: usize) -> Token {
        let bytes = self.text.as_bytes();
        let next = bytes.get(start + 1).copied();
        use TokenKind::{
            Assign, Character, Colon, Comma, Dot, Ellipsis, Greater, LeftBrace, LeftBracket,
            LeftParenthesis, Less, Minus, Plus, RightBrace, RightBracket, RightParenthesis,
            Semicolon, Star, String, TypeAssign,
        };
        match first {
            b'"' => self.quoted(start, b'"', String, Bad::UnterminatedString),
            b'\'' => self.quoted(start, b'\'', Character, Bad::UnterminatedCharacter),
            b'{' => self.token(LeftBrace, start, 1),
            b'}' => self.token(RightBrace, start, 1),
            b'[' => self.token(LeftBracket, start, 1),
            b']' => self.token(RightBracket, start, 1),
            b'(' => self.token(LeftParenthesis, start, 1),
            b')' => self.token(RightParenthesis, start, 1),
            b'<' => self.token(Less, start, 1),
            b'>' => self.token(Greater, start, 1),
            b';' => self.token(Semicolon, start, 1),
            b',' => self.token(Comma, start, 1),
            b':' if next == Some(b'=') => self.token(TypeAssign, start, 2),
            b':' => self.token(Colon, start, 1),
            b'=' => self.token(Assign, start, 1),
            b'.' if bytes[start..].starts_with(b"...") => self.token(Ellipsis, start, 3),
            b'.' => self.token(Dot, start, 1),
            b'+' => self.token(Plus, start, 1),
            b'-' => self.token(Minus, start, 1),
            b'*' => self.token(Star, start, 1),
            _ => {
                let len = self.text[start..].chars().next().map_or(1, char::len_utf8);
                self.token(TokenKind::Bad(Bad::Character), start, len)
            }
        }
    }

    fn token(&mut self, kind: TokenKind, start: usize, len: usize) -> Token {
        self.position = start + len;
        Token { kind, span: Span::new(start, self.position) }
    }

    /// Skips a comment, if there is one at the current position.
    #[cold]
    fn comment(&mut self) -> Comment {
        let rest = &self.text.as_bytes()[self.position..];
        let len = match rest {
            [b'/', b'*', body @ ..] => match memmem::find(body, b"*/") {
                Some(n) => n + 4,
                None => {
                    let bad = TokenKind::Bad(Bad::UnterminatedComment);
                    return Comment::Unterminated(self.token(bad, self.position, rest.len()));
                }
            },
            [b'/', b'/', body @ ..] => line_comment(body) + 2,
            _ => return Comment::None,
        };
        self.position += len;
        Comment::Skipped
    }

    fn word(&mut self, start: usize) -> Token {
        let word = self.word_at(start);
        let kind = Keyword::of(word).map_or(TokenKind::Identifier, TokenKind::Keyword);
        self.token(kind, start, word.len())
    }

    /// Returns the letters, digits and underscores from `start` on.
    #[inline(always)]
    fn word_at(&self, start: usize) -> &'a [u8] {
        let rest = &self.text.as_bytes()[start..];
        let end = rest.iter().position(|c| !is_word_byte(*c));
        &rest[..end.unwrap_or(rest.len())]
    }

    fn number(&mut self, start: usize) -> Token {
        let number = self.word_at(start);
        let digits = digits(number).1;
        let suffix = &number[digits..];
        let kind = match suffix.iter().all(|c| matches!(c, b'u' | b'U' | b'l' | b'L')) {
            true if suffix.len() <= 3 && digits > 0 => TokenKind::Integer,
            _ => TokenKind::Bad(Bad::NumberSuffix),
        };
        self.token(kind, start, number.len())
    }

    fn quoted(&mut self, start: usize, quote: u8, kind: TokenKind, bad: Bad) -> Token {
        let body = &self.text.as_bytes()[start + 1..];
        let mut at = 0;
        while let Some(n) = memchr::memchr2(quote, b'\\', &body[at..]) {
            if body[at + n] == quote {
                return self.token(kind, start, at + n + 2);
            }
            at = body.len().min(at + n + 2);
        }
        self.token(TokenKind::Bad(bad), start, body.len() + 1)
    }
}

/// Returns the base of a number and the length of its prefix and digits. Digits that the
/// base does not have are not included.
pub(super) fn digits(number: &[u8]) -> (u32, usize) {
    let (base, prefix) = match number {
        [b'0', b'x' | b'X', ..] => (16, 2),
        [b'0', b'b' | b'B', ..] => (2, 2),
        [b'0', ..] => (8, 0),
        _ => (10, 0),
    };
    let count = number[prefix..].iter().take_while(|c| (**c as char).is_digit(base)).count();
    (base, if count == 0 { 0 } else { prefix + count })
}

/// Returns the length of the rest of a `//` comment. A backslash before the line break
/// continues the comment.
fn line_comment(body: &[u8]) -> usize {
    let mut at = 0;
    while let Some(n) = memchr(b'\n', &body[at..]) {
        let line = body[at..at + n].strip_suffix(b"\r").unwrap_or(&body[at..at + n]);
        at += n + 1;
        if !line.ends_with(b"\\") {
            return at;
        }
    }
    body.len()
}

/// The result of skipping a comment.
enum Comment {
    /// A comment was skipped.
    Skipped,
    /// There is no comment.
    None,
    /// The comment has no end.
    Unterminated(Token),
}

fn is_blank(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn is_word_byte(c: u8) -> bool {
    WORD_BYTES[usize::from(c)]
}

/// The letters, digits and `_` of ASCII, as a table, since most bytes of a text are
/// tested.
const WORD_BYTES: [bool; 256] = {
    let mut are_word_bytes = [false; 256];
    let mut c = 0;
    while c < 128 {
        are_word_bytes[c] = (c as u8).is_ascii_alphanumeric() || c as u8 == b'_';
        c += 1;
    }
    are_word_bytes
};

#[cfg(test)]
mod tests {
    use super::TokenKind::{
        Assign, Character, Colon, Dot, Ellipsis, End, Greater, Identifier, Integer, Less,
        Semicolon, String, TypeAssign,
    };
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut lexer = Lexer::new(text);
        std::iter::repeat_with(|| lexer.next().kind).take_while(|k| *k != End).collect()
    }

    #[test]
    fn words_numbers_and_punctuation() {
        assert_eq!(
            kinds("struct _a9 ;"),
            [TokenKind::Keyword(Keyword::Struct), Identifier, Semicolon]
        );
        assert_eq!(kinds("0...30"), [Integer, Ellipsis, Integer]);
        assert_eq!(kinds("0x1FULL 07u 0b11 10l"), [Integer; 4]);
        assert_eq!(
            kinds("a.b := c: =<>"),
            [Identifier, Dot, Identifier, TypeAssign, Identifier, Colon, Assign, Less, Greater]
        );
    }

    #[test]
    fn comments_and_line_ends() {
        assert_eq!(kinds("a/*;*/b// c\r\nd"), [Identifier; 3]);
        assert_eq!(kinds("// a \\\n b\nc"), [Identifier]);
        assert_eq!(kinds("a // b"), [Identifier]);
        assert_eq!(kinds("a /* b"), [Identifier, TokenKind::Bad(Bad::UnterminatedComment)]);
    }

    #[test]
    fn quotes_end_at_an_unescaped_quote() {
        assert_eq!(kinds(r#""a\"b" '\'' "é""#), [String, Character, String]);
        assert_eq!(kinds("\"a\\\""), [TokenKind::Bad(Bad::UnterminatedString)]);
        assert_eq!(kinds("'a"), [TokenKind::Bad(Bad::UnterminatedCharacter)]);
        assert_eq!(kinds("\"a\\"), [TokenKind::Bad(Bad::UnterminatedString)]);
    }

    #[test]
    fn invalid_tokens() {
        assert_eq!(kinds("1x"), [TokenKind::Bad(Bad::NumberSuffix)]);
        assert_eq!(kinds("08"), [TokenKind::Bad(Bad::NumberSuffix)]);
        assert_eq!(kinds("0x"), [TokenKind::Bad(Bad::NumberSuffix)]);
        assert_eq!(kinds("é$"), [TokenKind::Bad(Bad::Character); 2]);
    }
}
