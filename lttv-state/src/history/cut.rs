//! One time, in runs of one class: what there is to know of both before a run is searched.
//!
//! Most runs are searched here; [`Run::find`](super::run::Run::find) does the same for any.

use std::hint::select_unpredictable;

use super::bits::{self, width_of, word};
use super::block::Block;
use super::code::Code;
use super::run::Class;

/// The most bits of a head of which four can be read at once.
const HEAD_BITS: u32 = 14;

/// So many entries, or fewer, are all looked at.
const FEW: u32 = 8;

/// A run, and where its parts are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) quark: u32,
    pub(super) rank: u32,
    pub(super) tag: u32,
    pub(super) count: u32,
    pub(super) body: usize,
    pub(super) back: u64,
}

impl Asked {
    pub(super) const NONE: Asked = Asked { quark: 0, rank: 0, tag: 0, count: 0, body: 0, back: 0 };
}

/// An interval of a run: it ends before it begins if there is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) quark: u32,
    pub(super) start: i64,
    pub(super) end: i64,
    /// None if that is damaged.
    pub(super) code: Option<Code>,
}

/// A class of runs, and where in these a time is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    pub(super) class: Class,
    /// Such runs are rare, and asked one by one.
    unusual: bool,
    /// Whether more than the first 32 bits of an entry matter.
    wide: bool,
    stride: usize,
    /// How many bits of an entry are of its end, and which; then which are of its value.
    low_bits: u32,
    low_mask: u64,
    symbol_mask: u64,
    key_mask: u64,
    /// Bits from the beginning of a run to its first head.
    heads_at: usize,
    heads: usize,
    /// The bucket of the time, and the low bits of it.
    bucket: u64,
    low: u64,
}

impl Cut {
    pub(super) fn of(class: Class, offset: u64) -> Cut {
        let Class { coding, shape, .. } = class;
        let bucket = offset >> shape.low_bits;
        Cut {
            class,
            unusual: coding.listed || shape.stride > 8 || bucket >= shape.buckets.into(),
            wide: shape.stride > 4 || shape.low_bits >= 32,
            stride: shape.stride,
            low_bits: shape.low_bits,
            low_mask: bits::mask(shape.low_bits),
            symbol_mask: bits::mask(coding.width),
            key_mask: bits::mask(coding.key_bits),
            heads_at: (coding.key_bits + coding.width) as usize,
            heads: shape.buckets as usize - 1,
            bucket,
            low: shape.low(offset),
        }
    }

    /// Places in a run that are likely to be read: what each of its entries adds to where
    /// they are, in 65536ths of a byte. `passed` is how much of the block's time has gone by.
    pub(super) fn probes(&self, passed: u64) -> [u64; 2] {
        // Where there are no buckets, the search begins in the middle.
        let middle = if self.heads == 0 { 1 << 15 } else { passed };
        [passed, middle].map(|part| part * self.stride as u64)
    }

    /// The interval with the time, of a run of the class. None if the run is unusual, or none.
    #[inline(always)]
    pub(super) fn find(&self, block: &Block<'_>, asked: &Asked) -> Option<Found> {
        match self.wide {
            false => find::<false>(block, self, asked),
            true => find::<true>(block, self, asked),
        }
    }
}

#[inline(always)]
fn find<const WIDE: bool>(block: &Block<'_>, cut: &Cut, asked: &Asked) -> Option<Found> {
    let Asked { quark, count, body, back, .. } = *asked;
    let Block { data, head, .. } = block;
    // The body is in front of the others, which are read with it.
    let key = word(data, body) & cut.key_mask;
    let stride = cut.stride;
    let (near, buckets);
    if cut.heads == 0 {
        let entries = body + cut.heads_at.div_ceil(8);
        if cut.unusual || !is_in(data, entries, count, stride) {
            return None;
        }
        near = first_low::<WIDE>(data, entries, 0, count, cut)?;
        buckets = (cut.bucket, cut.bucket);
    } else {
        let width = width_of(count.into());
        let heads_at = body * 8 + cut.heads_at;
        let entries = (heads_at + cut.heads * width as usize).div_ceil(8);
        if cut.unusual || width > HEAD_BITS || !is_in(data, entries, count, stride) {
            return None;
        }
        let [close, first, behind, far] = heads(data, cut, heads_at, width, count);
        near = first_low::<WIDE>(data, entries, first, behind, cut)?;
        let index = near.index;
        let (later, earlier) = (index >= behind, index <= first);
        // There may be nothing in the buckets beside that of the time.
        if (later & (index >= far) & (index < count)) | (earlier & (close >= first) & (index > 0)) {
            return None;
        }
        buckets = (cut.bucket.wrapping_sub(earlier.into()), cut.bucket + u64::from(later));
    }
    let Near { index, before, entry } = near;
    let time = |bucket: u64, entry: u64| {
        let offset = bucket << cut.low_bits | entry & cut.low_mask;
        head.base.wrapping_add(offset as i64)
    };
    let start = time(buckets.0, before).wrapping_add(1);
    let start = select_unpredictable(index == 0, head.base.wrapping_sub(back as i64), start);
    let end = select_unpredictable(index < count, time(buckets.1, entry), i64::MIN);
    let symbol = entry >> (cut.low_bits % 64) & cut.symbol_mask;
    let code = cut.class.coding.packed(cut.class.coding.base(key), symbol);
    Some(Found { quark, start, end, code: Some(code) })
}

/// Whether there are so many entries.
#[inline(always)]
fn is_in(data: &[u8], entries: usize, count: u32, stride: usize) -> bool {
    entries + count as usize * stride <= data.len()
}

/// How many entries are before the bucket before that of the time, before this one, and
/// before the two behind it.
#[inline(always)]
fn heads(data: &[u8], cut: &Cut, heads_at: usize, width: u32, count: u32) -> [u32; 4] {
    // The first bucket has no head. What is read before those that there are is not used.
    let bucket = cut.bucket as usize;
    let from_first = bucket.wrapping_sub(2).wrapping_mul(width as usize);
    let four = bits::word_at_bit(data, heads_at.wrapping_add(from_first));
    let mask = bits::short_mask(width) as u32;
    let stored = |i: u32| (four >> (i * width % 64)) as u32 & mask;
    let near = if bucket < 2 { 0 } else { stored(0) };
    let first = if bucket < 1 { 0 } else { stored(1) };
    let behind = if bucket >= cut.heads { count } else { stored(2) };
    let far = if bucket + 1 >= cut.heads { count } else { stored(3) };
    // Damage could make them anything.
    let first = first.min(count);
    [near, first, behind.min(count).max(first), far]
}

/// An entry, as far as it matters.
#[inline(always)]
fn entry<const WIDE: bool>(data: &[u8], at: usize) -> u64 {
    let entry = word(data, at);
    if WIDE { entry } else { u64::from(entry as u32) }
}

/// A place among the entries of a run.
struct Near {
    index: u32,
    /// The entry before it; anything for the first one.
    before: u64,
    /// Its own; anything for what is behind the last one.
    entry: u64,
}

/// The first place from `first` to `behind` where the low part is not below that of the
/// time. None if it is too near the end of the block.
#[inline(always)]
fn first_low<const WIDE: bool>(
    data: &[u8],
    entries: usize,
    first: u32,
    behind: u32,
    cut: &Cut,
) -> Option<Near> {
    // At the first time of a block nothing is below.
    if WIDE || cut.low == 0 {
        let shape = &cut.class.shape;
        let index = match cut.low {
            0 => first,
            low => shape.first_low(data, entries, first, behind, low),
        };
        let at = entries + index as usize * cut.stride;
        let [before, entry] = [at.wrapping_sub(cut.stride), at].map(|at| entry::<WIDE>(data, at));
        return Some(Near { index, before, entry });
    }
    // As a shape does, but with four entries at once, and with those that are found.
    let stride = cut.stride.min(4);
    let (mut index, mut left) = (first, behind - first);
    while left > FEW {
        let half = left / 2;
        let at = entries + (index + half - 1) as usize * stride;
        let below = entry::<WIDE>(data, at) & cut.low_mask < cut.low;
        index = select_unpredictable(below, index + half, index);
        left -= half;
    }
    let near = data.get((entries + index as usize * stride).wrapping_sub(stride)..)?;
    let near = near.first_chunk::<40>()?;
    let entry = |i: u32| {
        let at = i as usize * stride;
        near[at..at + 4].try_into().map_or(0, u32::from_le_bytes)
    };
    let (wanted, mask) = (cut.low as i32, cut.low_mask as i32);
    let mut below = 0;
    for i in 0..FEW {
        let is_below = (entry(i + 1) as i32 & mask) < wanted;
        below += i32::from(is_below) & i32::from((i as i32) < left as i32);
    }
    let [before, entry] = [0, 1].map(|i| u64::from(entry(below as u32 + i)));
    Some(Near { index: index + below as u32, before, entry })
}
