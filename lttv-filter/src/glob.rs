//! Patterns: `*` any text, `?` any character, `[a-z]` and `[!a-z]` one of (or
//! none of) these, `\` before a character that means itself.

use std::ops::RangeInclusive;

use memchr::memmem;

/// A pattern, compiled.
#[derive(Debug, Clone)]
pub(crate) struct Glob {
    /// What the text begins with; after that, one part after each `*`.
    first: Vec<Piece>,
    rest: Vec<Part>,
}

/// What stands between two `*`, or after the last.
#[derive(Debug, Clone)]
struct Part {
    pieces: Vec<Piece>,
    /// Finds the literal text that the part begins with, if it does.
    finder: Option<Box<memmem::Finder<'static>>>,
    /// How many bytes it can stand for.
    lengths: RangeInclusive<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    AnyChar,
    OneOf { negated: bool, ranges: Vec<(char, char)> },
}

/// Why a text is no pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GlobError {
    #[error("a `[` in it is not closed; one that means itself is written `\\[`")]
    Unclosed,
    #[error("it ends with a `\\`, which has to stand before a character")]
    Escape,
    #[error("a range in `[…]` begins after its end")]
    Range,
}

impl Glob {
    /// Compiles a pattern.
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
                    // Several stars in a row are one.
                    if parts.len() == 1 || parts.last().is_some_and(|p| !p.is_empty()) {
                        parts.push(Vec::new());
                    }
                }
                '?' => pieces.push(Piece::AnyChar),
                '[' => pieces.push(one_of(&mut chars)?),
                '\\' => text(pieces, chars.next().ok_or(GlobError::Escape)?),
                c => text(pieces, c),
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

    /// The text that it stands for, if it has nothing special.
    pub(crate) fn plain(&self) -> Option<&[u8]> {
        match (&*self.first, &*self.rest) {
            ([], []) => Some(&[]),
            ([Piece::Text(text)], []) => Some(text),
            _ => None,
        }
    }

    /// Whether all of a text matches. What is not sound UTF-8 counts as one
    /// character for each byte.
    ///
    /// Each part is looked for where it comes first: if there is a match at all,
    /// there is one with that. So the work is at most the product of the lengths.
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
    /// What follows its first occurrence.
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

    /// Whether a text ends with it.
    fn ends(&self, mut text: &[u8]) -> bool {
        if self.pieces.is_empty() {
            return true;
        }
        if let [Piece::Text(end)] = &*self.pieces {
            return text.ends_with(end);
        }
        // It begins near the end, and where a character does.
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
    /// How many bytes it can stand for.
    fn lengths(&self) -> RangeInclusive<usize> {
        match self {
            Piece::Text(text) => text.len()..=text.len(),
            Piece::AnyChar | Piece::OneOf { .. } => 1..=4,
        }
    }
}

/// What follows the pieces, if a text begins with them.
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

/// Length of the first character in bytes; `None` at the end.
fn char_len(text: &[u8]) -> Option<usize> {
    let len = match text.first()? {
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => return Some(1),
    };
    let sound = text.get(..len).is_some_and(|c| std::str::from_utf8(c).is_ok());
    Some(if sound { len } else { 1 })
}

fn text(pieces: &mut Vec<Piece>, c: char) {
    let mut bytes = [0; 4];
    let bytes = c.encode_utf8(&mut bytes).as_bytes();
    match pieces.last_mut() {
        Some(Piece::Text(text)) => text.extend_from_slice(bytes),
        _ => pieces.push(Piece::Text(bytes.to_vec())),
    }
}

/// What follows a `[`. A `]` right at the begin means itself.
fn one_of(chars: &mut std::str::Chars<'_>) -> Result<Piece, GlobError> {
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

    /// The definition, read word for word.
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
        fn as_defined(pattern in "[ab?*€]{0,8}", text in "[ab€]{0,10}") {
            let chars = |s: &str| s.chars().collect::<Vec<_>>();
            prop_assert_eq!(matches(&pattern, &text), slowly(&chars(&pattern), &chars(&text)));
        }

        #[test]
        fn bytes_that_are_no_characters_count(
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
