//! Texts as the UTF-8 that Arrow requires.

use std::borrow::Cow;
use std::fmt::Write;

use ltt_read::StrValue;
use ltt_read::schema::Encoding;

/// Converts a recorded text to UTF-8, without copying if it is UTF-8 already. A byte that is not
/// part of a character becomes `\xNN`; a unit of UTF-16 or UTF-32 that is none becomes U+FFFD.
pub(super) fn utf8(value: StrValue<'_>) -> Cow<'_, str> {
    match value.encoding {
        Encoding::Utf8 => utf8_of(value.bytes),
        _ => value.to_str_lossy(),
    }
}

/// Converts bytes to a text, like [`utf8`].
#[inline]
pub(super) fn utf8_of(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(escaped(bytes)),
    }
}

#[cold]
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string never fails.
            _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_kept() {
        assert!(matches!(utf8_of("hé".as_bytes()), Cow::Borrowed("hé")));
        assert_eq!(utf8_of(b"a\xffb\xe2\x82"), "a\\xffb\\xe2\\x82");
        assert_eq!(utf8_of(b"\\xff"), "\\xff", "a backslash is no escape");
    }
}
