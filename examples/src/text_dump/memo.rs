//! Texts of enumeration values: few values occur, and occur again and again,
//! while finding their labels means a search.

use super::text::{Chunk, Text};

/// Enough that the values of one field seldom push each other out.
const ENTRIES: usize = 16;

/// Longer texts are not worth their memory.
const LONGEST: usize = 256;

/// The texts of the last values of one field.
#[derive(Debug, Default)]
pub(super) struct Memo {
    entries: [Option<(u64, Chunk)>; ENTRIES],
}

impl Memo {
    /// Appends the text of a value; `write` appends it the first time.
    #[inline]
    pub(super) fn append(&mut self, out: &mut Text, value: u64, write: impl FnOnce(&mut Text)) {
        let entry = &mut self.entries[value as usize % ENTRIES];
        match entry {
            Some((known, text)) if *known == value => text.append(out),
            _ => {
                let begin = out.len();
                write(out);
                let text = &out.as_bytes()[begin..];
                if text.len() <= LONGEST {
                    *entry = Some((value, Chunk::new(text)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_share_an_entry() {
        let mut memo = Memo::default();
        for (value, written) in [(1, true), (1, false), (17, true), (1, true), (2, true)] {
            let (mut out, mut calls) = (Text::default(), 0);
            memo.append(&mut out, value, |out| {
                calls += 1;
                out.append(value.to_string().as_bytes());
            });
            assert_eq!(out.as_bytes(), value.to_string().as_bytes());
            assert_eq!(calls == 1, written, "{value}");
        }
    }
}
