//! Strings in double quotes, with escapes.

use crate::escape::{self, Escapes};
use crate::text::{Short, Text};

/// The escape of a byte in C-like quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    /// The byte itself.
    Plain,
    /// A backslash and this letter.
    Letter(u8),
    /// A backslash, `x`, and two hexadecimal digits.
    Hex,
}

/// The escapes of babeltrace's text: those of C, `\e`, and `\x..` for the other control
/// characters. Bytes from 0x80 on are parts of multi-byte characters.
const ESCAPES: [Escape; 256] = {
    let mut table = [Escape::Plain; 256];
    let mut i = 0;
    while i < 0x20 {
        table[i] = Escape::Hex;
        i += 1;
    }
    table[0x7f] = Escape::Hex;
    let letters = *b"\0\x07\x08\x1b\x0c\n\r\t\x0b\\'\"?";
    let names = *b"0abefnrtv\\'\"?";
    let mut i = 0;
    while i < letters.len() {
        table[letters[i] as usize] = Escape::Letter(names[i]);
        i += 1;
    }
    table
};

/// Appends a text in double quotes with C-like escapes.
#[inline]
pub(super) fn quoted(out: &mut Text, text: &[u8]) {
    quoted_if(out, text, any_c_escape, c_escaped);
}

/// Appends a text in double quotes with C-like escapes. Also escapes control characters
/// beyond ASCII and bytes that are not UTF-8.
#[inline]
pub(super) fn quoted_safely(out: &mut Text, text: &[u8]) {
    let special = |word| any_c_escape(word) | (word & HIGH_BITS != 0);
    quoted_if(out, text, special, c_escaped_safely);
}

/// Appends a text as a JSON string (RFC 8259, section 7).
#[inline]
pub(super) fn json_quoted(out: &mut Text, text: &str) {
    quoted_if(out, text.as_bytes(), any_json_escape, json_escaped);
}

/// Appends a text in double quotes: by `escaped` if `special` returns `true` for a word of
/// eight of its bytes, and unchanged otherwise.
#[inline(always)]
fn quoted_if(
    out: &mut Text,
    text: &[u8],
    special: impl Fn(u64) -> bool,
    escaped: fn(&mut Text, &[u8]),
) {
    let (words, rest) = text.as_chunks::<8>();
    let begin = out.len();
    let mut found = false;
    out.push(b'"');
    for word in words {
        found |= special(u64::from_le_bytes(*word));
        out.append(word);
    }
    let (word, length) = (up_to_seven(rest), rest.len());
    found |= special(word | DOTS << (8 * length));
    // At most seven bytes, so that the closing quote is at most the eighth.
    out.short(Short { word: word | u64::from(b'"') << (8 * length), length: length + 1 });
    if found {
        out.truncate(begin + 1);
        escaped(out, text);
        out.push(b'"');
    }
}

/// A byte without an escape, in all places of a word.
const DOTS: u64 = b'.' as u64 * ONES;

/// Returns up to seven bytes as a word, the first in the lowest bits.
#[inline(always)]
fn up_to_seven(bytes: &[u8]) -> u64 {
    // Overlapping loads avoid a loop.
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let shift = 8 * (bytes.len() & 3);
        return u64::from(u32::from_le_bytes(*first))
            | u64::from(u32::from_le_bytes(*last)) << shift;
    }
    let [first, .., last] = bytes else { return bytes.first().copied().unwrap_or(0).into() };
    let (middle, end) = (bytes.len() / 2, bytes.len() - 1);
    let at = |byte: u8, place: usize| u64::from(byte) << (8 * place);
    at(*first, 0) | at(bytes[middle], middle) | at(*last, end)
}

#[inline(never)]
fn c_escaped(out: &mut Text, text: &[u8]) {
    for &byte in text {
        match ESCAPES[byte as usize] {
            Escape::Plain => out.push(byte),
            Escape::Letter(letter) => out.append(&[b'\\', letter]),
            Escape::Hex => out.append(&[b'\\', b'x', hex(byte >> 4), hex(byte & 15)]),
        }
    }
}

#[inline(never)]
fn c_escaped_safely(out: &mut Text, text: &[u8]) {
    let mut beyond = String::new();
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match u8::try_from(c).ok().filter(u8::is_ascii) {
                Some(byte) => c_escaped(out, &[byte]),
                None => {
                    beyond.clear();
                    escape::push(&mut beyond, c, Escapes::Text);
                    out.append(beyond.as_bytes());
                }
            }
        }
        beyond.clear();
        escape::push_invalid(&mut beyond, chunk.invalid(), Escapes::Text);
        out.append(beyond.as_bytes());
    }
}

#[inline(never)]
fn json_escaped(out: &mut Text, text: &[u8]) {
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in String::from_utf8_lossy(text).chars() {
        if matches!(c, '"' | '\\') {
            escaped.push('\\');
        }
        escape::push(&mut escaped, c, Escapes::Json);
    }
    out.append(escaped.as_bytes());
}

const ONES: u64 = u64::MAX / 0xff;
const HIGH_BITS: u64 = 0x80 * ONES;

/// Returns `true` if a byte of the word is less than `limit`, which is at most 0x80.
#[inline(always)]
fn any_below(word: u64, limit: u8) -> bool {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH_BITS != 0
}

/// Returns `true` if a byte of the word has this value.
#[inline(always)]
fn any_is(word: u64, value: u8) -> bool {
    any_below(word ^ (ONES * u64::from(value)), 1)
}

#[inline(always)]
fn any_c_escape(word: u64) -> bool {
    // `?` and delete differ in one bit.
    any_below(word, 0x20)
        | any_is(word, b'"')
        | any_is(word, b'\'')
        | any_is(word, b'\\')
        | any_is(word | (0x40 * ONES), 0x7f)
}

#[inline(always)]
fn any_json_escape(word: u64) -> bool {
    // A byte from 0x7f on has its high bit set, or gets it by a carry.
    let is_high = (word | word.wrapping_add(ONES)) & HIGH_BITS != 0;
    any_below(word, 0x20) | any_is(word, b'"') | any_is(word, b'\\') | is_high
}

/// Appends a byte as two lower-case hexadecimal digits.
pub(super) fn byte_hex(out: &mut Text, byte: u8) {
    out.append(&[hex(byte >> 4), hex(byte & 15)]);
}

fn hex(digit: u8) -> u8 {
    b"0123456789abcdef"[usize::from(digit & 15)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_escapes() {
        let mut out = Text::default();
        quoted(&mut out, b"a\\'\"?\0\x07\x08\x1b\x0c\n\r\t\x0b\x01\x1f\x7f\xc3\xa9z");
        assert_eq!(
            out.as_bytes(),
            b"\"a\\\\\\'\\\"\\?\\0\\a\\b\\e\\f\\n\\r\\t\\v\\x01\\x1f\\x7f\xc3\xa9z\""
        );
    }

    #[test]
    fn each_byte_at_each_place() {
        for length in 1..20 {
            for (at, byte) in (0..length).flat_map(|at| (0..=255u8).map(move |b| (at, b))) {
                let mut text: Vec<u8> = (b'a'..).take(length).collect();
                text[at] = byte;
                let (mut out, mut expected) = (Text::default(), Text::from("\""));
                quoted(&mut out, &text);
                c_escaped(&mut expected, &text);
                expected.push(b'"');
                assert_eq!(out.as_bytes(), expected.as_bytes());

                let mut expected = Text::from("\"");
                out.clear();
                quoted_safely(&mut out, &text);
                c_escaped_safely(&mut expected, &text);
                expected.push(b'"');
                assert_eq!(out.as_bytes(), expected.as_bytes());
                let shown = str::from_utf8(out.as_bytes()).unwrap();
                assert!(!shown.contains(escape::is_control), "{shown:?}");

                let Ok(text) = str::from_utf8(&text) else { continue };
                out.clear();
                json_quoted(&mut out, text);
                let read: String = serde_json::from_slice(out.as_bytes()).unwrap();
                assert_eq!(read, text);
            }
        }
    }

    #[test]
    fn json_escapes() {
        let mut out = Text::default();
        json_quoted(&mut out, "a'\"\\\n\t\r\u{1}\u{7f}\u{9b}\u{202e}é");
        assert_eq!(out.to_string(), "\"a'\\\"\\\\\\n\\t\\r\\u0001\\u007f\\u009b\\u202eé\"");
    }
}
