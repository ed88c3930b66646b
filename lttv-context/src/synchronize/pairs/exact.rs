//! Exact arithmetic with differences of times and with slopes.

use std::cmp::Ordering;

/// A point: a time of one clock, and a time of the other, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Point {
    pub(super) x: i64,
    pub(super) y: i64,
}

impl Point {
    /// Returns the slope of the line from this point to one with another `x`.
    pub(super) fn slope_to(self, other: Point) -> Slope {
        let rise = i128::from(other.y) - i128::from(self.y);
        let run = i128::from(other.x) - i128::from(self.x);
        if run < 0 { Slope { rise: -rise, run: -run } } else { Slope { rise, run } }
    }
}

/// An exact slope, `rise / run`. Both parts are differences of 64-bit times, so their
/// magnitude is below 2⁶⁴, and `run` is greater than 0.
#[derive(Debug, Clone, Copy)]
pub struct Slope {
    rise: i128,
    run: i128,
}

impl Slope {
    /// Returns the numerator, in ns of the second clock. Its magnitude is below 2⁶⁴.
    pub fn rise(self) -> i128 {
        self.rise
    }

    /// Returns the denominator, in ns of the first clock: greater than 0 and below 2⁶⁴.
    pub fn run(self) -> i128 {
        self.run
    }

    /// Returns the quotient as a number, with a relative error of at most 2 × 2⁻⁵².
    pub fn as_f64(self) -> f64 {
        self.rise as f64 / self.run as f64
    }

    /// Returns the slope in units of 2⁻⁶², rounded down. The magnitude is below 2¹²⁶ + 1.
    pub(super) fn fixed_point(self) -> i128 {
        let (whole, rest) = (self.rise.div_euclid(self.run), self.rise.rem_euclid(self.run));
        (whole << 62) + (rest << 62) / self.run
    }

    /// Compares the point's height over the line through `base` with this slope: `Less` if the
    /// point is below the line.
    pub(super) fn compare_height(self, base: Point, point: Point) -> Ordering {
        let rise = i128::from(point.y) - i128::from(base.y);
        let run = i128::from(point.x) - i128::from(base.x);
        compare_products(rise, self.run, self.rise, run)
    }

    /// Returns the height of the line through `base` at `x`; `None` if it has more than 126
    /// bits.
    pub(super) fn at(self, base: Point, x: i64, rounding: Rounding) -> Option<i128> {
        let run = i128::from(x) - i128::from(base.x);
        Some(i128::from(base.y) + divided_product(self.rise, run, self.run, rounding)?)
    }

    /// Returns the height of the line through `base` at `x` in units of 2⁻⁸, rounded towards
    /// `base`; `None` if it has more than 110 bits.
    pub(super) fn at_in_256ths(self, base: Point, x: i64) -> Option<i128> {
        let (is_negative, magnitude) = product(self.rise, i128::from(x) - i128::from(base.x));
        let divisor = self.run.unsigned_abs();
        let whole = Some(magnitude / divisor).filter(|whole| *whole < 1 << 110)?;
        let height = ((whole << 8) + ((magnitude % divisor) << 8) / divisor) as i128;
        Some((i128::from(base.y) << 8) + if is_negative { -height } else { height })
    }

    /// Returns the `x` at which the line through `base` has the height `y`; `None` if it has
    /// more than 126 bits, or if the slope is not positive.
    pub(super) fn at_height(self, base: Point, y: i64, rounding: Rounding) -> Option<i128> {
        let rise = i128::from(y) - i128::from(base.y);
        if self.rise <= 0 {
            return None;
        }
        Some(i128::from(base.x) + divided_product(self.run, rise, self.rise, rounding)?)
    }
}

impl PartialEq for Slope {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Slope {}

impl PartialOrd for Slope {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Slope {
    /// Compares the exact quotients.
    fn cmp(&self, other: &Self) -> Ordering {
        compare_products(self.rise, other.run, other.rise, self.run)
    }
}

/// The direction in which a quotient is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    Down,
    Up,
}

/// Returns `true` if the product is negative, and its magnitude. The factors' magnitudes are
/// below 2⁶⁴, so the magnitude of the product fits, while the signed product may not.
fn product(a: i128, b: i128) -> (bool, u128) {
    let magnitude = a.unsigned_abs().saturating_mul(b.unsigned_abs());
    ((a < 0) != (b < 0) && magnitude > 0, magnitude)
}

/// Compares `a · b` with `c · d`, for factors with magnitudes below 2⁶⁴.
fn compare_products(a: i128, b: i128, c: i128, d: i128) -> Ordering {
    match (product(a, b), product(c, d)) {
        ((false, left), (false, right)) => left.cmp(&right),
        ((true, left), (true, right)) => right.cmp(&left),
        ((false, _), (true, _)) => Ordering::Greater,
        ((true, _), (false, _)) => Ordering::Less,
    }
}

/// Returns `a · b / divisor`, for magnitudes below 2⁶⁴ and a positive divisor; `None` if the
/// result has more than 126 bits.
fn divided_product(a: i128, b: i128, divisor: i128, rounding: Rounding) -> Option<i128> {
    let (is_negative, magnitude) = product(a, b);
    let divisor = divisor.unsigned_abs();
    let away_from_zero = is_negative == (rounding == Rounding::Down);
    let quotient = match away_from_zero {
        true => magnitude.div_ceil(divisor),
        false => magnitude / divisor,
    };
    let quotient = i128::try_from(quotient).ok().filter(|quotient| *quotient < 1 << 126)?;
    Some(if is_negative { -quotient } else { quotient })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn small() -> impl Strategy<Value = i128> {
        -(1_i128 << 62)..1_i128 << 62
    }

    proptest! {
        #[test]
        fn products_are_compared_exactly(a in small(), b in small(), c in small(), d in small()) {
            prop_assert_eq!(compare_products(a, b, c, d), (a * b).cmp(&(c * d)));
        }

        #[test]
        fn quotients_are_rounded_as_told(a in small(), b in small(), divisor in 1..1_i128 << 62) {
            let down = divided_product(a, b, divisor, Rounding::Down);
            prop_assert_eq!(down, Some((a * b).div_euclid(divisor)));
            let up = divided_product(a, b, divisor, Rounding::Up);
            prop_assert_eq!(up, Some(-(-(a * b)).div_euclid(divisor)));
        }

        #[test]
        fn extreme_times_have_exact_slopes(a: (i64, i64), b: (i64, i64), c: (i64, i64), x: i64) {
            let point = |(x, y)| Point { x, y };
            let (a, b, c) = (point(a), point(b), point(c));
            prop_assume!(a.x != b.x);
            let slope = a.slope_to(b);
            prop_assert_eq!(slope, b.slope_to(a));
            prop_assert!(slope.compare_height(a, b).is_eq());
            prop_assert_eq!(slope.at(a, b.x, Rounding::Down), Some(b.y.into()));
            prop_assert_eq!(slope.at(b, a.x, Rounding::Up), Some(a.y.into()));
            slope.compare_height(a, c);
            slope.fixed_point();
            if let (Some(y), Some(up)) =
                (slope.at(a, x, Rounding::Down), slope.at(a, x, Rounding::Up))
            {
                prop_assert!((0..=1).contains(&(up - y)));
            }
        }
    }

    #[test]
    fn the_widest_range_does_not_overflow() {
        let (low, high) = (Point { x: i64::MIN, y: i64::MIN }, Point { x: i64::MAX, y: i64::MAX });
        let falling =
            Point { x: i64::MIN, y: i64::MAX }.slope_to(Point { x: i64::MAX, y: i64::MIN });
        assert_eq!(low.slope_to(high).fixed_point(), 1 << 62);
        assert_eq!(falling.fixed_point(), -(1 << 62));
        assert!(falling < low.slope_to(high));
        let steep = low.slope_to(Point { x: i64::MIN + 1, y: i64::MAX });
        assert_eq!(steep.at(low, i64::MAX, Rounding::Up), None);
        assert_eq!(steep.fixed_point(), ((1 << 64) - 1) << 62);
    }
}
