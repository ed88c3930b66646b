//! Leaps: how far most bodies go, told without a branch.
//!
//! Which event comes next is hard to foresee, and a wrong guess costs a processor more
//! than all else that it takes to pass over an event. So bodies of fixed size, with one
//! string and with one sequence are passed over in the same way, all three.

use super::region::Region;
use super::strides::Stride;
use crate::zeros::{NO_ZERO, zero_in};

/// The leap over a body that begins at a byte: over what precedes its dynamic part, as
/// much of a string and as many elements as there are, and what follows. Numbers are in
/// bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leap {
    /// The size of all but the dynamic part.
    fixed: u32,
    /// Where the dynamic part begins.
    part_at: u8,
    /// Where the number of elements is, and which bits of the word there it is.
    length_at: u8,
    length_mask: u32,
    /// The size of an element.
    element: u32,
    /// All bits if the dynamic part is a string.
    is_text: u32,
}

/// How many bytes must follow the begin of a record: so that one look at the end of the
/// data will do, and whatever a leap asks is known to be before it.
pub(crate) const NEAR: usize = 2 * u8::MAX as usize + NO_ZERO as usize;

/// Greater sizes are for others, so that nothing overflows.
const MAX_SIZE: u64 = 1 << 24;

impl Leap {
    /// That over the bodies of a region, if they can be passed so.
    pub(crate) fn new(region: &Region) -> Option<Self> {
        let (stride, tail) = match (region.fixed, &region.strides) {
            (Some(bits), _) => Stride::over_fixed(bits, region.start.phase)?,
            (None, Some(strides)) => strides.only()?,
            (None, None) => return None,
        };
        Self::over(&stride, tail)
    }

    /// That over a body of one stride, with so much behind it.
    pub(super) fn over(stride: &Stride, tail: u64) -> Option<Self> {
        let small = |size: u64| (size <= MAX_SIZE).then_some(size as u32);
        let is_fixed = !stride.is_text && stride.length_mask == 0;
        Some(Leap {
            fixed: small(stride.before)? + small(tail)?,
            part_at: if is_fixed { 0 } else { u8::try_from(stride.before).ok()? },
            length_at: u8::try_from(stride.length_at).ok()?,
            length_mask: u32::try_from(stride.length_mask).ok()?,
            element: small(stride.element)?,
            is_text: if stride.is_text { u32::MAX } else { 0 },
        })
    }

    /// The size of the body of a record, of which the first bytes are given; the body
    /// begins at one of them. `None` if the size has to be found in another way: behind a
    /// long string.
    #[inline(always)]
    pub(crate) fn size(&self, near: &[u8; NEAR], at: u8) -> Option<u64> {
        let part = usize::from(at) + usize::from(self.part_at);
        let zero = zero_in(near[part..].first_chunk()?);
        if zero & self.is_text & NO_ZERO != 0 {
            return None;
        }
        let text = (zero + 1) & self.is_text;
        let length = near[usize::from(at) + usize::from(self.length_at)..].first_chunk()?;
        let length = u32::from_le_bytes(*length) & self.length_mask;
        let elements = u64::from(length) * u64::from(self.element);
        Some(u64::from(self.fixed) + u64::from(text) + elements)
    }
}
