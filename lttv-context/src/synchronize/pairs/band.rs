//! The times that one clock may have shown at an instant of another.

use ltt_read::{TimeSpan, Timestamp};

use super::exact::{Point, Rounding, Slope};

/// A function of linear pieces: a line up to the first corner, lines between the corners, and a
/// line after the last one. A missing slope means that the function is infinite there.
#[derive(Debug, Clone)]
pub(super) struct Piecewise {
    pub(super) left: Option<Slope>,
    pub(super) corners: Vec<Point>,
    pub(super) right: Option<Slope>,
}

impl Piecewise {
    fn at(&self, x: i64, rounding: Rounding) -> Option<Timestamp> {
        let (base, slope) = self.piece(|corner| corner.x < x, |corner| corner.x == x)?;
        let y = slope.map_or(Some(base.y.into()), |slope| slope.at(base, x, rounding));
        in_range(y)
    }

    /// Returns the `x` of a height, for a function that increases.
    fn at_height(&self, y: i64, rounding: Rounding) -> Option<Timestamp> {
        let (base, slope) = self.piece(|corner| corner.y < y, |corner| corner.y == y)?;
        let x = slope.map_or(Some(base.x.into()), |slope| slope.at_height(base, y, rounding));
        in_range(x)
    }

    /// Returns a point and the slope of the piece between the corners before and after a place, or
    /// the corner that is at the place.
    fn piece(
        &self,
        is_before: impl Fn(&Point) -> bool,
        is_at: impl Fn(&Point) -> bool,
    ) -> Option<(Point, Option<Slope>)> {
        let next = self.corners.partition_point(is_before);
        let before = next.checked_sub(1).and_then(|index| self.corners.get(index)).copied();
        match (before, self.corners.get(next).copied()) {
            (_, Some(corner)) if is_at(&corner) => Some((corner, None)),
            (Some(before), Some(corner)) => Some((before, Some(before.slope_to(corner)))),
            (None, Some(corner)) => Some((corner, Some(self.left?))),
            (Some(before), None) => Some((before, Some(self.right?))),
            (None, None) => None,
        }
    }
}

fn in_range(ns: Option<i128>) -> Option<Timestamp> {
    i64::try_from(ns?).ok().map(Timestamp::from_ns)
}

/// The times that the second clock of a [pair](super::ClockPair) may have shown at each
/// instant of the first one: those of all lines that no message contradicts.
///
/// The upper end is a convex function and the lower end a concave one, so the band is
/// narrow between the first and the last message, and becomes wider before and after
/// them. Results are rounded outwards to ns.
#[derive(Debug, Clone)]
pub struct Band {
    pub(super) latest: Piecewise,
    pub(super) earliest: Piecewise,
    /// `true` if all lines of the band increase.
    pub(super) increases: bool,
}

impl Band {
    /// Returns the earliest and the latest time of the second clock at a time of the first one.
    /// `None` if the band is not bounded there, or out of the range of [`Timestamp`].
    pub fn at(&self, first: Timestamp) -> Option<TimeSpan> {
        Some(TimeSpan { start: self.earliest_at(first)?, end: self.latest_at(first)? })
    }

    /// Returns the earliest time of the second clock at a time of the first one. `None` if it is
    /// not bounded there.
    pub fn earliest_at(&self, first: Timestamp) -> Option<Timestamp> {
        self.earliest.at(first.as_ns(), Rounding::Down)
    }

    /// Returns the latest time of the second clock at a time of the first one. `None` if it is
    /// not bounded there.
    pub fn latest_at(&self, first: Timestamp) -> Option<Timestamp> {
        self.latest.at(first.as_ns(), Rounding::Up)
    }

    /// Returns the earliest and the latest time of the first clock at a time of the second one.
    /// `None` if the band is not bounded there, out of range, or contains a line that does
    /// not increase.
    pub fn inverse_at(&self, second: Timestamp) -> Option<TimeSpan> {
        if !self.increases {
            return None;
        }
        let start = self.latest.at_height(second.as_ns(), Rounding::Down)?;
        let end = self.earliest.at_height(second.as_ns(), Rounding::Up)?;
        Some(TimeSpan { start, end })
    }

    /// Returns the difference of the latest and the earliest time in ns: see [`at`](Self::at).
    pub(crate) fn width_at(&self, first: Timestamp) -> Option<u64> {
        self.at(first).map(|span| span.end.since(span.start))
    }
}

impl Band {
    /// Creates a band that is bounded nowhere.
    pub(super) fn unknown() -> Self {
        let nothing = || Piecewise { left: None, corners: Vec::new(), right: None };
        Band { latest: nothing(), earliest: nothing(), increases: false }
    }
}
