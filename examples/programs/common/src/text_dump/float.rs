//! Floating-point numbers in the format `%g` of C.

use std::io::Write;

use crate::text::Text;

/// The number of significant digits of `%g`.
const PRECISION: i32 = 6;

/// Appends a number as `printf("%g")` does in the C locale: six significant digits, no
/// trailing zeros, an exponent if it is less than -4 or greater than 5.
pub(super) fn general(out: &mut Text, value: f64) {
    if value.is_sign_negative() {
        out.push(b'-');
    }
    if !value.is_finite() {
        out.append(if value.is_nan() { b"nan" } else { b"inf" });
        return;
    }
    // The standard library rounds `d.ddddde±x` exactly, ties to even as in C.
    let mut text = [0u8; 24];
    let mut rest = &mut text[..];
    if write!(rest, "{:.5e}", value.abs()).is_err() {
        return; // Never: 7 characters, `e` and at most 4 more fit.
    }
    let length = 24 - rest.len();
    let text = &text[..length];
    let (mantissa, exponent) =
        text.split_at(text.iter().position(|&c| c == b'e').unwrap_or(length));
    let exponent = std::str::from_utf8(exponent.get(1..).unwrap_or_default())
        .ok()
        .and_then(|e| e.parse::<i32>().ok())
        .unwrap_or(0);
    let mut digits = [b'0'; PRECISION as usize];
    for (to, from) in digits.iter_mut().zip(mantissa.iter().filter(|&&c| c != b'.')) {
        *to = *from;
    }
    let kept = digits.iter().rposition(|&d| d != b'0').map_or(1, |last| last + 1);
    let digits = &digits[..kept];
    if !(-4..PRECISION).contains(&exponent) {
        with_point(out, digits, 1);
        let sign = if exponent < 0 { b'-' } else { b'+' };
        out.append(&[b'e', sign]);
        crate::text::number::padded(out, exponent.unsigned_abs().into(), 2);
    } else if exponent < 0 {
        out.append(b"0.");
        out.repeat(b'0', exponent.unsigned_abs() as usize - 1);
        out.append(digits);
    } else {
        with_point(out, digits, exponent as usize + 1);
    }
}

/// Appends digits with a point after the first `whole` digits. Appends zeros up to `whole`
/// digits, and omits the point if no digit follows it.
fn with_point(out: &mut Text, digits: &[u8], whole: usize) {
    if digits.len() > whole {
        out.append(&digits[..whole]);
        out.push(b'.');
        out.append(&digits[whole..]);
    } else {
        out.append(digits);
        out.repeat(b'0', whole - digits.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts come from a C library's `printf`.
    #[test]
    fn same_as_c() {
        let known = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (0.5, "0.5"),
            (100.0, "100"),
            (99.6667, "99.6667"),
            (100_000.0, "100000"),
            (1e6, "1e+06"),
            (1_000_005.0, "1e+06"),
            (1_000_015.0, "1.00002e+06"),
            (1_234_565.0, "1.23456e+06"),
            (12345.65, "12345.6"),
            (262_147.5, "262148"),
            (999_999.4, "999999"),
            (999_999.5, "1e+06"),
            (123_456_789.0, "1.23457e+08"),
            (0.0001, "0.0001"),
            (0.000_123_456_5, "0.000123457"),
            (0.00001, "1e-05"),
            (0.000_099_999_995, "0.0001"),
            (1e22, "1e+22"),
            (1e300, "1e+300"),
            (5e-324, "4.94066e-324"),
            (f64::from(f32::MAX), "3.40282e+38"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, expected) in known {
            let mut out = Text::default();
            general(&mut out, value);
            assert_eq!(out.to_string(), expected);
        }
    }
}
