//! A growing buffer of bits.

use super::error::Problem;
use crate::schema::{BitOrder, ByteOrder, FixedLen};

/// A buffer that appends bits in either byte order. Positions count bits from the start
/// of the packet, like alignments.
#[derive(Debug, Default, Clone)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    bits: u64,
    /// The byte order of the field in the last, unfinished byte.
    order: Option<ByteOrder>,
}

/// A state of a [`BitWriter`], for [`BitWriter::rollback`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Checkpoint {
    bits: u64,
    last: u8,
    order: Option<ByteOrder>,
}

impl Checkpoint {
    pub(super) fn position(&self) -> u64 {
        self.bits
    }
}

impl BitWriter {
    pub(super) fn position(&self) -> u64 {
        self.bits
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bits = 0;
        self.order = None;
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        let last = self.bytes.last().copied().unwrap_or(0);
        Checkpoint { bits: self.bits, last, order: self.order }
    }

    pub(super) fn rollback(&mut self, to: Checkpoint) {
        self.bytes.truncate(to.bits.div_ceil(8) as usize);
        if let Some(last) = self.bytes.last_mut() {
            *last = to.last;
        }
        (self.bits, self.order) = (to.bits, to.order);
    }

    fn grow_to(&mut self, bits: u64) {
        self.bits = bits;
        self.bytes.resize(bits.div_ceil(8) as usize, 0);
    }

    /// Appends zero bits up to a multiple of `align` (a power of two).
    #[inline]
    pub(super) fn align(&mut self, align: u32) {
        let align = align.max(1);
        if self.bits & u64::from(align - 1) != 0 {
            self.grow_to(self.bits.next_multiple_of(align.into()));
        }
    }

    /// Appends whole bytes. The position has to be at the start of a byte.
    pub(super) fn put_bytes(&mut self, bytes: &[u8]) {
        debug_assert!(self.bits.is_multiple_of(8));
        self.bytes.extend_from_slice(bytes);
        self.bits += bytes.len() as u64 * 8;
    }

    /// Appends null bytes. The position has to be at the start of a byte.
    pub(super) fn put_zeros(&mut self, bytes: u64) {
        debug_assert!(self.bits.is_multiple_of(8));
        self.grow_to(self.bits + bytes * 8);
    }

    /// Appends the bits of another buffer. The position has to be at the start of a byte.
    pub(super) fn append(&mut self, other: &BitWriter) {
        debug_assert!(self.bits.is_multiple_of(8));
        self.bytes.extend_from_slice(&other.bytes);
        self.bits += other.bits;
        self.order = other.order;
    }

    /// Appends the low bits of a value as a fixed-length field.
    pub(super) fn put(&mut self, value: u64, field: FixedLen) -> Result<(), Problem> {
        if field.bits > 64 {
            return Err(Problem::Size(field.bits));
        }
        if !self.bits.is_multiple_of(8) && self.order.is_some_and(|o| o != field.byte_order) {
            return Err(Problem::ByteOrderChange);
        }
        self.order = Some(field.byte_order);
        let at = self.bits;
        if (at | u64::from(field.bits)).is_multiple_of(8) && field.bit_order == BitOrder::Natural {
            let size = field.bits as usize / 8;
            match field.byte_order {
                ByteOrder::Little => self.bytes.extend_from_slice(&value.to_le_bytes()[..size]),
                ByteOrder::Big => self.bytes.extend_from_slice(&value.to_be_bytes()[8 - size..]),
            }
            self.bits += u64::from(field.bits);
            return Ok(());
        }
        self.grow_to(at + u64::from(field.bits));
        self.overwrite(at, value, field);
        Ok(())
    }

    /// Overwrites earlier bits with the low bits of a value as a fixed-length field.
    pub(super) fn overwrite(&mut self, at: u64, value: u64, field: FixedLen) {
        let value = match field.bit_order {
            BitOrder::Natural => value,
            BitOrder::Reversed => value.reverse_bits() >> (64 - field.bits.max(1)),
        };
        overlay(&mut self.bytes, at, value, field.bits, field.byte_order);
    }

    /// Appends a LEB128 integer of exactly `length` bytes. Negative values are
    /// sign-extended.
    pub(super) fn put_leb128(&mut self, value: i128, length: usize) {
        self.align(8);
        let at = self.bits;
        self.grow_to(at + length as u64 * 8);
        self.overwrite_leb128(at, value, length);
    }

    /// Overwrites earlier bytes with a LEB128 integer of exactly `length` bytes.
    pub(super) fn overwrite_leb128(&mut self, at: u64, mut value: i128, length: usize) {
        let start = (at / 8) as usize;
        for (i, byte) in self.bytes[start..start + length].iter_mut().enumerate() {
            let more = if i + 1 < length { 0x80 } else { 0 };
            *byte = (value & 0x7f) as u8 | more;
            value >>= 7;
        }
    }
}

/// Returns the number of bytes of the shortest LEB128 encoding of a value.
pub(super) fn leb128_length(value: i128, signed: bool) -> usize {
    let magnitude = if value < 0 { !value } else { value };
    let bits = 128 - magnitude.leading_zeros() + u32::from(signed);
    bits.div_ceil(7).max(1) as usize
}

/// Writes the low `bits` bits of `value` at bit `at`. Little endian numbers the bits of a
/// byte from its least significant one, big endian from its most significant one.
fn overlay(bytes: &mut [u8], mut at: u64, value: u64, bits: u32, order: ByteOrder) {
    if at.is_multiple_of(8) && bits.is_multiple_of(8) {
        let size = bits as usize / 8;
        let target = &mut bytes[(at / 8) as usize..][..size];
        match order {
            ByteOrder::Little => target.copy_from_slice(&value.to_le_bytes()[..size]),
            ByteOrder::Big => target.copy_from_slice(&value.to_be_bytes()[8 - size..]),
        }
        return;
    }
    let mut left = bits;
    while left > 0 {
        let skip = (at % 8) as u32;
        let take = left.min(8 - skip);
        let mask = ((1u32 << take) - 1) as u8;
        let (part, shift) = match order {
            ByteOrder::Little => (value >> (bits - left), skip),
            ByteOrder::Big => (value >> (left - take), 8 - skip - take),
        };
        let byte = &mut bytes[(at / 8) as usize];
        *byte = *byte & !(mask << shift) | (part as u8 & mask) << shift;
        at += u64::from(take);
        left -= take;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(bits: u32, byte_order: ByteOrder) -> FixedLen {
        FixedLen { bits, byte_order, bit_order: BitOrder::Natural }
    }

    fn written(order: ByteOrder, fields: &[(u64, u32)]) -> Vec<u8> {
        let mut w = BitWriter::default();
        for &(value, bits) in fields {
            w.put(value, field(bits, order)).unwrap();
        }
        w.bytes().to_vec()
    }

    #[test]
    fn fields_across_bytes_in_both_orders() {
        // 5 bits 0b10110, 27 bits 0x5a5_a5a5.
        let fields = [(0b10110, 5), (0x5a5_a5a5, 27)];
        assert_eq!(
            written(ByteOrder::Little, &fields),
            (0b10110u32 | 0x5a5_a5a5 << 5).to_le_bytes()
        );
        assert_eq!(written(ByteOrder::Big, &fields), (0b10110u32 << 27 | 0x5a5_a5a5).to_be_bytes());
        // 3 + 12 + 1 bits by hand: LE 001 | 0xabc<<3 | 1<<15; BE 1, 0xabc, 1.
        let fields = [(1, 3), (0xabc, 12), (1, 1)];
        assert_eq!(written(ByteOrder::Little, &fields), [0xe1, 0xd5]);
        assert_eq!(written(ByteOrder::Big, &fields), [0x35, 0x79]);
    }

    #[test]
    fn whole_bytes_and_64_bits_at_an_odd_place() {
        assert_eq!(written(ByteOrder::Big, &[(0x01_02_03, 24)]), [1, 2, 3]);
        assert_eq!(written(ByteOrder::Little, &[(0x01_02_03, 24)]), [3, 2, 1]);
        assert_eq!(
            written(ByteOrder::Little, &[(1, 1), (u64::MAX - 1, 64)]),
            [0xfd, 255, 255, 255, 255, 255, 255, 255, 1]
        );
        assert_eq!(
            written(ByteOrder::Big, &[(1, 1), (u64::MAX - 1, 64)]),
            [255, 255, 255, 255, 255, 255, 255, 255, 0]
        );
    }

    #[test]
    fn reversed_bits() {
        let mut w = BitWriter::default();
        let reversed = FixedLen { bit_order: BitOrder::Reversed, ..field(12, ByteOrder::Big) };
        w.put(0b0000_0000_1011, reversed).unwrap();
        assert_eq!(w.bytes(), [0b1101_0000, 0]);
    }

    #[test]
    fn byte_order_changes_only_between_bytes() {
        let mut w = BitWriter::default();
        w.put(1, field(4, ByteOrder::Little)).unwrap();
        assert_eq!(w.put(1, field(4, ByteOrder::Big)), Err(Problem::ByteOrderChange));
        w.put(1, field(4, ByteOrder::Little)).unwrap();
        w.put(1, field(4, ByteOrder::Big)).unwrap();
        assert_eq!(w.bytes(), [0x11, 0x10]);
    }

    #[test]
    fn leb128() {
        let encoded = |value: i128, signed| {
            let mut w = BitWriter::default();
            w.put_leb128(value, leb128_length(value, signed));
            w.bytes().to_vec()
        };
        assert_eq!(encoded(0, false), [0]);
        assert_eq!(encoded(127, false), [0x7f]);
        assert_eq!(encoded(624_485, false), [0xe5, 0x8e, 0x26]);
        assert_eq!(encoded(u64::MAX.into(), false).len(), 10);
        assert_eq!(encoded(-123_456, true), [0xc0, 0xbb, 0x78]);
        assert_eq!(encoded(-1, true), [0x7f]);
        assert_eq!(encoded(64, true), [0xc0, 0]);
        assert_eq!(encoded(i64::MIN.into(), true).len(), 10);
    }

    #[test]
    fn rollback_restores_a_shared_byte() {
        let mut w = BitWriter::default();
        w.put(3, field(3, ByteOrder::Little)).unwrap();
        let back = w.checkpoint();
        w.put(u64::MAX, field(40, ByteOrder::Little)).unwrap();
        w.rollback(back);
        assert_eq!((w.bytes(), w.position()), (&[3][..], 3));
    }
}
