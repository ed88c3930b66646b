//! The count, the sum and the extremes of durations.

use std::hint::select_unpredictable;

/// A summary of durations in ns: their number, sum, minimum and maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Durations {
    count: u64,
    total: u64,
    shortest: u64,
    longest: u64,
}

impl Durations {
    /// Adds a duration in ns.
    #[inline]
    pub(crate) fn push(&mut self, time: u64) {
        self.push_if(true, time);
    }

    /// Adds a duration if `is` is true, without a branch: for conditions that cannot be
    /// predicted.
    #[inline]
    pub(crate) fn push_if(&mut self, is: bool, time: u64) {
        let shortest = select_unpredictable(self.count == 0, time, self.shortest.min(time));
        self.shortest = select_unpredictable(is, shortest, self.shortest);
        let time = select_unpredictable(is, time, 0);
        self.longest = self.longest.max(time);
        self.count += u64::from(is);
        self.total = self.total.saturating_add(time);
    }

    /// Adds the durations of another summary.
    pub(crate) fn add(&mut self, others: &Durations) {
        if others.count == 0 {
            return;
        }
        self.shortest = match self.count {
            0 => others.shortest,
            _ => self.shortest.min(others.shortest),
        };
        self.longest = self.longest.max(others.longest);
        self.count += others.count;
        self.total = self.total.saturating_add(others.total);
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns `true` if there are no durations.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the sum of all durations, in ns.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the shortest duration, in ns; `None` if there are no durations.
    pub fn shortest(&self) -> Option<u64> {
        (self.count > 0).then_some(self.shortest)
    }

    /// Returns the longest duration, in ns; `None` if there are no durations.
    pub fn longest(&self) -> Option<u64> {
        (self.count > 0).then_some(self.longest)
    }

    /// Returns the mean duration, in ns; `None` if there are no durations.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total as f64 / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_whole() {
        let all = [7, 3, 3, 90, 0, 12];
        let mut whole = Durations::default();
        all.iter().for_each(|time| whole.push(*time));
        for cut in 0..=all.len() {
            let mut parts = [Durations::default(); 2];
            all[..cut].iter().for_each(|time| parts[0].push(*time));
            all[cut..].iter().for_each(|time| parts[1].push(*time));
            let [mut first, second] = parts;
            first.add(&second);
            assert_eq!(first, whole, "{cut}");
        }
        assert_eq!((whole.count(), whole.total(), whole.mean()), (6, 115, Some(115.0 / 6.0)));
        assert_eq!((whole.shortest(), whole.longest()), (Some(0), Some(90)));
        assert_eq!(Durations::default().mean(), None);
    }
}
