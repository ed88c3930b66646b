//! Texts by number, for columns that become dictionaries: a text that occurs again is not stored again.

use std::hash::BuildHasher;

use arrow_array::StringViewArray;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::text::utf8_of;

/// The texts of a column, numbered as they occur.
#[derive(Debug, Default)]
pub(super) struct Interned {
    /// The numbers of texts, by their hashes.
    table: HashTable<u32>,
    texts: Vec<Text>,
    bytes: Vec<u8>,
    /// The number of the text that was looked up last.
    last: u32,
    /// Differs in each run, so that no trace can contain texts that all collide.
    hasher: DefaultHashBuilder,
}

/// The place of a text.
#[derive(Debug, Clone, Copy)]
struct Text {
    hash: u64,
    start: usize,
    len: usize,
}

impl Interned {
    /// Returns the number of a text, and adds it if it is new.
    #[inline]
    pub(super) fn number(&mut self, text: &[u8]) -> u32 {
        // Texts come in runs.
        match self.texts.get(self.last as usize) {
            Some(last) if is_same(bytes_of(&self.bytes, last), text) => self.last,
            _ => self.look_up(text),
        }
    }

    fn look_up(&mut self, text: &[u8]) -> u32 {
        let hash = self.hasher.hash_one(text);
        let (texts, bytes) = (&self.texts, &self.bytes);
        let is_text = |number: &u32| {
            let other = &texts[*number as usize];
            other.hash == hash && is_same(bytes_of(bytes, other), text)
        };
        let hash_of = |number: &u32| texts[*number as usize].hash;
        self.last = match self.table.entry(hash, is_text, hash_of) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                let number = self.texts.len() as u32;
                place.insert(number);
                self.texts.push(Text { hash, start: self.bytes.len(), len: text.len() });
                self.bytes.extend_from_slice(text);
                number
            }
        };
        self.last
    }

    /// Returns the size of all texts, in bytes.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Takes the texts, in the order of their numbers.
    pub(super) fn take(&mut self) -> StringViewArray {
        let Interned { texts, bytes, .. } = std::mem::take(self);
        texts.iter().map(|text| Some(utf8_of(bytes_of(&bytes, text)).into_owned())).collect()
    }
}

fn bytes_of<'b>(bytes: &'b [u8], text: &Text) -> &'b [u8] {
    &bytes[text.start..text.start + text.len]
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
