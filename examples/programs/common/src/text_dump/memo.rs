//! A cache of the texts of enumeration values. Few values occur, and each often, while
//! finding their labels takes a search.

use crate::text::{Chunk, Text};

/// The number of entries: enough that the values of one field seldom evict each other.
const ENTRIES: usize = 16;

/// The length in bytes of the longest text that is cached.
const LONGEST: usize = 256;

/// A direct-mapped cache of the texts of the last values of one field.
#[derive(Debug, Default)]
pub(super) struct Memo {
    entries: [Option<(u64, Chunk)>; ENTRIES],
}

impl Memo {
    /// Appends the text of a value. Calls `write` to append it if it is not cached.
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
    fn values_that_share_an_entry_evict_each_other() {
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
