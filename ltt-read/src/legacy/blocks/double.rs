//! Double-precision arithmetic as in LTTV, computed with integers.
//!
//! LTTV converted clock ticks to nanoseconds in double precision, rounding after each
//! step. Only rounding at the same steps reproduces its times to the nanosecond; an exact
//! quotient differs in many events.

/// The number of significant bits of a double.
pub(crate) const PRECISION: u32 = 53;

/// A number `mantissa · 2^exponent`, rounded to 53 significant bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Double {
    /// The significant bits, at most 2⁵³.
    mantissa: u64,
    exponent: i32,
}

impl Double {
    /// Returns the double nearest to an integer.
    pub(crate) fn new(value: u64) -> Self {
        Self::rounded(value.into(), 0, false)
    }

    /// Returns the double nearest to `value · 2^exponent`, or to a slightly greater
    /// number if the sticky bit `sticky` is set.
    fn rounded(value: u128, exponent: i32, sticky: bool) -> Self {
        let excess = (128 - value.leading_zeros()).saturating_sub(PRECISION);
        let mantissa = (value >> excess) as u64;
        let dropped = value & ((1 << excess) - 1);
        let up = excess > 0 && {
            let half = 1u128 << (excess - 1);
            dropped > half || dropped == half && (sticky || mantissa % 2 == 1)
        };
        Double { mantissa: mantissa + u64::from(up), exponent: exponent + excess as i32 }
    }

    pub(crate) fn times(self, other: Double) -> Self {
        let product = u128::from(self.mantissa) * u128::from(other.mantissa);
        Self::rounded(product, self.exponent + other.exponent, false)
    }

    /// Returns the quotient; 0 if the divisor is zero.
    pub(crate) fn over(self, other: Double) -> Self {
        if self.mantissa == 0 || other.mantissa == 0 {
            return Self::new(0);
        }
        // The quotient has far more bits than a double keeps.
        let up = u128::from(self.mantissa).leading_zeros();
        let (value, by) = (u128::from(self.mantissa) << up, u128::from(other.mantissa));
        let exponent = self.exponent - up as i32 - other.exponent;
        Self::rounded(value / by, exponent, !value.is_multiple_of(by))
    }

    /// Returns the integer part, at most `u64::MAX`.
    pub(crate) fn trunc(self) -> u64 {
        let mantissa = u128::from(self.mantissa);
        match u32::try_from(self.exponent) {
            Ok(up) if up < 64 => u64::try_from(mantissa << up).unwrap_or(u64::MAX),
            Ok(_) if self.mantissa == 0 => 0,
            Ok(_) => u64::MAX,
            Err(_) => mantissa.checked_shr(self.exponent.unsigned_abs()).unwrap_or(0) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_machines_doubles() {
        let mut seed = 7u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed ^ seed >> 29) >> (seed >> 58) // of any magnitude
        };
        for _ in 0..200_000 {
            let (a, b, c) = (random(), random().max(1), random().max(1));
            let soft = Double::new(a).times(Double::new(b)).over(Double::new(c)).trunc();
            let hard = (a as f64 * b as f64 / c as f64) as u64;
            assert_eq!(soft, hard, "{a} * {b} / {c}");
            let soft = Double::new(a).over(Double::new(b).over(Double::new(c))).trunc();
            let hard = (a as f64 / (b as f64 / c as f64)) as u64;
            assert_eq!(soft, hard, "{a} / ({b} / {c})");
        }
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(Double::new(u64::MAX).trunc(), u64::MAX);
        assert_eq!(Double::new(5).over(Double::new(0)).trunc(), 0);
        let large = Double::new(u64::MAX).times(Double::new(u64::MAX));
        assert_eq!(large.trunc(), u64::MAX);
        assert_eq!(Double::new(1).over(large).trunc(), 0);
    }
}
