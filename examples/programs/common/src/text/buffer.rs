//! A text buffer for many short pieces.
//!
//! A dump consists of pieces of about ten bytes. A piece is copied as a block of constant
//! size, of which only the first bytes are used: this takes a comparison and two moves,
//! without a call or a loop.

use std::fmt;

use super::sink::Sink;

/// The length in bytes from which a text with a sink is written, also in the middle of an
/// event's line: large enough for few system calls, small enough for the cache.
pub(crate) const PIECE: usize = 128 << 10;

/// The room in bytes for a text with a sink: a long line may follow the text that is not written yet.
const ROOM: usize = PIECE + PIECE / 4;

/// The room in bytes at first. Many outputs are short, and more memory takes time.
const LITTLE: usize = 2 << 10;

/// A growing text, like a `Vec<u8>` with initialised space after its end.
#[derive(Debug, Default)]
pub struct Text {
    bytes: Vec<u8>,
    /// The number of bytes in use.
    length: usize,
    /// The sink that the text is written to in pieces, if it has one.
    sink: Option<Box<Sink>>,
    /// The number of writes to the sink.
    drained: u64,
}

/// Up to eight bytes, the first in the lowest bits of the word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Short {
    pub(crate) word: u64,
    pub(crate) length: usize,
}

impl Text {
    /// Creates an empty text with space for this many bytes.
    pub fn with_room(room: usize) -> Self {
        Text { bytes: vec![0; room], ..Text::default() }
    }

    /// Creates an empty text that is written to a sink in pieces.
    pub(super) fn to_sink(sink: Sink) -> Self {
        Text { sink: Some(Box::new(sink)), ..Self::with_room(LITTLE) }
    }

    /// Writes the text to its sink if it has one and is long enough. Formats must call this
    /// after each element of an array, since an event's line may become long.
    #[inline(always)]
    pub(crate) fn spill(&mut self) {
        if self.length >= PIECE {
            self.drain();
        }
    }

    /// Writes the text to its sink, if it has one, and empties it.
    #[cold]
    #[inline(never)]
    pub(crate) fn drain(&mut self) {
        if let Some(sink) = &mut self.sink {
            sink.put(self.bytes.get(..self.length).unwrap_or_default());
            self.length = 0;
            self.drained += 1;
        }
    }

    /// Returns the number of writes to the sink.
    pub(crate) fn drained(&self) -> u64 {
        self.drained
    }

    /// Returns the number of bytes that fit without growing.
    #[cfg(test)]
    pub(crate) fn room(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the sink.
    pub(super) fn sink(&mut self) -> Option<&mut Sink> {
        self.sink.as_deref_mut()
    }

    /// Returns the text as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Returns the length in bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns `true` if the text is empty.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Removes the text, and keeps the space.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Shortens the text to at most this many bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Appends the bytes that a function writes to the start of a block. The function returns
    /// their number.
    #[inline(always)]
    pub(crate) fn write<const N: usize>(&mut self, write: impl FnOnce(&mut [u8; N]) -> usize) {
        loop {
            let room = self.bytes.get_mut(self.length..self.length.wrapping_add(N));
            if let Some(block) = room.and_then(|room| room.as_mut_array()) {
                self.length += write(block);
                return;
            }
            self.grow(N);
        }
    }

    /// Appends bytes to the text.
    #[inline(always)]
    pub fn append(&mut self, bytes: &[u8]) {
        loop {
            let end = self.length.wrapping_add(bytes.len());
            if let Some(room) = self.bytes.get_mut(self.length..end) {
                room.copy_from_slice(bytes);
                self.length = end;
                return;
            }
            self.grow(bytes.len());
        }
    }

    /// Appends one byte to the text.
    #[inline(always)]
    pub fn push(&mut self, byte: u8) {
        self.append(&[byte]);
    }

    /// Appends a byte several times.
    pub(crate) fn repeat(&mut self, byte: u8, times: usize) {
        for _ in 0..times {
            self.push(byte);
        }
    }

    /// Appends up to eight bytes.
    #[inline(always)]
    pub(crate) fn short(&mut self, Short { word, length }: Short) {
        self.write(|room: &mut [u8; 8]| {
            *room = word.to_le_bytes();
            length
        });
    }

    /// Grows the space by at least `room` bytes.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, room: usize) {
        let least = if self.sink.is_some() { ROOM } else { 64 };
        let wanted = self.length.saturating_add(room).max(least);
        self.bytes.resize(wanted.max(2 * self.bytes.len()), 0);
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

/// Displays the text with U+FFFD in place of invalid UTF-8.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.append(text.as_bytes());
        Ok(())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text { bytes: text.into(), length: text.len(), ..Text::default() }
    }
}

/// A piece of text that is appended very often.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    block: [u8; BLOCK],
    length: usize,
    /// The whole text, if it does not fit into the block.
    long: Option<Box<[u8]>>,
}

/// The length of a block in bytes.
const BLOCK: usize = 32;

impl Chunk {
    pub(crate) fn new(text: impl AsRef<[u8]>) -> Self {
        let text = text.as_ref();
        let mut block = [0; BLOCK];
        match block.get_mut(..text.len()) {
            Some(start) => {
                start.copy_from_slice(text);
                Chunk { block, length: text.len(), long: None }
            }
            None => Chunk { block, length: 0, long: Some(text.into()) },
        }
    }

    /// Appends the text to `out`.
    #[inline(always)]
    pub(crate) fn append(&self, out: &mut Text) {
        out.write(|room| {
            *room = self.block;
            self.length
        });
        if let Some(text) = &self.long {
            out.append(text);
        }
    }

    /// Appends the text and up to eight bytes to `out`.
    #[inline(always)]
    pub(crate) fn append_with(&self, out: &mut Text, Short { word, length }: Short) {
        self.append_with_block(out, word.to_le_bytes(), length);
    }

    /// Appends the text and the first `length` bytes of a block to `out`.
    #[inline(always)]
    pub(crate) fn append_with_block<const N: usize>(
        &self,
        out: &mut Text,
        more: [u8; N],
        length: usize,
    ) {
        const { assert!(N <= BLOCK) }
        if let Some(text) = &self.long {
            out.append(text);
        }
        out.write(|room: &mut [u8; 2 * BLOCK]| {
            room[..BLOCK].copy_from_slice(&self.block);
            if let Some(after) = room[self.length.min(BLOCK)..].first_chunk_mut() {
                *after = more;
            }
            self.length + length
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_any_length() {
        for length in [0, 1, 31, 32, 33, 1000] {
            let piece = "é".repeat(500)[..length & !1].to_owned() + &"x"[..length & 1];
            let mut out = Text::from("before ");
            let chunk = Chunk::new(&piece);
            chunk.append(&mut out);
            chunk
                .append_with(&mut out, Short { word: u64::from_le_bytes(*b"ABCDEFGH"), length: 3 });
            assert_eq!(out.as_bytes(), format!("before {piece}{piece}ABC").as_bytes());
        }
    }

    #[test]
    fn texts_grow() {
        let (mut out, mut expected) = (Text::default(), Vec::new());
        for i in 0..1000u32 {
            let piece = vec![i as u8; (i * i % 97) as usize];
            out.append(&piece);
            out.push(b'.');
            expected.extend_from_slice(&piece);
            expected.push(b'.');
        }
        assert_eq!((out.as_bytes(), out.len()), (&*expected, expected.len()));
        out.clear();
        assert!(out.is_empty() && out.as_bytes().is_empty());
    }
}
