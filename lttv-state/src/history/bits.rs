//! Numbers of any width, one behind the other, and numbers of varying length.
//!
//! Reading never fails: behind the end of the bytes there are zeros. What
//! matters is checked by those who know what a number means.

/// The `width` low bits set.
pub(super) fn mask(width: u32) -> u64 {
    u64::MAX.checked_shr(64 - width).unwrap_or(0)
}

/// How many bits a number needs; 0 for 0.
pub(super) fn width_of(value: u64) -> u32 {
    64 - value.leading_zeros()
}

/// 8 bytes at `at` as a number.
#[inline(always)]
pub(super) fn word(data: &[u8], at: usize) -> u64 {
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

/// The number of `width` bits, up to 64, at bit `at`.
#[inline(always)]
pub(super) fn get(data: &[u8], at: usize, width: u32) -> u64 {
    if width > 56 {
        return get_wide(data, at, width);
    }
    get_short(data, at, width)
}

/// The same, for `width` up to 56.
#[inline(always)]
pub(super) fn get_short(data: &[u8], at: usize, width: u32) -> u64 {
    word_at_bit(data, at) & short_mask(width)
}

/// 57 bits at bit `at`, or more.
#[inline(always)]
pub(super) fn word_at_bit(data: &[u8], at: usize) -> u64 {
    word(data, at / 8) >> (at % 8)
}

/// The `width` low bits set, for `width` less than 64.
#[inline(always)]
pub(super) fn short_mask(width: u32) -> u64 {
    (1 << (width % 64)) - 1
}

/// One that may not be all in a word.
#[cold]
fn get_wide(data: &[u8], at: usize, width: u32) -> u64 {
    let low = get(data, at, 32);
    let high = get(data, at + 32, width.min(64) - 32);
    high << 32 | low
}

/// Writes numbers of any width behind the end of some bytes.
pub(super) struct BitWriter<'o> {
    out: &'o mut Vec<u8>,
    pending: u64,
    filled: u32,
}

impl<'o> BitWriter<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> BitWriter<'o> {
        BitWriter { out, pending: 0, filled: 0 }
    }

    /// Appends the low `width` bits of `value`; the others must be 0.
    #[inline(always)]
    pub(super) fn put(&mut self, value: u64, width: u32) {
        debug_assert!(width_of(value) <= width && width <= 64);
        self.pending |= value << self.filled;
        self.filled += width;
        if self.filled >= 64 {
            self.out.extend_from_slice(&self.pending.to_le_bytes());
            self.filled -= 64;
            self.pending = value.checked_shr(width - self.filled).unwrap_or(0);
        }
    }

    /// Fills the last byte with zeros.
    pub(super) fn finish(self) {
        let bytes = self.filled.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.pending.to_le_bytes()[..bytes]);
    }
}

/// Appends a number in groups of 7 bits, lowest first, each but the last with
/// the eighth bit set.
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The low 7 bits of all 8 bytes, put together.
#[inline(always)]
fn sevens(bytes: u64) -> u64 {
    let bytes = bytes & 0x7f7f_7f7f_7f7f_7f7f;
    let pairs = (bytes & 0x7f00_7f00_7f00_7f00) >> 1 | bytes & 0x007f_007f_007f_007f;
    let fours = (pairs & 0x3fff_0000_3fff_0000) >> 2 | pairs & 0x0000_3fff_0000_3fff;
    (fours & 0x0fff_ffff_0000_0000) >> 4 | fours & 0x0fff_ffff
}

/// Bytes that a number needs; 0 for 0.
pub(super) fn bytes_of(value: u64) -> usize {
    width_of(value).div_ceil(8) as usize
}

/// Signed to unsigned, so that small numbers of both signs stay small.
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// What [`zigzag`] came from.
pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Reads numbers of varying length from the front of some bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'d> {
    pub(super) data: &'d [u8],
    pub(super) at: usize,
}

impl<'d> Bytes<'d> {
    pub(super) fn new(data: &'d [u8], at: usize) -> Bytes<'d> {
        Bytes { data, at }
    }

    #[inline(always)]
    pub(super) fn u8(&mut self) -> u8 {
        let value = self.data.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        value
    }

    #[inline(always)]
    pub(super) fn varint(&mut self) -> u64 {
        let first = word(self.data, self.at);
        if first & 0x80 == 0 {
            self.at += 1;
            return first & 0x7f;
        }
        // The last byte is the first one without its eighth bit.
        let last = (!first & 0x8080_8080_8080_8080).trailing_zeros();
        if last == 64 {
            return self.long_varint(first);
        }
        self.at += last as usize / 8 + 1;
        sevens(first & u64::MAX >> (63 - last))
    }

    /// Of 9 or 10 bytes.
    #[cold]
    fn long_varint(&mut self, first: u64) -> u64 {
        self.at += 8;
        let mut value = sevens(first);
        for shift in [56, 63] {
            let byte = self.u8();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    pub(super) fn u32(&mut self) -> u32 {
        let value = word(self.data, self.at) as u32;
        self.at += 4;
        value
    }

    pub(super) fn u64(&mut self) -> u64 {
        let value = word(self.data, self.at);
        self.at += 8;
        value
    }

    /// The next bytes, if there are so many.
    pub(super) fn take(&mut self, len: usize) -> Option<&'d [u8]> {
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
        fn numbers_of_any_width_come_back(numbers in prop::collection::vec((any::<u64>(), 0u32..=64), 0..50)) {
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
        fn varying_lengths_come_back(numbers in prop::collection::vec(any::<u64>().prop_map(|v| v >> (v % 64)), 0..20)) {
            let mut out = Vec::new();
            numbers.iter().for_each(|v| put_varint(&mut out, *v));
            let mut bytes = Bytes::new(&out, 0);
            for value in &numbers {
                prop_assert_eq!(bytes.varint(), *value);
                prop_assert_eq!(zigzag(unzigzag(*value)), *value);
            }
            prop_assert_eq!(bytes.at, out.len());
        }
    }
}
