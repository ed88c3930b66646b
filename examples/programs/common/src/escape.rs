//! Escaping of control characters.
//!
//! A trace may contain any characters: names, texts and paths that move the cursor of a
//! terminal, rename its window or reverse the direction of text. All output for people
//! goes through this module, which makes such characters visible and harmless.
//!
//! The escaped characters are the control characters of ASCII, U+007F to U+009F, the
//! controls of bidirectional text, and bytes that are not UTF-8.

use std::borrow::Cow;

/// The notation of escaped characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Escapes {
    /// A notation for people: `\n`, `\r`, `\t`; `\x1b` for other ASCII characters;
    /// `\u{202e}` beyond ASCII; `\xff` for a byte that is not UTF-8.
    #[default]
    Text,
    /// The notation of JSON strings: `\u202e`. A byte that is not UTF-8 becomes U+FFFD.
    Json,
}

/// Returns `true` if the character is a control character or a control of bidirectional
/// text.
pub fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the text with all control characters escaped, so that it stays on one line.
pub fn name(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| push(&mut escaped, c, Escapes::Text));
    escaped.into()
}

/// Returns the text escaped for XML, such as an SVG picture, with U+FFFD in place of control
/// characters.
pub fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            c if is_control(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns the lines with all control characters except line breaks and tabs escaped.
pub fn lines(text: &str) -> Cow<'_, str> {
    match lines_of_bytes(text.as_bytes(), Escapes::Text) {
        Cow::Borrowed(_) => text.into(),
        Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
    }
}

/// Returns the bytes of lines with all control characters except line breaks and tabs
/// escaped.
pub fn lines_of_bytes(bytes: &[u8], escapes: Escapes) -> Cow<'_, [u8]> {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    // Branch-free: the check takes little time compared with producing the text.
    let are_plain = |part: &[u8]| part.iter().fold(true, |all, byte| all & is_plain(byte));
    if bytes.chunks(256).all(are_plain) {
        return bytes.into();
    }
    let mut escaped = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' | '\t' => escaped.push(c),
                _ => push(&mut escaped, c, escapes),
            }
        }
        push_invalid(&mut escaped, chunk.invalid(), escapes);
    }
    escaped.into_bytes().into()
}

/// Appends a character, escaped if it is a control character.
pub fn push(out: &mut String, c: char, escapes: Escapes) {
    match (c, escapes) {
        ('\n', _) => out.push_str("\\n"),
        ('\r', _) => out.push_str("\\r"),
        ('\t', _) => out.push_str("\\t"),
        _ if !is_control(c) => out.push(c),
        // All control characters are below U+10000.
        (_, Escapes::Json) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        (_, Escapes::Text) if c.is_ascii() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
        (_, Escapes::Text) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
    }
}

/// Appends bytes that are not UTF-8.
pub fn push_invalid(out: &mut String, bytes: &[u8], escapes: Escapes) {
    match escapes {
        Escapes::Text => bytes.iter().for_each(|byte| out.push_str(&format!("\\x{byte:02x}"))),
        Escapes::Json if bytes.is_empty() => {}
        Escapes::Json => out.push('\u{fffd}'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_control_characters_and_no_others() {
        for c in ('\0'..=' ').chain('\u{7f}'..='\u{a0}').chain('\u{2000}'..='\u{2070}') {
            let escaped = name(c.encode_utf8(&mut [0; 4])).into_owned();
            assert_eq!(escaped != c.to_string(), is_control(c), "{c:?}");
            assert!(!escaped.contains(is_control), "{c:?}");
        }
        assert!("\x1b\x7f\u{80}\u{9b}\u{9f}\u{61c}\u{200e}\u{200f}".chars().all(is_control));
        assert!("\u{202a}\u{202e}\u{2066}\u{2069}".chars().all(is_control));
        assert!(!"aé€ ~\u{a0}\u{2028}\u{1f600}".contains(is_control));
    }

    #[test]
    fn escapes_have_their_notation() {
        assert_eq!(name("a\x1b[1m\r\n\t\u{9b}\u{202e}é"), "a\\x1b[1m\\r\\n\\t\\u{9b}\\u{202e}é");
        assert_eq!(lines("a\n\tb\x07\n"), "a\n\tb\\x07\n");
        assert!(matches!(lines("plain\n\ttext"), Cow::Borrowed(_)));
        let text = |bytes: &[u8], escapes| {
            String::from_utf8(lines_of_bytes(bytes, escapes).into_owned()).unwrap()
        };
        assert_eq!(text(b"a\xff\xc3\n\xc2\x9b", Escapes::Text), "a\\xff\\xc3\n\\u{9b}");
        let json = text("\"\u{7f}\u{9b}\u{202e}é\"".as_bytes(), Escapes::Json);
        assert_eq!(json, "\"\\u007f\\u009b\\u202eé\"");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), "\u{7f}\u{9b}\u{202e}é");
    }
}
