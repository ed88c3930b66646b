//! Values of a column chunk as *symbols*: integers of a few bits each.
//!
//! There are two encodings:
//!
//! * *packed*, a frame-of-reference encoding: all values have one kind, or are null. A
//!   symbol is the difference from the least value, in as many bits as the greatest
//!   difference needs, which is 0 if all values are equal. If there are nulls, symbol 0
//!   means null, and differences count from 1;
//! * *dictionary*: a symbol is the index of the value in a list of the distinct values,
//!   which takes 9 bytes for each (kind and bits).
//!
//! ```text
//! tag         bit 0      0 packed, 1 dictionary
//!             bit 1      1 if some values are null (packed only)
//!             bits 2-4   kind of the values that are not null (packed only)
//!             bits 5-8   length of the key in bytes
//!             bits 9-15  width of a symbol in bits
//! key         packed: the least value, zigzag-encoded if its kind is signed
//!             dictionary: number of values in it
//! dictionary  for each value: u8 kind, u64 bits
//! ```

use std::hint::select_unpredictable;

use super::bits::{self, BitWriter, bytes_of, unzigzag, width_of, zigzag};
use super::end_times::EndTimes;
use super::raw_value::{Kind, RawValue};

const DICTIONARY: u32 = 1;
const NULLS: u32 = 1 << 1;
const KIND_SHIFT: u32 = 2;
const KEY_SHIFT: u32 = 5;
const WIDTH_SHIFT: u32 = 9;

/// The size of a value in a dictionary, in bytes.
const DICTIONARY_ENTRY: usize = 9;

/// The packed width, in bits, up to which no dictionary is tried: it would not save much,
/// and sorting takes time.
const DICTIONARY_FROM_WIDTH: u32 = 16;

/// The encoding of the values of a chunk that is being written.
#[derive(Debug)]
pub(crate) enum SymbolEncoder {
    Packed { kind: Kind, nulls: bool, least: u64, width: u32 },
    Dictionary(Vec<RawValue>),
}

impl SymbolEncoder {
    pub(crate) fn of(values: &[RawValue]) -> SymbolEncoder {
        let first = values.first().copied().unwrap_or_default();
        let (mut same, mut mixed, mut nulls) = (true, false, false);
        let mut kind = Kind::Null;
        // These bounds compare signed integers with the sign bit flipped, as unsigned ones.
        let (mut least, mut greatest) = (u64::MAX, 0);
        for raw in values {
            same &= *raw == first;
            if raw.kind == Kind::Null {
                nulls = true;
                continue;
            }
            mixed |= kind != Kind::Null && raw.kind != kind;
            kind = raw.kind;
            let ordered = ordered(*raw);
            least = least.min(ordered);
            greatest = greatest.max(ordered);
        }
        if same {
            return SymbolEncoder::Packed {
                kind: first.kind,
                nulls: false,
                least: ordered(first),
                width: 0,
            };
        }
        let span = greatest.wrapping_sub(least).checked_add(nulls.into());
        let width = span.map_or(65, width_of);
        if mixed || width > DICTIONARY_FROM_WIDTH {
            let mut dictionary = values.to_vec();
            dictionary.sort_unstable();
            dictionary.dedup();
            let index_width = width_of(dictionary.len() as u64 - 1);
            let size =
                dictionary.len() * DICTIONARY_ENTRY * 8 + values.len() * index_width as usize;
            if mixed || width > 64 || size < values.len() * width as usize {
                return SymbolEncoder::Dictionary(dictionary);
            }
        }
        SymbolEncoder::Packed { kind, nulls, least, width }
    }

    /// Returns the part of a chunk's tag that describes its symbols.
    pub(crate) fn tag(&self) -> u32 {
        let coding = match self {
            SymbolEncoder::Packed { kind, nulls, .. } => {
                let nulls = if *nulls { NULLS } else { 0 };
                nulls | (*kind as u32) << KIND_SHIFT
            }
            SymbolEncoder::Dictionary(_) => DICTIONARY,
        };
        coding | (bytes_of(self.key()) as u32) << KEY_SHIFT | self.width() << WIDTH_SHIFT
    }

    fn key(&self) -> u64 {
        match self {
            SymbolEncoder::Packed { kind, least, .. } => {
                key(RawValue { kind: *kind, bits: unordered(*kind, *least) })
            }
            SymbolEncoder::Dictionary(dictionary) => dictionary.len() as u64,
        }
    }

    /// Returns the width of a symbol, in bits.
    pub(crate) fn width(&self) -> u32 {
        match self {
            SymbolEncoder::Packed { width, .. } => *width,
            SymbolEncoder::Dictionary(dictionary) => width_of(dictionary.len() as u64 - 1),
        }
    }

    pub(crate) fn write_key(&self, writer: &mut BitWriter<'_>) {
        writer.put(self.key(), bytes_of(self.key()) as u32 * 8);
    }

    /// Returns the symbol of a value.
    pub(crate) fn symbol(&self, raw: RawValue) -> u64 {
        match self {
            SymbolEncoder::Packed { width: 0, .. } => 0,
            SymbolEncoder::Packed { .. } if raw.kind == Kind::Null => 0,
            SymbolEncoder::Packed { nulls, least, .. } => {
                ordered(raw).wrapping_sub(least.wrapping_sub((*nulls).into()))
            }
            SymbolEncoder::Dictionary(dictionary) => {
                dictionary.partition_point(|entry| *entry < raw) as u64
            }
        }
    }

    /// Appends the dictionary, if there is one.
    pub(crate) fn write_dictionary(&self, out: &mut Vec<u8>) {
        if let SymbolEncoder::Dictionary(dictionary) = self {
            for raw in dictionary {
                out.push(raw.kind as u8);
                out.extend_from_slice(&raw.bits.to_le_bytes());
            }
        }
    }
}

const SIGN: u64 = 1 << 63;

fn ordered(raw: RawValue) -> u64 {
    if raw.kind.is_signed() { raw.bits ^ SIGN } else { raw.bits }
}

fn unordered(kind: Kind, ordered: u64) -> u64 {
    if kind.is_signed() { ordered ^ SIGN } else { ordered }
}

fn key(raw: RawValue) -> u64 {
    if raw.kind.is_signed() { zigzag(raw.bits as i64) } else { raw.bits }
}

fn unkey(kind: Kind, key: u64) -> u64 {
    select_unpredictable(kind.is_signed(), unzigzag(key) as u64, key)
}

/// The encoding of the values of a chunk, decoded from its tag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SymbolCoding {
    kind: Kind,
    nulls: bool,
    pub(crate) dictionary: bool,
    pub(crate) key_bits: u32,
    /// The width of a symbol, in bits.
    pub(crate) width: u32,
}

impl SymbolCoding {
    /// Decodes a tag. `None` if it is invalid.
    pub(crate) fn of(tag: u32) -> Option<SymbolCoding> {
        let kind = Kind::from_number((tag >> KIND_SHIFT & 7) as u8)?;
        let width = tag >> WIDTH_SHIFT & 127;
        let key_bits = (tag >> KEY_SHIFT & 15) * 8;
        let (nulls, dictionary) = (tag & NULLS != 0, tag & DICTIONARY != 0);
        (width <= 64 && key_bits <= 64).then_some(SymbolCoding {
            kind,
            nulls,
            dictionary,
            key_bits,
            width,
        })
    }

    /// Returns the bits that are added to a packed symbol.
    #[inline(always)]
    pub(crate) fn base(&self, key: u64) -> u64 {
        unkey(self.kind, key).wrapping_sub(self.nulls.into())
    }

    /// Returns the value of a packed symbol.
    #[inline(always)]
    pub(crate) fn packed(&self, base: u64, symbol: u64) -> RawValue {
        // Wrapping addition is the same for signed and unsigned integers.
        let raw = RawValue { kind: self.kind, bits: base.wrapping_add(symbol) };
        // A branch on whether a value is null would be unpredictable.
        select_unpredictable(self.nulls & (symbol == 0), RawValue::NULL, raw)
    }
}

/// A view of the values of a chunk, written by [`SymbolEncoder`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Symbols<'d> {
    data: &'d [u8],
    coding: SymbolCoding,
    /// The bit offset of the first symbol, and the distance from one to the next in bits.
    at: usize,
    stride: usize,
    /// The bit offset of the symbol of the open value.
    open_at: usize,
    /// The bits that are added to a packed symbol.
    base: u64,
    dictionary: Option<Dictionary>,
}

/// The byte offset of a dictionary, and its number of values.
#[derive(Debug, Clone, Copy)]
struct Dictionary {
    at: usize,
    len: usize,
}

impl<'d> Symbols<'d> {
    /// Creates a view of the symbols of a chunk. The symbol of the open value is at bit
    /// `open_at`, the others are in the entries of `ends`, and the dictionary, if there is
    /// one, follows these.
    #[inline(always)]
    pub(crate) fn read(
        data: &'d [u8],
        coding: SymbolCoding,
        key: u64,
        open_at: usize,
        ends: &EndTimes<'_>,
    ) -> Symbols<'d> {
        let len = usize::try_from(key).unwrap_or(usize::MAX);
        Symbols {
            data,
            coding,
            at: ends.entries_at * 8 + ends.split.low_bits as usize,
            stride: ends.split.stride * 8,
            open_at,
            base: coding.base(key),
            dictionary: coding.dictionary.then_some(Dictionary { at: ends.entries_end(), len }),
        }
    }

    /// Returns the size of the dictionary, in bytes. `None` if it overflows.
    #[inline(always)]
    pub(crate) fn dictionary_bytes(&self) -> Option<usize> {
        self.dictionary.map_or(Some(0), |dictionary| dictionary.len.checked_mul(DICTIONARY_ENTRY))
    }

    /// Returns the value of a symbol. `None` if the data is damaged.
    #[inline(always)]
    pub(crate) fn decode(&self, symbol: u64) -> Option<RawValue> {
        if let Some(dictionary) = self.dictionary {
            return self.lookup(dictionary, symbol);
        }
        Some(self.coding.packed(self.base, symbol))
    }

    #[inline(always)]
    fn lookup(&self, dictionary: Dictionary, symbol: u64) -> Option<RawValue> {
        let index = usize::try_from(symbol).ok().filter(|index| *index < dictionary.len)?;
        let at = dictionary.at + index * DICTIONARY_ENTRY;
        let kind = Kind::from_number(*self.data.get(at)?)?;
        Some(RawValue { kind, bits: bits::word(self.data, at + 1) })
    }

    /// Returns the value of the symbol in the low bits of `bits`.
    #[inline(always)]
    pub(crate) fn decode_low(&self, bits: u64) -> Option<RawValue> {
        self.decode(bits & bits::mask(self.coding.width))
    }

    /// Returns the value of an interval.
    #[inline(always)]
    pub(crate) fn get(&self, index: u32) -> Option<RawValue> {
        let at = self.at + index as usize * self.stride;
        self.decode(bits::get(self.data, at, self.coding.width))
    }

    /// Returns the open value.
    #[inline(always)]
    pub(crate) fn open(&self) -> Option<RawValue> {
        self.decode(bits::get(self.data, self.open_at, self.coding.width))
    }
}
