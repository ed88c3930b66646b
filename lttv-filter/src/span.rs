//! Places in the text of an expression.

/// A range of bytes in the text of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Creates a span from the offset of its first byte and the offset after its last
    /// one. Offsets beyond `u32::MAX` are replaced with that; expressions are shorter.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }
}
