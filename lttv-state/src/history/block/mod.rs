//! Blocks: the encoding of all intervals that ended in a span of time.
//!
//! A block contains a column chunk for each attribute that changed in its time, and the
//! names and texts that first occurred in it. A block never refers to later ones.
//!
//! ```text
//! head        fixed size: see `BlockHead`
//! names       of the attributes `first_quark..quarks`: see `names`
//! texts       end offset of each, in as many bits as `text_bytes` needs, at least 1;
//!             padding to a whole byte; the bytes of all
//! presence    for each 64 attributes: u64, a bit for each that has a column chunk;
//!             u32, number of column chunks of earlier attributes
//! tags        u32 for each encoding that occurs: see `column_chunk`
//! records     one for each column chunk, in the order of quarks: see `column_chunk`
//! bodies      of the column chunks, in the same order
//! ```
//! Each part starts at a whole byte.
//!
//! This is the lowest layer of histories: it works on bytes in memory and uses no other
//! layer.

pub(crate) mod bits;
pub(crate) mod column_chunk;
pub(crate) mod end_times;
pub(crate) mod names;
pub(crate) mod raw_value;
pub(crate) mod summary;
pub(crate) mod symbols;

use std::ops::Range;

use bits::{ByteReader, width_of, word};
use column_chunk::{ChunkEncoding, ColumnChunk, Record, RecordLayout, RecordWidths};

/// The size of the presence bits of 64 attributes with their rank, in bytes.
const PRESENCE_STRIDE: usize = 12;

/// Returns the width of the end offset of a text, in bits. It is at least 1, so that a
/// damaged block cannot contain more texts than bits.
pub(crate) fn text_width(text_bytes: u64) -> u32 {
    width_of(text_bytes).max(1)
}

/// The head of a block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BlockHead {
    /// The horizon of the previous block, or the start of the history, in ns.
    pub(crate) base: i64,
    /// The time up to which all changes are in this block or in earlier ones, in ns. All
    /// intervals in the block end before it.
    pub(crate) horizon: i64,
    pub(crate) intervals: u64,
    /// The numbers of attributes and of texts in earlier blocks.
    pub(crate) first_quark: u32,
    pub(crate) first_text: u32,
    /// The number of attributes up to the end of this block.
    pub(crate) quarks: u32,
    /// The number of texts in this block.
    pub(crate) texts: u32,
    pub(crate) chunks: u32,
    pub(crate) tags: u32,
    pub(crate) widths: RecordWidths,
    pub(crate) name_bytes: u64,
    pub(crate) text_bytes: u64,
    pub(crate) body_bytes: u64,
}

impl BlockHead {
    pub(crate) const LEN: usize = 76;

    /// Returns the length of the block's time range, in ns.
    #[inline(always)]
    pub(crate) fn span(&self) -> u64 {
        self.horizon.wrapping_sub(self.base) as u64
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let BlockHead { base, horizon, intervals, .. } = self;
        for time in [base, horizon] {
            out.extend_from_slice(&time.to_le_bytes());
        }
        out.extend_from_slice(&intervals.to_le_bytes());
        for number in
            [self.first_quark, self.first_text, self.quarks, self.texts, self.chunks, self.tags]
        {
            out.extend_from_slice(&number.to_le_bytes());
        }
        let RecordWidths { count, tag, lead, body } = self.widths;
        out.extend_from_slice(&[count, tag, lead, body]);
        for number in [self.name_bytes, self.text_bytes, self.body_bytes] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    pub(crate) fn read(bytes: &mut ByteReader<'_>) -> BlockHead {
        BlockHead {
            base: bytes.u64() as i64,
            horizon: bytes.u64() as i64,
            intervals: bytes.u64(),
            first_quark: bytes.u32(),
            first_text: bytes.u32(),
            quarks: bytes.u32(),
            texts: bytes.u32(),
            chunks: bytes.u32(),
            tags: bytes.u32(),
            widths: {
                let mut next = || bytes.u8();
                RecordWidths { count: next(), tag: next(), lead: next(), body: next() }
            },
            name_bytes: bytes.u64(),
            text_bytes: bytes.u64(),
            body_bytes: bytes.u64(),
        }
    }
}

/// The byte offsets of the parts of a block.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) names: Range<usize>,
    text_width: u32,
    text_ends: usize,
    texts: Range<usize>,
    present: usize,
    tags: usize,
    records: usize,
    record: RecordLayout,
    pub(crate) bodies: usize,
}

impl Layout {
    /// Computes the layout of a block of `len` bytes. `None` if its parts do not fill it
    /// exactly.
    pub(crate) fn of(head: &BlockHead, len: usize) -> Option<Layout> {
        let bits = |count: u32, width: u32| (u64::from(count) * u64::from(width)).div_ceil(8);
        if head.first_quark > head.quarks {
            return None;
        }
        let record = head.widths.layout()?;
        let text_width = text_width(head.text_bytes);
        let words = u64::from(head.quarks).div_ceil(64);
        let parts = [
            head.name_bytes,
            bits(head.texts, text_width),
            head.text_bytes,
            words * PRESENCE_STRIDE as u64,
            u64::from(head.tags) * 4,
            u64::from(head.chunks) * record.len as u64,
            head.body_bytes,
        ];
        let mut at = BlockHead::LEN as u64;
        let mut starts = [0; 8];
        for (start, part) in starts.iter_mut().zip(parts) {
            *start = usize::try_from(at).ok()?;
            at = at.checked_add(part)?;
        }
        let [names, text_ends, texts, present, tags, records, bodies, _] = starts;
        (at == len as u64).then_some(Layout {
            names: names..text_ends,
            text_width,
            text_ends,
            texts: texts..present,
            present,
            tags,
            records,
            record,
            bodies,
        })
    }
}

/// A view of a block: its bytes, head and layout.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'d> {
    pub(crate) head: &'d BlockHead,
    pub(crate) layout: &'d Layout,
    pub(crate) data: &'d [u8],
}

impl<'d> Block<'d> {
    /// Returns the column chunk of an attribute. The outer `None` means that the attribute
    /// has none in this block; the inner `None`, that the block is damaged.
    #[inline(always)]
    pub(crate) fn chunk(&self, quark: usize) -> Option<Option<ColumnChunk<'d>>> {
        Some(self.chunk_by_rank(self.rank(quark)?, |tag| self.chunk_encoding(tag)))
    }

    /// Returns the number of column chunks of earlier attributes, which is the number of
    /// this attribute's own chunk. `None` if it has none in this block.
    #[inline(always)]
    pub(crate) fn rank(&self, quark: usize) -> Option<u32> {
        if quark >= self.head.quarks as usize {
            return None;
        }
        let here = self.present(quark / 64);
        if here >> (quark % 64) & 1 == 0 {
            return None;
        }
        let rank = word(self.data, self.layout.present + quark / 64 * PRESENCE_STRIDE + 8) as u32;
        Some(rank.wrapping_add((here & bits::mask((quark % 64) as u32)).count_ones()))
    }

    /// Returns the presence bits of the 64 attributes from quark `at * 64` on.
    #[inline(always)]
    pub(crate) fn present(&self, at: usize) -> u64 {
        word(self.data, self.layout.present + at * PRESENCE_STRIDE)
    }

    /// Decodes the tag with an index in the block's table. `None` if the block is damaged.
    #[inline(always)]
    pub(crate) fn chunk_encoding(&self, index: u32) -> Option<ChunkEncoding> {
        if index >= self.head.tags {
            return None;
        }
        let tag = word(self.data, self.layout.tags + index as usize * 4) as u32;
        ChunkEncoding::of(tag, self.head.span())
    }

    /// Returns the column chunk with a number. `None` if the block is damaged.
    #[inline(always)]
    pub(crate) fn chunk_by_rank(
        &self,
        rank: u32,
        encoding: impl FnOnce(u32) -> Option<ChunkEncoding>,
    ) -> Option<ColumnChunk<'d>> {
        let Block { head, layout, data } = *self;
        let record = self.record(rank);
        let body = layout.bodies.checked_add(usize::try_from(record.body).ok()?)?;
        ColumnChunk::read(data, body, head.base, &encoding(record.tag)?, &record)
    }

    /// Reads the record of the column chunk with a number.
    #[inline(always)]
    pub(crate) fn record(&self, rank: u32) -> Record {
        let Layout { record, records, .. } = self.layout;
        record.read(self.data, records + rank as usize * record.len)
    }

    /// Returns a sequential reader of all column chunks, which decodes each tag only once.
    pub(crate) fn all_chunks(&self) -> AllChunks<'d> {
        let encodings = (0..self.head.tags).map(|index| self.chunk_encoding(index)).collect();
        AllChunks { block: *self, encodings, rank: 0 }
    }

    /// Returns a text or blob by its index among those of this block. `None` if there is
    /// none, or if the block is damaged.
    pub(crate) fn text(&self, index: u32) -> Option<&'d [u8]> {
        if index >= self.head.texts {
            return None;
        }
        let width = self.layout.text_width;
        let end = |index: u32| {
            let at = self.layout.text_ends * 8 + index as usize * width as usize;
            bits::get(self.data, at, width) as usize
        };
        let start = index.checked_sub(1).map_or(0, end);
        self.data.get(self.layout.texts.clone())?.get(start..end(index))
    }
}

/// A sequential reader of the column chunks of a block.
#[derive(Debug)]
pub(crate) struct AllChunks<'d> {
    block: Block<'d>,
    encodings: Vec<Option<ChunkEncoding>>,
    rank: u32,
}

impl<'d> AllChunks<'d> {
    /// Calls `each` with the column chunks of the 64 attributes from `first` on, in the
    /// order of quarks. The first call must be for 0, and each following one for the next
    /// 64. Returns `false` if the block is damaged.
    #[inline(always)]
    pub(crate) fn for_64_from(
        &mut self,
        first: usize,
        mut each: impl FnMut(usize, &ColumnChunk<'d>),
    ) -> bool {
        let known = first < self.block.head.quarks as usize;
        let mut present = if known { self.block.present(first / 64) } else { 0 };
        while present != 0 {
            let quark = first + present.trailing_zeros() as usize;
            present &= present - 1;
            let encoding = |index: u32| *self.encodings.get(index as usize)?;
            let Some(chunk) = self.block.chunk_by_rank(self.rank, encoding) else { return false };
            self.rank += 1;
            each(quark, &chunk);
        }
        true
    }
}

/// Appends the presence bits of all attributes with their ranks.
pub(crate) fn write_presence(out: &mut Vec<u8>, present: &[u64], quarks: usize) {
    let words = present.iter().copied().chain(std::iter::repeat(0));
    let mut rank = 0u32;
    for word in words.take(quarks.div_ceil(64)) {
        out.extend_from_slice(&word.to_le_bytes());
        out.extend_from_slice(&rank.to_le_bytes());
        rank += word.count_ones();
    }
}
