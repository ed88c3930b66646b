//! Pseudo-random numbers that are the same in all runs and on all machines.

/// A SplitMix64 generator (Steele et al., 2014): sufficient for test data.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator whose sequence depends only on the seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Returns 64 random bits.
    #[allow(clippy::should_implement_trait, reason = "an iterator would not end")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which must be at least 1. The bias is below 2⁻³² for
    /// the small bounds in use.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a random element.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
