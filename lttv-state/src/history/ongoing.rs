//! What all attributes are now, and what they were since the last block.

use hashbrown::HashMap;

use super::bits::BitWriter;
use super::block::{self, BlockHead};
use super::code::{Code, Kind, Pool};
use super::lasting::Entry;
use super::names;
use super::run::{self, Record, Span, Widths};
use crate::tree::{Quark, Tree};

/// An attribute's present state.
#[derive(Debug, Clone, Copy)]
struct Open {
    start: i64,
    bits: u64,
    /// Where its run in the next block begins, if it was touched.
    run_start: i64,
    /// Intervals in the log.
    count: u32,
    kind: Kind,
    /// Changed since the last block.
    touched: bool,
}

/// An interval that has ended. It began where the one before it ended.
#[derive(Debug, Clone, Copy)]
struct Ended {
    end: i64,
    bits: u64,
    quark: u32,
    kind: Kind,
}

/// The present state of all attributes, and a log of what has ended since the
/// last block.
#[derive(Debug)]
pub(super) struct Ongoing {
    history_start: i64,
    open: Vec<Open>,
    log: Vec<Ended>,
    /// A bit per attribute: touched since the last block.
    touched: Vec<u64>,
    /// What a log sorted by attributes is put into: kept for the next time.
    ends: Vec<i64>,
    codes: Vec<Code>,
}

impl Ongoing {
    pub(super) fn new(history_start: i64) -> Ongoing {
        Ongoing {
            history_start,
            open: Vec::new(),
            log: Vec::new(),
            touched: Vec::new(),
            ends: Vec::new(),
            codes: Vec::new(),
        }
    }

    /// Intervals that wait for the next block.
    pub(super) fn waiting(&self) -> usize {
        self.log.len()
    }

    pub(super) fn is_untouched(&self) -> bool {
        self.touched.iter().all(|word| *word == 0)
    }

    /// The touched attributes, as bits.
    pub(super) fn touched(&self) -> &[u64] {
        &self.touched
    }

    /// Makes room for attributes up to a number; they were null all the time.
    pub(super) fn grow(&mut self, quarks: usize) {
        let (start, kind) = (self.history_start, Kind::Null);
        let open = Open { start, bits: 0, run_start: start, count: 0, kind, touched: false };
        self.open.resize(quarks, open);
        self.touched.resize(quarks.div_ceil(64), 0);
    }

    /// What an attribute is now, and since when.
    pub(super) fn get(&self, quark: Quark) -> Option<(i64, Code)> {
        let open = self.open.get(quark.index())?;
        Some((open.start, Code { kind: open.kind, bits: open.bits }))
    }

    /// What all attributes are now, as intervals that go on up to `end`.
    pub(super) fn entries(&self, end: i64) -> impl Iterator<Item = Entry> {
        (0..).map(Quark).zip(&self.open).map(move |(quark, open)| {
            let code = Code { kind: open.kind, bits: open.bits };
            Entry { quark, start: open.start, end, code }
        })
    }

    /// Sets what an attribute was up to the last block, when growing on.
    pub(super) fn restore(&mut self, quark: Quark, start: i64, code: Code) {
        if let Some(open) = self.open.get_mut(quark.index()) {
            (open.start, open.kind, open.bits) = (start, code.kind, code.bits);
        }
    }

    /// An attribute changes at `t`, which is not before any change so far.
    /// Returns the interval that this ends; a value that never lasted ends
    /// without one. The outer None says that there is no such attribute.
    #[inline]
    pub(super) fn set(&mut self, quark: Quark, t: i64, code: Code) -> Option<Option<Entry>> {
        let open = self.open.get_mut(quark.index())?;
        let before = Code { kind: open.kind, bits: open.bits };
        if before == code {
            return Some(None);
        }
        if !open.touched {
            open.touched = true;
            open.run_start = open.start;
            self.touched[quark.index() / 64] |= 1 << (quark.index() % 64);
        }
        (open.kind, open.bits) = (code.kind, code.bits);
        let start = open.start;
        if start >= t {
            return Some(None);
        }
        open.start = t;
        open.count += 1;
        let Code { kind, bits } = before;
        self.log.push(Ended { end: t - 1, bits, quark: quark.0, kind });
        Some(Some(Entry { quark, start, end: t - 1, code: before }))
    }

    /// Appends a block with all since the last one, and forgets that. `first_ends` gets
    /// the first interval of each attribute that has some in it.
    pub(super) fn write_block(
        &mut self,
        out: &mut Vec<u8>,
        tree: &Tree,
        pool: &Pool,
        mut head: BlockHead,
        mut first_ends: impl FnMut(Entry),
    ) -> BlockHead {
        let quarks = self.touched_quarks();
        self.sort_log(&quarks);

        // The head is written again when all is known.
        let head_at = out.len();
        head.write(out);
        let names_at = out.len();
        names::write(out, tree, head.first_quark as usize);
        head.name_bytes = (out.len() - names_at) as u64;
        (head.texts, head.text_bytes) = write_texts(out, pool, head.first_text);
        head.quarks = tree.len() as u32;
        block::write_present(out, &self.touched, tree.len());

        let mut bodies = Vec::new();
        let mut records = Vec::with_capacity(quarks.len());
        let mut tags = Tags::default();
        let span = Span { base: head.base, len: head.span() };
        let mut at = 0;
        for quark in &quarks {
            let open = &mut self.open[*quark as usize];
            // `sort_log` has counted up to the end of the run.
            let count = open.count as usize - at;
            self.codes[at + count] = Code { kind: open.kind, bits: open.bits };
            let (ends, codes) = (&self.ends[at..at + count], &self.codes[at..=at + count]);
            if let (Some(end), Some(code)) = (ends.first(), codes.first()) {
                let (quark, start) = (Quark(*quark), open.run_start);
                first_ends(Entry { quark, start, end: *end, code: *code });
            }
            let record = run::write(&mut bodies, span, open.run_start, ends, codes);
            records.push(Record { tag: tags.place(record.tag), ..record });
            at += count + 1;
            (open.count, open.touched) = (0, false);
        }
        tags.all.iter().for_each(|tag| out.extend_from_slice(&tag.to_le_bytes()));
        head.widths = Widths::of(&records);
        head.widths.write(out, &records);
        out.extend_from_slice(&bodies);

        head.runs = records.len() as u32;
        head.tags = tags.all.len() as u32;
        head.body_bytes = bodies.len() as u64;
        head.intervals = self.log.len() as u64;
        let mut bytes = Vec::with_capacity(BlockHead::LEN);
        head.write(&mut bytes);
        out[head_at..head_at + BlockHead::LEN].copy_from_slice(&bytes);
        self.log.clear();
        self.touched.fill(0);
        head
    }

    fn touched_quarks(&self) -> Vec<u32> {
        let mut quarks = Vec::new();
        for (at, word) in self.touched.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                quarks.push(at as u32 * 64 + left.trailing_zeros());
                left &= left - 1;
            }
        }
        quarks
    }

    /// Puts the log into `ends` and `codes`, by attributes, each with a free
    /// place behind it. Afterwards each count is where that place is.
    fn sort_log(&mut self, quarks: &[u32]) {
        let mut at = 0;
        for quark in quarks {
            let count = &mut self.open[*quark as usize].count;
            at += std::mem::replace(count, at) + 1;
        }
        self.ends.resize(at as usize, 0);
        self.codes.resize(at as usize, Code::NULL);
        for ended in &self.log {
            let place = &mut self.open[ended.quark as usize].count;
            self.ends[*place as usize] = ended.end;
            self.codes[*place as usize] = Code { kind: ended.kind, bits: ended.bits };
            *place += 1;
        }
    }
}

/// The tags of a block's runs, each once.
#[derive(Debug, Default)]
struct Tags {
    all: Vec<u32>,
    places: HashMap<u32, u32>,
}

impl Tags {
    fn place(&mut self, tag: u32) -> u32 {
        *self.places.entry(tag).or_insert_with(|| {
            self.all.push(tag);
            self.all.len() as u32 - 1
        })
    }
}

fn write_texts(out: &mut Vec<u8>, pool: &Pool, first: u32) -> (u32, u64) {
    let texts = || (u64::from(first)..pool.len() as u64).filter_map(|id| pool.get(id));
    let total: u64 = texts().map(|text| text.len() as u64).sum();
    let mut ends = BitWriter::new(out);
    let mut end = 0;
    for text in texts() {
        end += text.len() as u64;
        ends.put(end, block::text_width(total));
    }
    ends.finish();
    texts().for_each(|text| out.extend_from_slice(text));
    (texts().count() as u32, total)
}
