//! Static knowledge about bit positions.

/// The static knowledge about a bit position: it is congruent to `rest` modulo `modulus`,
/// which is a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phase {
    pub(crate) modulus: u64,
    pub(crate) rest: u64,
}

impl Phase {
    /// Returns the phase of a multiple of `align` bits.
    pub(crate) fn aligned(align: u64) -> Self {
        Phase { modulus: align, rest: 0 }
    }

    /// Returns `true` if the position is known to be a byte boundary.
    pub(crate) fn is_byte(self) -> bool {
        self.modulus >= 8 && self.rest.is_multiple_of(8)
    }

    pub(crate) fn plus(self, bits: u64) -> Self {
        Phase { rest: (self.rest.wrapping_add(bits)) & (self.modulus - 1), ..self }
    }

    /// Returns the phase with a modulus of at most `modulus`.
    pub(crate) fn weaken(self, modulus: u64) -> Self {
        let modulus = self.modulus.min(modulus);
        Phase { modulus, rest: self.rest & (modulus - 1) }
    }

    /// Returns the strongest phase that both phases imply.
    pub(crate) fn common(self, other: Self) -> Self {
        let modulus = self.modulus.min(other.modulus);
        let differ = (self.rest ^ other.rest) & (modulus - 1);
        self.weaken(if differ == 0 { modulus } else { 1 << differ.trailing_zeros() })
    }
}
