//! Numbers as text without the formatting machinery of the standard library: integers are
//! the largest part of the output.

use super::buffer::{Short, Text};

/// The ASCII digit `0` eight times.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The number of values of eight decimal digits.
const EIGHT: u64 = 100_000_000;

/// Returns the eight digits of a number below 10⁸, the first one in the lowest byte. Splits
/// all parts in parallel: eight digits to two groups of four, these to groups of two,
/// these to digits (SIMD within a register).
#[inline(always)]
fn eight_digits(value: u64) -> u64 {
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    // 10486/2²⁰ and 103/2¹⁰ are close enough to 1/100 and 1/10 for such numbers.
    let hundreds = (fours * 10_486) >> 20 & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = (twos * 103) >> 10 & 0x000f_000f_000f_000f;
    tens | (twos - 10 * tens) << 8
}

/// Returns the ASCII digits without leading zeros, except for the last digit.
#[inline(always)]
fn trimmed(digits: u64, ascii: u64) -> Short {
    let zeros = (digits | 1 << 63).trailing_zeros() / 8;
    Short { word: ascii >> (8 * zeros), length: 8 - zeros as usize }
}

/// Returns a number in base 10, if it has at most eight digits.
#[inline(always)]
pub(crate) fn short_decimal(value: u64) -> Option<Short> {
    if value >= EIGHT {
        return None;
    }
    let digits = eight_digits(value);
    Some(trimmed(digits, digits | ZEROS))
}

/// Appends an unsigned integer in base 10.
#[inline(always)]
pub fn decimal(out: &mut Text, value: u64) {
    match short_decimal(value) {
        Some(short) => out.short(short),
        None => long_decimal(out, value),
    }
}

#[inline(never)]
fn long_decimal(out: &mut Text, value: u64) {
    decimal(out, value / EIGHT);
    out.append(&(eight_digits(value % EIGHT) | ZEROS).to_le_bytes());
}

/// Appends a signed integer in base 10.
#[inline]
pub fn signed(out: &mut Text, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    decimal(out, value.unsigned_abs());
}

/// Appends an unsigned integer in base 10 with zeros up to `width` digits.
pub fn padded(out: &mut Text, value: u64, width: usize) {
    let digits = value.checked_ilog10().unwrap_or(0) as usize + 1;
    out.repeat(b'0', width.saturating_sub(digits));
    decimal(out, value);
}

/// Returns the nine digits of a fraction of a second in ns.
#[inline(always)]
pub(crate) fn nanoseconds(ns: u64) -> [u8; 9] {
    let mut digits = [b'0' + (ns / EIGHT) as u8; 9];
    digits[1..].copy_from_slice(&(eight_digits(ns % EIGHT) | ZEROS).to_le_bytes());
    digits
}

/// The case of hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HexCase {
    /// Lower case: `0xbeef`.
    Lower,
    /// Upper case: `0xBEEF`.
    Upper,
}

/// Returns a number in base 16 without prefix, in two pieces.
#[inline(always)]
pub(crate) fn hexadecimal_pieces(value: u64, case: HexCase) -> (Short, Short) {
    let (high, low) = (eight_nibbles((value >> 32) as u32), eight_nibbles(value as u32));
    let low_text = nibbles_text(low, case);
    if high == 0 {
        (trimmed(low, low_text), Short { word: 0, length: 0 })
    } else {
        (trimmed(high, nibbles_text(high, case)), Short { word: low_text, length: 8 })
    }
}

/// Appends an integer in base 16, without prefix.
pub fn hexadecimal(out: &mut Text, value: u64, case: HexCase) {
    let (first, rest) = hexadecimal_pieces(value, case);
    out.short(first);
    out.short(rest);
}

/// Returns the eight hexadecimal digits of a number, the first one in the lowest byte.
#[inline(always)]
fn eight_nibbles(value: u32) -> u64 {
    let bytes = u64::from(value.swap_bytes());
    let twos = (bytes | bytes << 16) & 0x0000_ffff_0000_ffff;
    let ones = (twos | twos << 8) & 0x00ff_00ff_00ff_00ff;
    ones >> 4 & 0x000f_000f_000f_000f | (ones & 0x000f_000f_000f_000f) << 8
}

/// Converts hexadecimal digits to ASCII.
#[inline(always)]
fn nibbles_text(nibbles: u64, case: HexCase) -> u64 {
    // 1 in each byte that is greater than 9.
    let letters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    let gap = match case {
        HexCase::Lower => b'a' - b'9' - 1,
        HexCase::Upper => b'A' - b'9' - 1,
    };
    nibbles + ZEROS + letters * u64::from(gap)
}

/// Appends an integer in base 8, without prefix.
pub fn octal(out: &mut Text, value: u64) {
    let count = (64 - value.leading_zeros()).div_ceil(3).max(1);
    (0..count).rev().for_each(|i| out.push(b'0' + (value >> (3 * i)) as u8 % 8));
}

/// Appends the low `bits` (at most 64) of an integer in base 2, without prefix.
pub fn binary(out: &mut Text, value: u64, bits: u32) {
    (0..bits.min(64)).rev().for_each(|i| out.push(b'0' + (value >> i) as u8 % 2));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(f: impl FnOnce(&mut Text)) -> String {
        let mut out = Text::default();
        f(&mut out);
        out.to_string()
    }

    #[test]
    fn decimals_of_every_length() {
        let mut value = 0u64;
        for digit in (1..=9).chain(0..=9) {
            assert_eq!(text(|o| decimal(o, value)), value.to_string());
            value = value * 10 + digit;
        }
        for power in (0..20).map(|n| 10u64.pow(n)) {
            for v in [power - 1, power, power + 1] {
                assert_eq!(text(|o| decimal(o, v)), v.to_string());
                assert_eq!(text(|o| padded(o, v, 20)), format!("{v:020}"));
                assert_eq!(text(|o| padded(o, v, 12)), format!("{v:012}"));
            }
        }
        assert_eq!(text(|o| decimal(o, u64::MAX)), u64::MAX.to_string());
    }

    /// Checks every number of four digits, in each half of eight.
    #[test]
    fn digits_are_split_exactly() {
        for v in 0..10_000u64 {
            for value in [v, v * 10_000, v * 10_001] {
                let text = format!("{value:08}");
                let digits = (eight_digits(value) | ZEROS).to_le_bytes();
                assert_eq!(&digits, text.as_bytes());
            }
        }
    }

    #[test]
    fn signed_decimals() {
        for v in [0, -1, 9, -10, i64::MIN, i64::MAX] {
            assert_eq!(text(|o| signed(o, v)), v.to_string());
        }
    }

    #[test]
    fn fractions_have_nine_digits() {
        for ns in [0, 1, 10, 123_456_789, 999_999_999, 100_000_000, 20_406_080] {
            assert_eq!(nanoseconds(ns), format!("{ns:09}").as_bytes());
        }
    }

    #[test]
    fn bases_other_than_ten() {
        for v in [0, 1, 7, 8, 15, 16, 0xDEAD_BEEF, u64::MAX, 1 << 63] {
            assert_eq!(text(|o| hexadecimal(o, v, HexCase::Upper)), format!("{v:X}"));
            assert_eq!(text(|o| hexadecimal(o, v, HexCase::Lower)), format!("{v:x}"));
            assert_eq!(text(|o| octal(o, v)), format!("{v:o}"));
            assert_eq!(text(|o| binary(o, v, 64)), format!("{v:064b}"));
        }
        assert_eq!(text(|o| binary(o, 5, 3)), "101");
        assert_eq!(text(|o| binary(o, u64::MAX, 2)), "11");
    }
}
