//! One line of a band.

use ltt_read::{ClockTransform, ClockTransformError, Timestamp};

use super::exact::{Point, Slope};

/// A line that maps the times of the first clock of a pair to those of the second one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    first: Timestamp,
    second: Timestamp,
    /// The slope in units of 2⁻⁶².
    slope: i128,
}

impl Line {
    /// Returns a time of the first clock on the line, about the middle of the messages.
    pub fn first(self) -> Timestamp {
        self.first
    }

    /// Returns the time of the second clock at [`first`](Self::first).
    pub fn second(self) -> Timestamp {
        self.second
    }

    /// Returns the slope: ns of the second clock per ns of the first one.
    pub fn slope(self) -> f64 {
        self.slope as f64 / ClockTransform::ONE as f64
    }

    /// Returns the time of the second clock at a time of the first one, rounded down; `None` if it
    /// is out of range.
    pub fn at(self, first: Timestamp) -> Option<Timestamp> {
        let distance = first.signed_ns_since(self.first);
        let second = self.second.as_ns() as i128 + (distance.checked_mul(self.slope)? >> 62);
        i64::try_from(second).ok().map(Timestamp::from_ns)
    }

    /// Returns the line as a transform from the first clock to the second one.
    ///
    /// # Errors
    ///
    /// [`ClockTransformError::Slope`] if the slope is not from ½ to 2.
    pub fn transform(self) -> Result<ClockTransform, ClockTransformError> {
        let slope = u64::try_from(self.slope).map_err(|_| ClockTransformError::Slope)?;
        ClockTransform::new(self.first, self.second, slope)
    }
}

/// A line by a point and its exact slope.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExactLine {
    pub(super) base: Point,
    pub(super) slope: Slope,
}

impl From<ExactLine> for Line {
    /// Rounds the slope down to a multiple of 2⁻⁶².
    fn from(line: ExactLine) -> Self {
        let (first, second) = (Timestamp::from_ns(line.base.x), Timestamp::from_ns(line.base.y));
        Line { first, second, slope: line.slope.fixed_point() }
    }
}

/// Returns the line that divides the angle between two lines into halves, at `x`: the bisector of
/// LTTV.
///
/// LTTV computes `s = (ab − 1 + √(1 + a²b² + a² + b²)) / (a + b)` from the slopes `a` and `b`. This
/// is `a + (b − a) · A / (A + B)` with `A = √(1 + a²)` and `B = √(1 + b²)`, in which no digits
/// cancel. As all three lines meet in one point, the same weight applies to their heights at any
/// `x`.
pub(super) fn bisector(least: ExactLine, greatest: ExactLine, x: i64) -> Option<Line> {
    let length = |slope: Slope| (1.0 + slope.as_f64() * slope.as_f64()).sqrt();
    let (a, b) = (length(least.slope), length(greatest.slope));
    between(least, greatest, x, a / (a + b))
}

/// Returns the line with the mean of two slopes and of two heights.
pub(super) fn mean(least: ExactLine, greatest: ExactLine, x: i64) -> Option<Line> {
    between(least, greatest, x, 0.5)
}

/// Returns the line with a part of the distance from one line to another, in slope and height
/// at `x`. `None` if it is out of range.
fn between(from: ExactLine, to: ExactLine, x: i64, part: f64) -> Option<Line> {
    // Fractions of a ns are kept for rounding to the nearest ns.
    let height = |line: ExactLine| line.slope.at_in_256ths(line.base, x);
    let y = weighted(height(from)?, height(to)?, part);
    let second = i64::try_from((y + 128) >> 8).ok()?;
    let slope = weighted(from.slope.fixed_point(), to.slope.fixed_point(), part);
    let (first, second) = (Timestamp::from_ns(x), Timestamp::from_ns(second));
    Some(Line { first, second, slope })
}

/// Returns `from + (to − from) · part`, for a part from 0 to 1.
fn weighted(from: i128, to: i128, part: f64) -> i128 {
    const BITS: u32 = 53;
    let part = (part.clamp(0.0, 1.0) * (1_u64 << BITS) as f64) as i128;
    let distance = to.saturating_sub(from);
    // In two steps, as the whole product may have more than 127 bits.
    let (high, low) = (distance >> BITS, distance & ((1 << BITS) - 1));
    from.saturating_add(high.saturating_mul(part)).saturating_add((low * part) >> BITS)
}
