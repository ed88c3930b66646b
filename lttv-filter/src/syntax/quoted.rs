//! Quoted text: parsing and formatting of escapes.

use std::fmt::{self, Write};

/// Parses text after its opening quote. Returns the value and the offset after the
/// closing quote.
///
/// # Errors
///
/// Returns an error with its place, as offsets into `text`.
pub(super) fn read(text: &str, quote: char) -> Result<(String, usize), Fault> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Ok((value, at + c.len_utf8()));
        }
        if c != '\\' {
            value.push(c);
            continue;
        }
        let Some((_, escaped)) = chars.next() else { break };
        match escaped {
            'n' => value.push('\n'),
            't' => value.push('\t'),
            'r' => value.push('\r'),
            '0' => value.push('\0'),
            '\\' | '"' | '\'' | '`' => value.push(escaped),
            // Kept for patterns, which have their own escapes.
            '*' | '?' | '[' | ']' => value.extend(['\\', escaped]),
            'x' => {
                let digits = text.get(at + 2..at + 4).unwrap_or("");
                let code = u8::from_str_radix(digits, 16).ok().filter(u8::is_ascii);
                let Some(code) = code.filter(|_| digits.bytes().all(|b| b.is_ascii_hexdigit()))
                else {
                    return Err(Fault::escape(at, 2, "`\\x` takes two digits, up to `7f`"));
                };
                value.push(code.into());
                chars.nth(1);
            }
            'u' => {
                let braces = text[at + 2..].strip_prefix('{').and_then(|t| t.split_once('}'));
                let digits = braces.map_or("", |(digits, _)| digits);
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                let Some(code) = code.filter(|_| digits.len() <= 6) else {
                    return Err(Fault::escape(at, 2, "`\\u` takes a character as in `\\u{20ac}`"));
                };
                value.push(code);
                chars.nth(digits.len() + 1);
            }
            other => {
                let message = "a backslash is written `\\\\`";
                return Err(Fault::escape(at, 1 + other.len_utf8(), message));
            }
        }
    }
    Err(Fault { start: 0, end: text.len(), kind: FaultKind::Unclosed })
}

/// An error in quoted text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: FaultKind,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    Unclosed,
    Escape(&'static str),
}

impl Fault {
    fn escape(start: usize, len: usize, message: &'static str) -> Self {
        Fault { start, end: start + len, kind: FaultKind::Escape(message) }
    }
}

/// Writes text in quotes, so that [`read`] returns an equal text.
pub(super) fn write(f: &mut impl Write, text: &str, quote: char) -> fmt::Result {
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            '\0' => f.write_str("\\0")?,
            '\\' => f.write_str("\\\\")?,
            c if c == quote => write!(f, "\\{c}")?,
            c if c.is_control() => write!(f, "\\u{{{:x}}}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char(quote)
}
