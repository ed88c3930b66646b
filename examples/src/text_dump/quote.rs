//! Strings between double quotes, with escapes.

/// What replaces a byte in C-like quotes; `Plain` bytes stay.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    Plain,
    /// A backslash and this letter.
    Letter(u8),
    /// A backslash, `x`, and two hexadecimal digits.
    Hex,
}

/// The escapes of babeltrace's text: C's, and `\e`, and `\x..` for the other
/// control characters. Bytes from 0x80 on are part of multi-byte characters.
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
pub(super) fn quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&c| ESCAPES[c as usize] != Escape::Plain) {
        out.extend_from_slice(&rest[..at]);
        match ESCAPES[rest[at] as usize] {
            Escape::Letter(letter) => out.extend_from_slice(&[b'\\', letter]),
            _ => out.extend_from_slice(&[b'\\', b'x', hex(rest[at] >> 4), hex(rest[at] & 15)]),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Appends a text in double quotes as JSON wants it (RFC 8259 section 7).
pub(super) fn json_quoted(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|&c| c < 0x20 || c == b'"' || c == b'\\') {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            c @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', c]),
            c => out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex(c >> 4), hex(c & 15)]),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Appends a byte as two lower-case hexadecimal digits.
pub(super) fn byte_hex(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(&[hex(byte >> 4), hex(byte & 15)]);
}

fn hex(digit: u8) -> u8 {
    b"0123456789abcdef"[usize::from(digit & 15)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_escapes() {
        let mut out = Vec::new();
        quoted(&mut out, b"a\\'\"?\0\x07\x08\x1b\x0c\n\r\t\x0b\x01\x1f\x7f\xc3\xa9z");
        assert_eq!(out, b"\"a\\\\\\'\\\"\\?\\0\\a\\b\\e\\f\\n\\r\\t\\v\\x01\\x1f\\x7f\xc3\xa9z\"");
    }

    #[test]
    fn json_escapes() {
        let mut out = Vec::new();
        json_quoted(&mut out, "a'\"\\\n\t\r\u{1}\u{7f}é");
        assert_eq!(String::from_utf8(out).unwrap(), "\"a'\\\"\\\\\\n\\t\\r\\u0001\u{7f}é\"");
    }
}
