//! The limits of what is unpacked.

/// The limits of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The greatest number of entries.
    pub entries: u64,
    /// The greatest size of all files, in bytes.
    pub bytes: u64,
    /// The greatest ratio of that size to that of the archive. The buffers of tracers are mostly empty in quiet times, so
    /// that honest archives have high ratios.
    pub ratio: u64,
    /// The size of all files up to which the ratio does not matter, in bytes.
    pub free: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { entries: 100_000, bytes: 64 << 30, ratio: 1000, free: 64 << 20 }
    }
}

impl Limits {
    /// Returns the number of bytes that an archive of some bytes may have.
    pub(crate) fn bytes_of(&self, archive: u64) -> u64 {
        self.bytes.min(archive.saturating_mul(self.ratio).max(self.free))
    }
}
