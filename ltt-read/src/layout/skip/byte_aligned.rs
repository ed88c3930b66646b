//! Skip tables of regions whose fields all start at byte boundaries.
//!
//! These tables are derived from [`DynamicSkip`]s, but note no anchors and slots on the
//! way, so that steps are smaller and need less work.

use super::dynamic::{DynamicPart, DynamicSkip, Step};
use crate::base::bits;
use crate::layout::phase::Phase;
use crate::layout::program::Slot;
use crate::layout::{FixedRead, WordRead};

/// A sequence of steps, and the number of bytes after the last one.
#[derive(Debug)]
pub(crate) struct ByteAlignedSkip {
    steps: Box<[ByteStep]>,
    tail: u64,
}

/// A step from the end of one dynamic part to the end of the next, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ByteStep {
    /// The offset of the dynamic part from the start of the step.
    pub(super) before: u64,
    /// `true` if the dynamic part is a string, otherwise it is a sequence.
    pub(super) is_text: bool,
    /// The offset of the word with the number of elements, from the start of the step.
    pub(super) length_at: u64,
    /// The bits of that word which are the number of elements, starting at the lowest.
    pub(super) length_mask: u64,
    /// The size of an element.
    pub(super) element: u64,
    /// The slot for the end of the dynamic part.
    pub(super) anchor: Slot,
    /// The slot for the number of elements.
    pub(super) length_slot: Option<Slot>,
}

impl ByteAlignedSkip {
    /// Creates the table of a region that starts at a place; `None` if some field may start
    /// within a byte.
    pub(crate) fn new(skip: &DynamicSkip, start: Phase) -> Option<Self> {
        if !start.is_byte() {
            return None;
        }
        let steps = skip.steps.iter().map(ByteStep::new).collect::<Option<_>>()?;
        Some(ByteAlignedSkip { steps, tail: bytes(skip.tail)? })
    }

    /// Returns the only step and the number of bytes after it; `None` if there are several
    /// steps.
    pub(super) fn single_step(&self) -> Option<(ByteStep, u64)> {
        let [step] = self.steps[..] else { return None };
        Some((step, self.tail))
    }

    /// Returns the number of bytes after the last dynamic part.
    pub(crate) fn tail(&self) -> u64 {
        self.tail
    }

    /// Computes the end of a region that starts at byte `at`. The caller has to compare
    /// the result with the end of the data. `None` if a string is not wholly within the
    /// data.
    #[inline(always)]
    pub(crate) fn end(&self, data: &[u8], at: u64) -> Option<u64> {
        self.ends(data, at, |_| {})
    }

    /// Computes the end of a region like [`end`](Self::end), and calls a function with the end of each
    /// dynamic part.
    #[inline(always)]
    pub(crate) fn ends(&self, data: &[u8], mut at: u64, mut part: impl FnMut(u64)) -> Option<u64> {
        for step in &self.steps {
            at += match step.is_text {
                true => {
                    let text = data.get(index(at + step.before)..)?;
                    step.before + bits::find_zero(text)? as u64 + 1
                }
                false => {
                    let length = bits::word(data, index(at + step.length_at));
                    step.before + (length & step.length_mask) * step.element
                }
            };
            part(at);
        }
        Some(at + self.tail)
    }
}

impl ByteStep {
    /// Creates the step over a region of fixed size in bits. Returns it with the number of
    /// bytes after it, which is 0.
    pub(super) fn for_fixed_size(size: u64, start: Phase) -> Option<(Self, u64)> {
        let before = bytes(size).filter(|_| start.is_byte())?;
        Some((ByteStep { before, ..ByteStep::default() }, 0))
    }

    fn new(step: &Step) -> Option<Self> {
        let (before, anchor) = (bytes(step.before)?, step.anchor);
        match (&step.part, step.save) {
            (DynamicPart::Text, None) => {
                Some(ByteStep { before, is_text: true, anchor, ..ByteStep::default() })
            }
            // The length must have been saved by this step, not by a previous one.
            (DynamicPart::Elements { len, bits }, Some((at, read, slot))) if *len == slot => {
                Some(ByteStep {
                    before,
                    is_text: false,
                    length_at: bytes(at)?,
                    length_mask: length_mask(read)?,
                    element: bytes(*bits)?,
                    anchor,
                    length_slot: Some(slot),
                })
            }
            _ => None,
        }
    }
}

/// Returns the mask of a length field; `None` if it is so wide that positions could
/// overflow.
fn length_mask(read: FixedRead) -> Option<u64> {
    WordRead::new(read, 8)?.mask_of_unsigned().filter(|mask| *mask <= u32::MAX.into())
}

/// Converts bits to bytes; `None` if they are not whole bytes.
fn bytes(bits: u64) -> Option<u64> {
    bits.is_multiple_of(8).then_some(bits / 8)
}

/// Converts an offset to an index, which is beyond all data if the offset is too large.
#[inline(always)]
fn index(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
