//! Search for one instant in the column chunks of a block that have one encoding.
//!
//! A [`BlockProbe`] holds all that depends only on the time and the encoding of a chunk. It
//! searches most chunks; [`ColumnChunk::find`](crate::history::block::column_chunk::ColumnChunk::find)
//! searches any.

use std::hint::select_unpredictable;

use crate::history::block::Block;
use crate::history::block::bits::{self, width_of, word};
use crate::history::block::column_chunk::ChunkEncoding;
use crate::history::block::raw_value::RawValue;

/// The greatest width of a bucket start, in bits, of which one read returns four.
const MAX_START_BITS: u32 = 14;

/// The number of entries up to which all are compared instead of halved.
const LINEAR_SEARCH: u32 = 8;

/// A column chunk to search: its attribute, its number in the block and its record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) quark: u32,
    pub(crate) rank: u32,
    pub(crate) tag: u32,
    pub(crate) count: u32,
    pub(crate) body: usize,
    pub(crate) lead: u64,
}

impl Target {
    pub(crate) const NONE: Target =
        Target { quark: 0, rank: 0, tag: 0, count: 0, body: 0, lead: 0 };
}

/// An interval of an attribute, as a search found it. It ends before it starts if the search
/// found none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundInterval {
    pub(crate) quark: u32,
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// The value; `None` if it is damaged.
    pub(crate) raw: Option<RawValue>,
}

/// An encoding of column chunks, and the position of one time in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockProbe {
    pub(crate) encoding: ChunkEncoding,
    /// Chunks of this encoding are rare, and are searched by other means.
    unusual: bool,
    /// More than the first 32 bits of an entry matter.
    wide: bool,
    stride: usize,
    /// The width and mask of an end time's low bits in an entry, and the mask of the symbol
    /// above them.
    low_bits: u32,
    low_mask: u64,
    symbol_mask: u64,
    key_mask: u64,
    /// The distance from the start of a body to its first bucket start, in bits.
    starts_at: usize,
    /// The number of stored bucket starts: one less than there are buckets.
    starts: usize,
    /// The bucket of the time, and its low bits.
    bucket: u64,
    low: u64,
}

impl BlockProbe {
    /// Prepares the search for the time that is `offset` ns after the block's base time.
    pub(crate) fn new(encoding: ChunkEncoding, offset: u64) -> BlockProbe {
        let ChunkEncoding { coding, split, .. } = encoding;
        let bucket = offset >> split.low_bits;
        BlockProbe {
            encoding,
            unusual: coding.dictionary || split.stride > 8 || bucket >= split.buckets.into(),
            wide: split.stride > 4 || split.low_bits >= 32,
            stride: split.stride,
            low_bits: split.low_bits,
            low_mask: bits::mask(split.low_bits),
            symbol_mask: bits::mask(coding.width),
            key_mask: bits::mask(coding.key_bits),
            starts_at: (coding.key_bits + coding.width) as usize,
            starts: split.buckets as usize - 1,
            bucket,
            low: split.low(offset),
        }
    }

    /// Returns two places in the body of a chunk that the search will probably read, each in
    /// 65536ths of a byte per entry of the chunk. `elapsed` is the part of the block's time
    /// before the instant, in 65536ths.
    pub(crate) fn prefetch_places(&self, elapsed: u64) -> [u64; 2] {
        // A binary search over all entries starts in the middle.
        let middle = if self.starts == 0 { 1 << 15 } else { elapsed };
        [elapsed, middle].map(|part| part * self.stride as u64)
    }

    /// Finds the interval of a chunk that contains the time. `None` if the chunk has to be
    /// searched by other means.
    #[inline(always)]
    pub(crate) fn find(&self, block: &Block<'_>, target: &Target) -> Option<FoundInterval> {
        match self.wide {
            false => find::<false>(block, self, target),
            true => find::<true>(block, self, target),
        }
    }
}

#[inline(always)]
fn find<const WIDE: bool>(
    block: &Block<'_>,
    probe: &BlockProbe,
    target: &Target,
) -> Option<FoundInterval> {
    let Target { quark, count, body, lead, .. } = *target;
    let Block { data, head, .. } = block;
    let key = word(data, body) & probe.key_mask;
    let stride = probe.stride;
    let (bound, buckets);
    if probe.starts == 0 {
        let entries = body + probe.starts_at.div_ceil(8);
        if probe.unusual || !contains(data, entries, count, stride) {
            return None;
        }
        bound = lower_bound::<WIDE>(data, entries, 0, count, probe)?;
        buckets = (probe.bucket, probe.bucket);
    } else {
        let width = width_of(count.into());
        let starts_at = body * 8 + probe.starts_at;
        let entries = (starts_at + probe.starts * width as usize).div_ceil(8);
        if probe.unusual || width > MAX_START_BITS || !contains(data, entries, count, stride) {
            return None;
        }
        let [previous, first, end, next_end] = bucket_starts(data, probe, starts_at, width, count);
        bound = lower_bound::<WIDE>(data, entries, first, end, probe)?;
        let index = bound.index;
        let (later, earlier) = (index >= end, index <= first);
        // The neighbouring buckets may be empty, and the entry in a more distant one.
        if (later & (index >= next_end) & (index < count))
            | (earlier & (previous >= first) & (index > 0))
        {
            return None;
        }
        buckets = (probe.bucket.wrapping_sub(earlier.into()), probe.bucket + u64::from(later));
    }
    let LowerBound { index, before, entry } = bound;
    let time = |bucket: u64, entry: u64| {
        let offset = bucket << probe.low_bits | entry & probe.low_mask;
        head.base.wrapping_add(offset as i64)
    };
    let start = time(buckets.0, before).wrapping_add(1);
    let start = select_unpredictable(index == 0, head.base.wrapping_sub(lead as i64), start);
    let end = select_unpredictable(index < count, time(buckets.1, entry), i64::MIN);
    let symbol = entry >> (probe.low_bits % 64) & probe.symbol_mask;
    let raw = probe.encoding.coding.packed(probe.encoding.coding.base(key), symbol);
    Some(FoundInterval { quark, start, end, raw: Some(raw) })
}

/// Returns whether `data` contains `count` entries from byte `entries` on.
#[inline(always)]
fn contains(data: &[u8], entries: usize, count: u32, stride: usize) -> bool {
    entries + count as usize * stride <= data.len()
}

/// Reads the index of the first entry of the previous bucket, of the time's own bucket, and of
/// the two buckets after it.
#[inline(always)]
fn bucket_starts(
    data: &[u8],
    probe: &BlockProbe,
    starts_at: usize,
    width: u32,
    count: u32,
) -> [u32; 4] {
    // The start of bucket 0 is not stored. Bits read before the first stored one are not used.
    let bucket = probe.bucket as usize;
    let from_first = bucket.wrapping_sub(2).wrapping_mul(width as usize);
    let four = bits::word_at_bit(data, starts_at.wrapping_add(from_first));
    let mask = bits::short_mask(width) as u32;
    let stored = |i: u32| (four >> (i * width % 64)) as u32 & mask;
    let previous = if bucket < 2 { 0 } else { stored(0) };
    let first = if bucket < 1 { 0 } else { stored(1) };
    let end = if bucket >= probe.starts { count } else { stored(2) };
    let next_end = if bucket + 1 >= probe.starts { count } else { stored(3) };
    // In damaged data they may be anything.
    let first = first.min(count);
    [previous, first, end.min(count).max(first), next_end]
}

/// Reads an entry, or its first 32 bits unless it is wide.
#[inline(always)]
fn entry<const WIDE: bool>(data: &[u8], at: usize) -> u64 {
    let entry = word(data, at);
    if WIDE { entry } else { u64::from(entry as u32) }
}

/// The result of a search among the entries of a chunk.
struct LowerBound {
    index: u32,
    /// The previous entry; arbitrary for the first one.
    before: u64,
    /// The entry with the index; arbitrary past the last one.
    entry: u64,
}

/// Finds the first entry from index `first` to `end` whose low bits are not below those of the
/// time. `None` if it is too close to the end of the block.
#[inline(always)]
fn lower_bound<const WIDE: bool>(
    data: &[u8],
    entries: usize,
    first: u32,
    end: u32,
    probe: &BlockProbe,
) -> Option<LowerBound> {
    // No entry is below low bits of 0.
    if WIDE || probe.low == 0 {
        let split = &probe.encoding.split;
        let index = match probe.low {
            0 => first,
            low => split.lower_bound(data, entries, first, end, low),
        };
        let at = entries + index as usize * probe.stride;
        let [before, entry] = [at.wrapping_sub(probe.stride), at].map(|at| entry::<WIDE>(data, at));
        return Some(LowerBound { index, before, entry });
    }
    // This is the search of `Split::lower_bound` for narrow entries. It compares four of them
    // at once, and also returns the entries at hand.
    let stride = probe.stride.min(4);
    let (mut index, mut remaining) = (first, end - first);
    while remaining > LINEAR_SEARCH {
        let half = remaining / 2;
        let at = entries + (index + half - 1) as usize * stride;
        let below = entry::<WIDE>(data, at) & probe.low_mask < probe.low;
        index = select_unpredictable(below, index + half, index);
        remaining -= half;
    }
    let near = data.get((entries + index as usize * stride).wrapping_sub(stride)..)?;
    let near = near.first_chunk::<40>()?;
    let entry = |i: u32| {
        let at = i as usize * stride;
        near[at..at + 4].try_into().map_or(0, u32::from_le_bytes)
    };
    let (low, mask) = (probe.low as i32, probe.low_mask as i32);
    let mut below = 0;
    for i in 0..LINEAR_SEARCH {
        let is_below = (entry(i + 1) as i32 & mask) < low;
        below += i32::from(is_below) & i32::from((i as i32) < remaining as i32);
    }
    let [before, entry] = [0, 1].map(|i| u64::from(entry(below as u32 + i)));
    Some(LowerBound { index: index + below as u32, before, entry })
}
