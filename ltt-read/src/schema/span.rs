//! Places in the metadata text.

/// A range of bytes of the metadata text.
// Exhaustive: a pair of offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset past the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the span `start..end`. Offsets are clamped to `u32::MAX`.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }
}
