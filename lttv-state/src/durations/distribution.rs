//! Durations with their spread, percentiles and histograms.

use std::fmt;

use sketches_ddsketch::{Config, DDSketch};

use super::spread::Spread;

/// The largest relative error of [`Distribution::percentile`].
pub const RELATIVE_ERROR: f64 = 0.01;

/// The number of bins with which a sketch never joins any: all durations of 64 bits have one.
const SKETCH_BINS: u32 = 2304;
/// The maximum number of durations that are stored exactly.
const FEW: usize = 16;
/// The number of bins of [`Distribution::log2_bins`].
const LOG2_BINS: usize = 65;

/// A collection of durations in ns: number, sum, extremes, deviation, percentiles and histograms.
///
/// All but percentiles and histograms of equal bins are exact. Collections of parts can be added,
/// in any order, with the result of one collection of everything.
///
/// ```
/// use lttv_state::durations::Distribution;
///
/// let mut all = Distribution::default();
/// for duration in 1..=1000 {
///     all.add(duration, 0);
/// }
/// let median = all.percentile(50.0).expect("it is not empty");
/// assert!((495..=505).contains(&median));
/// assert_eq!(all.percentile(100.0), Some(1000));
/// assert_eq!(all.log2_bins().last(), Some((512..1024, 489)));
/// ```
#[derive(Clone, Default)]
pub struct Distribution {
    spread: Spread,
    values: Values,
}

/// Most collections are small, and keep their durations.
#[derive(Clone)]
enum Values {
    Few(Vec<u64>),
    Many(Box<Many>),
}

#[derive(Clone)]
struct Many {
    sketch: DDSketch,
    /// The number of durations by their number of significant bits.
    log2: [u64; LOG2_BINS],
}

impl Default for Values {
    fn default() -> Self {
        Values::Few(Vec::new())
    }
}

impl Many {
    /// Creates a collection of some durations.
    #[cold]
    fn of(values: &[u64]) -> Box<Self> {
        let sketch = DDSketch::new(Config::new(RELATIVE_ERROR, SKETCH_BINS, 0.5));
        let mut many = Box::new(Many { sketch, log2: [0; LOG2_BINS] });
        values.iter().for_each(|value| many.add(*value));
        many
    }

    #[inline]
    fn add(&mut self, value: u64) {
        self.sketch.add(value as f64);
        self.log2[log2_bin(value)] += 1;
    }
}

/// Returns the index of the bin of a duration: its number of significant bits.
#[inline]
fn log2_bin(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()) as usize
}

impl Distribution {
    /// Adds a duration in ns that ended at the time `end`, in ns.
    #[inline]
    pub fn add(&mut self, duration: u64, end: i64) {
        self.spread.add(duration, end);
        match &mut self.values {
            Values::Many(many) => many.add(duration),
            Values::Few(few) if few.len() < FEW => few.push(duration),
            Values::Few(few) => {
                let mut many = Many::of(few);
                many.add(duration);
                self.values = Values::Many(many);
            }
        }
    }

    /// Adds the durations of another collection.
    pub fn add_all(&mut self, other: &Distribution) {
        self.spread.add_all(&other.spread);
        match (&mut self.values, &other.values) {
            (Values::Few(mine), Values::Few(others)) if mine.len() + others.len() <= FEW => {
                mine.extend_from_slice(others);
            }
            (Values::Few(mine), others) => {
                let mut many = Many::of(mine);
                merge(&mut many, others);
                self.values = Values::Many(many);
            }
            (Values::Many(many), others) => merge(many, others),
        }
    }

    /// Returns number, sum, extremes and deviations, which are exact.
    pub fn spread(&self) -> &Spread {
        &self.spread
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.spread.count()
    }

    /// Returns the duration in ns that at least a percentage of all, from 0 to 100, does not exceed
    /// (the nearest rank): of n durations in ascending order, the one with the number
    /// ⌈n · percentage / 100⌉, counted from 1. Its relative error is at most [`RELATIVE_ERROR`]. It is
    /// exact for 0 and 100, and if there are at most 16 durations.
    ///
    /// Returns `None` if there are no durations, or for another percentage.
    pub fn percentile(&self, percentage: f64) -> Option<u64> {
        if self.count() == 0 || !(0.0..=100.0).contains(&percentage) {
            return None;
        }
        self.at_rank(nearest_rank(percentage, self.count()))
    }

    /// Returns the duration at an index of all in ascending order.
    fn at_rank(&self, rank: u64) -> Option<u64> {
        let last = self.count().checked_sub(1)?;
        let (least, greatest) = (self.spread.least().value, self.spread.greatest().value);
        if rank >= last {
            return Some(greatest);
        }
        if rank == 0 {
            return Some(least);
        }
        match &self.values {
            Values::Few(few) => {
                let mut sorted = few.clone();
                sorted.sort_unstable();
                sorted.get(rank as usize).copied()
            }
            Values::Many(many) => {
                // Half a rank more, since the sketch rounds down.
                let quantile = (rank as f64 + 0.5) / last as f64;
                let value = many.sketch.quantile(quantile.min(1.0)).ok().flatten()?;
                Some((value.round() as u64).clamp(least, greatest))
            }
        }
    }

    /// Iterates over the bins between powers of two, from that of the shortest to that of the
    /// longest duration, with the exact number of durations in each. The first bin of all is `0..1`;
    /// the last one ends at 2⁶⁴ − 1 and contains this as well.
    pub fn log2_bins(&self) -> impl DoubleEndedIterator<Item = (std::ops::Range<u64>, u64)> {
        let mut counts = [0; LOG2_BINS];
        match &self.values {
            Values::Few(few) => few.iter().for_each(|value| counts[log2_bin(*value)] += 1),
            Values::Many(many) => counts = many.log2,
        }
        let first = counts.iter().position(|count| *count > 0).unwrap_or(LOG2_BINS);
        let last = counts.iter().rposition(|count| *count > 0).map_or(first, |last| last + 1);
        (first..last).map(move |bits| (log2_range(bits), counts[bits]))
    }

    /// Returns a number of bins of equal width that cover a range of durations in ns, with the
    /// number of durations in each: from the start of the bin up to, but not including, its end;
    /// the last bin includes the end of the range. A duration near a bound may be counted in the
    /// neighbouring bin if there are more than 16 durations: its relative error is at most
    /// [`RELATIVE_ERROR`].
    pub fn equal_bins(&self, range: std::ops::RangeInclusive<u64>, bins: u32) -> Vec<u64> {
        let (low, high) = (*range.start(), *range.end());
        if bins == 0 || high < low {
            return Vec::new();
        }
        let bound = |bin: u32| {
            let part = u128::from(high - low) * u128::from(bin) / u128::from(bins);
            low + part as u64
        };
        let mut below = self.count_below(low);
        let mut counts = Vec::with_capacity(bins as usize);
        for bin in 1..=bins {
            let upto = match bin == bins {
                true => high.checked_add(1).map_or(self.count(), |end| self.count_below(end)),
                false => self.count_below(bound(bin)),
            };
            counts.push(upto.saturating_sub(below));
            below = upto.max(below);
        }
        counts
    }

    /// Returns the number of durations below a limit.
    fn count_below(&self, limit: u64) -> u64 {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.at_rank(middle) {
                Some(value) if value < limit => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }
}

/// Returns the index of the nearest rank of a percentage of `count` durations.
fn nearest_rank(percentage: f64, count: u64) -> u64 {
    let below = percentage * count as f64 / 100.0;
    // Rounding of the percentage must not add a rank: 99.9 % of 1000 are 999.
    let number = (below * (1.0 - f64::EPSILON * 4.0)).ceil() as u64;
    number.clamp(1, count.max(1)) - 1
}

/// Returns the durations with a number of significant bits.
fn log2_range(bits: usize) -> std::ops::Range<u64> {
    let low = if bits == 0 { 0 } else { 1 << (bits - 1) };
    low..1u64.checked_shl(bits as u32).unwrap_or(u64::MAX)
}

fn merge(many: &mut Many, others: &Values) {
    match others {
        Values::Few(few) => few.iter().for_each(|value| many.add(*value)),
        Values::Many(others) => {
            // Both have the same configuration, so that this cannot fail.
            let _ = many.sketch.merge(&others.sketch);
            many.log2.iter_mut().zip(&others.log2).for_each(|(mine, other)| *mine += other);
        }
    }
}

impl fmt::Debug for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log2: Vec<_> = self.log2_bins().collect();
        let median = self.percentile(50.0);
        let mut shown = f.debug_struct("Distribution");
        shown.field("spread", &self.spread).field("median", &median).field("log2", &log2).finish()
    }
}

/// Collections are equal if their spreads, histograms and percentiles are.
impl PartialEq for Distribution {
    fn eq(&self, other: &Self) -> bool {
        let percentiles =
            |of: &Self| (0..=100).map(|p| of.percentile(p.into())).collect::<Vec<_>>();
        self.spread == other.spread
            && self.log2_bins().eq(other.log2_bins())
            && percentiles(self) == percentiles(other)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Distribution {
        let mut all = Distribution::default();
        values.iter().zip(0..).for_each(|(value, end)| all.add(*value, end));
        all
    }

    fn durations() -> impl Strategy<Value = Vec<u64>> {
        let each = prop_oneof![
            0..20u64,
            (0..64u32).prop_map(|bits| 1 << bits),
            any::<u64>(),
            1_000..1_000_000u64
        ];
        prop::collection::vec(each, 1..200)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn percentiles_are_within_the_stated_error(values in durations(), p in 0.0..100.0f64) {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let reaches = |value: &&u64| {
                let below = sorted.iter().filter(|of| of <= value).count();
                below as f64 * 100.0 >= p * sorted.len() as f64
            };
            let exact = *sorted.iter().find(reaches).unwrap();
            let found = of(&values).percentile(p).unwrap();
            let error = (found as f64 - exact as f64).abs();
            prop_assert!(error <= exact as f64 * RELATIVE_ERROR + 0.5, "{found} is not {exact}");
        }

        #[test]
        fn parts_add_up_to_the_whole(values in durations(), cut in 0..200usize) {
            let cut = cut.min(values.len());
            let parts = |first: std::ops::Range<usize>| {
                let mut all = Distribution::default();
                first.for_each(|at| all.add(values[at], at as i64));
                all
            };
            let mut both = parts(0..cut);
            both.add_all(&parts(cut..values.len()));
            prop_assert_eq!(both, parts(0..values.len()));
        }

        #[test]
        fn bins_contain_everything(values in durations(), bins in 1..40u32) {
            let all = of(&values);
            let (least, greatest) = (all.spread().least().value, all.spread().greatest().value);
            prop_assert_eq!(all.log2_bins().map(|bin| bin.1).sum::<u64>(), all.count());
            for (range, count) in all.log2_bins() {
                let exact = values.iter().filter(|value| {
                    range.contains(value) || (**value == u64::MAX && range.end == u64::MAX)
                });
                prop_assert_eq!(exact.count() as u64, count);
            }
            let equal = all.equal_bins(least..=greatest, bins);
            prop_assert_eq!(equal.len(), bins as usize);
            prop_assert_eq!(equal.iter().sum::<u64>(), all.count());
        }
    }

    #[test]
    fn ranks_are_not_rounded_up() {
        let ranks = [(99.9, 1000), (0.1, 1000), (99.0, 100), (7.0, 100), (0.0, 5), (100.0, 5)];
        assert_eq!(ranks.map(|(p, n)| nearest_rank(p, n)), [998, 0, 98, 6, 0, 4]);
    }

    #[test]
    fn few_durations_are_exact() {
        let all = of(&[5, 1, 9, 9, 3]);
        assert_eq!(all.percentile(50.0), Some(5));
        // At least 90 % are not longer: the 80 % up to the 4th are not enough.
        assert_eq!([20.0, 21.0, 80.0, 90.0].map(|p| all.percentile(p)), [1, 3, 9, 9].map(Some));
        assert_eq!(all.equal_bins(1..=9, 4), [1, 1, 1, 2]);
        assert_eq!((all.percentile(-1.0), all.percentile(f64::NAN)), (None, None));
        assert_eq!(Distribution::default().percentile(50.0), None);
    }
}
