//! Layouts: schemas compiled for decoding.
//!
//! For each region of a packet (packet header, packet context, event header, event body)
//! the compiler generates two things from the trees of field classes:
//!
//! * a *program* (`program::Op`s) that computes the end of the region and checks that it
//!   is within the packet. On the way it notes the start of each dynamic part
//!   (*anchors*), and the values of lengths and selectors (*value slots*). The program of
//!   a fixed-size region is one addition. Most other programs have a faster equivalent, a
//!   *skip table* (`skip`);
//! * a flat table of *nodes* (`node::Node`), one per field in decoding order. The place
//!   of each is an anchor plus a constant bit offset. For visitors of all fields there is
//!   an equivalent table of calls, the *cues* (`cue::Cue`).
//!
//! Reading a field is then a table lookup and a load. Nothing is searched, and fields
//! that are not read are not decoded.

pub(crate) mod clock;
pub(crate) mod compile;
pub(crate) mod cue;
mod field_info;
pub(crate) mod header;
pub(crate) mod ids;
pub(crate) mod node;
mod phase;
pub(crate) mod program;
pub(crate) mod record;
pub(crate) mod region;
pub(crate) mod shape;
pub(crate) mod skip;
pub(crate) mod tables;

use std::num::NonZeroU64;

use crate::base::bits;
use crate::schema::{BitOrder, ByteOrder, FixedLen};

pub use field_info::FieldInfo;

/// The encoding of a fixed-length field of up to 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FixedRead {
    bits: u8,
    big: bool,
    reversed: bool,
    signed: bool,
    /// `true` if the field is little-endian, not reversed, and within one 64-bit load.
    /// Nearly all fields are, and one branch distinguishes them.
    simple: bool,
}

impl FixedRead {
    pub(crate) fn new(fixed: &FixedLen, signed: bool) -> Self {
        FixedRead {
            bits: fixed.bits.clamp(1, 64) as u8,
            big: fixed.byte_order == ByteOrder::Big,
            reversed: fixed.bit_order == BitOrder::Reversed,
            signed,
            simple: fixed.byte_order == ByteOrder::Little
                && fixed.bit_order == BitOrder::Natural
                && (fixed.bits <= 57 || fixed.bits == 64),
        }
    }

    pub(crate) fn bits(self) -> u32 {
        u32::from(self.bits)
    }

    /// Returns `true` if the field is neither reversed nor signed.
    pub(crate) fn is_plain(self) -> bool {
        !self.reversed && !self.signed
    }

    pub(crate) fn is_big(self) -> bool {
        self.big
    }

    pub(crate) fn is_signed(self) -> bool {
        self.signed
    }

    /// Returns `true` if both bits and bytes are in little-endian order.
    pub(crate) fn is_little_endian(self) -> bool {
        !self.big && !self.reversed
    }

    /// Reads the bits at a position, zero-extended.
    #[inline(always)]
    pub(crate) fn raw(self, data: &[u8], pos: u64) -> u64 {
        let bits = u32::from(self.bits);
        if self.simple && (bits <= 57 || pos.is_multiple_of(8)) {
            return bits::read_le_within_word(data, pos, bits);
        }
        let value = match self.big {
            false => bits::read_le(data, pos, bits),
            true => bits::read_be(data, pos, bits),
        };
        if self.reversed { bits::reverse(value, bits) } else { value }
    }

    /// Reads the value at a position as 64 bits, sign-extended if the class is signed.
    #[inline(always)]
    pub(crate) fn value(self, data: &[u8], pos: u64) -> u64 {
        let raw = self.raw(data, pos);
        if self.signed { bits::sign_extend(raw, u32::from(self.bits)) as u64 } else { raw }
    }
}

/// The encoding of a little-endian integer within one 64-bit load: of up to 57 bits at
/// any bit position, or of 64 bits at a byte boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordRead {
    /// The bits of the word that belong to the integer.
    mask: NonZeroU64,
    /// The highest of these bits if the integer is signed, otherwise 0.
    sign: u64,
}

impl WordRead {
    /// A word as it is.
    pub(crate) const ALL: WordRead = WordRead { mask: NonZeroU64::MAX, sign: 0 };

    /// Returns the size of the integer in bits.
    pub(crate) fn bits(self) -> u32 {
        64 - self.mask.leading_zeros()
    }

    /// Creates the encoding; `None` if one load does not suffice. `align` is the
    /// alignment of the field class, in bits.
    pub(crate) fn new(read: FixedRead, align: u32) -> Option<Self> {
        let holds = read.bits() <= 57 || read.bits() == 64 && align.is_multiple_of(8);
        if !holds || !read.is_little_endian() {
            return None;
        }
        let mask = u64::MAX >> (64 - read.bits());
        let sign = if read.signed { mask ^ mask >> 1 } else { 0 };
        Some(WordRead { mask: NonZeroU64::new(mask)?, sign })
    }

    /// Returns the bits of the word that belong to the integer; `None` if it is signed.
    pub(crate) fn mask_of_unsigned(self) -> Option<u64> {
        (self.sign == 0).then_some(self.mask.get())
    }

    /// Returns the value of an unsigned integer, given the word that starts at the field.
    #[inline(always)]
    pub(crate) fn unsigned(self, word: u64) -> u64 {
        word & self.mask.get()
    }

    /// Returns the value as 64 bits, sign-extended if the class is signed, given the word
    /// that starts at the field.
    #[inline(always)]
    pub(crate) fn value(self, word: u64) -> u64 {
        // If the sign bit is set, the subtraction sets all bits above it.
        ((word & self.mask.get()) ^ self.sign).wrapping_sub(self.sign)
    }
}
