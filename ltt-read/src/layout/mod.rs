//! Layouts: schemas compiled for decoding.
//!
//! For each region of a packet (packet header, packet context, event header,
//! event body) the compiler makes two things from the trees of field classes:
//!
//! * a *program* (`program::Op`s) that finds the end of the region, checking
//!   that it stays within the packet, and notes on the way where each dynamic
//!   part begins (*anchors*) and what lengths and selectors are (*slots*). The
//!   program of a fixed-size region is one addition;
//! * a flat table of *nodes* (`node::Node`), one per field in decoding
//!   order, each with its place as an anchor and a constant bit offset, and for
//!   those who visit all of them the same as *cues* (`cue::Cue`).
//!
//! Reading a field is then a table look-up and a load; nothing is searched,
//! and what nobody asks for is never decoded.

pub(crate) mod compile;
pub(crate) mod cue;
pub(crate) mod header;
pub(crate) mod hops;
pub(crate) mod leap;
pub(crate) mod node;
pub(crate) mod program;
pub(crate) mod region;
pub(crate) mod strides;
pub(crate) mod tables;
pub(crate) mod walk;

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::bits;
use crate::schema::{BitOrder, ByteOrder, FieldClass, FixedLen};

/// What is known of a field before any event is read: its name and class.
///
/// A [`Visitor`](crate::Visitor) gets it with each value, [`StructView::members`]
/// with each member; [`labels`](crate::labels) names values by it.
///
/// [`StructView::members`]: crate::StructView::members
#[derive(Debug, Clone)]
pub struct FieldInfo {
    name: Option<Arc<str>>,
    class: Arc<FieldClass>,
    index: u32,
}

impl FieldInfo {
    /// A field of this number, name (none for array elements and roots) and
    /// class.
    pub(crate) fn new(index: u32, name: Option<Arc<str>>, class: Arc<FieldClass>) -> Self {
        FieldInfo { name, class, index }
    }

    /// Member or option name; `None` for array elements and roots.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Its field class.
    pub fn class(&self) -> &Arc<FieldClass> {
        &self.class
    }

    /// Its number, an index for tables of what is known per field.
    ///
    /// The fields of an event type's body (common context, specific context
    /// and payload together) are numbered from 0 as their classes are written
    /// down: the root structure of a scope before its members, an array before
    /// its element, a variant before its options. Packet header, packet
    /// context and event header count from 0 each.
    #[inline(always)]
    pub fn index(&self) -> usize {
        self.index as usize
    }
}

/// How to read the bits of a fixed-length field of up to 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FixedRead {
    bits: u8,
    big: bool,
    reversed: bool,
    signed: bool,
    /// Little-endian, not reversed, and within one 64-bit load at any bit:
    /// what nearly all fields are, to be told by one branch.
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

    /// Whether it is neither reversed nor signed.
    pub(crate) fn is_plain(self) -> bool {
        !self.reversed && !self.signed
    }

    pub(crate) fn is_big(self) -> bool {
        self.big
    }

    pub(crate) fn is_signed(self) -> bool {
        self.signed
    }

    /// Whether it is in little-endian order, bits and bytes.
    pub(crate) fn is_little_endian(self) -> bool {
        !self.big && !self.reversed
    }

    /// The bits, zero-extended.
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

    /// The value as 64 bits: sign-extended if the class is signed.
    #[inline(always)]
    pub(crate) fn value(self, data: &[u8], pos: u64) -> u64 {
        let raw = self.raw(data, pos);
        if self.signed { bits::sign_extend(raw, u32::from(self.bits)) as u64 } else { raw }
    }
}

/// How to read a little-endian integer that one load of 64 bits holds: of up to 57
/// bits wherever it begins, of 64 bits at the begin of a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordRead {
    /// The bits of the word that are the integer's.
    mask: NonZeroU64,
    /// The highest of them if it is signed, otherwise 0.
    sign: u64,
}

impl WordRead {
    /// `None` if it takes more. `align` is its class's, in bits.
    pub(crate) fn new(read: FixedRead, align: u32) -> Option<Self> {
        let holds = read.bits() <= 57 || read.bits() == 64 && align.is_multiple_of(8);
        if !holds || !read.is_little_endian() {
            return None;
        }
        let mask = u64::MAX >> (64 - read.bits());
        let sign = if read.signed { mask ^ mask >> 1 } else { 0 };
        Some(WordRead { mask: NonZeroU64::new(mask)?, sign })
    }

    /// The bits of the word that are the integer's, unless it is signed.
    pub(crate) fn mask_of_unsigned(self) -> Option<u64> {
        (self.sign == 0).then_some(self.mask.get())
    }

    /// The value as 64 bits (sign-extended if the class is signed), given the word
    /// that begins with it.
    #[inline(always)]
    pub(crate) fn value(self, word: u64) -> u64 {
        // What is below the sign bit borrows from all above it.
        ((word & self.mask.get()) ^ self.sign).wrapping_sub(self.sign)
    }
}
