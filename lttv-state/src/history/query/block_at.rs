//! The instant query over a block: the interval of each column chunk at one time.
//!
//! A search of one chunk takes dependent steps, each of which waits for the memory that the
//! previous one pointed to. Here all chunks are searched for the same time. All that depends
//! only on the time and on the encoding of a chunk is therefore computed once for each
//! encoding, as a [`BlockProbe`]. Chunks are taken in batches: while one is searched, the
//! processor prefetches the bytes of the next one. Without that, waiting for memory takes most
//! of the time, since the caches contain little of a block that is used only once.
//!
//! A few chunks in a hundred have unusual encodings, and are searched one by one.

use super::block_probe::{BlockProbe, FoundInterval, Target};
use ltt_read::source::prefetch;

use crate::history::block::Block;
use crate::history::block::column_chunk::{ColumnChunk, EndedInterval, Position};
use crate::tree::Quark;

/// The number of column chunks in a batch.
const BATCH: usize = 64;

/// The size of a cache line, in bytes.
const CACHE_LINE: usize = 64;

/// Column chunks to search, one after the other.
#[derive(Debug, Clone, Copy)]
struct Batch {
    targets: [Target; BATCH],
    count: usize,
}

impl Batch {
    const EMPTY: Batch = Batch { targets: [Target::NONE; BATCH], count: 0 };
}

/// A search of the column chunks of a block for one time.
#[derive(Debug)]
pub(crate) struct BlockAt<'d> {
    block: Block<'d>,
    t: i64,
    /// The probe for each tag of the block; `None` for a damaged tag.
    probes: Vec<Option<BlockProbe>>,
    /// The number of the next chunk, if chunks are taken in order.
    rank: u32,
    /// The batch that is searched, and the next one.
    batches: [Batch; 2],
    /// The first quark of the last batch, if chunks are taken in order.
    from: Option<usize>,
    /// For each tag, the result of [`BlockProbe::prefetch_places`].
    prefetch: Vec<[u64; 2]>,
}

impl<'d> BlockAt<'d> {
    /// Prepares the search for a time in ns, which is not before the block's base time.
    pub(crate) fn new(block: Block<'d>, t: i64) -> BlockAt<'d> {
        let offset = t.wrapping_sub(block.head.base) as u64;
        let probe = |tag| Some(BlockProbe::new(block.chunk_encoding(tag)?, offset));
        let probes: Vec<Option<BlockProbe>> = (0..block.head.tags).map(probe).collect();
        // Prefetching assumes that the intervals of a chunk are of similar length.
        let elapsed = u128::from(offset) << 16;
        let elapsed = elapsed.checked_div(block.head.span().into()).unwrap_or(0);
        let elapsed = elapsed.min(1 << 16) as u64;
        let places = |probe: &Option<BlockProbe>| {
            probe.as_ref().map_or([0; 2], |probe| probe.prefetch_places(elapsed))
        };
        let prefetch = probes.iter().map(places).collect();
        BlockAt { block, t, probes, rank: 0, batches: [Batch::EMPTY; 2], from: None, prefetch }
    }

    /// Prepares the search for the first time of a block, which lies in the first interval of
    /// each chunk.
    pub(crate) fn first(block: Block<'d>) -> BlockAt<'d> {
        BlockAt::new(block, block.head.base)
    }

    /// Calls `each` with the intervals of those of the 64 attributes from `first` on that have
    /// a chunk. The first call must be for 0, and each following one for the next 64. Returns
    /// `false` if the block is damaged.
    #[inline(always)]
    pub(crate) fn for_64_from(&mut self, first: usize, each: impl FnMut(FoundInterval)) -> bool {
        let batch = first / 64 % 2;
        if self.from != Some(first) {
            self.fill_64(batch, first);
        }
        // The bytes of the next batch arrive while this one is searched.
        self.fill_64(1 - batch, first + 64);
        self.search(batch, each)
    }

    #[inline(always)]
    fn fill_64(&mut self, batch: usize, first: usize) {
        let known = first < self.block.head.quarks as usize;
        let mut present = if known { self.block.present(first / 64) } else { 0 };
        self.batches[batch].count = 0;
        while present != 0 {
            self.push(batch, first as u32 + present.trailing_zeros(), self.rank);
            present &= present - 1;
            self.rank += 1;
        }
        self.from = Some(first);
    }

    /// Calls `each` with the intervals of those of some attributes that have a chunk. Returns
    /// `false` if the block is damaged.
    #[inline(never)]
    pub(crate) fn for_each_of(
        &mut self,
        quarks: &[Quark],
        mut each: impl FnMut(FoundInterval),
    ) -> bool {
        let mut parts = quarks.chunks(BATCH);
        let mut batch = 0;
        self.fill(batch, parts.next().unwrap_or_default());
        for _ in 0..quarks.len().div_ceil(BATCH) {
            self.fill(1 - batch, parts.next().unwrap_or_default());
            if !self.search(batch, &mut each) {
                return false;
            }
            batch = 1 - batch;
        }
        true
    }

    fn fill(&mut self, batch: usize, quarks: &[Quark]) {
        self.batches[batch].count = 0;
        for quark in quarks {
            if let Some(rank) = self.block.rank(quark.index()) {
                self.push(batch, quark.0, rank);
            }
        }
        self.from = None;
    }

    /// Adds a chunk to a batch, and prefetches the bytes that its search will probably read.
    #[inline(always)]
    fn push(&mut self, batch: usize, quark: u32, rank: u32) {
        let BlockAt { block, batches, prefetch: places, .. } = self;
        let record = block.record(rank);
        let body = block.layout.bodies.saturating_add(record.body as usize);
        let body = body.min(block.data.len());
        let (tag, count, lead) = (record.tag, record.count, record.lead);
        let [first, second] = places.get(tag as usize).copied().unwrap_or_default();
        let place = |per_entry| body + ((u64::from(count) * per_entry) >> 16) as usize;
        let (first, second) = (place(first), place(second));
        for (place, lines) in [(body, 0), (first, 0), (first, 1), (first, 2), (second, 0)] {
            prefetch(block.data, place.wrapping_add(lines * CACHE_LINE));
        }
        let batch = &mut batches[batch];
        batch.targets[batch.count % BATCH] = Target { quark, rank, tag, count, body, lead };
        // A chunk without ended intervals has nothing to find.
        batch.count += usize::from(count > 0);
    }

    #[inline(always)]
    fn search(&self, batch: usize, mut each: impl FnMut(FoundInterval)) -> bool {
        let BlockAt { block, t, probes, batches, .. } = self;
        let batch = &batches[batch];
        for target in &batch.targets[..batch.count.min(BATCH)] {
            let Some(Some(probe)) = probes.get(target.tag as usize) else { return false };
            if let Some(found) = probe.find(block, target) {
                each(found);
                continue;
            }
            let Some(chunk) = chunk(block, probe, target) else { return false };
            if let Some(EndedInterval { index, start, end }) = chunk.find(*t) {
                let raw = chunk.raw(Position::Ended(index));
                each(FoundInterval { quark: target.quark, start, end, raw });
            }
        }
        true
    }
}

/// Returns a view of the whole chunk, for the general search.
#[inline(never)]
fn chunk<'d>(block: &Block<'d>, probe: &BlockProbe, target: &Target) -> Option<ColumnChunk<'d>> {
    block.chunk_by_rank(target.rank, |_| Some(probe.encoding))
}
