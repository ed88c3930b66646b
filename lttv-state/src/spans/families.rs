//! Sets of families.

use super::family::Family;

/// A set of families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Families(u32);

impl Families {
    /// No family.
    pub const NONE: Families = Families(0);

    /// Returns `true` if a family is in the set.
    #[inline]
    pub const fn contains(self, family: Family) -> bool {
        self.0 >> family as u32 & 1 == 1
    }

    /// Returns `true` if any of some families is in the set.
    pub(crate) fn contains_any(self, families: &[Family]) -> bool {
        families.iter().any(|family| self.contains(*family))
    }
}

impl FromIterator<Family> for Families {
    fn from_iter<I: IntoIterator<Item = Family>>(families: I) -> Self {
        Families(families.into_iter().fold(0, |bits, family| bits | 1 << family as u32))
    }
}
