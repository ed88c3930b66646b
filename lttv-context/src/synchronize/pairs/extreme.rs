//! The lines of greatest and least slope between two hulls.

use std::cmp::Ordering;

use super::exact::{Point, Rounding, Slope};
use super::hull::Hull;

/// The choice of one of the two extreme lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extreme {
    Greatest,
    Least,
}

/// The line of an extreme slope between a ceiling and a floor.
#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    /// The messages do not limit the slope to this side.
    Unbounded,
    /// The line, by the corners of ceiling and floor that it touches.
    Line { slope: Slope, ceiling: usize, floor: usize },
    /// No line of any slope lies between the hulls.
    NoLine,
}

/// Finds the line of extreme slope that lies nowhere above the ceiling and nowhere below the
/// floor.
///
/// For a slope `m`, let `gap(m)` be the least distance in height between the corners of the
/// ceiling and those of the floor, seen along lines of slope `m`. This is a concave function, and
/// lines of slope `m` exist where it is not negative. Newton's method from outside finds the end
/// of that interval: each step takes the pair of corners with the least gap, and the
/// slope at which the gap of this pair is 0, which is the slope of the line through
/// both. All slopes are those of pairs of corners, so that the result is exact. Each step takes
/// two binary searches. There is no line if the gap is negative where the function does not
/// increase towards the interval (Dinkelbach, "On nonlinear fractional programming", 1967).
pub(super) fn limit(ceiling: &Hull, floor: &Hull, extreme: Extreme) -> Limit {
    let (above, below) = (ceiling.corners(), floor.corners());
    let (Some(last_above), Some(last_below)) =
        (above.len().checked_sub(1), below.len().checked_sub(1))
    else {
        return Limit::Unbounded;
    };
    // A message of the ceiling after one of the floor limits the slope from above.
    let (mut up, mut low) = match extreme {
        Extreme::Greatest => (last_above, 0),
        Extreme::Least => (0, last_below),
    };
    let limits = |up: Point, low: Point| match extreme {
        Extreme::Greatest => up.x > low.x,
        Extreme::Least => up.x < low.x,
    };
    if !limits(above[up], below[low]) {
        // Only messages at one instant could still exclude all lines.
        let excluded = above[up].x == below[low].x && above[up].y < below[low].y;
        return if excluded { Limit::NoLine } else { Limit::Unbounded };
    }
    loop {
        let slope = below[low].slope_to(above[up]);
        let (Some(next_up), Some(next_low)) = (ceiling.touched_by(slope), floor.touched_by(slope))
        else {
            return Limit::Unbounded;
        };
        if slope.compare_height(below[next_low], above[next_up]) != Ordering::Less {
            return Limit::Line { slope, ceiling: up, floor: low };
        }
        if !limits(above[next_up], below[next_low]) {
            return Limit::NoLine;
        }
        (up, low) = (next_up, next_low);
    }
}

/// Returns the greatest height of the floor over the ceiling, in ns, rounded up, and the `x` at
/// which it is found. `None` if the floor is nowhere above the ceiling.
///
/// By the duality of linear programs, this is the least distance by which one of the hulls has to
/// move for a line to exist.
pub(super) fn overlap(ceiling: &Hull, floor: &Hull) -> Option<(u64, i64)> {
    // The difference of a concave and a convex function is greatest at a corner of either.
    let at = |x: i64| {
        let over = floor.at(x, Rounding::Up)? - ceiling.at(x, Rounding::Down)?;
        Some((u64::try_from(over).unwrap_or(if over < 0 { 0 } else { u64::MAX }), x))
    };
    let corners = ceiling.corners().iter().chain(floor.corners());
    let overlaps = corners.filter_map(|corner| at(corner.x));
    // The earliest of equal ones, for a result that depends on the hulls alone.
    overlaps.filter(|(over, _)| *over > 0).max_by_key(|(over, x)| (*over, std::cmp::Reverse(*x)))
}
