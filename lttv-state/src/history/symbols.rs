//! The values of a run, in few bits each.
//!
//! A run is coded in one of three ways, told by the two low bits of its tag:
//!
//! * *one*: all values are the same, which is stored once;
//! * *packed*: values of one kind, and maybe null: each as its distance from the
//!   least one, in as many bits as the greatest distance needs. If there are
//!   nulls, they are 0 and the distances begin at 1;
//! * *listed*: each value that occurs stands in a list, at 9 bytes (kind and
//!   bits), and what is packed is its place there.
//!
//! ```text
//! tag   bit 0-1    coding
//!       bit 2      has nulls
//!       bit 3-5    kind
//!       bit 6-9    length of the key in bytes
//!       bit 10-16  width of a symbol
//! key   one        the value
//!       packed     the least
//!       listed     how many are in the list
//! list  (u8 kind, u64 bits) of each, behind the symbols
//! ```
//! A value stands in a key with its bits, in zigzag form if the kind is signed.

use super::bits::{self, BitWriter, bytes_of, unzigzag, width_of, zigzag};
use super::code::{Code, Kind};

const ONE: u32 = 0;
const PACKED: u32 = 1;
const LISTED: u32 = 2;
const NULLS: u32 = 1 << 2;
const KIND_SHIFT: u32 = 3;
const KEY_SHIFT: u32 = 6;
const WIDTH_SHIFT: u32 = 10;

/// Bits of a value in a list.
const ENTRY: usize = 72;

/// Packed values up to this width are not tried as a list: it would not be
/// smaller by much, and sorting takes time.
const LIST_FROM_WIDTH: u32 = 16;

/// How to code a run's values.
#[derive(Debug)]
pub(super) enum Plan {
    One(Code),
    Packed { kind: Kind, nulls: bool, least: u64, width: u32 },
    Listed(Vec<Code>),
}

impl Plan {
    pub(super) fn of(codes: &[Code]) -> Plan {
        let first = codes.first().copied().unwrap_or_default();
        let (mut same, mut mixed, mut nulls) = (true, false, false);
        let mut kind = Kind::Null;
        // Signed numbers in the order of unsigned ones.
        let (mut least, mut most) = (u64::MAX, 0);
        for code in codes {
            same &= *code == first;
            if code.kind == Kind::Null {
                nulls = true;
                continue;
            }
            mixed |= kind != Kind::Null && code.kind != kind;
            kind = code.kind;
            let ordered = ordered(*code);
            least = least.min(ordered);
            most = most.max(ordered);
        }
        if same {
            return Plan::One(first);
        }
        let span = most.wrapping_sub(least).checked_add(nulls.into());
        let width = span.map_or(65, width_of);
        if mixed || width > LIST_FROM_WIDTH {
            let mut list = codes.to_vec();
            list.sort_unstable();
            list.dedup();
            let index_width = width_of(list.len() as u64 - 1);
            let listed = list.len() * ENTRY * 8 + codes.len() * index_width as usize;
            if mixed || width > 64 || listed < codes.len() * width as usize {
                return Plan::Listed(list);
            }
        }
        Plan::Packed { kind, nulls, least, width }
    }

    /// What runs have in common that are coded alike.
    pub(super) fn tag(&self) -> u32 {
        let coding = match self {
            Plan::One(code) => ONE | (code.kind as u32) << KIND_SHIFT,
            Plan::Packed { kind, nulls, .. } => {
                PACKED | if *nulls { NULLS } else { 0 } | (*kind as u32) << KIND_SHIFT
            }
            Plan::Listed(_) => LISTED,
        };
        coding | (bytes_of(self.key()) as u32) << KEY_SHIFT | self.width() << WIDTH_SHIFT
    }

    fn key(&self) -> u64 {
        match self {
            Plan::One(code) => key(*code),
            Plan::Packed { kind, least, .. } => {
                key(Code { kind: *kind, bits: unordered(*kind, *least) })
            }
            Plan::Listed(list) => list.len() as u64,
        }
    }

    fn width(&self) -> u32 {
        match self {
            Plan::One(_) => 0,
            Plan::Packed { width, .. } => *width,
            Plan::Listed(list) => width_of(list.len() as u64 - 1),
        }
    }

    pub(super) fn write_key(&self, writer: &mut BitWriter<'_>) {
        writer.put(self.key(), bytes_of(self.key()) as u32 * 8);
    }

    /// The number that stands for a value.
    pub(super) fn symbol(&self, code: Code) -> u64 {
        match self {
            Plan::One(_) => 0,
            Plan::Packed { .. } if code.kind == Kind::Null => 0,
            Plan::Packed { nulls, least, .. } => {
                ordered(code).wrapping_sub(least.wrapping_sub((*nulls).into()))
            }
            Plan::Listed(list) => list.partition_point(|listed| *listed < code) as u64,
        }
    }

    /// Appends the symbols, and the list if there is one.
    pub(super) fn write(&self, writer: &mut BitWriter<'_>, codes: &[Code]) {
        let width = self.width();
        if width > 0 {
            codes.iter().for_each(|code| writer.put(self.symbol(*code), width));
        }
        if let Plan::Listed(list) = self {
            for code in list {
                writer.put(code.kind as u64, 8);
                writer.put(code.bits, 64);
            }
        }
    }
}

const SIGN: u64 = 1 << 63;

fn ordered(code: Code) -> u64 {
    if code.kind.is_signed() { code.bits ^ SIGN } else { code.bits }
}

fn unordered(kind: Kind, ordered: u64) -> u64 {
    if kind.is_signed() { ordered ^ SIGN } else { ordered }
}

fn key(code: Code) -> u64 {
    if code.kind.is_signed() { zigzag(code.bits as i64) } else { code.bits }
}

fn unkey(kind: Kind, key: u64) -> u64 {
    if kind.is_signed() { unzigzag(key) as u64 } else { key }
}

/// The values of a run, as [`Plan`] wrote them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbols<'d> {
    data: &'d [u8],
    /// The bit where the symbols begin.
    at: usize,
    width: u32,
    coding: Coding,
}

#[derive(Debug, Clone, Copy)]
enum Coding {
    One(Code),
    Packed {
        kind: Kind,
        nulls: bool,
        base: u64,
    },
    /// The bit where the list begins.
    Listed {
        at: usize,
        len: usize,
    },
}

impl<'d> Symbols<'d> {
    /// Reads the key at bit `at`, as the tag tells, and tells where it ends. None
    /// if there is no such coding.
    #[inline(always)]
    pub(super) fn read_key(data: &'d [u8], tag: u32, at: usize) -> Option<(Symbols<'d>, usize)> {
        let kind = Kind::from_number((tag >> KIND_SHIFT & 7) as u8)?;
        let nulls = tag & NULLS != 0;
        let width = tag >> WIDTH_SHIFT & 127;
        let key_bits = (tag >> KEY_SHIFT & 15) * 8;
        if width > 64 || key_bits > 64 {
            return None;
        }
        let key = bits::get(data, at, key_bits);
        let coding = match tag & 3 {
            ONE => Coding::One(Code { kind, bits: unkey(kind, key) }),
            PACKED => {
                let base = unkey(kind, key).wrapping_sub(nulls.into());
                Coding::Packed { kind, nulls, base }
            }
            LISTED => Coding::Listed { at: 0, len: usize::try_from(key).ok()? },
            _ => return None,
        };
        Some((Symbols { data, at: 0, width, coding }, at + key_bits as usize))
    }

    /// The symbols begin at a bit, one more than `ends`. Tells where they, and the
    /// list, end. None if there cannot be so many.
    #[inline(always)]
    pub(super) fn place(&mut self, at: usize, ends: u32) -> Option<usize> {
        self.at = at;
        let behind = at + (ends as usize + 1) * self.width as usize;
        match &mut self.coding {
            Coding::Listed { at, len } => {
                *at = behind;
                behind.checked_add(len.checked_mul(ENTRY)?)
            }
            _ => Some(behind),
        }
    }

    /// The number that stands for a value of this run, for counting by it.
    pub(super) fn symbol(&self, index: u32) -> u64 {
        bits::get(self.data, self.at + index as usize * self.width as usize, self.width)
    }

    /// The value that a number stands for.
    #[inline(always)]
    pub(super) fn decode(&self, symbol: u64) -> Option<Code> {
        match self.coding {
            Coding::One(code) => Some(code),
            Coding::Packed { nulls: true, .. } if symbol == 0 => Some(Code::NULL),
            // Adding is the same in both orders.
            Coding::Packed { kind, base, .. } => {
                Some(Code { kind, bits: base.wrapping_add(symbol) })
            }
            Coding::Listed { at, len } => {
                let place = usize::try_from(symbol).ok().filter(|place| *place < len)?;
                let at = at + place * ENTRY;
                let kind = Kind::from_number(bits::get(self.data, at, 8) as u8)?;
                Some(Code { kind, bits: bits::get(self.data, at + 8, 64) })
            }
        }
    }

    #[inline(always)]
    pub(super) fn get(&self, index: u32) -> Option<Code> {
        self.decode(self.symbol(index))
    }
}
