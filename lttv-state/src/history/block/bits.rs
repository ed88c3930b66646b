//! Bit fields, integers of variable length, and compressed byte strings.
//!
//! Reading an integer never fails: bytes past the end of the data read as 0. The decoders
//! that use this module check the values that matter to them.

/// Returns a mask of the `width` lowest bits, for a `width` of up to 64.
pub(crate) fn mask(width: u32) -> u64 {
    u64::MAX.checked_shr(64 - width).unwrap_or(0)
}

/// Returns the number of bits needed to store `value`; 0 bits for the value 0.
pub(crate) fn width_of(value: u64) -> u32 {
    64 - value.leading_zeros()
}

/// Reads the 8 bytes at byte `at` as a little-endian integer. Bytes past the end read as 0.
#[inline(always)]
pub(crate) fn word(data: &[u8], at: usize) -> u64 {
    match data.get(at..at.wrapping_add(8)) {
        Some(&[a, b, c, d, e, f, g, h]) => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => last_word(data, at),
    }
}

#[cold]
fn last_word(data: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    if let Some(rest) = data.get(at..) {
        let rest = &rest[..rest.len().min(8)];
        bytes[..rest.len()].copy_from_slice(rest);
    }
    u64::from_le_bytes(bytes)
}

/// Reads an integer of `width` bits, up to 64, at bit `at`.
#[inline(always)]
pub(crate) fn get(data: &[u8], at: usize, width: u32) -> u64 {
    if width > 56 {
        return get_wide(data, at, width);
    }
    get_short(data, at, width)
}

/// Reads an integer of `width` bits, up to 56, at bit `at`.
#[inline(always)]
pub(crate) fn get_short(data: &[u8], at: usize, width: u32) -> u64 {
    word_at_bit(data, at) & short_mask(width)
}

/// Reads at least 57 bits at bit `at`. The higher bits of the result are 0 or belong to
/// what follows.
#[inline(always)]
pub(crate) fn word_at_bit(data: &[u8], at: usize) -> u64 {
    word(data, at / 8) >> (at % 8)
}

/// Returns a mask of the `width` lowest bits, for a `width` below 64.
#[inline(always)]
pub(crate) fn short_mask(width: u32) -> u64 {
    (1 << (width % 64)) - 1
}

/// Reads an integer that may not fit into the word at its first byte.
#[cold]
fn get_wide(data: &[u8], at: usize, width: u32) -> u64 {
    let low = get(data, at, 32);
    let high = get(data, at + 32, width.min(64) - 32);
    high << 32 | low
}

/// The greatest ratio of sizes that LZ4 can reach. A greater size before compression is
/// damage, which is refused before memory is allocated.
pub(crate) const MAX_LZ4_RATIO: u64 = 256;

/// A writer of integers of any width, which appends to a byte vector. Bits fill each byte
/// from the lowest to the highest.
pub(crate) struct BitWriter<'o> {
    out: &'o mut Vec<u8>,
    pending: u64,
    filled: u32,
}

impl<'o> BitWriter<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> BitWriter<'o> {
        BitWriter { out, pending: 0, filled: 0 }
    }

    /// Appends the `width` lowest bits of `value`. The other bits must be 0.
    #[inline(always)]
    pub(crate) fn put(&mut self, value: u64, width: u32) {
        debug_assert!(width_of(value) <= width && width <= 64);
        self.pending |= value << self.filled;
        self.filled += width;
        if self.filled >= 64 {
            self.out.extend_from_slice(&self.pending.to_le_bytes());
            self.filled -= 64;
            self.pending = value.checked_shr(width - self.filled).unwrap_or(0);
        }
    }

    /// Pads the last byte with zero bits and writes it.
    pub(crate) fn finish(self) {
        let bytes = self.filled.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.pending.to_le_bytes()[..bytes]);
    }
}

/// Appends an integer in LEB128: groups of 7 bits, lowest first, with the eighth bit set in
/// all groups but the last.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Joins the 7 lowest bits of each of the 8 bytes into one integer.
#[inline(always)]
fn join_groups_of_7_bits(bytes: u64) -> u64 {
    let bytes = bytes & 0x7f7f_7f7f_7f7f_7f7f;
    let pairs = (bytes & 0x7f00_7f00_7f00_7f00) >> 1 | bytes & 0x007f_007f_007f_007f;
    let fours = (pairs & 0x3fff_0000_3fff_0000) >> 2 | pairs & 0x0000_3fff_0000_3fff;
    (fours & 0x0fff_ffff_0000_0000) >> 4 | fours & 0x0fff_ffff
}

/// Returns the number of bytes needed to store `value`; 0 bytes for the value 0.
pub(crate) fn bytes_of(value: u64) -> usize {
    width_of(value).div_ceil(8) as usize
}

/// Maps a signed integer to an unsigned one such that integers near 0, of either sign, stay
/// small.
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Inverts [`zigzag`].
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// A sequential reader of integers. Bytes past the end of the data read as 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByteReader<'d> {
    pub(crate) data: &'d [u8],
    pub(crate) at: usize,
}

impl<'d> ByteReader<'d> {
    pub(crate) fn new(data: &'d [u8], at: usize) -> ByteReader<'d> {
        ByteReader { data, at }
    }

    #[inline(always)]
    pub(crate) fn u8(&mut self) -> u8 {
        let value = self.data.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        value
    }

    #[inline(always)]
    pub(crate) fn varint(&mut self) -> u64 {
        let first = word(self.data, self.at);
        if first & 0x80 == 0 {
            self.at += 1;
            return first & 0x7f;
        }
        // The last byte of the integer is the first one with its eighth bit clear.
        let last = (!first & 0x8080_8080_8080_8080).trailing_zeros();
        if last == 64 {
            return self.long_varint(first);
        }
        self.at += last as usize / 8 + 1;
        join_groups_of_7_bits(first & u64::MAX >> (63 - last))
    }

    /// Reads the remaining bytes of a LEB128 integer of 9 or 10 bytes.
    #[cold]
    fn long_varint(&mut self, first: u64) -> u64 {
        self.at += 8;
        let mut value = join_groups_of_7_bits(first);
        for shift in [56, 63] {
            let byte = self.u8();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    pub(crate) fn u32(&mut self) -> u32 {
        let value = word(self.data, self.at) as u32;
        self.at += 4;
        value
    }

    pub(crate) fn u64(&mut self) -> u64 {
        let value = word(self.data, self.at);
        self.at += 8;
        value
    }

    /// Takes the next `len` bytes. Returns `None`, and stays in place, if fewer remain.
    pub(crate) fn take(&mut self, len: usize) -> Option<&'d [u8]> {
        let taken = self.data.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn integers_of_any_width_round_trip(numbers in prop::collection::vec((any::<u64>(), 0u32..=64), 0..50)) {
            let mut out = vec![7];
            let mut bits = BitWriter::new(&mut out);
            for (value, width) in &numbers {
                bits.put(value & mask(*width), *width);
            }
            bits.finish();
            let mut at = 8;
            for (value, width) in &numbers {
                prop_assert_eq!(get(&out, at, *width), value & mask(*width));
                at += *width as usize;
            }
            prop_assert_eq!(out.len(), at.div_ceil(8));
        }

        #[test]
        fn varints_round_trip(numbers in prop::collection::vec(any::<u64>().prop_map(|v| v >> (v % 64)), 0..20)) {
            let mut out = Vec::new();
            numbers.iter().for_each(|v| put_varint(&mut out, *v));
            let mut bytes = ByteReader::new(&out, 0);
            for value in &numbers {
                prop_assert_eq!(bytes.varint(), *value);
                prop_assert_eq!(zigzag(unzigzag(*value)), *value);
            }
            prop_assert_eq!(bytes.at, out.len());
        }
    }
}
