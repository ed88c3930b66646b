//! What the runs of a block are at one time.
//!
//! A run that is asked alone is searched step by step, and each step waits for bytes that
//! the one before told about. Here all runs are asked for the same time. So what depends
//! only on the time and the class of a run is worked out once for each class; and while some
//! runs are searched, the processor is told to fetch the bytes of the next ones that are
//! likely to be needed, many at once. To wait for these was most of the time that it took:
//! in the nearest caches there is little of a block that is asked but once.
//!
//! Runs that are laid out in unusual ways, a few of a hundred, are asked one by one.

use std::hint::select_unpredictable;

use super::bits::{self, width_of, word};
use super::block::Block;
use super::code::Code;
use super::run::{Class, Ended, Place, Run};
use super::source::fetch;
use crate::tree::Quark;

/// Runs that are taken together.
const TOGETHER: usize = 64;

/// Bytes that are fetched at once.
const LINE: usize = 64;

/// The most bits of a head of which four can be read at once.
const HEAD_BITS: u32 = 14;

/// A class of runs, and where in these a time is.
#[derive(Debug, Clone, Copy)]
struct Cut {
    class: Class,
    /// Such runs are rare, and asked one by one.
    unusual: bool,
    stride: usize,
    /// How many bits of an entry are of its end, and which; then which are of its value.
    low_bits: u32,
    low_mask: u32,
    symbol_mask: u32,
    key_mask: u64,
    /// Bits from the beginning of a run to its first head.
    heads_at: usize,
    heads: usize,
    /// The bucket of the time, and the low bits of it.
    bucket: u64,
    low: u32,
}

impl Cut {
    fn of(class: Class, offset: u64) -> Cut {
        let Class { coding, shape, .. } = class;
        let bucket = offset >> shape.low_bits;
        // So that 32 bits of an entry are all that matters.
        let small = shape.stride <= 4 && shape.low_bits < 32;
        Cut {
            class,
            unusual: coding.listed || !small || bucket >= shape.buckets.into(),
            stride: shape.stride,
            low_bits: shape.low_bits,
            low_mask: bits::mask(shape.low_bits) as u32,
            symbol_mask: bits::mask(coding.width) as u32,
            key_mask: bits::mask(coding.key_bits),
            heads_at: (coding.key_bits + coding.width) as usize,
            heads: shape.buckets as usize - 1,
            bucket,
            low: shape.low(offset) as u32,
        }
    }

    /// Places in a run that are likely to be read: what each of its entries adds to where
    /// they are, in 65536ths of a byte. `passed` is how much of the block's time has gone by.
    fn probes(&self, passed: u64) -> [u64; 2] {
        // Where there are no buckets, the search begins in the middle.
        let middle = if self.heads == 0 { 1 << 15 } else { passed };
        [passed, middle].map(|part| part * self.stride as u64)
    }
}

/// A run, and where its parts are.
#[derive(Debug, Clone, Copy)]
struct Asked {
    quark: u32,
    rank: u32,
    tag: u32,
    count: u32,
    body: usize,
    back: u64,
}

/// Runs that are asked one after the other.
#[derive(Debug, Clone, Copy)]
struct Batch {
    runs: [Asked; TOGETHER],
    count: usize,
}

impl Batch {
    const NONE: Batch = Batch { runs: [Asked::NONE; TOGETHER], count: 0 };
}

impl Asked {
    const NONE: Asked = Asked { quark: 0, rank: 0, tag: 0, count: 0, body: 0, back: 0 };
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

/// What the runs of a block are at one time.
#[derive(Debug)]
pub(super) struct Crossing<'d> {
    block: Block<'d>,
    t: i64,
    /// By the tags of the block.
    cuts: Vec<Option<Cut>>,
    /// Runs that are known of those that are gone through in order.
    rank: u32,
    /// Those that are asked, and those that are asked next.
    asked: [Batch; 2],
    /// Which attributes the last of these are from, if they are gone through in order.
    from: Option<usize>,
    /// By tags, too: see [`Cut::probes`].
    probes: Vec<[u64; 2]>,
}

impl<'d> Crossing<'d> {
    /// For a time in a block.
    pub(super) fn new(block: Block<'d>, t: i64) -> Crossing<'d> {
        let offset = t.wrapping_sub(block.head.base) as u64;
        let cut = |place| Some(Cut::of(block.class(place)?, offset));
        let cuts: Vec<Option<Cut>> = (0..block.head.tags).map(cut).collect();
        // Most runs go on evenly.
        let passed = u128::from(offset) << 16;
        let passed = passed.checked_div(block.head.span().into()).unwrap_or(0).min(1 << 16) as u64;
        let probe = |cut: &Option<Cut>| cut.as_ref().map_or([0; 2], |cut| cut.probes(passed));
        let probes = cuts.iter().map(probe).collect();
        Crossing { block, t, cuts, rank: 0, asked: [Batch::NONE; 2], from: None, probes }
    }

    /// For the first time of a block: it is that of the first interval of each run.
    pub(super) fn first(block: Block<'d>) -> Crossing<'d> {
        Crossing::new(block, block.head.base)
    }

    /// Gives what those of 64 attributes are from `first` on that have runs here: for 0
    /// first, and then for those behind. False if some runs are none, by their bytes.
    #[inline(always)]
    pub(super) fn of_64(&mut self, first: usize, each: impl FnMut(Found)) -> bool {
        let at = first / 64 % 2;
        if self.from != Some(first) {
            self.look_up_64(at, first);
        }
        // While these are asked, the bytes of the next ones come.
        self.look_up_64(1 - at, first + 64);
        self.ask(at, each)
    }

    #[inline(always)]
    fn look_up_64(&mut self, at: usize, first: usize) {
        let known = first < self.block.head.quarks as usize;
        let mut present = if known { self.block.present(first / 64) } else { 0 };
        self.asked[at].count = 0;
        while present != 0 {
            self.look_up(at, first as u32 + present.trailing_zeros(), self.rank);
            present &= present - 1;
            self.rank += 1;
        }
        self.from = Some(first);
    }

    /// The same for some attributes.
    #[inline(never)]
    pub(super) fn of(&mut self, quarks: &[Quark], mut each: impl FnMut(Found)) -> bool {
        let mut parts = quarks.chunks(TOGETHER);
        let mut at = 0;
        self.look_up_some(at, parts.next().unwrap_or_default());
        for _ in 0..quarks.len().div_ceil(TOGETHER) {
            self.look_up_some(1 - at, parts.next().unwrap_or_default());
            if !self.ask(at, &mut each) {
                return false;
            }
            at = 1 - at;
        }
        true
    }

    fn look_up_some(&mut self, at: usize, quarks: &[Quark]) {
        self.asked[at].count = 0;
        for quark in quarks {
            if let Some(rank) = self.block.rank(quark.index()) {
                self.look_up(at, quark.0, rank);
            }
        }
        self.from = None;
    }

    /// Notes where a run is, and has likely bytes of it fetched.
    #[inline(always)]
    fn look_up(&mut self, at: usize, quark: u32, rank: u32) {
        let Crossing { block, asked, probes, .. } = self;
        let record = block.record(rank);
        let body = block.layout.bodies.saturating_add(record.body as usize);
        let body = body.min(block.data.len());
        let (tag, count, back) = (record.tag, record.count, record.back);
        let [first, second] = probes.get(tag as usize).copied().unwrap_or_default();
        let place = |probe| body + ((u64::from(count) * probe) >> 16) as usize;
        let (first, second) = (place(first), place(second));
        for (place, lines) in [(body, 0), (first, 0), (first, 1), (first, 2), (second, 0)] {
            fetch(block.data, place.wrapping_add(lines * LINE));
        }
        let batch = &mut asked[at];
        batch.runs[batch.count % TOGETHER] = Asked { quark, rank, tag, count, body, back };
        batch.count += 1;
    }

    #[inline(always)]
    fn ask(&self, at: usize, mut each: impl FnMut(Found)) -> bool {
        let Crossing { block, t, cuts, asked, .. } = self;
        let batch = &asked[at];
        for asked in &batch.runs[..batch.count.min(TOGETHER)] {
            let Some(Some(cut)) = cuts.get(asked.tag as usize) else { return false };
            if let Some(found) = find(block, cut, asked) {
                each(found);
                continue;
            }
            let Some(run) = run(block, cut, asked) else { return false };
            if let Some(Ended { index, start, end }) = run.find(*t) {
                let code = run.code(Place::Ended(index));
                each(Found { quark: asked.quark, start, end, code });
            }
        }
        true
    }
}

/// The whole of a run.
#[inline(never)]
fn run<'d>(block: &Block<'d>, cut: &Cut, asked: &Asked) -> Option<Run<'d>> {
    block.run_of_rank(asked.rank, |_| Some(cut.class))
}

/// The interval with the time. None if the run is unusual, or none.
#[inline(always)]
fn find(block: &Block<'_>, cut: &Cut, asked: &Asked) -> Option<Found> {
    let Asked { quark, count, body, back, .. } = *asked;
    let Block { data, head, .. } = block;
    // The body is in front of the others, which are read with it.
    let key = word(data, body) & cut.key_mask;
    let stride = cut.stride;
    let (index, entries, buckets);
    if cut.heads == 0 {
        entries = body + cut.heads_at.div_ceil(8);
        if cut.unusual || !is_in(data, entries, count, stride) {
            return None;
        }
        index = first_low(data, entries, 0, count, cut)?;
        buckets = (cut.bucket, cut.bucket);
    } else {
        let width = width_of(count.into());
        let heads_at = body * 8 + cut.heads_at;
        entries = (heads_at + cut.heads * width as usize).div_ceil(8);
        if cut.unusual || width > HEAD_BITS || !is_in(data, entries, count, stride) {
            return None;
        }
        let [near, first, behind, far] = heads(data, cut, heads_at, width, count);
        index = first_low(data, entries, first, behind, cut)?;
        let (later, earlier) = (index >= behind, index <= first);
        // There may be nothing in the buckets beside that of the time.
        if (later & (index >= far) & (index < count)) | (earlier & (near >= first) & (index > 0)) {
            return None;
        }
        buckets = (cut.bucket.wrapping_sub(earlier.into()), cut.bucket + u64::from(later));
    }
    let at = entries + index as usize * stride;
    let before = word(data, at.wrapping_sub(stride)) as u32;
    let entry = word(data, at) as u32;
    let time = |bucket: u64, entry: u32| {
        let offset = bucket << cut.low_bits | u64::from(entry & cut.low_mask);
        head.base.wrapping_add(offset as i64)
    };
    let start = time(buckets.0, before).wrapping_add(1);
    let start = select_unpredictable(index == 0, head.base.wrapping_sub(back as i64), start);
    let end = select_unpredictable(index < count, time(buckets.1, entry), i64::MIN);
    let symbol = u64::from(entry >> (cut.low_bits % 32) & cut.symbol_mask);
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

/// The first index from `first` to `behind` whose low part is not below that of the time.
/// None if it is too near the end of the block.
#[inline(always)]
fn first_low(data: &[u8], entries: usize, first: u32, behind: u32, cut: &Cut) -> Option<u32> {
    const FEW: u32 = 8;
    let stride = cut.stride.min(4);
    let (wanted, mask) = (cut.low as i32, cut.low_mask as i32);
    let (mut index, mut left) = (first, behind - first);
    while left > FEW {
        let half = left / 2;
        let at = entries + (index + half - 1) as usize * stride;
        let below = (word(data, at) as i32 & mask) < wanted;
        index = select_unpredictable(below, index + half, index);
        left -= half;
    }
    let few = data.get(entries + index as usize * stride..)?.first_chunk::<36>()?;
    let mut below = 0;
    for i in 0..FEW {
        let at = i as usize * stride;
        let entry = i32::from_le_bytes([few[at], few[at + 1], few[at + 2], few[at + 3]]) & mask;
        below += u32::from(entry < wanted) & u32::from(i < left);
    }
    Some(index + below)
}
