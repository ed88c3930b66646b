//! Reading of bit fields with one 64-bit load and shifts, not bit by bit.
//!
//! Positions are in bits from the start of `data`. Little-endian fields count bits from
//! the least significant bit of each byte, big-endian fields from the most significant
//! one (CTF 1.8.3 section 4.1.5, CTF 2 "fixed-length bit array field decoding
//! procedure"). Bytes past the end of `data` read as zero: callers check bounds once for
//! a whole event record.

use crate::base::zeros::{NO_ZERO, zero_in};

/// Reads the 8 bytes at `byte`, zero-extended past the end of the data.
#[inline(always)]
fn load(data: &[u8], byte: usize) -> [u8; 8] {
    match whole(data, byte) {
        Some(bytes) => bytes,
        None => load_tail(data, byte),
    }
}

/// Reads the 8 bytes at `byte`; `None` if they are not all within the data.
#[inline(always)]
fn whole(data: &[u8], byte: usize) -> Option<[u8; 8]> {
    // This form compiles to two comparisons.
    let bytes = byte.checked_add(8).and_then(|end| data.get(byte..end));
    bytes.and_then(|bytes| bytes.first_chunk()).copied()
}

#[cold]
#[inline(never)]
fn load_tail(data: &[u8], byte: usize) -> [u8; 8] {
    let mut buf = [0; 8];
    let tail = data.get(byte..).unwrap_or(&[]);
    let n = tail.len().min(8);
    buf[..n].copy_from_slice(&tail[..n]);
    buf
}

#[inline(always)]
fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Reads a little-endian field of 1 to 64 bits.
#[inline(always)]
pub(crate) fn read_le(data: &[u8], pos: u64, bits: u32) -> u64 {
    let (byte, shift) = ((pos >> 3) as usize, (pos & 7) as u32);
    let low = u64::from_le_bytes(load(data, byte)) >> shift;
    if bits + shift <= 64 {
        return low & mask(bits);
    }
    let high = u64::from(data.get(byte + 8).copied().unwrap_or(0)) << (64 - shift);
    (low | high) & mask(bits)
}

/// Reads a little-endian field that ends within 64 bits of the start of its first byte.
#[inline(always)]
pub(crate) fn read_le_within_word(data: &[u8], pos: u64, bits: u32) -> u64 {
    word_le(data, pos) & mask(bits)
}

/// Reads the little-endian word at `byte`, zero-extended past the end of the data.
#[inline(always)]
pub(crate) fn word(data: &[u8], byte: usize) -> u64 {
    u64::from_le_bytes(load(data, byte))
}

/// Reads the little-endian bits from `pos` on, at least 57 of them, zero-extended past
/// the end of the data.
#[inline(always)]
pub(crate) fn word_le(data: &[u8], pos: u64) -> u64 {
    word(data, (pos >> 3) as usize) >> (pos & 7)
}

/// Finds the index of the first zero byte. Most strings are short: the first 32 bytes are
/// tested inline before `memchr` is worth its call.
#[inline(always)]
pub(crate) fn find_zero(bytes: &[u8]) -> Option<usize> {
    let Some((first, rest)) = bytes.split_first_chunk() else {
        return bytes.iter().position(|b| *b == 0);
    };
    match zero_in(first) {
        NO_ZERO => memchr::memchr(0, rest).map(|i| i + first.len()),
        zero => Some(zero as usize),
    }
}

/// Reads a big-endian field of 1 to 64 bits.
#[inline(always)]
pub(crate) fn read_be(data: &[u8], pos: u64, bits: u32) -> u64 {
    let (byte, shift) = ((pos >> 3) as usize, (pos & 7) as u32);
    let high = u64::from_be_bytes(load(data, byte)) << shift;
    if bits + shift <= 64 {
        return high >> (64 - bits);
    }
    let low = u64::from(data.get(byte + 8).copied().unwrap_or(0)) >> (8 - shift);
    (high | low) >> (64 - bits)
}

/// Sign-extends the low `bits` bits (1 to 64).
#[inline(always)]
pub(crate) fn sign_extend(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits;
    ((value << shift) as i64) >> shift
}

/// Reverses the order of the low `bits` bits (1 to 64).
pub(crate) fn reverse(value: u64, bits: u32) -> u64 {
    value.reverse_bits() >> (64 - bits)
}

/// Converts an IEEE 754 half-precision number.
pub(crate) fn half_to_f64(half: u16) -> f64 {
    let sign = if half >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// Converts an IEEE 754 quadruple-precision number, rounding towards zero. Numbers below
/// every normal `f64` become 0.
pub(crate) fn quad_to_f64(high: u64, low: u64) -> f64 {
    let sign = high & 1 << 63;
    let exponent = (high >> 48 & 0x7fff) as i32;
    let fraction = (high & 0xffff_ffff_ffff) << 4 | low >> 60;
    let bits = match exponent - 16383 + 1023 {
        _ if exponent == 0x7fff => {
            let nan = high << 16 | low;
            0x7ff << 52 | if nan == 0 { 0 } else { 1 << 51 }
        }
        e if e >= 0x7ff => 0x7ff << 52,
        e if e <= 0 => 0, // below every normal f64
        e => (e as u64) << 52 | fraction,
    };
    f64::from_bits(sign | bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ByteOrder;

    #[test]
    fn first_zero_is_found_at_any_index() {
        for len in 0..70 {
            // Bytes that make subtraction borrow and addition carry, and that have the
            // highest bit set.
            let bytes: Vec<u8> = (0..len).map(|i| [1, 0x80, 0xff, b'a'][i % 4]).collect();
            assert_eq!(find_zero(&bytes), None);
            for zero in 0..len {
                let mut bytes = bytes.clone();
                bytes[zero] = 0;
                assert_eq!(find_zero(&bytes), Some(zero), "of {len}");
                bytes[zero..].fill(0);
                assert_eq!(find_zero(&bytes), Some(zero), "of {len}, and zeros after it");
            }
        }
    }

    /// Reads a field bit by bit, as in the definition of the formats.
    fn naive(data: &[u8], pos: u64, bits: u32, order: ByteOrder) -> u64 {
        let bit = |i: u64| {
            let (byte, in_byte) = ((i / 8) as usize, (i % 8) as u32);
            u64::from(match order {
                ByteOrder::Little => data[byte] >> in_byte & 1,
                ByteOrder::Big => data[byte] >> (7 - in_byte) & 1,
            })
        };
        (0..u64::from(bits)).fold(0, |v, i| match order {
            ByteOrder::Little => v | bit(pos + i) << i,
            ByteOrder::Big => v << 1 | bit(pos + i),
        })
    }

    #[test]
    fn every_length_and_bit_offset_agrees_with_the_definition() {
        let data: Vec<u8> = (0..24u32).map(|i| (i * 167 + 13) as u8).collect();
        for bits in 1..=64 {
            for pos in 0..(24 * 8 - u64::from(bits)) {
                assert_eq!(read_le(&data, pos, bits), naive(&data, pos, bits, ByteOrder::Little));
                assert_eq!(read_be(&data, pos, bits), naive(&data, pos, bits, ByteOrder::Big));
                if bits as u64 + pos % 8 <= 64 {
                    assert_eq!(read_le_within_word(&data, pos, bits), read_le(&data, pos, bits));
                }
            }
        }
    }

    #[test]
    fn bits_past_the_end_read_as_zero() {
        assert_eq!(read_le(&[0xff], 4, 64), 0xf);
        assert_eq!(read_be(&[], 1 << 60, 7), 0);
    }

    #[test]
    fn first_zero_is_found_among_any_filler() {
        for len in 0..40 {
            for zero in 0..=len {
                for filler in [1, 0x7f, 0x80, 0x81, 0xff] {
                    let mut bytes = vec![filler; len];
                    bytes[zero.min(len)..].fill(0);
                    assert_eq!(find_zero(&bytes), (zero < len).then_some(zero), "{bytes:?}");
                }
            }
        }
    }

    #[test]
    fn sign_extension_and_bit_reversal() {
        assert_eq!(sign_extend(0b100, 3), -4);
        assert_eq!(sign_extend(u64::MAX, 64), -1);
        assert_eq!(reverse(0b001, 3), 0b100);
    }

    #[test]
    fn half_and_quadruple_precision() {
        assert_eq!(half_to_f64(0x3c00), 1.0);
        assert_eq!(half_to_f64(0xc000), -2.0);
        assert_eq!(half_to_f64(0x0001), 2f64.powi(-24));
        assert!(half_to_f64(0x7c01).is_nan());
        assert_eq!(quad_to_f64(0x3fff << 48, 0), 1.0);
        assert_eq!(quad_to_f64(0xc000_8000_0000_0000, 0), -3.0);
        assert_eq!(quad_to_f64(0x7fff << 48, 0), f64::INFINITY);
    }
}
