//! Branchless search for the first zero byte of a string.
//!
//! The lengths of strings are unpredictable: a loop over bytes or words that ends at the
//! zero costs a branch misprediction for nearly every string.

/// The result of [`zero_in`] if no byte is zero.
pub(crate) const NO_ZERO: u32 = 32;

/// Returns the index of the first zero byte; [`NO_ZERO`] if there is none.
#[inline(always)]
pub(crate) fn zero_in(bytes: &[u8; 32]) -> u32 {
    let (halves, _) = bytes.as_chunks();
    let zeros = zeros(&halves[0]) | zeros(&halves[1]) << 16;
    (zeros | 1 << NO_ZERO).trailing_zeros()
}

/// Returns the index of the first zero byte; 16 if there is none.
#[inline(always)]
pub(crate) fn zero_in_half(bytes: &[u8; 16]) -> u32 {
    (zeros(bytes) | 1 << 16).trailing_zeros()
}

/// Returns a mask with a bit for each byte that is zero, the lowest for the first byte.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn zeros(bytes: &[u8; 16]) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_setzero_si128};
    let (words, _) = bytes.as_chunks();
    let (low, high) = (i64::from_le_bytes(words[0]), i64::from_le_bytes(words[1]));
    // SAFETY: these intrinsics require only SSE2, which every x86-64 processor has. They
    // do not access memory.
    #[allow(unsafe_code, reason = "skipping strings takes a quarter less time")]
    let bits = unsafe {
        _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_set_epi64x(high, low), _mm_setzero_si128()))
    };
    bits as u64
}

/// Returns a mask with a bit for each byte that is zero, the lowest for the first byte.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn zeros(bytes: &[u8; 16]) -> u64 {
    zeros_by_words(bytes)
}

/// Returns the mask of zero bytes, computed with word arithmetic, for processors without
/// SSE2.
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
        // Gathers one bit of each byte in the highest byte.
        ((!set >> 7) & ONES).wrapping_mul(0x0102_0408_1020_4080) >> 56
    });
    low | high << 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The bytes include those that borrow, carry and have the highest bit set.
        #[test]
        fn first_zero_agrees_with_a_linear_search(
            // An array of as many strategies would need more stack than threads of tests have.
            bytes in prop::collection::vec(prop_oneof![
                Just(0u8), Just(1), Just(0x7f), Just(0x80), Just(0x81), Just(0xff), any::<u8>(),
            ], 32),
            from in 0..33usize,
        ) {
            // Some inputs start with a long string.
            let bytes: [u8; 32] = std::array::from_fn(|i| if i < from { bytes[i].max(1) } else { bytes[i] });
            let first = bytes.iter().position(|b| *b == 0).unwrap_or(32);
            prop_assert_eq!(zero_in(&bytes), first as u32);
            let (halves, _) = bytes.as_chunks();
            for half in halves {
                let expected = (0..16).map(|i| u64::from(half[i] == 0) << i).sum::<u64>();
                prop_assert_eq!(zeros(half), expected);
                prop_assert_eq!(zeros_by_words(half), expected);
                let first = half.iter().position(|b| *b == 0).unwrap_or(16);
                prop_assert_eq!(zero_in_half(half), first as u32);
            }
        }
    }
}
