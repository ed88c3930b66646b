//! Strides: how far a body goes, for those who pass over it.
//!
//! The same as [hops](super::hops), where all lies at byte boundaries; nothing is noted
//! on the way, so that less is written down of each hop and less is done for it.

use super::hops::{Hop, Hops, Part};
use super::region::Phase;
use super::{FixedRead, WordRead};
use crate::bits;

/// A chain of strides, and the bytes after the last.
#[derive(Debug)]
pub(crate) struct Strides {
    each: Box<[Stride]>,
    tail: u64,
}

/// From the end of one dynamic part to that of the next, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stride {
    /// Where the dynamic part begins.
    pub(super) before: u64,
    /// Whether that is a string.
    pub(super) is_text: bool,
    /// Where its length is otherwise.
    pub(super) length_at: u64,
    /// Which bits of the word there are the length, from the lowest on.
    pub(super) length_mask: u64,
    /// The size of an element.
    pub(super) element: u64,
}

impl Strides {
    /// The strides of a region, if it has some.
    pub(crate) fn new(hops: &Hops, begin: Phase) -> Option<Self> {
        if !begin.is_byte() {
            return None;
        }
        let each = hops.each.iter().map(Stride::new).collect::<Option<_>>()?;
        Some(Strides { each, tail: bytes(hops.tail)? })
    }

    /// The only one, if there are no others, and what is behind it.
    pub(super) fn only(&self) -> Option<(Stride, u64)> {
        let [only] = self.each[..] else { return None };
        Some((only, self.tail))
    }

    /// Where a region ends that begins at a byte. It may be beyond the data; `None` if
    /// it is.
    #[inline(always)]
    pub(crate) fn end(&self, data: &[u8], mut at: u64) -> Option<u64> {
        for stride in &self.each {
            at += match stride.is_text {
                true => {
                    let text = data.get(index(at + stride.before)..)?;
                    stride.before + bits::find_zero(text)? as u64 + 1
                }
                false => {
                    let length = bits::word(data, index(at + stride.length_at));
                    stride.before + (length & stride.length_mask) * stride.element
                }
            };
        }
        Some(at + self.tail)
    }
}

impl Stride {
    /// The one over a region of fixed size, and what is behind it.
    pub(super) fn over_fixed(size: u64, begin: Phase) -> Option<(Self, u64)> {
        let before = bytes(size).filter(|_| begin.is_byte())?;
        Some((Stride { before, ..Stride::default() }, 0))
    }

    fn new(hop: &Hop) -> Option<Self> {
        let before = bytes(hop.before)?;
        match (&hop.over, hop.save) {
            (Part::Text, None) => Some(Stride { before, is_text: true, ..Stride::default() }),
            // Its own length, not one that was read long before.
            (Part::Elements { len, bits }, Some((at, read, slot))) if *len == slot => {
                Some(Stride {
                    before,
                    is_text: false,
                    length_at: bytes(at)?,
                    length_mask: length_mask(read)?,
                    element: bytes(*bits)?,
                })
            }
            _ => None,
        }
    }
}

/// The mask of a length that is not so long that positions could overflow.
fn length_mask(read: FixedRead) -> Option<u64> {
    WordRead::new(read, 8)?.mask_of_unsigned().filter(|mask| *mask <= u32::MAX.into())
}

fn bytes(bits: u64) -> Option<u64> {
    bits.is_multiple_of(8).then_some(bits / 8)
}

/// A place as an index: beyond all data, if it is too large for one.
#[inline(always)]
fn index(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
