//! Values of literals.

use std::borrow::Cow;

use super::lexer::digits;

/// Parses an integer literal. Returns `None` if the value needs more than 64 bits.
pub(super) fn integer(text: &str) -> Option<u64> {
    let (base, len) = digits(text.as_bytes());
    let prefix = if matches!(base, 2 | 16) { 2 } else { 0 };
    u64::from_str_radix(&text[prefix..len], base).ok()
}

/// Parses a string literal, given with its quotes. As in C, a null character ends the
/// text. Unlike in C, all escapes have at most three digits, including hexadecimal ones:
/// `\x0231` is `#` and `1`.
pub(super) fn string(literal: &str) -> Cow<'_, str> {
    let body = &literal[1..literal.len() - 1];
    if memchr::memchr(b'\\', body.as_bytes()).is_none() {
        return Cow::Borrowed(body);
    }
    let mut text = unescape(body);
    if let Some(end) = memchr::memchr(0, &text) {
        text.truncate(end);
    }
    Cow::Owned(String::from_utf8(text).unwrap_or_else(|e| {
        // Escapes can spell bytes that are not UTF-8.
        String::from_utf8_lossy(e.as_bytes()).into_owned()
    }))
}

/// Parses a character literal, given with its quotes. Returns `None` unless it is one
/// byte.
pub(super) fn character(literal: &str) -> Option<u8> {
    match *unescape(&literal[1..literal.len() - 1]) {
        [c] => Some(c),
        _ => None,
    }
}

fn unescape(body: &str) -> Vec<u8> {
    let bytes = body.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&c) = bytes.get(at) {
        at += 1;
        if c != b'\\' {
            out.push(c);
            continue;
        }
        let Some(&c) = bytes.get(at) else { break };
        at += 1;
        out.push(match c {
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'x' => numeric(bytes, &mut at, 16),
            b'0'..=b'7' => {
                at -= 1;
                numeric(bytes, &mut at, 8)
            }
            other => other,
        });
    }
    out
}

/// Parses the byte of an escape with up to three digits.
fn numeric(bytes: &[u8], at: &mut usize, base: u32) -> u8 {
    let mut value = 0u32;
    let end = *at + 3;
    while *at < end
        && let Some(d) = bytes.get(*at).and_then(|c| (*c as char).to_digit(base))
    {
        value = value * base + d;
        *at += 1;
    }
    value as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_all_bases() {
        assert_eq!(integer("0"), Some(0));
        assert_eq!(integer("0x10ULL"), Some(16));
        assert_eq!(integer("017u"), Some(15));
        assert_eq!(integer("0b101"), Some(5));
        assert_eq!(integer("18446744073709551615"), Some(u64::MAX));
        assert_eq!(integer("18446744073709551616"), None);
    }

    #[test]
    fn strings_and_characters() {
        assert_eq!(string(r#""a\tb\x41,\101\043x\"""#), "a\tbA,A#x\"");
        assert_eq!(string(r#""\x4g\\""#), "\x04g\\");
        assert_eq!(string(r#""\x0231 \x23 \0431 \43""#), "#1 # #1 #");
        assert_eq!(string(r#""seen\0not""#), "seen");
        assert_eq!(string(r#""\xff""#), "\u{fffd}");
        assert_eq!(character(r"'\n'"), Some(10));
        assert_eq!(character("'ab'"), None);
        assert_eq!(character("''"), None);
    }
}
