//! Glob patterns: `*` matches any text, `?` any character, `[a-z]` and `[!a-z]` one of a
//! set (or its complement), and `\` makes the next character literal.

use std::ops::RangeInclusive;

use memchr::memmem;

/// A compiled pattern, which is matched against whole texts.
#[derive(Debug, Clone)]
pub(crate) struct Glob {
    /// The start of the text. `rest` has one part for each `*`.
    first: Vec<Piece>,
    rest: Vec<Part>,
}

/// The part of a pattern between two `*`, or after the last one.
#[derive(Debug, Clone)]
struct Part {
    pieces: Vec<Piece>,
    /// A searcher for the literal text that the part begins with, if it does.
    finder: Option<Box<memmem::Finder<'static>>>,
    /// The possible lengths of a match, in bytes.
    lengths: RangeInclusive<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    AnyChar,
    OneOf { negated: bool, ranges: Vec<(char, char)> },
}

/// An error in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GlobError {
    #[error("a `[` is not closed; a literal one is written `\\[`")]
    Unclosed,
    #[error("it ends with a `\\`, which has to precede a character")]
    Escape,
    #[error("the start of a range in `[…]` is after its end")]
    Range,
}

impl Glob {
    /// Parses and compiles a pattern.
    pub(crate) fn new(pattern: &str) -> Result<Self, GlobError> {
        let mut parts: Vec<Vec<Piece>> = vec![Vec::new()];
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            let pieces = match parts.last_mut() {
                Some(pieces) => pieces,
                None => continue, // there is always one
            };
            match c {
                '*' => {
                    // Consecutive stars are equivalent to one.
                    if parts.len() == 1 || parts.last().is_some_and(|p| !p.is_empty()) {
                        parts.push(Vec::new());
                    }
                }
                '?' => pieces.push(Piece::AnyChar),
                '[' => pieces.push(parse_set(&mut chars)?),
                '\\' => push_text(pieces, chars.next().ok_or(GlobError::Escape)?),
                c => push_text(pieces, c),
            }
        }
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_default();
        let rest = parts.map(|pieces| Part {
            finder: match pieces.first() {
                Some(Piece::Text(text)) => Some(Box::new(memmem::Finder::new(text).into_owned())),
                _ => None,
            },
            lengths: pieces.iter().fold(0..=0, |sum, piece| {
                let piece = piece.lengths();
                sum.start() + piece.start()..=sum.end() + piece.end()
            }),
            pieces,
        });
        Ok(Glob { first, rest: rest.collect() })
    }

    /// Returns the text that the pattern matches, if it has no special characters.
    pub(crate) fn plain(&self) -> Option<&[u8]> {
        match (&*self.first, &*self.rest) {
            ([], []) => Some(&[]),
            ([Piece::Text(text)], []) => Some(text),
            _ => None,
        }
    }

    /// Returns `true` if a whole text matches. Bytes that are not valid UTF-8 count as
    /// one character each.
    ///
    /// Each part is matched at its first occurrence: if the text matches at all, it
    /// matches with these. The cost is therefore at most the product of the lengths of
    /// pattern and text.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        let Some(after) = prefix(&self.first, text) else { return false };
        let mut rest = &text[text.len() - after.len()..];
        let Some((last, middle)) = self.rest.split_last() else { return rest.is_empty() };
        for part in middle {
            match part.find(rest) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        last.ends(rest)
    }
}

impl Part {
    /// Finds the first match of the part, and returns the text after it.
    fn find<'t>(&self, mut text: &'t [u8]) -> Option<&'t [u8]> {
        loop {
            if let Some(finder) = &self.finder {
                text = &text[finder.find(text)?..];
            }
            if let Some(after) = prefix(&self.pieces, text) {
                return Some(after);
            }
            text = &text[char_len(text)?..];
        }
    }

    /// Returns `true` if a text ends with a match of the part.
    fn ends(&self, mut text: &[u8]) -> bool {
        if self.pieces.is_empty() {
            return true;
        }
        if let [Piece::Text(end)] = &*self.pieces {
            return text.ends_with(end);
        }
        // The match starts near the end, at the start of a character.
        let mut begin = text.len().saturating_sub(*self.lengths.end());
        while text.get(begin).is_some_and(|byte| begin > 0 && byte & 0xc0 == 0x80) {
            begin -= 1;
        }
        text = &text[begin..];
        while text.len() >= *self.lengths.start() {
            if prefix(&self.pieces, text).is_some_and(<[u8]>::is_empty) {
                return true;
            }
            match char_len(text) {
                Some(len) => text = &text[len..],
                None => return false,
            }
        }
        false
    }
}

impl Piece {
    /// Returns the possible lengths of a match, in bytes.
    fn lengths(&self) -> RangeInclusive<usize> {
        match self {
            Piece::Text(text) => text.len()..=text.len(),
            Piece::AnyChar | Piece::OneOf { .. } => 1..=4,
        }
    }
}

/// Returns the text after the pieces, if a text begins with a match of them.
fn prefix<'t>(pieces: &[Piece], mut text: &'t [u8]) -> Option<&'t [u8]> {
    for piece in pieces {
        match piece {
            Piece::Text(wanted) => text = text.strip_prefix(&**wanted)?,
            Piece::AnyChar => text = &text[char_len(text)?..],
            Piece::OneOf { negated, ranges } => {
                let len = char_len(text)?;
                let c = std::str::from_utf8(&text[..len]).ok().and_then(|s| s.chars().next());
                let within = c.is_some_and(|c| ranges.iter().any(|(l, h)| *l <= c && c <= *h));
                if within == *negated {
                    return None;
                }
                text = &text[len..];
            }
        }
    }
    Some(text)
}

/// Returns the length of the first character in bytes. `None` at the end.
fn char_len(text: &[u8]) -> Option<usize> {
    let len = match text.first()? {
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => return Some(1),
    };
    let is_valid = text.get(..len).is_some_and(|c| std::str::from_utf8(c).is_ok());
    Some(if is_valid { len } else { 1 })
}

fn push_text(pieces: &mut Vec<Piece>, c: char) {
    let mut bytes = [0; 4];
    let bytes = c.encode_utf8(&mut bytes).as_bytes();
    match pieces.last_mut() {
        Some(Piece::Text(text)) => text.extend_from_slice(bytes),
        _ => pieces.push(Piece::Text(bytes.to_vec())),
    }
}

/// Parses a set after its `[`. A `]` right at the start is literal.
fn parse_set(chars: &mut std::str::Chars<'_>) -> Result<Piece, GlobError> {
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut ahead = chars.clone();
    let negated = matches!(ahead.next(), Some('!' | '^'));
    if negated {
        chars.next();
    }
    let mut first = true;
    loop {
        let low = match chars.next().ok_or(GlobError::Unclosed)? {
            ']' if !first => return Ok(Piece::OneOf { negated, ranges }),
            '\\' => chars.next().ok_or(GlobError::Unclosed)?,
            c => c,
        };
        first = false;
        let mut ahead = chars.clone();
        let range = ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']');
        let mut high = low;
        if range {
            chars.next();
            high = match chars.next().ok_or(GlobError::Unclosed)? {
                '\\' => chars.next().ok_or(GlobError::Unclosed)?,
                c => c,
            };
        }
        if high < low {
            return Err(GlobError::Range);
        }
        ranges.push((low, high));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::new(pattern).unwrap().matches(text.as_bytes())
    }

    #[test]
    fn patterns() {
        for (pattern, yes, no) in [
            ("", vec![""], vec!["a"]),
            ("*", vec!["", "abc"], vec![]),
            ("sched_*", vec!["sched_", "sched_switch"], vec!["xsched_", "sched"]),
            ("*_read", vec!["_read", "syscall_entry_read"], vec!["_readv"]),
            ("*read*", vec!["read", "preadv"], vec!["red"]),
            ("a*b*a", vec!["aba", "aabba", "abaXba"], vec!["ab", "aa", "abab"]),
            ("a?c", vec!["abc", "a€c"], vec!["ac", "abbc"]),
            ("[a-c]x", vec!["ax", "cx"], vec!["dx", "x"]),
            ("[!a-c€]x", vec!["dx"], vec!["ax", "€x", "x"]),
            ("[]-]", vec!["]", "-"], vec!["[", ""]),
            (r"\*\[\?", vec!["*[?"], vec!["a[?"]),
            ("*?", vec!["a", "ab"], vec![""]),
            ("*ab?", vec!["abx", "ababx"], vec!["ab"]),
        ] {
            for text in yes {
                assert!(matches(pattern, text), "{pattern} {text}");
            }
            for text in no {
                assert!(!matches(pattern, text), "{pattern} {text}");
            }
        }
        assert_eq!(Glob::new("[ab").err(), Some(GlobError::Unclosed));
        assert_eq!(Glob::new("a\\").err(), Some(GlobError::Escape));
        assert_eq!(Glob::new("[b-a]").err(), Some(GlobError::Range));
        assert!(Glob::new("?a*").unwrap().matches(b"\xff\x61"));
    }

    /// The definition of patterns, implemented literally.
    fn slowly(pattern: &[char], text: &[char]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, rest) => rest.is_none(),
            (Some(('*', after)), rest) => {
                slowly(after, text) || rest.is_some_and(|(_, rest)| slowly(pattern, rest))
            }
            (Some(('?', after)), Some((_, rest))) => slowly(after, rest),
            (Some((c, after)), Some((d, rest))) => c == d && slowly(after, rest),
            (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn matches_agree_with_the_definition(pattern in "[ab?*€]{0,8}", text in "[ab€]{0,10}") {
            let chars = |s: &str| s.chars().collect::<Vec<_>>();
            prop_assert_eq!(matches(&pattern, &text), slowly(&chars(&pattern), &chars(&text)));
        }

        #[test]
        fn invalid_bytes_count_as_characters(
            pattern in "[ab?*€]{0,8}",
            text in prop::collection::vec(prop::sample::select(&b"ab\xe2\x82\xac\xf0"[..]), 0..12),
        ) {
            let (mut chars, mut rest) = (Vec::new(), &*text);
            while let Some(len) = char_len(rest) {
                let char = std::str::from_utf8(&rest[..len]).ok().and_then(|c| c.chars().next());
                chars.push(char.unwrap_or('\u{fffd}'));
                rest = &rest[len..];
            }
            let pattern_chars: Vec<_> = pattern.chars().collect();
            let found = Glob::new(&pattern).unwrap().matches(&text);
            prop_assert_eq!(found, slowly(&pattern_chars, &chars));
        }
    }
}
