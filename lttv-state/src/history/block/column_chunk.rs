//! Column chunks: the values of one attribute in one block.
//!
//! Blocks store states by column, one per attribute. The part of a column that lies in one
//! block is its *chunk*. It contains the intervals of the attribute that ended within the
//! block's time. They follow each other without a gap: the first starts at `start`, and
//! each ends 1 ns before the next one starts. The chunk also contains the *open* value: the
//! value that the attribute had when the block was written, whose interval had not ended by
//! then.
//!
//! A fixed-width *record* for each chunk locates its parts. All records of a block have the
//! same layout, so that any of them is found by its number. A *tag* describes the encoding
//! of a chunk. Since many chunks are encoded alike, a block stores each distinct tag once,
//! and records refer to it by its index.
//!
//! ```text
//! record   number of intervals; may be 0, for only an open value
//!          index of the tag in the block's table
//!          base time of the block − start, in ns
//!          byte offset of the body from the first body of the block
//!
//! body     key of the symbols, in whole bytes: see `symbols`
//!          symbol of the open value
//!          bucket starts of the end times: see `end_times`
//!          padding to a whole byte
//!          entry of each interval, in whole bytes: low bits of its end time, in ns after the
//!          base time; symbol of its value
//!          dictionary of the symbols, if they use one
//!          summary, if there is one: see `summary`
//!
//! tag      u32; bits 0-15: see `symbols`; bit 16: 1 if there is a summary;
//!          bits 17-22: number of low bits of an end time
//! ```

use super::bits::{self, BitWriter, bytes_of, word};
use super::end_times::{Bucket, EndTimes, Split};
use super::raw_value::RawValue;
use super::summary::{self, Summary};
use super::symbols::{SymbolCoding, SymbolEncoder, Symbols};

const SUMMARY: u32 = 1 << 16;
const LOW_SHIFT: u32 = 17;

/// The time range of a block: its base time and its length, both in ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockTimes {
    pub(crate) base: i64,
    pub(crate) len: u64,
}

/// The entry of a column chunk in the directory of its block.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Record {
    pub(crate) count: u32,
    /// The tag itself while a block is written; in a block, the index of the tag in its
    /// table.
    pub(crate) tag: u32,
    /// The time from the start of the chunk's first interval to the block's base time, in
    /// ns.
    pub(crate) lead: u64,
    pub(crate) body: u64,
}

/// The width of each field of a [`Record`], in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RecordWidths {
    pub(crate) count: u8,
    pub(crate) tag: u8,
    pub(crate) lead: u8,
    pub(crate) body: u8,
}

impl RecordWidths {
    /// Computes the smallest widths that fit all `records`.
    pub(crate) fn of(records: &[Record]) -> RecordWidths {
        let width = |part: fn(&Record) -> u64| {
            bytes_of(records.iter().map(part).fold(0, |all, part| all | part)) as u8
        };
        RecordWidths {
            count: width(|r| r.count.into()),
            tag: width(|r| r.tag.into()),
            lead: width(|r| r.lead),
            body: width(|r| r.body),
        }
    }

    /// Returns the layout of records of these widths. `None` if a width is invalid.
    pub(crate) fn layout(&self) -> Option<RecordLayout> {
        let RecordWidths { count, tag, lead, body } = *self;
        if count > 4 || tag > 4 {
            return None;
        }
        RecordLayout::of([count, tag, lead, body])
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, records: &[Record]) {
        for Record { count, tag, lead, body } in records {
            let parts = [
                (u64::from(*count), self.count),
                (u64::from(*tag), self.tag),
                (*lead, self.lead),
                (*body, self.body),
            ];
            for (part, width) in parts {
                out.extend_from_slice(&part.to_le_bytes()[..width.into()]);
            }
        }
    }
}

/// The layout of records of four little-endian fields, each 0 to 8 bytes wide.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordLayout {
    /// The byte offset and the mask of each field.
    parts: [(usize, u64); 4],
    /// The bit offset of the second field in the word at the first, and of the fourth in
    /// the word at the third. `None` unless both pairs fit into a word of 8 bytes.
    pairs: Option<[u32; 2]>,
    /// The size of a record, in bytes.
    pub(crate) len: usize,
}

impl RecordLayout {
    /// Creates the layout for fields of the given widths, in bytes. `None` if a width
    /// exceeds 8.
    pub(crate) fn of(widths: [u8; 4]) -> Option<RecordLayout> {
        if widths.iter().any(|width| *width > 8) {
            return None;
        }
        let mut len = 0;
        let parts = widths.map(|width| {
            let at = len;
            len += usize::from(width);
            (at, bits::mask(u32::from(width) * 8))
        });
        let [a, b, c, d] = widths.map(u32::from);
        let pairs = (a + b <= 8 && c + d <= 8 && a < 8 && c < 8).then_some([a * 8, c * 8]);
        Some(RecordLayout { parts, pairs, len })
    }

    /// Reads the fields of the record at byte `at`.
    #[inline(always)]
    pub(crate) fn parts(&self, data: &[u8], at: usize) -> [u64; 4] {
        let [a, b, c, d] = &self.parts;
        if let Some([second, fourth]) = self.pairs {
            let (ab, cd) = (word(data, at), word(data, at + c.0));
            return [ab & a.1, ab >> (second % 64) & b.1, cd & c.1, cd >> (fourth % 64) & d.1];
        }
        let get = |(part, mask): &(usize, u64)| word(data, at + part) & mask;
        [get(a), get(b), get(c), get(d)]
    }

    /// Reads the record of a column chunk at byte `at`.
    #[inline(always)]
    pub(crate) fn read(&self, data: &[u8], at: usize) -> Record {
        let [count, tag, lead, body] = self.parts(data, at);
        Record { count: count as u32, tag: tag as u32, lead, body }
    }
}

/// Appends the body of a column chunk and returns its record.
///
/// `values` contains the value of each interval and then the open value, so that it is one
/// longer than `ends`.
pub(crate) fn write(
    out: &mut Vec<u8>,
    span: BlockTimes,
    start: i64,
    ends: &[i64],
    values: &[RawValue],
) -> Record {
    let encoder = SymbolEncoder::of(values);
    let summary_entries = summary::of(start, ends, values);
    let body = out.len() as u64;
    let offsets: Vec<u64> = ends.iter().map(|end| end.wrapping_sub(span.base) as u64).collect();
    let split = Split::best(span.len, offsets.len(), encoder.width());
    let mut writer = BitWriter::new(out);
    encoder.write_key(&mut writer);
    if let Some(open) = values.last() {
        writer.put(encoder.symbol(*open), encoder.width());
    }
    split.write_bucket_starts(&mut writer, &offsets);
    writer.finish();
    for (offset, raw) in offsets.iter().zip(values) {
        split.write_entry(out, *offset, encoder.symbol(*raw));
    }
    encoder.write_dictionary(out);
    if let Some(summary_entries) = &summary_entries {
        summary::write(out, summary_entries, &encoder);
    }
    let summary = if summary_entries.is_some() { SUMMARY } else { 0 };
    let tag = encoder.tag() | summary | split.low_bits << LOW_SHIFT;
    let lead = span.base.wrapping_sub(start) as u64;
    Record { count: ends.len() as u32, tag, lead, body }
}

/// The encoding of a column chunk, decoded from its tag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkEncoding {
    pub(crate) coding: SymbolCoding,
    pub(crate) split: Split,
    has_summary: bool,
}

impl ChunkEncoding {
    /// Decodes a tag of a block that is `span` ns long. `None` if the tag is invalid.
    #[inline(always)]
    pub(crate) fn of(tag: u32, span: u64) -> Option<ChunkEncoding> {
        let coding = SymbolCoding::of(tag)?;
        let split = Split::of(span, tag >> LOW_SHIFT, coding.width)?;
        Some(ChunkEncoding { coding, split, has_summary: tag & SUMMARY != 0 })
    }
}

/// A view of a column chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnChunk<'d> {
    /// The start of the first interval, in ns.
    pub(crate) start: i64,
    /// The base time of the block, in ns. End times are stored as offsets from it.
    base: i64,
    pub(crate) ends: EndTimes<'d>,
    pub(crate) symbols: Symbols<'d>,
    data: &'d [u8],
    /// The byte offset of the summary, past all other parts.
    summary_at: usize,
    has_summary: bool,
}

/// A position in a column chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// The interval with this index, which ended within the block.
    Ended(u32),
    /// The open value, whose interval had not ended when the block was written.
    Open,
}

/// An interval that ended within its block. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EndedInterval {
    pub(crate) index: u32,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl<'d> ColumnChunk<'d> {
    /// Creates a view of the column chunk whose body starts at byte `at`. `None` if the
    /// body does not fit into `data`.
    #[inline(always)]
    pub(crate) fn read(
        data: &'d [u8],
        at: usize,
        base: i64,
        encoding: &ChunkEncoding,
        record: &Record,
    ) -> Option<ColumnChunk<'d>> {
        if at > data.len() {
            return None;
        }
        let ChunkEncoding { coding, split, has_summary } = *encoding;
        let key = bits::get(data, at * 8, coding.key_bits);
        let open_at = at * 8 + coding.key_bits as usize;
        let ends = EndTimes::read(data, open_at + coding.width as usize, split, record.count)?;
        let symbols = Symbols::read(data, coding, key, open_at, &ends);
        let summary_at = ends.entries_end().checked_add(symbols.dictionary_bytes()?)?;
        let start = base.wrapping_sub(record.lead as i64);
        let chunk = ColumnChunk { start, base, ends, symbols, data, summary_at, has_summary };
        (summary_at <= data.len()).then_some(chunk)
    }

    /// Returns the summary of the values, if there is one. It does not include the open
    /// value.
    pub(crate) fn summary(&self) -> Option<Summary<'d>> {
        self.has_summary.then(|| Summary::read(self.data, self.summary_at, self.symbols))
    }

    /// Returns the end of the last interval, in ns. `None` if there are no intervals.
    pub(crate) fn last_end(&self) -> Option<i64> {
        self.ends.last().map(|last| self.end(last))
    }

    /// Finds the interval that contains time `t`. `None` if `t` is past the end of the last
    /// interval; or before `start`, which happens only in damaged data.
    #[inline(always)]
    pub(crate) fn find(&self, t: i64) -> Option<EndedInterval> {
        self.find_with_hint(&mut None, t)
    }

    /// Finds the interval that contains time `t`, like [`find`](Self::find), and stores the
    /// bucket of `t` in `hint` for the following calls.
    #[inline(always)]
    pub(crate) fn find_with_hint(
        &self,
        hint: &mut Option<Bucket>,
        t: i64,
    ) -> Option<EndedInterval> {
        if t < self.start {
            return None;
        }
        let found = self.ends.next_geq(hint, self.offset(t))?;
        let start = match found.before {
            Some(before) => self.time(before).wrapping_add(1),
            None => self.start,
        };
        Some(EndedInterval { index: found.index, start, end: self.time(found.number) })
    }

    /// Returns the offset of a time from the base time. Earlier times have offset 0: they
    /// can only lie in the first interval.
    #[inline(always)]
    fn offset(&self, t: i64) -> u64 {
        t.max(self.base).wrapping_sub(self.base) as u64
    }

    /// Returns the start and the end of an interval, in ns. The end of the open one is
    /// `None`.
    #[inline(always)]
    pub(crate) fn span(&self, position: Position) -> (i64, Option<i64>) {
        match position {
            Position::Open => (self.last_end().map_or(self.start, |end| end.wrapping_add(1)), None),
            Position::Ended(index) => {
                let start = match index.checked_sub(1) {
                    Some(before) => self.end(before).wrapping_add(1),
                    None => self.start,
                };
                (start, Some(self.end(index)))
            }
        }
    }

    /// Returns the end of an interval, in ns.
    #[inline(always)]
    pub(crate) fn end(&self, index: u32) -> i64 {
        self.time(self.ends.get(index))
    }

    /// Returns the time at an offset from the base time, in ns.
    #[inline(always)]
    fn time(&self, offset: u64) -> i64 {
        self.base.wrapping_add(offset as i64)
    }

    /// Returns the value at a position. `None` if the data is damaged.
    #[inline(always)]
    pub(crate) fn raw(&self, position: Position) -> Option<RawValue> {
        match position {
            Position::Ended(index) => self.symbols.get(index),
            Position::Open => self.symbols.open(),
        }
    }

    /// Returns the end of an interval, in ns, if there is one with this index. The search
    /// starts at `hint`, which is updated.
    #[inline(always)]
    pub(crate) fn end_with_hint(&self, hint: &mut Option<Bucket>, index: u32) -> Option<i64> {
        Some(self.time(self.ends.next(hint, index)?))
    }

    /// Iterates over the intervals from index `from` to the end of the bucket `hint`:
    /// index, end and value of each. Empty if that bucket does not contain index `from`.
    #[inline(always)]
    pub(crate) fn intervals_in_bucket<'r>(
        &'r self,
        hint: &Bucket,
        from: u32,
    ) -> impl Iterator<Item = (u32, i64, Option<RawValue>)> + use<'r, 'd> {
        let rest = self.ends.entries_from(hint, from);
        rest.map(|(index, end, symbol)| (index, self.time(end), self.symbols.decode_low(symbol)))
    }

    /// Returns the position of the first interval, or the open one if none ended.
    #[inline(always)]
    pub(crate) fn first(&self) -> Position {
        if self.ends.count > 0 { Position::Ended(0) } else { Position::Open }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::raw_value::Kind;
    use super::*;

    fn raw() -> impl Strategy<Value = RawValue> {
        prop_oneof![
            Just(RawValue::NULL),
            (-3i32..3).prop_map(|v| RawValue { kind: Kind::I32, bits: i64::from(v) as u64 }),
            any::<i64>().prop_map(|v| RawValue { kind: Kind::I64, bits: v as u64 }),
            any::<u64>().prop_map(|v| RawValue { kind: Kind::U64, bits: v }),
            any::<f64>().prop_map(|v| RawValue { kind: Kind::F64, bits: v.to_bits() }),
            (0u64..50).prop_map(|v| RawValue { kind: Kind::Str, bits: v }),
        ]
    }

    /// Generates values of one kind with nulls, of all kinds, or a few in turn.
    fn values() -> impl Strategy<Value = Vec<RawValue>> {
        let kinds = prop::sample::select(vec![Kind::I32, Kind::I64, Kind::U64, Kind::F64]);
        let one_kind = (kinds, prop::collection::vec(any::<(bool, i32, u8)>(), 1..60)).prop_map(
            |(kind, numbers)| {
                let raw = |(null, v, shift): (bool, i32, u8)| match null {
                    true => RawValue::NULL,
                    false => {
                        let bits = i64::from(v >> (shift % 32)) as u64;
                        let wide = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                        RawValue { kind, bits: if kind == Kind::I32 { bits } else { wide } }
                    }
                };
                numbers.into_iter().map(raw).collect()
            },
        );
        let few = (prop::collection::vec(raw(), 1..4), prop::collection::vec(0usize..4, 1..60))
            .prop_map(|(few, turns)| turns.iter().map(|i| few[i % few.len()]).collect());
        prop_oneof![prop::collection::vec(raw(), 1..60), one_kind, few]
    }

    /// Writes a column chunk after two other bytes, and reads it again.
    fn written<'o>(
        out: &'o mut Vec<u8>,
        span: BlockTimes,
        start: i64,
        ends: &[i64],
        values: &[RawValue],
    ) -> Option<ColumnChunk<'o>> {
        out.extend([1, 2]);
        let record = write(out, span, start, ends, values);
        assert_eq!(record.body, 2);
        let widths = RecordWidths::of(&[record]);
        let mut records = Vec::new();
        widths.write(&mut records, &[record]);
        let record = widths.layout().unwrap().read(&records, 0);
        ColumnChunk::read(out, 2, span.base, &ChunkEncoding::of(record.tag, span.len)?, &record)
    }

    #[test]
    fn long_chunks_of_few_values_have_summaries() {
        let values = [RawValue::NULL, RawValue { kind: Kind::I32, bits: 7 }, RawValue::NULL];
        let values: Vec<RawValue> = values.into_iter().cycle().take(301).collect();
        let ends: Vec<i64> = (1..=300).map(|i| i * 10).collect();
        let span = BlockTimes { base: 5, len: 3000 };
        let mut out = Vec::new();
        let chunk = written(&mut out, span, -4, &ends, &values).unwrap();
        let summary_entries: Vec<_> = chunk.summary().unwrap().map(Option::unwrap).collect();
        let share = |at: usize, time, count| summary::SummaryEntry { raw: values[at], time, count };
        assert_eq!(summary_entries, [share(0, 2005, 200), share(1, 1000, 100)]);

        // Short chunks and chunks of many distinct values have no summary.
        let mut out = Vec::new();
        let chunk = written(&mut out, span, 0, &ends[..20], &values[..21]);
        assert!(chunk.unwrap().summary().is_none());
        let many: Vec<RawValue> = (0..301).map(|i| RawValue { kind: Kind::U64, bits: i }).collect();
        let mut out = Vec::new();
        let chunk = written(&mut out, span, 0, &ends, &many);
        assert!(chunk.unwrap().summary().is_none());
    }

    proptest! {
        #[test]
        fn chunks_round_trip(
            values in values(),
            base in any::<i64>(),
            lead in prop_oneof![0u64..1000, any::<u64>()],
            steps in prop::collection::vec(0i64..1000, 60),
        ) {
            let base = base.min(i64::MAX - 100_000);
            let start = base.checked_sub_unsigned(lead).unwrap_or(i64::MIN);
            let mut ends = Vec::new();
            let mut at = base - 1;
            for step in &steps[..values.len() - 1] {
                at += 1 + step;
                ends.push(at);
            }
            let span = BlockTimes { base, len: (at - base + 1) as u64 };
            let mut out = Vec::new();
            let chunk = written(&mut out, span, start, &ends, &values).unwrap();
            prop_assert_eq!(chunk.last_end(), ends.last().copied());
            let (mut position, mut hint) = (chunk.first(), None);
            let mut from = start;
            for (i, raw) in values.iter().enumerate() {
                let end = ends.get(i).copied();
                prop_assert_eq!(chunk.span(position), (from, end));
                prop_assert_eq!(chunk.raw(position), Some(*raw));
                let (Position::Ended(index), Some(end)) = (position, end) else { break };
                for t in [from, end] {
                    prop_assert_eq!(chunk.find(t), Some(EndedInterval { index, start: from, end }));
                }
                from = end + 1;
                let summary_at = index + 1;
                let end = chunk.end_with_hint(&mut hint, summary_at);
                prop_assert_eq!(end, ends.get(i + 1).copied());
                position = end.map_or(Position::Open, |_| Position::Ended(summary_at));
            }
            prop_assert_eq!(chunk.find(from), None);
        }
    }
}
