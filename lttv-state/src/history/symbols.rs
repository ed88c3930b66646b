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
//! list  (u8 kind, u64 bits) of each
//! ```
//! A value stands in a key with its bits, in zigzag form if the kind is signed.

use std::hint::select_unpredictable;

use super::bits::{self, BitWriter, bytes_of, unzigzag, width_of, zigzag};
use super::code::{Code, Kind};
use super::ends::Ends;

const LISTED: u32 = 1;
const NULLS: u32 = 1 << 1;
const KIND_SHIFT: u32 = 2;
const KEY_SHIFT: u32 = 5;
const WIDTH_SHIFT: u32 = 9;

/// Bytes of a value in a list.
const ENTRY: usize = 9;

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

    /// Bits of a symbol.
    pub(super) fn width(&self) -> u32 {
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

    /// Appends the list, if there is one.
    pub(super) fn write_list(&self, out: &mut Vec<u8>) {
        if let Plan::Listed(list) = self {
            for code in list {
                out.push(code.kind as u8);
                out.extend_from_slice(&code.bits.to_le_bytes());
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
    select_unpredictable(kind.is_signed(), unzigzag(key) as u64, key)
}

/// How a run's values are coded, as its tag tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coding {
    kind: Kind,
    nulls: bool,
    pub(super) listed: bool,
    pub(super) key_bits: u32,
    /// Bits of a symbol.
    pub(super) width: u32,
}

impl Coding {
    /// None if there is no such coding.
    pub(super) fn of(tag: u32) -> Option<Coding> {
        let kind = Kind::from_number((tag >> KIND_SHIFT & 7) as u8)?;
        let width = tag >> WIDTH_SHIFT & 127;
        let key_bits = (tag >> KEY_SHIFT & 15) * 8;
        let (nulls, listed) = (tag & NULLS != 0, tag & LISTED != 0);
        (width <= 64 && key_bits <= 64).then_some(Coding { kind, nulls, listed, key_bits, width })
    }

    /// What a symbol is added to, if values are packed.
    #[inline(always)]
    pub(super) fn base(&self, key: u64) -> u64 {
        unkey(self.kind, key).wrapping_sub(self.nulls.into())
    }

    /// The value of a symbol that is packed.
    #[inline(always)]
    pub(super) fn packed(&self, base: u64, symbol: u64) -> Code {
        // Adding is the same for signed and unsigned numbers.
        let code = Code { kind: self.kind, bits: base.wrapping_add(symbol) };
        // Which ones are null cannot be guessed.
        select_unpredictable(self.nulls & (symbol == 0), Code::NULL, code)
    }
}

/// The values of a run, as [`Plan`] coded them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbols<'d> {
    data: &'d [u8],
    coding: Coding,
    /// The bit where the first symbol begins, and bits from one to the next.
    at: usize,
    stride: usize,
    /// The bit where the symbol of the value behind the last interval begins.
    open_at: usize,
    /// What a symbol is added to.
    base: u64,
    list: Option<List>,
}

/// Where a list is, in bytes, and how many values are in it.
#[derive(Debug, Clone, Copy)]
struct List {
    at: usize,
    len: usize,
}

impl<'d> Symbols<'d> {
    /// The symbols of a run with a key: that of the value behind at bit `open_at`, the
    /// others in entries. If there is a list, it is behind these.
    #[inline(always)]
    pub(super) fn read(
        data: &'d [u8],
        coding: Coding,
        key: u64,
        open_at: usize,
        ends: &Ends<'_>,
    ) -> Symbols<'d> {
        let len = usize::try_from(key).unwrap_or(usize::MAX);
        Symbols {
            data,
            coding,
            at: ends.entries_at * 8 + ends.shape.low_bits as usize,
            stride: ends.shape.stride * 8,
            open_at,
            base: coding.base(key),
            list: coding.listed.then_some(List { at: ends.behind(), len }),
        }
    }

    /// Bytes of the list. None if there cannot be so many.
    #[inline(always)]
    pub(super) fn list_len(&self) -> Option<usize> {
        self.list.map_or(Some(0), |list| list.len.checked_mul(ENTRY))
    }

    /// The value that a number stands for.
    #[inline(always)]
    pub(super) fn decode(&self, symbol: u64) -> Option<Code> {
        if let Some(list) = self.list {
            return self.listed(list, symbol);
        }
        Some(self.coding.packed(self.base, symbol))
    }

    #[inline(always)]
    fn listed(&self, list: List, symbol: u64) -> Option<Code> {
        let place = usize::try_from(symbol).ok().filter(|place| *place < list.len)?;
        let at = list.at + place * ENTRY;
        let kind = Kind::from_number(*self.data.get(at)?)?;
        Some(Code { kind, bits: bits::word(self.data, at + 1) })
    }

    /// The value that the low bits of a number stand for.
    #[inline(always)]
    pub(super) fn decode_low(&self, bits: u64) -> Option<Code> {
        self.decode(bits & bits::mask(self.coding.width))
    }

    /// The value of an interval.
    #[inline(always)]
    pub(super) fn get(&self, index: u32) -> Option<Code> {
        let at = self.at + index as usize * self.stride;
        self.decode(bits::get(self.data, at, self.coding.width))
    }

    /// The value behind the last interval.
    #[inline(always)]
    pub(super) fn open(&self) -> Option<Code> {
        self.decode(bits::get(self.data, self.open_at, self.coding.width))
    }
}
