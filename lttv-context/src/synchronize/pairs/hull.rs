//! Convex hulls of messages in one direction, which grow by one message at a time.

use std::cmp::Ordering;

use super::exact::{Point, Rounding, Slope};

/// The half of a convex hull that limits the lines between the messages of both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The lower hull of points that no line may exceed.
    Ceiling,
    /// The upper hull of points that each line has to reach.
    Floor,
}

/// One half of a convex hull: its corners, by increasing `x`. Points on an edge are no corners.
#[derive(Debug, Clone)]
pub(super) struct Hull {
    side: Side,
    corners: Vec<Point>,
}

impl Hull {
    pub(super) fn new(side: Side) -> Self {
        Hull { side, corners: Vec::new() }
    }

    pub(super) fn corners(&self) -> &[Point] {
        &self.corners
    }

    /// Adds a point at any `x`. A point within the hull changes nothing.
    pub(super) fn add(&mut self, point: Point) {
        // Messages mostly come in order.
        let mut place = match self.corners.last() {
            Some(last) if last.x < point.x => self.corners.len(),
            _ => self.corners.partition_point(|corner| corner.x < point.x),
        };
        match self.corners.get(place) {
            Some(corner) if corner.x == point.x => {
                if self.rank(point.y, corner.y) != Ordering::Greater {
                    return;
                }
                // The earlier corner at the same place is replaced.
                self.corners.remove(place);
            }
            Some(next) if place > 0 => {
                let before = self.corners[place - 1];
                let height = before.slope_to(*next).compare_height(before, point);
                if self.outward(height) != Ordering::Greater {
                    return;
                }
            }
            _ => {}
        }
        let mut after = place;
        while place >= 2 && !self.turns(self.corners[place - 2], self.corners[place - 1], point) {
            place -= 1;
        }
        while after + 1 < self.corners.len()
            && !self.turns(point, self.corners[after], self.corners[after + 1])
        {
            after += 1;
        }
        if place == self.corners.len() {
            self.corners.push(point);
        } else {
            self.corners.splice(place..after, [point]);
        }
    }

    /// Returns the index of a corner that a line of this slope touches when it is moved to the
    /// hull from its open side: the corner that limits such lines.
    pub(super) fn touched_by(&self, slope: Slope) -> Option<usize> {
        // Edges of the ceiling become steeper, those of the floor become flatter.
        let (mut index, mut end) = (0, self.corners.len().checked_sub(1)?);
        while index < end {
            let middle = index + (end - index) / 2;
            let edge = self.corners[middle].slope_to(self.corners[middle + 1]);
            match self.outward(edge.cmp(&slope)) {
                Ordering::Greater => index = middle + 1,
                _ => end = middle,
            }
        }
        Some(index)
    }

    /// Returns the height at `x`; `None` if `x` is beyond the corners.
    pub(super) fn at(&self, x: i64, rounding: Rounding) -> Option<i128> {
        let next = self.corners.partition_point(|corner| corner.x < x);
        let corner = *self.corners.get(next)?;
        if corner.x == x {
            return Some(corner.y.into());
        }
        let before = *self.corners.get(next.checked_sub(1)?)?;
        before.slope_to(corner).at(before, x, rounding)
    }

    /// Returns `true` if the path over three points turns at the middle one such that it is a
    /// corner.
    fn turns(&self, a: Point, b: Point, c: Point) -> bool {
        self.outward(a.slope_to(b).cmp(&b.slope_to(c))) == Ordering::Greater
    }

    /// Compares two heights: `Greater` if the first one is a stricter limit.
    fn rank(&self, first: i64, second: i64) -> Ordering {
        self.outward(first.cmp(&second))
    }

    /// Reverses the order for a ceiling, on which lower is stricter.
    fn outward(&self, order: Ordering) -> Ordering {
        match self.side {
            Side::Ceiling => order.reverse(),
            Side::Floor => order,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points() -> impl Strategy<Value = Vec<Point>> {
        let point = |x: std::ops::Range<i64>| (x.clone(), x).prop_map(|(x, y)| Point { x, y });
        let any = any::<(i64, i64)>().prop_map(|(x, y)| Point { x, y });
        prop_oneof![
            prop::collection::vec(point(-8..8), 0..30),
            prop::collection::vec(point(-1000..1000), 0..60),
            prop::collection::vec(any, 0..30),
        ]
    }

    /// Finds the corners by their definition: no segment between two other points passes
    /// the point or lies on its outer side.
    fn naive(side: Side, points: &[Point]) -> Vec<Point> {
        let hull = Hull::new(side);
        let is_corner = |p: &Point| {
            let above = points.iter().all(|q| q.x != p.x || hull.rank(q.y, p.y).is_le());
            let left = points.iter().filter(|q| q.x < p.x);
            above
                && left.flat_map(|a| points.iter().map(move |b| (a, b))).all(|(a, b)| {
                    b.x <= p.x || hull.outward(a.slope_to(*b).compare_height(*a, *p)).is_gt()
                })
        };
        let mut corners: Vec<_> = points.iter().copied().filter(is_corner).collect();
        corners.sort_unstable();
        corners.dedup();
        corners
    }

    proptest! {
        /// Points come in any order.
        #[test]
        fn corners_are_those_of_the_definition(points in points(), is_floor: bool) {
            let side = if is_floor { Side::Floor } else { Side::Ceiling };
            let mut hull = Hull::new(side);
            for point in &points {
                hull.add(*point);
            }
            prop_assert_eq!(hull.corners(), naive(side, &points));
            let mut ordered = Hull::new(side);
            let mut points = points;
            points.sort_unstable();
            points.iter().for_each(|point| ordered.add(*point));
            prop_assert_eq!(hull.corners(), ordered.corners());
        }

        #[test]
        fn touched_corners_limit_lines(
            points in points(), is_floor: bool, a: (i64, i64), b: (i64, i64),
        ) {
            prop_assume!(a.0 != b.0);
            let mut hull = Hull::new(if is_floor { Side::Floor } else { Side::Ceiling });
            points.iter().for_each(|point| hull.add(*point));
            let slope = Point { x: a.0, y: a.1 }.slope_to(Point { x: b.0, y: b.1 });
            let Some(index) = hull.touched_by(slope) else {
                prop_assert!(points.is_empty());
                return Ok(());
            };
            let touched = hull.corners()[index];
            for point in points {
                prop_assert!(hull.outward(slope.compare_height(touched, point)).is_le());
            }
        }
    }
}
