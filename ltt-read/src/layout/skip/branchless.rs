//! Branchless skipping of event bodies with at most one dynamic part.
//!
//! The type of the next event is hard to predict, and a branch misprediction costs more
//! than all other work of skipping an event. Therefore bodies of fixed size, bodies with
//! one string and bodies with one sequence are skipped by the same instructions.

use super::byte_aligned::{ByteAlignedSkip, ByteStep};
use crate::base::zeros::{NO_ZERO, zero_in};
use crate::layout::phase::Phase;
use crate::layout::program::Slot;

/// The layout of a body that starts at a byte boundary: fixed-size fields, one string or
/// one sequence, and more fixed-size fields. All numbers are in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BranchlessSkip {
    /// The size of the fixed-size fields.
    fixed: u32,
    /// The offset of the dynamic part in the body.
    part_at: u8,
    /// The offset of the word with the number of elements.
    length_at: u8,
    /// The bits of that word which are the number of elements.
    length_mask: u32,
    /// The size of an element.
    element: u32,
    /// All bits set if the dynamic part is a string, otherwise 0.
    is_text: u32,
    /// The size of the fixed-size fields after the dynamic part.
    tail: u32,
    /// The slot for the end of the dynamic part.
    anchor: Slot,
    /// The slot for the number of elements; for strings, the same as `anchor`.
    length_slot: Slot,
    /// The number of slots that the region requires.
    slots: Slot,
}

/// The number of bytes that must follow the start of a body. With this many, a single
/// bounds check covers every access of a skip.
pub(super) const REACH: usize = u8::MAX as usize + NO_ZERO as usize;

/// The greatest size of the parts of a body, in bytes, so that sums cannot overflow.
/// Larger bodies take a slower path.
const MAX_SIZE: u64 = 1 << 24;

impl BranchlessSkip {
    /// Creates the skip of a region; `None` if the region has another form. `fixed` is the
    /// size of the region in bits if it is constant, and `slots` the number of slots that it requires.
    pub(crate) fn new(
        start: Phase,
        fixed: Option<u64>,
        byte_aligned: Option<&ByteAlignedSkip>,
        slots: Slot,
    ) -> Option<Self> {
        let (step, tail) = match (fixed, byte_aligned) {
            (Some(bits), _) => ByteStep::for_fixed_size(bits, start)?,
            (None, Some(skip)) => skip.single_step()?,
            (None, None) => return None,
        };
        Self::from_step(&step, tail, slots)
    }

    /// Creates the skip of one step and `tail` bytes after it.
    pub(super) fn from_step(step: &ByteStep, tail: u64, slots: Slot) -> Option<Self> {
        let small = |size: u64| (size <= MAX_SIZE).then_some(size as u32);
        let is_fixed = !step.is_text && step.length_mask == 0;
        let tail = small(tail)?;
        Some(BranchlessSkip {
            fixed: small(step.before)? + tail,
            part_at: if is_fixed { 0 } else { u8::try_from(step.before).ok()? },
            length_at: u8::try_from(step.length_at).ok()?,
            length_mask: u32::try_from(step.length_mask).ok()?,
            element: small(step.element)?,
            is_text: if step.is_text { u32::MAX } else { 0 },
            tail,
            anchor: step.anchor,
            length_slot: step.length_slot.unwrap_or(step.anchor),
            slots,
        })
    }

    /// Computes the size in bytes of the body that starts with these bytes. `None` if it has a string
    /// that is too long for this.
    #[inline(always)]
    pub(crate) fn size_of_body(&self, body: &[u8; REACH]) -> Option<u64> {
        let (part, _) = self.part(body)?;
        Some(u64::from(self.fixed) + part)
    }

    /// Computes the end of a body of dynamic size that starts at the bit `begin`, with these bytes, and
    /// notes its anchor and its slot, as [`DynamicSkip::end`](super::DynamicSkip::end) does. The caller
    /// has to compare the result with the end of the data. `None` if the body has a string that is too
    /// long for this, or if there are too few slots.
    #[inline(always)]
    pub(crate) fn end(&self, body: &[u8; REACH], begin: u64, slots: &mut [u64]) -> Option<u64> {
        let slots = slots.get_mut(..self.slots as usize)?;
        let (part, length) = self.part(body)?;
        let end = begin + 8 * (u64::from(self.fixed) + part);
        *slots.get_mut(self.length_slot as usize)? = length;
        *slots.get_mut(self.anchor as usize)? = end - 8 * u64::from(self.tail);
        Some(end)
    }

    /// Computes the size in bytes of the dynamic part of a body, and its number of elements. `None` if it
    /// is a string that is too long.
    #[inline(always)]
    fn part(&self, body: &[u8; REACH]) -> Option<(u64, u64)> {
        let zero = zero_in(body[usize::from(self.part_at)..].first_chunk()?);
        if zero & self.is_text & NO_ZERO != 0 {
            return None;
        }
        let text = (zero + 1) & self.is_text;
        let length = body[usize::from(self.length_at)..].first_chunk()?;
        let length = u64::from(u32::from_le_bytes(*length) & self.length_mask);
        Some((u64::from(text) + length * u64::from(self.element), length))
    }
}
