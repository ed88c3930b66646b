//! Mean, deviation and extremes of numbers.

use ltt_read::Timestamp;

use super::Durations;

/// The mean, deviation and extremes of numbers such as durations.
///
/// ```
/// use lttv_state::durations::Spread;
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
    durations: Durations,
    /// The sum of the squares of the numbers.
    squares: u128,
    /// The times of the extremes, in ns.
    least_end: i64,
    greatest_end: i64,
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
        let is_first = self.durations.is_empty();
        if is_first || value < self.least().value {
            self.least_end = end;
        }
        if is_first || value > self.greatest().value {
            self.greatest_end = end;
        }
        self.durations.push(value);
        let square = u128::from(value) * u128::from(value);
        self.squares = self.squares.saturating_add(square);
    }

    /// Adds the numbers of another spread. Of equal extremes the earlier one is kept.
    pub fn add_all(&mut self, other: &Spread) {
        if other.durations.is_empty() {
            return;
        }
        let is_first = self.durations.is_empty();
        let (least, greatest) = (other.least(), other.greatest());
        if is_first || (least.value, least.end) < (self.least().value, self.least_end) {
            self.least_end = least.end;
        }
        if is_first
            || greatest.value > self.greatest().value
            || greatest.value == self.greatest().value && greatest.end < self.greatest_end
        {
            self.greatest_end = greatest.end;
        }
        self.durations.add(&other.durations);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Returns the number of numbers added.
    pub fn count(&self) -> u64 {
        self.durations.count()
    }

    /// Returns the sum of the numbers; 2⁶⁴ − 1 if it is greater.
    pub fn total(&self) -> u64 {
        self.durations.total()
    }

    /// Returns the least number; 0 if none was added.
    pub fn least(&self) -> Extreme {
        Extreme { value: self.durations.shortest().unwrap_or(0), end: self.least_end }
    }

    /// Returns the greatest number; 0 if none was added.
    pub fn greatest(&self) -> Extreme {
        Extreme { value: self.durations.longest().unwrap_or(0), end: self.greatest_end }
    }

    /// Returns the mean; 0 if no number was added.
    pub fn mean(&self) -> f64 {
        self.durations.mean().unwrap_or(0.0)
    }

    /// Returns the standard deviation of the numbers as the whole population; 0 if no number was
    /// added.
    pub fn deviation(&self) -> f64 {
        self.scatter().sqrt() / self.count().max(1) as f64
    }

    /// Returns the standard deviation of the numbers as a sample of a larger population, which is
    /// divided by n − 1; `None` if there are fewer than two.
    pub fn sample_deviation(&self) -> Option<f64> {
        let count = self.count() as f64;
        (self.count() > 1).then(|| (self.scatter() / count / (count - 1.0)).sqrt())
    }

    /// Computes n Σd² − (Σd)², which is never negative and exact in integers.
    fn scatter(&self) -> f64 {
        let (count, total) = (u128::from(self.count()), u128::from(self.total()));
        count.saturating_mul(self.squares).saturating_sub(total.saturating_mul(total)) as f64
    }

    /// Returns the count per second over a time in ns; 0 for no time.
    pub fn frequency(&self, time: u64) -> f64 {
        if time == 0 { 0.0 } else { self.count() as f64 * 1e9 / time as f64 }
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
