//! Texts by number, for columns that become dictionaries: a text that occurs again is not stored again.

use std::hash::{BuildHasher, RandomState};

use arrow_array::StringViewArray;

use super::text::utf8_of;

/// A free place in the table.
const FREE: u32 = u32::MAX;

/// The texts of a column, numbered as they occur.
#[derive(Debug)]
pub(super) struct Interned {
    /// Numbers of texts at the places of their hashes, or [`FREE`]: at most half of them are used.
    table: Vec<u32>,
    texts: Vec<Entry>,
    bytes: Vec<u8>,
    /// The number of the text that was looked up last.
    last: u32,
    /// Differs in each run, so that no trace can contain texts that all collide.
    seed: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u64,
    start: usize,
    len: usize,
}

impl Default for Interned {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(0);
        Interned { table: vec![FREE; 16], texts: Vec::new(), bytes: Vec::new(), last: 0, seed }
    }
}

impl Interned {
    /// Returns the number of a text, and adds it if it is new.
    #[inline]
    pub(super) fn number(&mut self, text: &[u8]) -> u32 {
        // Texts come in runs.
        match self.texts.get(self.last as usize) {
            Some(last) if is_same(self.bytes_of(last), text) => self.last,
            _ => self.look_up(text),
        }
    }

    fn look_up(&mut self, text: &[u8]) -> u32 {
        let hash = self.hash(text);
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while self.table[at] != FREE {
            let number = self.table[at];
            let entry = &self.texts[number as usize];
            if entry.hash == hash && is_same(self.bytes_of(entry), text) {
                self.last = number;
                return number;
            }
            at = (at + 1) & mask;
        }
        self.last = self.texts.len() as u32;
        self.table[at] = self.last;
        self.texts.push(Entry { hash, start: self.bytes.len(), len: text.len() });
        self.bytes.extend_from_slice(text);
        if 2 * self.texts.len() > self.table.len() {
            self.grow();
        }
        self.last
    }

    fn grow(&mut self) {
        let mask = 2 * self.table.len() - 1;
        self.table = vec![FREE; mask + 1];
        for (number, entry) in (0..).zip(&self.texts) {
            let mut at = entry.hash as usize & mask;
            while self.table[at] != FREE {
                at = (at + 1) & mask;
            }
            self.table[at] = number;
        }
    }

    fn bytes_of(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.start..entry.start + entry.len]
    }

    fn hash(&self, text: &[u8]) -> u64 {
        let mut hash = self.seed ^ text.len() as u64;
        let mut add = |word: u64| {
            let product = u128::from(hash ^ word) * 0x9e37_79b9_7f4a_7c15;
            hash = (product >> 64) as u64 ^ product as u64;
        };
        let mut words = text.chunks_exact(8);
        for word in &mut words {
            add(word.try_into().map_or(0, u64::from_le_bytes));
        }
        let rest = words.remainder();
        let last = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        add(last);
        hash
    }

    /// Returns the size of all texts, in bytes.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Takes the texts, in the order of their numbers.
    pub(super) fn take(&mut self) -> StringViewArray {
        let texts = std::mem::take(self);
        texts.texts.iter().map(|entry| Some(utf8_of(texts.bytes_of(entry)).into_owned())).collect()
    }
}

/// Compares short texts, for which a call of a function would take longer.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let ((words_a, rest_a), (words_b, rest_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    words_a.iter().zip(words_b).all(|(a, b)| word(a) == word(b))
        && rest_a.iter().zip(rest_b).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_numbers() {
        let mut interned = Interned::default();
        let texts: Vec<String> = (0..3000).map(|n| format!("{}{n}", "x".repeat(n % 20))).collect();
        for round in 0..2 {
            for (number, text) in (0..).zip(&texts) {
                assert_eq!(interned.number(text.as_bytes()), number, "{round} {text}");
                assert_eq!(interned.number(text.as_bytes()), number, "{round} {text}");
            }
        }
        let taken = interned.take();
        assert!(taken.iter().flatten().eq(texts.iter().map(String::as_str)));
        assert_eq!((interned.number(b""), interned.number(b"\xff")), (0, 1));
        assert_eq!(interned.take().value(1), "\\xff");
    }
}
