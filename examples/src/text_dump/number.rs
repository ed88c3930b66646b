//! Numbers to text without the formatting machinery of the standard library:
//! most of what a dump prints are integers.

use super::chunk::append_start;

/// "00" to "99", so that two digits cost one look-up.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut i = 0;
    while i < 100 {
        pairs[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    pairs
};

/// Appends an unsigned integer in base 10.
#[inline]
pub fn decimal(out: &mut Vec<u8>, value: u64) {
    if value < 10 {
        out.push(b'0' + value as u8);
    } else if value < 100 {
        out.extend_from_slice(&PAIRS[value as usize]);
    } else if value < 100_000_000 {
        // Eight digits, leading zeros cut off: no loop, no call.
        let value = value as u32;
        let pair = |n: u32| PAIRS[(n % 100) as usize];
        let pairs = [pair(value / 1_000_000), pair(value / 10_000), pair(value / 100), pair(value)];
        let digits = u64::from_le_bytes(*pairs.as_flattened().first_chunk().unwrap_or(&[b'0'; 8]));
        let zeros = (digits ^ 0x3030_3030_3030_3030).trailing_zeros() / 8;
        append_start(out, &(digits >> (8 * zeros)).to_le_bytes(), 8 - zeros as usize);
    } else {
        let mut digits = [b'0'; 20];
        let start = fill(&mut digits, value);
        out.extend_from_slice(&digits[start..]);
    }
}

/// Appends a signed integer in base 10.
#[inline]
pub fn signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    decimal(out, value.unsigned_abs());
}

/// Appends an unsigned integer in base 10 with zeros up to `width` (at most
/// 20) digits.
pub fn padded(out: &mut Vec<u8>, value: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let start = fill(&mut digits, value);
    out.extend_from_slice(&digits[start.min(20 - width.min(20))..]);
}

/// Appends the nine digits of a fraction of a second.
#[inline]
pub fn nanoseconds(out: &mut Vec<u8>, ns: u32) {
    let pair = |n: u32| PAIRS[(n % 100) as usize];
    let [a, b] = pair(ns / 10_000_000);
    let [c, d] = pair(ns / 100_000);
    let [e, f] = pair(ns / 1000);
    let [g, h] = pair(ns / 10);
    out.extend_from_slice(&[a, b, c, d, e, f, g, h, b'0' + (ns % 10) as u8]);
}

/// Writes the digits at the end of the buffer; gives the index of the first.
fn fill(digits: &mut [u8; 20], mut value: u64) -> usize {
    let mut at = 20;
    while value >= 100 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[(value % 100) as usize]);
        value /= 100;
    }
    if value >= 10 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[value as usize]);
    } else {
        at -= 1;
        digits[at] = b'0' + value as u8;
    }
    at
}

/// Digits for base 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HexCase {
    /// `0xbeef`
    Lower,
    /// `0xBEEF`
    Upper,
}

/// Appends an integer in base 16, without prefix.
pub fn hexadecimal(out: &mut Vec<u8>, value: u64, case: HexCase) {
    let digits = match case {
        HexCase::Lower => b"0123456789abcdef",
        HexCase::Upper => b"0123456789ABCDEF",
    };
    let count = (64 - value.leading_zeros()).div_ceil(4).max(1);
    out.extend((0..count).rev().map(|i| digits[(value >> (4 * i)) as usize & 15]));
}

/// Appends an integer in base 8, without prefix.
pub fn octal(out: &mut Vec<u8>, value: u64) {
    let count = (64 - value.leading_zeros()).div_ceil(3).max(1);
    out.extend((0..count).rev().map(|i| b'0' + (value >> (3 * i)) as u8 % 8));
}

/// Appends the low `bits` (at most 64) of an integer in base 2, without
/// prefix.
pub fn binary(out: &mut Vec<u8>, value: u64, bits: u32) {
    out.extend((0..bits.min(64)).rev().map(|i| b'0' + (value >> i) as u8 % 2));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(f: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        f(&mut out);
        String::from_utf8(out).unwrap()
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

    #[test]
    fn signs() {
        for v in [0, -1, 9, -10, i64::MIN, i64::MAX] {
            assert_eq!(text(|o| signed(o, v)), v.to_string());
        }
    }

    #[test]
    fn fractions_have_nine_digits() {
        for ns in [0, 1, 10, 123_456_789, 999_999_999, 100_000_000, 20_406_080] {
            assert_eq!(text(|o| nanoseconds(o, ns)), format!("{ns:09}"));
        }
    }

    #[test]
    fn other_bases() {
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
