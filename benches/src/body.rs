//! Fields as kernel tracers write them, one behind the other.

use crate::Random;

/// Threads have tids from here on.
pub(crate) const FIRST_TID: u32 = 1000;

/// An address in the kernel.
pub(crate) fn pointer(random: &mut Random) -> u64 {
    0xffff_8880_0000_0000 | random.below(1 << 32)
}

pub(crate) fn words<const N: usize>(body: &mut Vec<u8>, values: [u32; N]) {
    values.iter().for_each(|v| body.extend_from_slice(&v.to_le_bytes()));
}

pub(crate) fn longs<const N: usize>(body: &mut Vec<u8>, values: [u64; N]) {
    values.iter().for_each(|v| body.extend_from_slice(&v.to_le_bytes()));
}

/// The name of a thread, padded to 16 bytes.
pub(crate) fn comm(body: &mut Vec<u8>, tid: u32) {
    let mut name = *b"swapper/0\0\0\0\0\0\0\0";
    if tid != 0 {
        name = *b"worker-000\0\0\0\0\0\0";
        let mut number = tid - FIRST_TID;
        for digit in name[7..10].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }
    body.extend_from_slice(&name);
}
