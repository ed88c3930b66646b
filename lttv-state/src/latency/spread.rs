//! Mean, deviation and extremes of numbers.

use ltt_read::Timestamp;

/// The mean, deviation and extremes of numbers such as durations.
///
/// ```
/// use lttv_state::latency::Spread;
///
/// let mut durations = Spread::default();
/// for (duration, end) in [(20, 100), (40, 200), (60, 300)] {
///     durations.add(duration, end);
/// }
/// assert_eq!((durations.count(), durations.total(), durations.mean()), (3, 120, 40.0));
/// assert_eq!(durations.greatest().begin().as_ns(), 240);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spread {
    count: u64,
    total: u64,
    /// The sum of the squares of the numbers.
    squares: u128,
    least: Extreme,
    greatest: Extreme,
}

/// The least or greatest number, with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extreme {
    /// The number, such as a duration in ns.
    pub value: u64,
    /// The time of the measurement, in ns.
    end: i64,
}

impl Extreme {
    /// Returns the start of the measured duration, if the number is a duration in ns.
    pub fn begin(self) -> Timestamp {
        Timestamp::from_ns(self.end.saturating_sub_unsigned(self.value))
    }

    /// Returns the end of the measured duration: the time passed to [`Spread::add`].
    pub fn end(self) -> Timestamp {
        Timestamp::from_ns(self.end)
    }
}

impl Spread {
    /// Adds a number that was measured at the time `end`, in ns.
    #[inline]
    pub fn add(&mut self, value: u64, end: i64) {
        if self.count == 0 || value < self.least.value {
            self.least = Extreme { value, end };
        }
        if self.count == 0 || value > self.greatest.value {
            self.greatest = Extreme { value, end };
        }
        self.count += 1;
        self.total = self.total.saturating_add(value);
        let square = u128::from(value) * u128::from(value);
        self.squares = self.squares.saturating_add(square);
    }

    /// Adds the numbers of another spread. Of equal extremes the earlier one is kept.
    pub fn add_all(&mut self, other: &Spread) {
        if other.count == 0 {
            return;
        }
        let is_first = self.count == 0;
        let (least, greatest) = (other.least, other.greatest);
        if is_first || (least.value, least.end) < (self.least.value, self.least.end) {
            self.least = least;
        }
        if is_first
            || greatest.value > self.greatest.value
            || greatest.value == self.greatest.value && greatest.end < self.greatest.end
        {
            self.greatest = greatest;
        }
        self.count += other.count;
        self.total = self.total.saturating_add(other.total);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Returns the number of numbers added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the numbers; 2⁶⁴ − 1 if it is greater.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the least number; 0 if none was added.
    pub fn least(&self) -> Extreme {
        self.least
    }

    /// Returns the greatest number; 0 if none was added.
    pub fn greatest(&self) -> Extreme {
        self.greatest
    }

    /// Returns the mean; 0 if no number was added.
    pub fn mean(&self) -> f64 {
        self.total as f64 / self.count.max(1) as f64
    }

    /// Returns the standard deviation of the numbers as the whole population; 0 if no number was
    /// added.
    pub fn deviation(&self) -> f64 {
        self.scatter().sqrt() / self.count.max(1) as f64
    }

    /// Returns the standard deviation of the numbers as a sample of a larger population, which is
    /// divided by n − 1; `None` if there are fewer than two.
    pub fn sample_deviation(&self) -> Option<f64> {
        let count = self.count as f64;
        (self.count > 1).then(|| (self.scatter() / count / (count - 1.0)).sqrt())
    }

    /// Computes n Σd² − (Σd)², which is never negative and exact in integers.
    fn scatter(&self) -> f64 {
        let (count, total) = (u128::from(self.count), u128::from(self.total));
        count.saturating_mul(self.squares).saturating_sub(total.saturating_mul(total)) as f64
    }

    /// Returns the count per second over a time in ns; 0 for no time.
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
        assert_eq!(spread.sample_deviation(), Some((32.0f64 / 7.0).sqrt()));
        assert_eq!((spread.least().value, spread.least().end().as_ns()), (2, 0));
        assert_eq!((spread.greatest().value, spread.greatest().end().as_ns()), (9, 7));
        assert_eq!(spread.frequency(2_000_000_000), 4.0);
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let all: Vec<(u64, i64)> = [7, 3, 3, 90, 0, 90, 12].into_iter().zip(0..).collect();
        let spread = |part: &[(u64, i64)]| {
            let mut spread = Spread::default();
            part.iter().for_each(|(value, end)| spread.add(*value, *end));
            spread
        };
        for cut in 0..=all.len() {
            let (mut first, second) = (spread(&all[..cut]), spread(&all[cut..]));
            first.add_all(&second);
            assert_eq!(first, spread(&all), "{cut}");
        }
    }

    #[test]
    fn large_numbers_do_not_overflow() {
        let mut spread = Spread::default();
        (0..3).for_each(|at| spread.add(u64::MAX, at));
        assert_eq!(spread.total(), u64::MAX);
        assert!(spread.deviation().is_finite());
    }
}
