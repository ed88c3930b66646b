//! The current state of all attributes, and the intervals that ended since the last block.

use hashbrown::HashMap;

use crate::history::block::bits::BitWriter;
use crate::history::block::column_chunk::{self, BlockTimes, Record, RecordWidths};
use crate::history::block::names;
use crate::history::block::raw_value::{Kind, RawInterval, RawValue, TextPool};
use crate::history::block::{self, BlockHead};
use crate::tree::{Quark, Tree};

/// The current state of an attribute.
#[derive(Debug, Clone, Copy)]
struct AttributeState {
    start: i64,
    bits: u64,
    /// The start of its column chunk in the next block, in ns, if it has changed.
    chunk_start: i64,
    /// The number of its intervals in the log.
    count: u32,
    kind: Kind,
    /// `true` if the value has changed since the last block.
    changed: bool,
}

/// An interval that has ended. It starts where the previous one of the attribute ended.
#[derive(Debug, Clone, Copy)]
struct LogEntry {
    end: i64,
    bits: u64,
    quark: u32,
    kind: Kind,
}

/// The current state of all attributes, and a log of the intervals that ended since the
/// last block.
#[derive(Debug)]
pub(crate) struct CurrentState {
    history_start: i64,
    /// The number of intervals in a block, if it does not depend on that of attributes.
    block_intervals: Option<u32>,
    /// The number of logged intervals that make a block.
    limit: usize,
    states: Vec<AttributeState>,
    log: Vec<LogEntry>,
    /// A bit for each attribute that changed since the last block.
    changed: Vec<u64>,
    /// Buffers for the log sorted by attribute, kept to be reused.
    ends: Vec<i64>,
    values: Vec<RawValue>,
}

impl CurrentState {
    pub(crate) fn new(history_start: i64, block_intervals: Option<u32>) -> CurrentState {
        CurrentState {
            history_start,
            block_intervals,
            limit: limit(block_intervals, 0),
            states: Vec::new(),
            log: Vec::new(),
            changed: Vec::new(),
            ends: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Returns `true` if enough intervals for a block have ended.
    #[inline]
    pub(crate) fn fills_a_block(&self) -> bool {
        self.log.len() >= self.limit
    }

    pub(crate) fn is_unchanged(&self) -> bool {
        self.changed.iter().all(|word| *word == 0)
    }

    /// Returns a bit for each attribute that changed since the last block.
    pub(crate) fn changed(&self) -> &[u64] {
        &self.changed
    }

    /// Adds attributes up to a number. They have been null since the start of the history.
    pub(crate) fn grow(&mut self, quarks: usize) {
        let (start, kind) = (self.history_start, Kind::Null);
        let state =
            AttributeState { start, bits: 0, chunk_start: start, count: 0, kind, changed: false };
        self.states.resize(quarks, state);
        self.changed.resize(quarks.div_ceil(64), 0);
        self.limit = limit(self.block_intervals, quarks);
    }

    /// Returns the start and the value of the current state of an attribute.
    pub(crate) fn get(&self, quark: Quark) -> Option<(i64, RawValue)> {
        let state = self.states.get(quark.index())?;
        Some((state.start, RawValue { kind: state.kind, bits: state.bits }))
    }

    /// Iterates over the current states of all attributes, as intervals that end at `end`.
    pub(crate) fn entries(&self, end: i64) -> impl Iterator<Item = RawInterval> {
        (0..).map(Quark).zip(&self.states).map(move |(quark, state)| {
            let raw = RawValue { kind: state.kind, bits: state.bits };
            RawInterval { quark, start: state.start, end, raw }
        })
    }

    /// Sets the state of an attribute at the end of the last block, when a history is
    /// resumed.
    pub(crate) fn restore(&mut self, quark: Quark, start: i64, raw: RawValue) {
        if let Some(state) = self.states.get_mut(quark.index()) {
            (state.start, state.kind, state.bits) = (start, raw.kind, raw.bits);
        }
    }

    /// Changes an attribute at `t`, which is not before any earlier change. Returns the
    /// interval that ends by it; the inner `None` means that the value did not change, or
    /// had lasted no time. The outer `None` means that the attribute does not exist.
    #[inline]
    pub(crate) fn set(
        &mut self,
        quark: Quark,
        t: i64,
        raw: RawValue,
    ) -> Option<Option<RawInterval>> {
        let state = self.states.get_mut(quark.index())?;
        let before = RawValue { kind: state.kind, bits: state.bits };
        if before == raw {
            return Some(None);
        }
        if !state.changed {
            state.changed = true;
            state.chunk_start = state.start;
            self.changed[quark.index() / 64] |= 1 << (quark.index() % 64);
        }
        (state.kind, state.bits) = (raw.kind, raw.bits);
        let start = state.start;
        if start >= t {
            return Some(None);
        }
        state.start = t;
        state.count += 1;
        let RawValue { kind, bits } = before;
        self.log.push(LogEntry { end: t - 1, bits, quark: quark.0, kind });
        Some(Some(RawInterval { quark, start, end: t - 1, raw: before }))
    }

    /// Appends a block of all that happened since the last one, and clears the log. Calls
    /// `first_intervals` with the first interval of each attribute for which some ended in
    /// the block.
    pub(crate) fn write_block(
        &mut self,
        out: &mut Vec<u8>,
        tree: &Tree,
        pool: &TextPool,
        mut head: BlockHead,
        mut first_intervals: impl FnMut(RawInterval),
    ) -> BlockHead {
        let quarks = self.changed_quarks();
        self.sort_log(&quarks);

        // The head is overwritten when all of its fields are known.
        let head_at = out.len();
        head.write(out);
        let names_at = out.len();
        names::write(out, tree, head.first_quark as usize);
        head.name_bytes = (out.len() - names_at) as u64;
        (head.texts, head.text_bytes) = write_texts(out, pool, head.first_text);
        head.quarks = tree.len() as u32;
        block::write_presence(out, &self.changed, tree.len());

        let mut bodies = Vec::new();
        let mut records = Vec::with_capacity(quarks.len());
        let mut tags = Tags::default();
        let span = BlockTimes { base: head.base, len: head.span() };
        let mut at = 0;
        for quark in &quarks {
            let state = &mut self.states[*quark as usize];
            // After `sort_log`, the count is the index past the intervals of the attribute.
            let count = state.count as usize - at;
            self.values[at + count] = RawValue { kind: state.kind, bits: state.bits };
            let (ends, values) = (&self.ends[at..at + count], &self.values[at..=at + count]);
            if let (Some(end), Some(raw)) = (ends.first(), values.first()) {
                let (quark, start) = (Quark(*quark), state.chunk_start);
                first_intervals(RawInterval { quark, start, end: *end, raw: *raw });
            }
            let record = column_chunk::write(&mut bodies, span, state.chunk_start, ends, values);
            records.push(Record { tag: tags.place(record.tag), ..record });
            at += count + 1;
            (state.count, state.changed) = (0, false);
        }
        tags.all.iter().for_each(|tag| out.extend_from_slice(&tag.to_le_bytes()));
        head.widths = RecordWidths::of(&records);
        head.widths.write(out, &records);
        out.extend_from_slice(&bodies);

        head.chunks = records.len() as u32;
        head.tags = tags.all.len() as u32;
        head.body_bytes = bodies.len() as u64;
        head.intervals = self.log.len() as u64;
        let mut bytes = Vec::with_capacity(BlockHead::LEN);
        head.write(&mut bytes);
        out[head_at..head_at + BlockHead::LEN].copy_from_slice(&bytes);
        self.log.clear();
        self.changed.fill(0);
        head
    }

    fn changed_quarks(&self) -> Vec<u32> {
        let mut quarks = Vec::new();
        for (at, word) in self.changed.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                quarks.push(at as u32 * 64 + left.trailing_zeros());
                left &= left - 1;
            }
        }
        quarks
    }

    /// Sorts the log by attribute into `ends` and `values`, with a free element after each
    /// attribute. Afterwards, each count is the index of that element.
    fn sort_log(&mut self, quarks: &[u32]) {
        let mut at = 0;
        for quark in quarks {
            let count = &mut self.states[*quark as usize].count;
            at += std::mem::replace(count, at) + 1;
        }
        self.ends.resize(at as usize, 0);
        self.values.resize(at as usize, RawValue::NULL);
        for ended in &self.log {
            let place = &mut self.states[ended.quark as usize].count;
            self.ends[*place as usize] = ended.end;
            self.values[*place as usize] = RawValue { kind: ended.kind, bits: ended.bits };
            *place += 1;
        }
    }
}

/// Returns the number of intervals that make a block: see
/// [`Settings::block_intervals`](super::settings::Settings::block_intervals).
fn limit(block_intervals: Option<u32>, quarks: usize) -> usize {
    match block_intervals {
        Some(intervals) => intervals.clamp(1, 1 << 24) as usize,
        None => (12 * quarks).clamp(3 << 16, 3 << 19),
    }
}

/// The distinct tags of a block's column chunks.
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

fn write_texts(out: &mut Vec<u8>, pool: &TextPool, first: u32) -> (u32, u64) {
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
