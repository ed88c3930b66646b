//! Blocks: all that happened between two times.
//!
//! A block holds the intervals that ended in a span of time, a run per attribute
//! that changed, and the names and texts that are new in it. Nothing in a block
//! depends on later ones.
//!
//! ```text
//! head        fixed size, see `BlockHead`
//! names       of the attributes `first_quark..quarks`: see `names`
//! texts       where each one ends, in as many bits as `text_bytes` needs;
//!             then the bytes of all
//! present     for each 64 attributes: u64, a bit each, do they have runs here?;
//!             u32, how many runs are before these?
//! tags        u32 each: see `run`
//! records     of each run: see `run`
//! bodies      of each run
//! ```
//! Each part begins at a whole byte.

use std::ops::Range;

use super::bits::{self, Bytes, width_of, word};
use super::run::{Class, Record, RecordLayout, Run, Widths};

/// Bytes for which of 64 attributes have runs.
const PRESENT: usize = 12;

/// Bits for where a text ends; never none, so that there cannot be more texts
/// than bits.
pub(super) fn text_width(text_bytes: u64) -> u32 {
    width_of(text_bytes).max(1)
}

/// What is at the front of a block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct BlockHead {
    /// The horizon of the block before, or the start of the history.
    pub(super) base: i64,
    /// All changes up to this time are in this block or earlier ones; all
    /// intervals in it end before.
    pub(super) horizon: i64,
    pub(super) intervals: u64,
    /// Attributes and texts before this block.
    pub(super) first_quark: u32,
    pub(super) first_text: u32,
    /// Attributes up to the end of this block.
    pub(super) quarks: u32,
    /// Texts in this block.
    pub(super) texts: u32,
    pub(super) runs: u32,
    pub(super) tags: u32,
    pub(super) widths: Widths,
    pub(super) name_bytes: u64,
    pub(super) text_bytes: u64,
    pub(super) body_bytes: u64,
}

impl BlockHead {
    pub(super) const LEN: usize = 76;

    /// How long a time it is about, in ns.
    #[inline(always)]
    pub(super) fn span(&self) -> u64 {
        self.horizon.wrapping_sub(self.base) as u64
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let BlockHead { base, horizon, intervals, .. } = self;
        for time in [base, horizon] {
            out.extend_from_slice(&time.to_le_bytes());
        }
        out.extend_from_slice(&intervals.to_le_bytes());
        for number in
            [self.first_quark, self.first_text, self.quarks, self.texts, self.runs, self.tags]
        {
            out.extend_from_slice(&number.to_le_bytes());
        }
        let Widths { count, tag, back, body } = self.widths;
        out.extend_from_slice(&[count, tag, back, body]);
        for number in [self.name_bytes, self.text_bytes, self.body_bytes] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    pub(super) fn read(bytes: &mut Bytes<'_>) -> BlockHead {
        BlockHead {
            base: bytes.u64() as i64,
            horizon: bytes.u64() as i64,
            intervals: bytes.u64(),
            first_quark: bytes.u32(),
            first_text: bytes.u32(),
            quarks: bytes.u32(),
            texts: bytes.u32(),
            runs: bytes.u32(),
            tags: bytes.u32(),
            widths: {
                let mut next = || bytes.u8();
                Widths { count: next(), tag: next(), back: next(), body: next() }
            },
            name_bytes: bytes.u64(),
            text_bytes: bytes.u64(),
            body_bytes: bytes.u64(),
        }
    }
}

/// Where the parts of a block are in its bytes.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) names: Range<usize>,
    text_width: u32,
    text_ends: usize,
    texts: Range<usize>,
    present: usize,
    tags: usize,
    records: usize,
    record: RecordLayout,
    pub(super) bodies: usize,
}

impl Layout {
    /// None if the parts do not fill `len` bytes exactly.
    pub(super) fn of(head: &BlockHead, len: usize) -> Option<Layout> {
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
            words * PRESENT as u64,
            u64::from(head.tags) * 4,
            u64::from(head.runs) * record.len as u64,
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

/// A block's bytes, and what is known of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'d> {
    pub(super) head: &'d BlockHead,
    pub(super) layout: &'d Layout,
    pub(super) data: &'d [u8],
}

impl<'d> Block<'d> {
    /// The run of an attribute. The outer None says that it has none here, the
    /// inner that the bytes are none.
    #[inline(always)]
    pub(super) fn run(&self, quark: usize) -> Option<Option<Run<'d>>> {
        Some(self.run_of_rank(self.rank(quark)?, |tag| self.class(tag)))
    }

    /// How many runs are before that of an attribute. None if it has none here.
    #[inline(always)]
    pub(super) fn rank(&self, quark: usize) -> Option<u32> {
        if quark >= self.head.quarks as usize {
            return None;
        }
        let here = self.present(quark / 64);
        if here >> (quark % 64) & 1 == 0 {
            return None;
        }
        let rank = word(self.data, self.layout.present + quark / 64 * PRESENT + 8) as u32;
        Some(rank.wrapping_add((here & bits::mask((quark % 64) as u32)).count_ones()))
    }

    /// Which of the 64 attributes of a word have runs.
    #[inline(always)]
    pub(super) fn present(&self, at: usize) -> u64 {
        word(self.data, self.layout.present + at * PRESENT)
    }

    /// The class of runs with a tag, by its place in the table.
    #[inline(always)]
    pub(super) fn class(&self, place: u32) -> Option<Class> {
        if place >= self.head.tags {
            return None;
        }
        let tag = word(self.data, self.layout.tags + place as usize * 4) as u32;
        Class::of(tag, self.head.span())
    }

    /// A run, by how many are before it. None if the bytes are none.
    #[inline(always)]
    pub(super) fn run_of_rank(
        &self,
        rank: u32,
        class: impl FnOnce(u32) -> Option<Class>,
    ) -> Option<Run<'d>> {
        let Block { head, layout, data } = *self;
        let record = self.record(rank);
        let body = layout.bodies.checked_add(usize::try_from(record.body).ok()?)?;
        Run::read(data, body, head.base, &class(record.tag)?, &record)
    }

    /// The record of a run, by how many are before it.
    #[inline(always)]
    pub(super) fn record(&self, rank: u32) -> Record {
        let Layout { record, records, .. } = self.layout;
        record.read(self.data, records + rank as usize * record.len)
    }

    /// All runs: their classes are found out once.
    pub(super) fn all_runs(&self) -> AllRuns<'d> {
        let classes = (0..self.head.tags).map(|place| self.class(place)).collect();
        AllRuns { block: *self, classes, rank: 0 }
    }

    /// A text or blob, by its place among those of this block.
    pub(super) fn text(&self, place: u32) -> Option<&'d [u8]> {
        if place >= self.head.texts {
            return None;
        }
        let width = self.layout.text_width;
        let end = |place: u32| {
            let at = self.layout.text_ends * 8 + place as usize * width as usize;
            bits::get(self.data, at, width) as usize
        };
        let start = place.checked_sub(1).map_or(0, end);
        self.data.get(self.layout.texts.clone())?.get(start..end(place))
    }
}

/// The runs of a block, for one who asks for many.
#[derive(Debug)]
pub(super) struct AllRuns<'d> {
    block: Block<'d>,
    classes: Vec<Option<Class>>,
    rank: u32,
}

impl<'d> AllRuns<'d> {
    /// Gives the runs of the 64 attributes from `first` on, by attribute: for 0 first,
    /// and then for those behind. False if some have none, by their bytes.
    #[inline(always)]
    pub(super) fn of_64(&mut self, first: usize, mut each: impl FnMut(usize, &Run<'d>)) -> bool {
        let known = first < self.block.head.quarks as usize;
        let mut present = if known { self.block.present(first / 64) } else { 0 };
        while present != 0 {
            let quark = first + present.trailing_zeros() as usize;
            present &= present - 1;
            let class = |place: u32| *self.classes.get(place as usize)?;
            let Some(run) = self.block.run_of_rank(self.rank, class) else { return false };
            self.rank += 1;
            each(quark, &run);
        }
        true
    }
}

/// Appends the bits that say which attributes have runs, and their ranks.
pub(super) fn write_present(out: &mut Vec<u8>, present: &[u64], quarks: usize) {
    let words = present.iter().copied().chain(std::iter::repeat(0));
    let mut rank = 0u32;
    for word in words.take(quarks.div_ceil(64)) {
        out.extend_from_slice(&word.to_le_bytes());
        out.extend_from_slice(&rank.to_le_bytes());
        rank += word.count_ones();
    }
}
