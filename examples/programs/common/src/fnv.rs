//! The hash function FNV-1a with 128 bits, which is the same in all builds and on all machines.

/// A hash of bytes that are added part by part.
#[derive(Debug, Clone, Copy)]
pub struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    /// Adds bytes, preceded by their number.
    pub fn add(&mut self, bytes: &[u8]) {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul((1 << 88) + 0x13b);
        }
    }

    /// Returns the hash.
    pub fn hash(self) -> u128 {
        self.0
    }
}
