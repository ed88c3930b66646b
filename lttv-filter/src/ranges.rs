//! Sets of integers as sorted ranges.

/// A set of integers: sorted ranges, both ends included, with gaps between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Ranges(Vec<(i128, i128)>);

impl Ranges {
    /// Creates an empty set.
    pub(crate) fn none() -> Self {
        Ranges(Vec::new())
    }

    /// Creates the set of integers from `low` to `high`.
    pub(crate) fn of(low: i128, high: i128) -> Self {
        Ranges(if low <= high { vec![(low, high)] } else { Vec::new() })
    }

    /// Creates the union of ranges, which may overlap.
    pub(crate) fn union_of(mut ranges: Vec<(i128, i128)>) -> Self {
        ranges.retain(|(low, high)| low <= high);
        ranges.sort_unstable();
        let mut merged: Vec<(i128, i128)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Ranges(merged)
    }

    /// Returns the sorted ranges of the set.
    pub(crate) fn as_slice(&self) -> &[(i128, i128)] {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if the set contains all integers from `low` to `high`.
    pub(crate) fn covers(&self, low: i128, high: i128) -> bool {
        self.0.iter().any(|range| range.0 <= low && high <= range.1)
    }

    /// Returns `true` if the set contains a number.
    pub(crate) fn contains(&self, n: i128) -> bool {
        let at = self.0.partition_point(|range| range.1 < n);
        self.0.get(at).is_some_and(|range| range.0 <= n)
    }

    /// Returns the integers from `low` to `high` that are not in the set.
    pub(crate) fn complement(&self, low: i128, high: i128) -> Self {
        let mut rest = Vec::with_capacity(self.0.len() + 1);
        let mut next = low;
        for range in self.intersection(&Ranges::of(low, high)).0 {
            if next < range.0 {
                rest.push((next, range.0 - 1));
            }
            next = range.1 + 1;
        }
        if next <= high {
            rest.push((next, high));
        }
        Ranges(rest)
    }

    /// Returns the integers in both sets.
    pub(crate) fn intersection(&self, other: &Ranges) -> Self {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            let (low, high) = (x.0.max(y.0), x.1.min(y.1));
            if low <= high {
                both.push((low, high));
            }
            if x.1 < y.1 {
                a.next()
            } else {
                b.next()
            };
        }
        Ranges(both)
    }

    /// Returns the integers in at least one of the sets.
    pub(crate) fn union(&self, other: &Ranges) -> Self {
        Self::union_of(self.0.iter().chain(&other.0).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranges() -> impl Strategy<Value = Ranges> {
        prop::collection::vec((0..40i128, 0..8i128), 0..6).prop_map(|r| {
            Ranges::union_of(r.into_iter().map(|(low, len)| (low, low + len)).collect())
        })
    }

    proptest! {
        #[test]
        fn operations_match_sets_of_numbers(a in ranges(), b in ranges()) {
            let (and, or) = (a.intersection(&b), a.union(&b));
            let not = a.complement(5, 30);
            for n in -1..60 {
                prop_assert_eq!(and.contains(n), a.contains(n) && b.contains(n));
                prop_assert_eq!(or.contains(n), a.contains(n) || b.contains(n));
                prop_assert_eq!(not.contains(n), !a.contains(n) && (5..=30).contains(&n));
            }
            for set in [and, or, not] {
                prop_assert!(set.0.windows(2).all(|w| w[0].1 + 1 < w[1].0), "{set:?}");
            }
            prop_assert_eq!(a.covers(3, 6), (3..=6).all(|n| a.contains(n)));
        }
    }
}
