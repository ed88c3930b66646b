//! What a lot of numbers have in common.

use ltt_read::Timestamp;

/// Numbers such as durations, as far as their mean, deviation and extremes tell.
///
/// ```
/// use lttv_examples::spread::Spread;
///
/// let mut durations = Spread::default();
/// for (duration, end) in [(20, 100), (40, 200), (60, 300)] {
///     durations.add(duration, end);
/// }
/// assert_eq!((durations.count(), durations.total(), durations.mean()), (3, 120, 40.0));
/// assert_eq!(durations.greatest().begin().ns(), 240);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Spread {
    count: u64,
    total: u64,
    /// The sum of the squares.
    squares: u128,
    least: Extreme,
    greatest: Extreme,
}

/// The least or greatest number.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extreme {
    /// The number.
    pub value: u64,
    end: i64,
}

impl Extreme {
    /// When what it measures began, if it is a duration in ns.
    pub fn begin(self) -> Timestamp {
        Timestamp::from_ns(self.end.saturating_sub_unsigned(self.value))
    }

    /// When it was over.
    pub fn end(self) -> Timestamp {
        Timestamp::from_ns(self.end)
    }
}

impl Spread {
    /// Adds a number that was measured at a time, in ns.
    pub fn add(&mut self, value: u64, end: i64) {
        if self.count == 0 || value < self.least.value {
            self.least = Extreme { value, end };
        }
        if self.count == 0 || value > self.greatest.value {
            self.greatest = Extreme { value, end };
        }
        self.count += 1;
        self.total = self.total.saturating_add(value);
        self.squares = self.squares.saturating_add(u128::from(value).pow(2));
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The least; 0 of none.
    pub fn least(&self) -> Extreme {
        self.least
    }

    /// The greatest; 0 of none.
    pub fn greatest(&self) -> Extreme {
        self.greatest
    }

    /// Their mean; 0 of none.
    pub fn mean(&self) -> f64 {
        self.total as f64 / self.count.max(1) as f64
    }

    /// Their standard deviation.
    pub fn deviation(&self) -> f64 {
        let (count, total) = (u128::from(self.count), u128::from(self.total));
        // n Σd² - (Σd)² is never negative, and exact in integers.
        let spread = count.saturating_mul(self.squares).saturating_sub(total.saturating_mul(total));
        (spread as f64).sqrt() / self.count.max(1) as f64
    }

    /// How many there were in a second, of a time in ns.
    pub fn frequency(&self, time: u64) -> f64 {
        if time == 0 { 0.0 } else { self.count as f64 * 1e9 / time as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_are_those_of_the_textbook() {
        let mut spread = Spread::default();
        for (at, value) in [2, 4, 4, 4, 5, 5, 7, 9].into_iter().enumerate() {
            spread.add(value, at as i64);
        }
        assert_eq!((spread.mean(), spread.deviation()), (5.0, 2.0));
        assert_eq!((spread.least().value, spread.least().end().ns()), (2, 0));
        assert_eq!((spread.greatest().value, spread.greatest().end().ns()), (9, 7));
        assert_eq!(spread.frequency(2_000_000_000), 4.0);
    }

    #[test]
    fn large_numbers_do_not_overflow() {
        let mut spread = Spread::default();
        (0..3).for_each(|at| spread.add(u64::MAX, at));
        assert_eq!(spread.total(), u64::MAX);
        assert!(spread.deviation().is_finite());
    }
}
