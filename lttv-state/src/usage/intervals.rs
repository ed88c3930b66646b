//! The division of time into intervals of one length.

/// The intervals of a length, of which the first one starts at the origin. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Intervals {
    pub(super) origin: i64,
    pub(super) length: u64,
}

impl Intervals {
    /// Returns the number of the interval that contains a time. Times before the origin are in the
    /// first one.
    pub(super) fn number(&self, time: i64) -> u64 {
        if time <= self.origin { 0 } else { time.abs_diff(self.origin) / self.length }
    }

    /// Returns the start of an interval, at most the greatest time.
    pub(super) fn start(&self, number: u64) -> i64 {
        let start = i128::from(self.origin) + i128::from(number) * i128::from(self.length);
        start.min(i64::MAX.into()) as i64
    }

    /// Returns the end of an interval: the start of the next one.
    pub(super) fn end(&self, number: u64) -> i64 {
        self.start(number.saturating_add(1))
    }

    /// Divides a time span at the borders of intervals: their numbers, and the times in them.
    pub(super) fn parts(self, from: i64, to: i64) -> impl Iterator<Item = (u64, u64)> {
        let mut at = from;
        std::iter::from_fn(move || {
            if at >= to {
                return None;
            }
            let number = self.number(at);
            let end = self.end(number).min(to).max(at.saturating_add(1));
            let time = end.abs_diff(at);
            at = end;
            Some((number, time))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_a_span() {
        let intervals = Intervals { origin: 100, length: 10 };
        let parts = |from, to| intervals.parts(from, to).collect::<Vec<_>>();
        assert_eq!(parts(105, 105), []);
        assert_eq!(parts(105, 109), [(0, 4)]);
        assert_eq!(parts(105, 131), [(0, 5), (1, 10), (2, 10), (3, 1)]);
        assert_eq!(parts(90, 112), [(0, 20), (1, 2)]);
        assert_eq!((intervals.start(3), intervals.end(3)), (130, 140));
        let last = Intervals { origin: i64::MIN, length: u64::MAX };
        assert_eq!(last.parts(i64::MIN, i64::MAX).collect::<Vec<_>>(), [(0, u64::MAX)]);
        assert_eq!(last.end(5), i64::MAX);
    }
}
