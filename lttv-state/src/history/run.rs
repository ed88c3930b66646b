//! Runs: what one block holds of one attribute.
//!
//! A run has intervals that follow each other without a gap: the first begins
//! at `start`, each ends where the next begins, and behind the last is the value
//! that the attribute had when the block was written: it may have lasted longer.
//!
//! What is needed to find a run's parts is in its *record*; all records of a
//! block are alike, so that any of them is found, and all are read in a row. What
//! many runs have in common, and no more, is in a table of *tags*.
//!
//! ```text
//! record   count of intervals; there may be none, but only the value behind
//!          tag, as its place in the block's table
//!          the block's base time − start
//!          byte where its body begins
//!
//! body     key of the symbols, in whole bytes: see `symbols`
//!          symbol of the value behind
//!          heads of the ends of the intervals: see `ends`
//!          entry of each interval, from a whole byte on: low bits of its end, which
//!          counts from the base time; symbol of its value
//!          list of the symbols
//!          summary: see `summary`
//!
//! tag      u32, bit 0-15 see `symbols`, bit 16 is there a summary?,
//!          bit 17-22 how many bits of an end are low
//! ```

use super::bits::{self, BitWriter, bytes_of, word};
use super::code::Code;
use super::ends::{Bucket, Ends, Shape};
use super::summary::{self, Summary};
use super::symbols::{Coding, Plan, Symbols};

const SUMMARY: u32 = 1 << 16;
const LOW_SHIFT: u32 = 17;

/// The times of a block: its base, and how long it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) base: i64,
    pub(super) len: u64,
}

/// What is noted of a run beside its body.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Record {
    pub(super) count: u32,
    /// A tag, or its place in the table of tags.
    pub(super) tag: u32,
    /// How long before the block's base it begins, in ns.
    pub(super) back: u64,
    pub(super) body: u64,
}

/// How many bytes the parts of a record have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Widths {
    pub(super) count: u8,
    pub(super) tag: u8,
    pub(super) back: u8,
    pub(super) body: u8,
}

impl Widths {
    /// What these records need.
    pub(super) fn of(records: &[Record]) -> Widths {
        let width = |part: fn(&Record) -> u64| {
            bytes_of(records.iter().map(part).fold(0, |all, part| all | part)) as u8
        };
        Widths {
            count: width(|r| r.count.into()),
            tag: width(|r| r.tag.into()),
            back: width(|r| r.back),
            body: width(|r| r.body),
        }
    }

    /// How to read records of these widths. None if there are none such.
    pub(super) fn layout(&self) -> Option<RecordLayout> {
        let Widths { count, tag, back, body } = *self;
        if count > 4 || tag > 4 {
            return None;
        }
        RecordLayout::of([count, tag, back, body])
    }

    pub(super) fn write(&self, out: &mut Vec<u8>, records: &[Record]) {
        for Record { count, tag, back, body } in records {
            let parts = [
                (u64::from(*count), self.count),
                (u64::from(*tag), self.tag),
                (*back, self.back),
                (*body, self.body),
            ];
            for (part, width) in parts {
                out.extend_from_slice(&part.to_le_bytes()[..width.into()]);
            }
        }
    }
}

/// How to read records.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordLayout {
    /// Where each part begins, and the bits that are its own there.
    parts: [(usize, u64); 4],
    /// The bit where the second and fourth part are in a word that begins with the one
    /// before, if they are all in such a word.
    pairs: Option<[u32; 2]>,
    /// Bytes of a record.
    pub(super) len: usize,
}

impl RecordLayout {
    /// For parts of so many bytes. None if a part has more than 8.
    pub(super) fn of(widths: [u8; 4]) -> Option<RecordLayout> {
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

    /// The parts of a record at a byte.
    #[inline(always)]
    pub(super) fn parts(&self, data: &[u8], at: usize) -> [u64; 4] {
        let [a, b, c, d] = &self.parts;
        if let Some([second, fourth]) = self.pairs {
            let (ab, cd) = (word(data, at), word(data, at + c.0));
            return [ab & a.1, ab >> (second % 64) & b.1, cd & c.1, cd >> (fourth % 64) & d.1];
        }
        let get = |(part, mask): &(usize, u64)| word(data, at + part) & mask;
        [get(a), get(b), get(c), get(d)]
    }

    /// The record of a run at a byte.
    #[inline(always)]
    pub(super) fn read(&self, data: &[u8], at: usize) -> Record {
        let [count, tag, back, body] = self.parts(data, at);
        Record { count: count as u32, tag: tag as u32, back, body }
    }
}

/// Appends a run's body; `codes` has one more than `ends`.
pub(super) fn write(
    out: &mut Vec<u8>,
    span: Span,
    start: i64,
    run_ends: &[i64],
    codes: &[Code],
) -> Record {
    let plan = Plan::of(codes);
    let shares = summary::of(start, run_ends, codes);
    let body = out.len() as u64;
    let offsets: Vec<u64> = run_ends.iter().map(|end| end.wrapping_sub(span.base) as u64).collect();
    let shape = Shape::best(span.len, offsets.len(), plan.width());
    let mut writer = BitWriter::new(out);
    plan.write_key(&mut writer);
    if let Some(open) = codes.last() {
        writer.put(plan.symbol(*open), plan.width());
    }
    shape.write_heads(&mut writer, &offsets);
    writer.finish();
    for (offset, code) in offsets.iter().zip(codes) {
        shape.write_entry(out, *offset, plan.symbol(*code));
    }
    plan.write_list(out);
    if let Some(shares) = &shares {
        summary::write(out, shares, &plan);
    }
    let summary = if shares.is_some() { SUMMARY } else { 0 };
    let tag = plan.tag() | summary | shape.low_bits << LOW_SHIFT;
    let back = span.base.wrapping_sub(start) as u64;
    Record { count: run_ends.len() as u32, tag, back, body }
}

/// How runs with the same tag are laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Class {
    pub(super) coding: Coding,
    pub(super) shape: Shape,
    has_summary: bool,
}

impl Class {
    /// What a tag says, in a block that is about `span` ns. None if there is no such tag.
    #[inline(always)]
    pub(super) fn of(tag: u32, span: u64) -> Option<Class> {
        let coding = Coding::of(tag)?;
        let shape = Shape::of(span, tag >> LOW_SHIFT, coding.width)?;
        Some(Class { coding, shape, has_summary: tag & SUMMARY != 0 })
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'d> {
    /// When the first interval begins.
    pub(super) start: i64,
    /// What the ends count from.
    base: i64,
    pub(super) ends: Ends<'d>,
    pub(super) symbols: Symbols<'d>,
    data: &'d [u8],
    /// The byte where its summary begins.
    behind: usize,
    has_summary: bool,
}

/// An interval in a run, or what is behind the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// By its index in the run.
    Ended(u32),
    Open,
}

/// An interval that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) index: u32,
    pub(super) start: i64,
    pub(super) end: i64,
}

impl<'d> Run<'d> {
    /// The run with a record, of a class, whose body is at byte `at`. None if there is
    /// none.
    #[inline(always)]
    pub(super) fn read(
        data: &'d [u8],
        at: usize,
        base: i64,
        class: &Class,
        record: &Record,
    ) -> Option<Run<'d>> {
        if at > data.len() {
            return None;
        }
        let Class { coding, shape, has_summary } = *class;
        let key = bits::get(data, at * 8, coding.key_bits);
        let open_at = at * 8 + coding.key_bits as usize;
        let ends = Ends::read(data, open_at + coding.width as usize, shape, record.count)?;
        let symbols = Symbols::read(data, coding, key, open_at, &ends);
        let behind = ends.behind().checked_add(symbols.list_len()?)?;
        let start = base.wrapping_sub(record.back as i64);
        let run = Run { start, base, ends, symbols, data, behind, has_summary };
        (behind <= data.len()).then_some(run)
    }

    /// How long its values lasted, if that is stored; without what is behind the
    /// last interval.
    pub(super) fn summary(&self) -> Option<Summary<'d>> {
        self.has_summary.then(|| Summary::read(self.data, self.behind, self.symbols))
    }

    /// The end of the last interval, if there are any.
    pub(super) fn last_end(&self) -> Option<i64> {
        self.ends.last().map(|last| self.end(last))
    }

    /// The interval with time `t`; None if it is behind the last end, or before
    /// the run, which only damage makes.
    #[inline(always)]
    pub(super) fn find(&self, t: i64) -> Option<Ended> {
        self.find_near(&mut None, t)
    }

    /// The same. Those who ask for one time after the other keep `near`, which is
    /// None at first.
    #[inline(always)]
    pub(super) fn find_near(&self, near: &mut Option<Bucket>, t: i64) -> Option<Ended> {
        if t < self.start {
            return None;
        }
        let found = self.ends.at_or_above(near, self.offset(t))?;
        let start = match found.before {
            Some(before) => self.time(before).wrapping_add(1),
            None => self.start,
        };
        Some(Ended { index: found.index, start, end: self.time(found.number) })
    }

    /// A time as ends are: before the base, the first interval is meant, if that has
    /// ended.
    #[inline(always)]
    fn offset(&self, t: i64) -> u64 {
        t.max(self.base).wrapping_sub(self.base) as u64
    }

    /// First and last time of an interval; the last is None for what is behind.
    #[inline(always)]
    pub(super) fn span(&self, place: Place) -> (i64, Option<i64>) {
        match place {
            Place::Open => (self.last_end().map_or(self.start, |end| end.wrapping_add(1)), None),
            Place::Ended(index) => {
                let start = match index.checked_sub(1) {
                    Some(before) => self.end(before).wrapping_add(1),
                    None => self.start,
                };
                (start, Some(self.end(index)))
            }
        }
    }

    /// The end of an interval.
    #[inline(always)]
    pub(super) fn end(&self, index: u32) -> i64 {
        self.time(self.ends.get(index))
    }

    #[inline(always)]
    fn time(&self, offset: u64) -> i64 {
        self.base.wrapping_add(offset as i64)
    }

    #[inline(always)]
    pub(super) fn code(&self, place: Place) -> Option<Code> {
        match place {
            Place::Ended(index) => self.symbols.get(index),
            Place::Open => self.symbols.open(),
        }
    }

    /// The end of an interval, if there is one, as [`find_near`](Self::find_near).
    #[inline(always)]
    pub(super) fn end_near(&self, near: &mut Option<Bucket>, index: u32) -> Option<i64> {
        Some(self.time(self.ends.next(near, index)?))
    }

    /// The intervals from an index on that are near: index, end and value of each. Few of
    /// them at a time, or none.
    #[inline(always)]
    pub(super) fn row<'r>(
        &'r self,
        near: &Bucket,
        from: u32,
    ) -> impl Iterator<Item = (u32, i64, Option<Code>)> + use<'r, 'd> {
        let rest = self.ends.rest_of(near, from);
        rest.map(|(index, end, symbol)| (index, self.time(end), self.symbols.decode_low(symbol)))
    }

    /// The first place.
    #[inline(always)]
    pub(super) fn first(&self) -> Place {
        if self.ends.count > 0 { Place::Ended(0) } else { Place::Open }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::code::Kind;
    use super::*;

    fn code() -> impl Strategy<Value = Code> {
        prop_oneof![
            Just(Code::NULL),
            (-3i32..3).prop_map(|v| Code { kind: Kind::I32, bits: i64::from(v) as u64 }),
            any::<i64>().prop_map(|v| Code { kind: Kind::I64, bits: v as u64 }),
            any::<u64>().prop_map(|v| Code { kind: Kind::U64, bits: v }),
            any::<f64>().prop_map(|v| Code { kind: Kind::F64, bits: v.to_bits() }),
            (0u64..50).prop_map(|v| Code { kind: Kind::Str, bits: v }),
        ]
    }

    /// Values of one kind with nulls, of all kinds, or a few in turn.
    fn codes() -> impl Strategy<Value = Vec<Code>> {
        let kinds = prop::sample::select(vec![Kind::I32, Kind::I64, Kind::U64, Kind::F64]);
        let one_kind = (kinds, prop::collection::vec(any::<(bool, i32, u8)>(), 1..60)).prop_map(
            |(kind, numbers)| {
                let code = |(null, v, shift): (bool, i32, u8)| match null {
                    true => Code::NULL,
                    false => {
                        let bits = i64::from(v >> (shift % 32)) as u64;
                        let wide = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                        Code { kind, bits: if kind == Kind::I32 { bits } else { wide } }
                    }
                };
                numbers.into_iter().map(code).collect()
            },
        );
        let few = (prop::collection::vec(code(), 1..4), prop::collection::vec(0usize..4, 1..60))
            .prop_map(|(few, turns)| turns.iter().map(|i| few[i % few.len()]).collect());
        prop_oneof![prop::collection::vec(code(), 1..60), one_kind, few]
    }

    /// The run that comes back of one that is written behind two other bytes.
    fn written<'o>(
        out: &'o mut Vec<u8>,
        span: Span,
        start: i64,
        ends: &[i64],
        codes: &[Code],
    ) -> Option<Run<'o>> {
        out.extend([1, 2]);
        let record = write(out, span, start, ends, codes);
        assert_eq!(record.body, 2);
        let widths = Widths::of(&[record]);
        let mut records = Vec::new();
        widths.write(&mut records, &[record]);
        let record = widths.layout().unwrap().read(&records, 0);
        Run::read(out, 2, span.base, &Class::of(record.tag, span.len)?, &record)
    }

    #[test]
    fn long_runs_of_few_values_have_summaries() {
        let codes = [Code::NULL, Code { kind: Kind::I32, bits: 7 }, Code::NULL];
        let codes: Vec<Code> = codes.into_iter().cycle().take(301).collect();
        let ends: Vec<i64> = (1..=300).map(|i| i * 10).collect();
        let span = Span { base: 5, len: 3000 };
        let mut out = Vec::new();
        let run = written(&mut out, span, -4, &ends, &codes).unwrap();
        let shares: Vec<_> = run.summary().unwrap().map(Option::unwrap).collect();
        let share = |at: usize, time, count| summary::Share { code: codes[at], time, count };
        assert_eq!(shares, [share(0, 2005, 200), share(1, 1000, 100)]);

        // Short runs and those of many values have none.
        let mut out = Vec::new();
        let run = written(&mut out, span, 0, &ends[..20], &codes[..21]);
        assert!(run.unwrap().summary().is_none());
        let many: Vec<Code> = (0..301).map(|i| Code { kind: Kind::U64, bits: i }).collect();
        let mut out = Vec::new();
        let run = written(&mut out, span, 0, &ends, &many);
        assert!(run.unwrap().summary().is_none());
    }

    proptest! {
        #[test]
        fn runs_come_back(
            codes in codes(),
            base in any::<i64>(),
            back in prop_oneof![0u64..1000, any::<u64>()],
            steps in prop::collection::vec(0i64..1000, 60),
        ) {
            let base = base.min(i64::MAX - 100_000);
            let start = base.checked_sub_unsigned(back).unwrap_or(i64::MIN);
            let mut ends = Vec::new();
            let mut at = base - 1;
            for step in &steps[..codes.len() - 1] {
                at += 1 + step;
                ends.push(at);
            }
            let span = Span { base, len: (at - base + 1) as u64 };
            let mut out = Vec::new();
            let run = written(&mut out, span, start, &ends, &codes).unwrap();
            prop_assert_eq!(run.last_end(), ends.last().copied());
            let (mut place, mut near) = (run.first(), None);
            let mut from = start;
            for (i, code) in codes.iter().enumerate() {
                let end = ends.get(i).copied();
                prop_assert_eq!(run.span(place), (from, end));
                prop_assert_eq!(run.code(place), Some(*code));
                let (Place::Ended(index), Some(end)) = (place, end) else { break };
                for t in [from, end] {
                    prop_assert_eq!(run.find(t), Some(Ended { index, start: from, end }));
                }
                from = end + 1;
                let behind = index + 1;
                let end = run.end_near(&mut near, behind);
                prop_assert_eq!(end, ends.get(i + 1).copied());
                place = end.map_or(Place::Open, |_| Place::Ended(behind));
            }
            prop_assert_eq!(run.find(from), None);
        }
    }
}
