//! Branchless skipping of event bodies with at most one dynamic part.
//!
//! The type of the next event is hard to predict, and a branch misprediction costs more
//! than all other work of skipping an event. Therefore bodies of fixed size, bodies with
//! one string and bodies with one sequence are skipped by the same instructions.

use super::byte_aligned::{ByteAlignedSkip, ByteStep};
use crate::base::zeros::{NO_ZERO, zero_in};
use crate::layout::phase::Phase;

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
}

/// The number of bytes that must follow the start of a record. With this many, a single
/// bounds check covers every access of a skip.
pub(crate) const LOOKAHEAD: usize = 2 * u8::MAX as usize + NO_ZERO as usize;

/// The greatest size of the parts of a body, in bytes, so that sums cannot overflow.
/// Larger bodies take a slower path.
const MAX_SIZE: u64 = 1 << 24;

impl BranchlessSkip {
    /// Creates the skip of a region; `None` if the region has another form. `fixed` is the
    /// size of the region in bits if it is constant.
    pub(crate) fn new(
        start: Phase,
        fixed: Option<u64>,
        byte_aligned: Option<&ByteAlignedSkip>,
    ) -> Option<Self> {
        let (step, tail) = match (fixed, byte_aligned) {
            (Some(bits), _) => ByteStep::for_fixed_size(bits, start)?,
            (None, Some(skip)) => skip.single_step()?,
            (None, None) => return None,
        };
        Self::from_step(&step, tail)
    }

    /// Creates the skip of one step and `tail` bytes after it.
    pub(super) fn from_step(step: &ByteStep, tail: u64) -> Option<Self> {
        let small = |size: u64| (size <= MAX_SIZE).then_some(size as u32);
        let is_fixed = !step.is_text && step.length_mask == 0;
        Some(BranchlessSkip {
            fixed: small(step.before)? + small(tail)?,
            part_at: if is_fixed { 0 } else { u8::try_from(step.before).ok()? },
            length_at: u8::try_from(step.length_at).ok()?,
            length_mask: u32::try_from(step.length_mask).ok()?,
            element: small(step.element)?,
            is_text: if step.is_text { u32::MAX } else { 0 },
        })
    }

    /// Computes the size in bytes of the body of a record, given the first bytes of the
    /// record and the offset of the body in them. `None` if the body has a string that is
    /// too long for this.
    #[inline(always)]
    pub(crate) fn size(&self, record: &[u8; LOOKAHEAD], body: u8) -> Option<u64> {
        let part = usize::from(body) + usize::from(self.part_at);
        let zero = zero_in(record[part..].first_chunk()?);
        if zero & self.is_text & NO_ZERO != 0 {
            return None;
        }
        let text = (zero + 1) & self.is_text;
        let length = record[usize::from(body) + usize::from(self.length_at)..].first_chunk()?;
        let length = u32::from_le_bytes(*length) & self.length_mask;
        let elements = u64::from(length) * u64::from(self.element);
        Some(u64::from(self.fixed) + u64::from(text) + elements)
    }
}
