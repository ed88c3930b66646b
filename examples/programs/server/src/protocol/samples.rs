//! The times at which a client samples a view.

use ltt_read::Timestamp;

/// The greatest number of samples; a request for more gets this number.
pub const MOST_SAMPLES: usize = 65_536;

/// Sorted times, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Samples {
    /// Times from `start` on, each `step` ns after the previous one, below `end`; then `end`.
    Range {
        /// The first time, in ns.
        start: i64,
        /// The last time, in ns.
        end: i64,
        /// The distance, in ns, at least 1.
        step: u64,
    },
    /// These times, in ns.
    Times(Vec<i64>),
}

impl Samples {
    /// Creates the samples of a range for a requested number of times. `start` must not be
    /// after `end`.
    ///
    /// ```
    /// use lttv_server::protocol::samples::Samples;
    ///
    /// let times: Vec<i64> = Samples::new(0, 10, 4).iter().collect();
    /// assert_eq!(times, [0, 3, 6, 9, 10]);
    /// ```
    pub fn new(start: i64, end: i64, count: i64) -> Self {
        let length = end.wrapping_sub(start) as u64;
        let count = count.clamp(0, MOST_SAMPLES as i64) as u64;
        let step = match count {
            0 | 1 => length.max(1),
            _ => (length / (count - 1)).max(1),
        };
        Samples::Range { start, end, step }
    }

    /// Creates samples of sorted times, at least one.
    pub fn of_times(times: Vec<i64>) -> Self {
        Samples::Times(times)
    }

    /// Returns the first time, in ns.
    pub fn start(&self) -> i64 {
        match self {
            Samples::Range { start, .. } => *start,
            Samples::Times(times) => times.first().copied().unwrap_or(0),
        }
    }

    /// Returns the last time, in ns.
    pub fn end(&self) -> i64 {
        match self {
            Samples::Range { end, .. } => *end,
            Samples::Times(times) => times.last().copied().unwrap_or(0),
        }
    }

    /// Returns the number of times.
    pub fn len(&self) -> usize {
        match self {
            Samples::Range { start, end, step } => {
                let length = end.wrapping_sub(*start) as u64;
                (length.div_ceil(*step) as usize).saturating_add(1)
            }
            Samples::Times(times) => times.len(),
        }
    }

    /// Returns `true` if there are no times.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a time by its number.
    pub fn at(&self, number: usize) -> Option<i64> {
        match self {
            _ if number >= self.len() => None,
            Samples::Range { end, .. } if number == self.len() - 1 => Some(*end),
            Samples::Range { start, step, .. } => {
                Some(start.wrapping_add((number as u64).wrapping_mul(*step) as i64))
            }
            Samples::Times(times) => times.get(number).copied(),
        }
    }

    /// Iterates over the times.
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.len()).filter_map(|number| self.at(number))
    }

    /// Returns the number of the first sample at or after a time, which may be the number of
    /// samples.
    pub fn first_from(&self, time: i64) -> usize {
        match self {
            Samples::Times(times) => times.partition_point(|of| *of < time),
            Samples::Range { start, .. } if time <= *start => 0,
            Samples::Range { end, .. } if time > *end => self.len(),
            Samples::Range { start, step, .. } => {
                let offset = time.wrapping_sub(*start) as u64;
                (offset.div_ceil(*step) as usize).min(self.len() - 1)
            }
        }
    }

    /// Returns the times of a history that lie in `first..end`, as timestamps.
    pub fn within(&self, first: Timestamp, end: Timestamp) -> Vec<Timestamp> {
        let (from, to) = (self.first_from(first.as_ns()), self.first_from(end.as_ns()));
        let times = (from..to).filter_map(|number| self.at(number));
        let mut times: Vec<_> = times.map(Timestamp::from_ns).collect();
        times.dedup();
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_those_of_the_protocol() {
        let of = |start, end, count| Samples::new(start, end, count).iter().collect::<Vec<_>>();
        assert_eq!(of(5, 5, 100), [5]);
        assert_eq!(of(0, 10, 0), [0, 10]);
        assert_eq!(of(0, 10, 1), [0, 10]);
        assert_eq!(of(0, 10, -5), [0, 10]);
        assert_eq!(of(0, 10, 3), [0, 5, 10]);
        assert_eq!(of(0, 11, 3), [0, 5, 10, 11]);
        assert_eq!(of(0, 3, 1000), [0, 1, 2, 3]);
        assert!(of(0, 1_000_000, i64::MAX).len() < 2 * MOST_SAMPLES);
        assert_eq!(of(i64::MIN, i64::MAX, 2).first(), Some(&i64::MIN));
        assert!(of(i64::MIN, i64::MAX, 7).len() <= 9);
    }

    #[test]
    fn a_time_finds_its_sample() {
        for samples in [Samples::new(3, 50, 7), Samples::of_times(vec![3, 4, 9, 50])] {
            let times: Vec<_> = samples.iter().collect();
            for time in -1..60 {
                let expected = times.partition_point(|of| *of < time);
                assert_eq!(samples.first_from(time), expected, "{time} in {times:?}");
            }
        }
    }
}
