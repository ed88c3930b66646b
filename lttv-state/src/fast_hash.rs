//! Hashing of keys of a few small integers.

use std::hash::{BuildHasherDefault, Hasher};

/// The hasher builder for keys of a few small integers.
pub(crate) type FastHash = BuildHasherDefault<FastHasher>;

/// A hasher for keys of a few small integers: fast, and sufficient for these keys. The
/// caller limits the number of keys that a hostile trace can choose freely.
#[derive(Debug, Default)]
pub(crate) struct FastHasher(u64);

impl Hasher for FastHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
