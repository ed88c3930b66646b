//! Live bytes over time, in a limited number of points.

use ltt_read::Timestamp;

/// The maximum number of points.
const MAX_POINTS: usize = 2048;

/// The live bytes of a process in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CurvePoint {
    /// The time of the first change in the interval.
    pub time: Timestamp,
    /// The maximum number of live bytes in the interval.
    pub max_bytes: u64,
    /// The number of live bytes at its end.
    pub bytes: u64,
}

/// The live bytes of a process over time.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    points: Vec<CurvePoint>,
    /// The length of an interval in ns, which grows with the time covered.
    step: i64,
}

impl Default for Curve {
    fn default() -> Self {
        Curve { points: Vec::new(), step: 1 }
    }
}

impl Curve {
    pub(super) fn points(&self) -> &[CurvePoint] {
        &self.points
    }

    /// Adds a change at a time in ns.
    #[inline]
    pub(super) fn add(&mut self, time: i64, bytes: u64) {
        let interval = time.div_euclid(self.step);
        match self.points.last_mut() {
            Some(last) if last.time.as_ns().div_euclid(self.step) == interval => {
                last.bytes = bytes;
                last.max_bytes = last.max_bytes.max(bytes);
            }
            _ => {
                let time = Timestamp::from_ns(time);
                self.points.push(CurvePoint { time, max_bytes: bytes, bytes });
                if self.points.len() > MAX_POINTS {
                    self.thin_out();
                }
            }
        }
    }

    /// Doubles the intervals until half of the points are left.
    #[cold]
    fn thin_out(&mut self) {
        while self.points.len() > MAX_POINTS / 2 && self.step < i64::MAX / 2 {
            self.step *= 2;
            let step = self.step;
            self.points.dedup_by(|later, first| {
                let interval = |point: &CurvePoint| point.time.as_ns().div_euclid(step);
                let is_same = interval(later) == interval(first);
                if is_same {
                    first.bytes = later.bytes;
                    first.max_bytes = first.max_bytes.max(later.max_bytes);
                }
                is_same
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_few_points_and_keep_the_peak() {
        let mut curve = Curve::default();
        for time in 0..100_000 {
            curve.add(time * 7, if time == 61_234 { 1_000_000 } else { time as u64 });
        }
        let points = curve.points();
        assert!((MAX_POINTS / 4..=MAX_POINTS).contains(&points.len()), "{}", points.len());
        assert_eq!(points.iter().map(|point| point.max_bytes).max(), Some(1_000_000));
        assert_eq!(points.last().map(|point| point.bytes), Some(99_999));
        assert!(points.is_sorted_by_key(|point| point.time));
    }
}
