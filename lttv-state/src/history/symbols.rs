//! The values of a run, in few bits each.
//!
//! A run is coded in one of two ways:
//!
//! * *packed*: values of one kind, and maybe null: each as its distance from the
//!   least one, in as many bits as the greatest distance needs, which is none if
//!   all are the same. If there are nulls, they are 0 and the distances begin at 1;
//! * *listed*: each value that occurs stands in a list, at 9 bytes (kind and
//!   bits), and what is packed is its place there.
//!
//! ```text
//! tag   bit 0      0 packed, 1 listed
//!       bit 1      has nulls
//!       bit 2-4    kind of what is no null
//!       bit 5-8    length of the key in bytes
//!       bit 9-15   width of a symbol
//! key   packed     the least
//!       listed     how many are in the list
//! list  (u8 kind, u64 bits) of each, behind the symbols
//! ```
//! A value stands in a key with its bits, in zigzag form if the kind is signed.

use std::hint::select_unpredictable;

use super::bits::{self, BitWriter, bytes_of, unzigzag, width_of, zigzag};
use super::code::{Code, Kind};

const LISTED: u32 = 1;
const NULLS: u32 = 1 << 1;
const KIND_SHIFT: u32 = 2;
const KEY_SHIFT: u32 = 5;
const WIDTH_SHIFT: u32 = 9;

/// Bits of a value in a list.
const ENTRY: usize = 72;

/// Packed values up to this width are not tried as a list: it would not be
/// smaller by much, and sorting takes time.
const LIST_FROM_WIDTH: u32 = 16;

/// How to code a run's values.
#[derive(Debug)]
pub(super) enum Plan {
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
            return Plan::Packed {
                kind: first.kind,
                nulls: false,
                least: ordered(first),
                width: 0,
            };
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
            Plan::Packed { kind, nulls, .. } => {
                let nulls = if *nulls { NULLS } else { 0 };
                nulls | (*kind as u32) << KIND_SHIFT
            }
            Plan::Listed(_) => LISTED,
        };
        coding | (bytes_of(self.key()) as u32) << KEY_SHIFT | self.width() << WIDTH_SHIFT
    }

    fn key(&self) -> u64 {
        match self {
            Plan::Packed { kind, least, .. } => {
                key(Code { kind: *kind, bits: unordered(*kind, *least) })
            }
            Plan::Listed(list) => list.len() as u64,
        }
    }

    fn width(&self) -> u32 {
        match self {
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
            Plan::Packed { width: 0, .. } => 0,
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
    kind: Kind,
    nulls: bool,
    /// What a symbol is added to.
    base: u64,
    list: Option<List>,
}

#[derive(Debug, Clone, Copy)]
struct List {
    /// The bit where it begins.
    at: usize,
    len: usize,
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
        let list = match tag & LISTED {
            0 => None,
            _ => Some(List { at: 0, len: usize::try_from(key).ok()? }),
        };
        let base = unkey(kind, key).wrapping_sub(nulls.into());
        Some((Symbols { data, at: 0, width, kind, nulls, base, list }, at + key_bits as usize))
    }

    /// The symbols begin at a bit, one more than `ends`. Tells where they, and the
    /// list, end. None if there cannot be so many.
    #[inline(always)]
    pub(super) fn place(&mut self, at: usize, ends: u32) -> Option<usize> {
        self.at = at;
        let behind = at + (ends as usize + 1) * self.width as usize;
        match &mut self.list {
            None => Some(behind),
            Some(list) => {
                list.at = behind;
                behind.checked_add(list.len.checked_mul(ENTRY)?)
            }
        }
    }

    #[inline(always)]
    fn symbol(&self, index: u32) -> u64 {
        bits::get(self.data, self.at + index as usize * self.width as usize, self.width)
    }

    /// The value that a number stands for.
    #[inline(always)]
    pub(super) fn decode(&self, symbol: u64) -> Option<Code> {
        if let Some(list) = self.list {
            return self.listed(list, symbol);
        }
        // Adding is the same for signed and unsigned numbers.
        let code = Code { kind: self.kind, bits: self.base.wrapping_add(symbol) };
        // Which ones are null cannot be guessed.
        Some(select_unpredictable(self.nulls & (symbol == 0), Code::NULL, code))
    }

    #[inline]
    fn listed(&self, list: List, symbol: u64) -> Option<Code> {
        let place = usize::try_from(symbol).ok().filter(|place| *place < list.len)?;
        let at = list.at + place * ENTRY;
        let kind = Kind::from_number(bits::get(self.data, at, 8) as u8)?;
        Some(Code { kind, bits: bits::get(self.data, at + 8, 64) })
    }

    #[inline(always)]
    pub(super) fn get(&self, index: u32) -> Option<Code> {
        self.decode(self.symbol(index))
    }
}
