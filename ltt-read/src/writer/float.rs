//! Conversions to floating-point formats that have no stable type in Rust.

/// Converts a number to IEEE 754 binary16, rounded to nearest, ties to even.
pub(super) fn to_f16_bits(number: f64) -> u16 {
    let bits = number.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let fraction = bits & ((1 << 52) - 1);
    if exponent == 1024 {
        // The top bit keeps the result a NaN, whatever the payload.
        let payload = if fraction == 0 { 0 } else { 0x200 | (fraction >> 42) as u16 };
        return sign | 0x7c00 | payload;
    }
    if exponent < -25 {
        return sign;
    }
    // Normal numbers keep 10 of 52 fraction bits, subnormal ones fewer.
    let significand = fraction | 1 << 52;
    let (biased, dropped) =
        if exponent < -14 { (0, 42 + (-14 - exponent) as u32) } else { (exponent + 15, 42) };
    let kept = significand >> dropped;
    let rest = significand & ((1 << dropped) - 1);
    let half = 1u64 << (dropped - 1);
    let up = rest > half || (rest == half && kept & 1 == 1);
    // The implicit bit of `kept` adds one to the exponent of normal numbers, and so
    // does a carry out of the fraction.
    let base = if biased > 0 { (biased as u64 - 1) << 10 } else { 0 };
    let result = base + kept + u64::from(up);
    sign | result.min(0x7c00) as u16
}

/// Converts a number to IEEE 754 binary128. The conversion is exact.
pub(super) fn to_f128_bits(number: f64) -> u128 {
    let bits = number.to_bits();
    let sign = u128::from(bits >> 63) << 127;
    let exponent = bits >> 52 & 0x7ff;
    let fraction = bits & ((1 << 52) - 1);
    let (exponent, fraction) = match (exponent, fraction) {
        (0, 0) => (0, 0),
        (0, f) => {
            // Subnormal numbers become normal: shift their first 1 bit to the implicit
            // bit.
            let shift = f.leading_zeros() - 11;
            (16383 - 1022 - u128::from(shift), u128::from(f << shift) & ((1 << 52) - 1))
        }
        (0x7ff, f) => (0x7fff, u128::from(f)),
        (e, f) => (u128::from(e) + 16383 - 1023, u128::from(f)),
    };
    sign | exponent << 112 | fraction << 60
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision() {
        for (number, bits) in [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65520.0, 0x7c00),
            (65519.9, 0x7bff),
            (1e9, 0x7c00),
            (f64::NEG_INFINITY, 0xfc00),
            (0.000_061_035_156_25, 0x0400),
            (5.960_464_477_539_063e-8, 0x0001),
            (2.980_232_238_769_531_3e-8, 0x0000),
            (0.333_251_953_125, 0x3555),
            (1e-300, 0),
        ] {
            assert_eq!(to_f16_bits(number), bits, "{number}");
        }
        assert_eq!(to_f16_bits(f64::NAN) & 0x7e00, 0x7e00);
    }

    #[test]
    fn quadruple_precision() {
        assert_eq!(to_f128_bits(1.0), 0x3fff << 112);
        assert_eq!(to_f128_bits(-1.5), 0xbfff << 112 | 1 << 111);
        assert_eq!(to_f128_bits(f64::INFINITY), 0x7fff << 112);
        assert_eq!(to_f128_bits(0.0), 0);
        // 2^-1074, the least subnormal number.
        assert_eq!(to_f128_bits(f64::from_bits(1)), (16383 - 1074) << 112);
    }
}
