//! The lexer.

use crate::span::Span;

use super::expr::Relation;
use super::literal::LiteralKind;
use super::number::{self, NumberError};
use super::quoted::{self, FaultKind};
use super::token::{Token, TokenKind};
use crate::diagnostic::Diagnostic;
use crate::time::{CivilError, date_time, time_of_day};

/// Splits a text into tokens, the last of which is `End`. Text that is not a token
/// becomes `Bad`, with a diagnostic.
pub(crate) fn tokens(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, at: 0, errors: Vec::new() };
    let mut tokens = Vec::new();
    loop {
        lexer.at += text[lexer.at..].find(|c: char| !c.is_whitespace()).unwrap_or(0);
        if text[lexer.at..].trim_start().is_empty() {
            let end = text.trim_end().len();
            tokens.push(Token { kind: TokenKind::End, span: Span::new(end, end) });
            return (tokens, lexer.errors);
        }
        let start = lexer.at;
        let kind = lexer.token();
        tokens.push(Token { kind, span: Span::new(start, lexer.at) });
    }
}

/// The operators and punctuation. Longer ones precede their prefixes.
const SIGNS: [(&str, TokenKind); 25] = [
    ("&&", TokenKind::And),
    ("&", TokenKind::And),
    ("||", TokenKind::Or),
    ("|", TokenKind::Or),
    ("^", TokenKind::Xor),
    ("==", TokenKind::Relation(Relation::Eq)),
    ("=~", TokenKind::Relation(Relation::Matches)),
    ("=", TokenKind::Relation(Relation::Eq)),
    ("!=", TokenKind::Relation(Relation::Ne)),
    ("!~", TokenKind::Relation(Relation::NotMatches)),
    ("!", TokenKind::Not),
    ("<=", TokenKind::Relation(Relation::Le)),
    ("<", TokenKind::Relation(Relation::Lt)),
    (">=", TokenKind::Relation(Relation::Ge)),
    (">", TokenKind::Relation(Relation::Gt)),
    ("\u{2264}", TokenKind::Relation(Relation::Le)),
    ("\u{2265}", TokenKind::Relation(Relation::Ge)),
    ("\u{2260}", TokenKind::Relation(Relation::Ne)),
    ("(", TokenKind::Open),
    (")", TokenKind::Close),
    ("[", TokenKind::OpenIndex),
    ("]", TokenKind::CloseIndex),
    (",", TokenKind::Comma),
    (".", TokenKind::Dot),
    ("*", TokenKind::Star),
];

/// Operators of other languages, with their equivalents.
const FOREIGN: [(&str, &str); 4] = [("<>", "!="), ("=<", "<="), ("=>", ">="), ("===", "==")];

struct Lexer<'a> {
    text: &'a str,
    /// The start of the next token.
    at: usize,
    errors: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn token(&mut self) -> TokenKind {
        let rest = &self.text[self.at..];
        let first = rest.chars().next().unwrap_or('\0');
        let negative = first == '-' && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        match first {
            '"' | '\'' => self.quoted(first),
            '`' => self.quoted(first),
            '0'..='9' => self.number(),
            '-' if negative => self.number(),
            c if starts_word(c) || is_wildcard(c) => self.word(rest),
            _ => self.sign(first),
        }
    }

    /// Reads a word, which may have wildcards.
    fn word(&mut self, rest: &str) -> TokenKind {
        let pattern = &rest[..run_len(rest, is_wildcard)];
        let word = &rest[..word_len(rest)];
        match pattern {
            // A sign.
            _ if pattern.chars().all(is_wildcard) => self.sign(rest.chars().next().unwrap_or('*')),
            _ if pattern.contains(is_wildcard) => {
                self.at += pattern.len();
                TokenKind::Pattern(pattern.to_owned())
            }
            _ => {
                self.at += word.len();
                TokenKind::Word(word.to_owned())
            }
        }
    }

    fn sign(&mut self, first: char) -> TokenKind {
        let rest = &self.text[self.at..];
        if let Some((foreign, ours)) = FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign)) {
            let span = self.skip(foreign.len());
            let error = Diagnostic::new(span, format!("unknown operator `{foreign}`"));
            self.errors.push(error.replace(span, *ours));
            let same = SIGNS.iter().find(|(sign, _)| sign == ours);
            return same.map_or(TokenKind::Bad, |(_, kind)| kind.clone());
        }
        if let Some((sign, kind)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            self.at += sign.len();
            return kind.clone();
        }
        let span = self.skip(first.len_utf8());
        let shown = first.escape_default();
        let shown = if first.is_control() { shown.to_string() } else { first.to_string() };
        let error = Diagnostic::new(span, format!("`{shown}` has no meaning here"));
        self.errors.push(match first {
            '{' | '}' => error.help("terms are grouped by `(` and `)`"),
            '~' => error.help("patterns are compared by `=~` and `!~`"),
            '-' => error.help("there is no arithmetic; a minus sign directly precedes a number"),
            _ => error.help("text with such characters has to be quoted"),
        });
        TokenKind::Bad
    }

    /// Skips a number of bytes, and returns their span.
    fn skip(&mut self, len: usize) -> Span {
        let start = self.at;
        self.at += len;
        Span::new(start, self.at)
    }

    fn quoted(&mut self, quote: char) -> TokenKind {
        let begin = self.at + 1;
        match quoted::read(&self.text[begin..], quote) {
            Ok((value, len)) => {
                self.at = begin + len;
                match quote {
                    '`' => TokenKind::Name(value),
                    _ => TokenKind::Literal(LiteralKind::Text(value)),
                }
            }
            Err(fault) => {
                let span = Span::new(begin + fault.start, begin + fault.end);
                match fault.kind {
                    FaultKind::Unclosed => {
                        self.at = self.text.len();
                        let span = Span::new(begin - 1, self.at);
                        let error = Diagnostic::new(span, "unclosed text");
                        self.errors.push(error.help(format!("close it with `{quote}`")));
                    }
                    FaultKind::Escape(why) => {
                        self.at = end_of_quoted(self.text, begin, quote);
                        let escape = &self.text[span.start as usize..span.end as usize];
                        let message = format!("invalid escape `{escape}`");
                        self.errors.push(Diagnostic::new(span, message).help(why));
                    }
                }
                TokenKind::Bad
            }
        }
    }

    /// Reads a number, time or date: any token that begins with a digit.
    fn number(&mut self) -> TokenKind {
        let rest = &self.text[self.at..];
        let (len, form) = if is_date(rest) {
            (date_len(rest), Form::Date)
        } else if rest.find(':').is_some_and(|at| (1..=2).contains(&at) && all_digits(&rest[..at]))
        {
            (prefix_len(rest, |c| c.is_ascii_digit() || c == ':' || c == '.'), Form::Time)
        } else {
            (number_len(rest), Form::Number)
        };
        let text = rest[..len].to_owned();
        let span = self.skip(len);
        let read = match form {
            Form::Date => {
                date_time(&text).map(LiteralKind::DateTime).map_err(|e| time_error(span, &text, e))
            }
            Form::Time => time_of_day(&text)
                .map(LiteralKind::TimeOfDay)
                .map_err(|e| time_error(span, &text, e)),
            Form::Number => number::read(&text).map_err(|e| number_error(span, &text, e)),
        };
        match read {
            Ok(literal) => TokenKind::Literal(literal),
            Err(error) => {
                self.errors.push(error);
                TokenKind::Bad
            }
        }
    }
}

enum Form {
    Number,
    Time,
    Date,
}

pub(super) fn starts_word(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$' | '@')
}

/// Returns `true` for the signs of patterns that need no quotes.
fn is_wildcard(c: char) -> bool {
    matches!(c, '*' | '?')
}

/// Returns the length of a word. Some signs can be part of a word, though not at its end.
pub(crate) fn word_len(text: &str) -> usize {
    run_len(text, |_| false)
}

/// Returns the length of a word that can also have other characters.
fn run_len(text: &str, also: impl Fn(char) -> bool) -> usize {
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@') || also(c);
    let mut len = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = matches!(c, ':' | '-' | '/')
            && chars.peek().is_some_and(|(_, next)| inner(*next) || *next == c);
        if !inner(c) && !joins {
            break;
        }
        len = at + c.len_utf8();
    }
    // In `a::`, the word is `a`; the rest is an error.
    text[..len].trim_end_matches([':', '-', '/']).len().max(usize::from(len > 0))
}

fn prefix_len(text: &str, of: impl Fn(char) -> bool) -> usize {
    text.find(|c| !of(c)).unwrap_or(text.len())
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

/// Returns the length of the sign, digits, point, unit and exponent that look like one
/// number.
fn number_len(text: &str) -> usize {
    let sign = usize::from(text.starts_with('-'));
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut len = sign + prefix_len(&text[sign..], part);
    let hexadecimal = text[sign..].get(..2).is_some_and(|head| head.eq_ignore_ascii_case("0x"));
    if text[..len].ends_with(['e', 'E']) && !hexadecimal && text[len..].starts_with(['+', '-']) {
        len += 1 + prefix_len(&text[len + 1..], |c| c.is_ascii_digit());
    }
    len
}

fn is_date(text: &str) -> bool {
    let Some(head) = text.as_bytes().get(..10) else { return false };
    (0..10).all(|i| if matches!(i, 4 | 7) { head[i] == b'-' } else { head[i].is_ascii_digit() })
}

/// Returns the length of a date, with a time after it (also after one blank) and an
/// offset.
fn date_len(text: &str) -> usize {
    let mut len = 10;
    let rest = &text[10..];
    let blank = rest.strip_prefix(' ').is_some_and(|clock| {
        let hour = prefix_len(clock, |c| c.is_ascii_digit());
        hour == 2 && clock[hour..].starts_with(':')
    });
    if blank {
        len += 1;
    }
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '.' | '+' | '-');
    len + prefix_len(&text[len..], part)
}

/// Returns the end of quoted text that contains an error.
fn end_of_quoted(text: &str, begin: usize, quote: char) -> usize {
    let mut chars = text[begin..].char_indices();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return begin + at + 1;
        }
        if c == '\\' {
            chars.next();
        }
    }
    text.len()
}

fn time_error(span: Span, text: &str, error: CivilError) -> Diagnostic {
    let (message, help) = match error {
        CivilError::Time => {
            ("is not a time of day", "times of day are written `hh:mm[:ss[.fraction]]`")
        }
        CivilError::Date => {
            ("is not a date", "dates are written `YYYY-MM-DD[Thh:mm[:ss[.fraction]]][Z|+hh:mm]`")
        }
        CivilError::Range => ("is not in the calendar", "there is no such day or hour"),
    };
    Diagnostic::new(span, format!("`{text}` {message}")).help(help)
}

fn number_error(span: Span, text: &str, error: NumberError) -> Diagnostic {
    let message = |what: &str| Diagnostic::new(span, format!("`{text}` {what}"));
    match error {
        NumberError::TooLarge => message("is too large").help(
            "exponents have at most nine digits; numbers in bases other than ten have at most 127 bits",
        ),
        NumberError::Digits { base } => message("is not a number").help(format!(
            "{} {base} number has digits from 0 to {}, on both sides of a point",
            if base == "octal" { "an" } else { "a" },
            match base {
                "hexadecimal" => "f",
                "octal" => "7",
                "binary" => "1",
                _ => "9",
            }
        )),
        NumberError::Unit(unit) => {
            let unit = if unit.len() > 20 { "…" } else { &unit };
            message("is not a number").help(format!(
                "`{unit}` is not a unit of time (ns, us, ms, s, min, h, d); text has to be quoted"
            ))
        }
    }
}
