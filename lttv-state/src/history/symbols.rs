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
//! tag bit 0-1  coding      bit 2  has nulls      bit 3-5  kind
//! one          varint key
//! packed       varint key of the least, u8 width
//! listed       varint length, (u8 kind, u64 bits) × length
//! ```
//! A *key* is the bits of a value, in zigzag form if the kind is signed.

use super::bits::{self, BitWriter, Bytes, put_varint, unzigzag, width_of, zigzag};
use super::code::{Code, Kind};

const ONE: u8 = 0;
const PACKED: u8 = 1;
const LISTED: u8 = 2;
const NULLS: u8 = 1 << 2;
const KIND_SHIFT: u32 = 3;

/// Bytes of a value in a list.
const ENTRY: usize = 9;

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

    pub(super) fn tag(&self) -> u8 {
        match self {
            Plan::One(code) => ONE | (code.kind as u8) << KIND_SHIFT,
            Plan::Packed { kind, nulls, .. } => {
                PACKED | if *nulls { NULLS } else { 0 } | (*kind as u8) << KIND_SHIFT
            }
            Plan::Listed(_) => LISTED,
        }
    }

    pub(super) fn write_head(&self, out: &mut Vec<u8>) {
        match self {
            Plan::One(code) => put_varint(out, key(*code)),
            Plan::Packed { kind, least, width, .. } => {
                put_varint(out, key(Code { kind: *kind, bits: unordered(*kind, *least) }));
                out.push(*width as u8);
            }
            Plan::Listed(list) => {
                put_varint(out, list.len() as u64);
                for code in list {
                    out.push(code.kind as u8);
                    out.extend_from_slice(&code.bits.to_le_bytes());
                }
            }
        }
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

    pub(super) fn write(&self, out: &mut Vec<u8>, codes: &[Code]) {
        let mut writer = BitWriter::new(out);
        let width = match self {
            Plan::One(_) => return,
            Plan::Packed { width, .. } => *width,
            Plan::Listed(list) => width_of(list.len() as u64 - 1),
        };
        codes.iter().for_each(|code| writer.put(self.symbol(*code), width));
        writer.finish();
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
    Packed { kind: Kind, nulls: bool, base: u64 },
    Listed { at: usize, len: usize },
}

impl<'d> Symbols<'d> {
    /// Reads what [`Plan::write_head`] wrote. None if it did not write that.
    #[inline(always)]
    pub(super) fn read_head(tag: u8, bytes: &mut Bytes<'d>) -> Option<Symbols<'d>> {
        let kind = Kind::from_number(tag >> KIND_SHIFT)?;
        let nulls = tag & NULLS != 0;
        let (coding, width) = match tag & 3 {
            ONE => (Coding::One(Code { kind, bits: unkey(kind, bytes.varint()) }), 0),
            PACKED => {
                let least = unkey(kind, bytes.varint());
                let width = u32::from(bytes.u8());
                (Coding::Packed { kind, nulls, base: least.wrapping_sub(nulls.into()) }, width)
            }
            LISTED => {
                let len = usize::try_from(bytes.varint()).ok()?;
                let at = bytes.at;
                bytes.take(len.checked_mul(ENTRY)?)?;
                (Coding::Listed { at, len }, width_of(len.checked_sub(1)? as u64))
            }
            _ => return None,
        };
        (width <= 64).then_some(Symbols { data: bytes.data, at: 0, width, coding })
    }

    /// Where the symbols themselves begin: at byte `at`.
    pub(super) fn set_start(&mut self, at: usize) {
        self.at = at * 8;
    }

    /// The byte behind so many symbols.
    pub(super) fn end(&self, count: u32) -> usize {
        (self.at + count as usize * self.width as usize).div_ceil(8)
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
                let kind = Kind::from_number(*self.data.get(at)?)?;
                Some(Code { kind, bits: bits::word(self.data, at + 1) })
            }
        }
    }

    #[inline(always)]
    pub(super) fn get(&self, index: u32) -> Option<Code> {
        self.decode(self.symbol(index))
    }
}
