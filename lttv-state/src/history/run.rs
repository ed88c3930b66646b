//! Runs: what one block holds of one attribute.
//!
//! A run has intervals that follow each other without a gap: the first begins
//! at `start`, each ends where the next begins, and behind the last is the value
//! that the attribute had when the block was written: it may have lasted longer.
//!
//! ```text
//! u24     bit 0-5 tag, see `symbols`
//!         bit 6-7 length of the count: 0, 1, 2 or 4 bytes
//!         bit 8-11 and 12-15 lengths of the next two in bytes
//!         bit 16-21 low bits of the ends
//!         bit 22 is there a summary?
//! count   of intervals; there may be none, but only the value behind
//! start   zigzag, from the block's base time
//! last    end of the last interval − start
//! head    of the symbols
//! ends    of the intervals, from `start`: see `ends`
//! symbols count + 1
//! summary see `summary`
//! ```

use super::bits::{Bytes, bytes_of, unzigzag, word, zigzag};
use super::code::Code;
use super::ends::{self, Ends, Position};
use super::summary::{self, Summary};
use super::symbols::{Plan, Symbols};

/// Appends a run; `codes` has one more than `ends`.
pub(super) fn write(out: &mut Vec<u8>, base: i64, start: i64, run_ends: &[i64], codes: &[Code]) {
    let plan = Plan::of(codes);
    let count = run_ends.len() as u32;
    let offset = |i: usize| run_ends[i].wrapping_sub(start) as u64;
    let last = run_ends.len().checked_sub(1).map_or(0, offset);
    let count_code = match count {
        0 => 0,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 3,
    };
    let parts = [
        (u64::from(count), (1 << count_code) >> 1),
        (zigzag(start.wrapping_sub(base)), bytes_of(zigzag(start.wrapping_sub(base)))),
        (last, bytes_of(last)),
    ];
    let shares = summary::of(start, run_ends, codes);
    let head = u32::from(plan.tag())
        | (count_code as u32) << 6
        | (parts[1].1 as u32) << 8
        | (parts[2].1 as u32) << 12
        | ends::low_bits(count, last) << 16
        | u32::from(shares.is_some()) << SUMMARY_BIT;
    out.extend_from_slice(&head.to_le_bytes()[..HEAD]);
    for (number, len) in parts {
        out.extend_from_slice(&number.to_le_bytes()[..len]);
    }
    plan.write_head(out);
    ends::write(out, count, last, offset);
    plan.write(out, codes);
    if let Some(shares) = shares {
        summary::write(out, &shares, &plan);
    }
}

/// Bytes of what is at the front.
const HEAD: usize = 3;
const SUMMARY_BIT: u32 = 22;

#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'d> {
    start: i64,
    /// End of the last interval, from `start`.
    last: u64,
    pub(super) ends: Ends<'d>,
    pub(super) symbols: Symbols<'d>,
    data: &'d [u8],
    has_summary: bool,
}

/// An interval in a run, or what is behind the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Ended(Position),
    Open,
}

impl<'d> Run<'d> {
    /// The run at byte `at`; None if there is none.
    #[inline(always)]
    pub(super) fn read(data: &'d [u8], at: usize, base: i64) -> Option<Run<'d>> {
        let head = word(data, at);
        let mut bytes = Bytes::new(data, at.checked_add(HEAD)?);
        let len = |bit: u32| (head >> bit & 15).min(8) as usize;
        let count = bytes.number((1 << (head >> 6 & 3)) >> 1) as u32;
        let start = base.wrapping_add(unzigzag(bytes.number(len(8))));
        let last = bytes.number(len(12));
        let mut symbols = Symbols::read_head(head as u8 & 63, &mut bytes)?;
        let (ends, end) = Ends::read(data, bytes.at, (count, last, (head >> 16 & 63) as u32))?;
        symbols.set_start(end);
        let has_summary = head >> SUMMARY_BIT & 1 != 0;
        Some(Run { start, last, ends, symbols, data, has_summary })
    }

    /// How long its values lasted, if that is stored; without what is behind the
    /// last interval.
    pub(super) fn summary(&self) -> Option<Summary<'d>> {
        let at = self.symbols.end(self.ends.count.saturating_add(1));
        self.has_summary.then(|| Summary::read(self.data, at, self.symbols))
    }

    /// The end of the last interval, if there are any.
    #[inline(always)]
    pub(super) fn last_end(&self) -> Option<i64> {
        (self.ends.count > 0).then(|| self.start.wrapping_add(self.last as i64))
    }

    /// The interval with time `t`, for a `t` from the run's start to its last
    /// end; looked for from `from` on.
    #[inline(always)]
    pub(super) fn find(&self, t: i64, from: Option<Position>) -> Option<Position> {
        // A time before the first start is in a gap, which only damage makes.
        if t < self.start {
            return None;
        }
        self.ends.at_or_above(t.wrapping_sub(self.start) as u64, from)
    }

    /// First and last time of an interval; the last is None for what is behind.
    #[inline(always)]
    pub(super) fn span(&self, place: Place) -> (i64, Option<i64>) {
        match place {
            Place::Open => (self.last_end().map_or(self.start, |end| end.wrapping_add(1)), None),
            Place::Ended(position) => {
                let start = match self.ends.previous(position) {
                    Some(before) => self.end(before).wrapping_add(1),
                    None => self.start,
                };
                (start, Some(self.end(position)))
            }
        }
    }

    #[inline(always)]
    pub(super) fn end(&self, position: Position) -> i64 {
        self.start.wrapping_add(self.ends.get(position) as i64)
    }

    #[inline(always)]
    pub(super) fn code(&self, place: Place) -> Option<Code> {
        match place {
            Place::Ended(position) => self.symbols.get(position.index),
            Place::Open => self.symbols.get(self.ends.count),
        }
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

    #[test]
    fn long_runs_of_few_values_have_summaries() {
        let codes = [Code::NULL, Code { kind: Kind::I32, bits: 7 }, Code::NULL];
        let codes: Vec<Code> = codes.into_iter().cycle().take(301).collect();
        let ends: Vec<i64> = (1..=300).map(|i| i * 10).collect();
        let mut out = Vec::new();
        write(&mut out, 0, -4, &ends, &codes);
        let run = Run::read(&out, 0, 0).unwrap();
        let shares: Vec<_> = run.summary().unwrap().map(Option::unwrap).collect();
        let share = |at: usize, time, count| summary::Share { code: codes[at], time, count };
        assert_eq!(shares, [share(0, 2005, 200), share(1, 1000, 100)]);

        // Short runs and those of many values have none.
        out.clear();
        write(&mut out, 0, 0, &ends[..20], &codes[..21]);
        assert!(Run::read(&out, 0, 0).unwrap().summary().is_none());
        let many: Vec<Code> = (0..301).map(|i| Code { kind: Kind::U64, bits: i }).collect();
        out.clear();
        write(&mut out, 0, 0, &ends, &many);
        assert!(Run::read(&out, 0, 0).unwrap().summary().is_none());
    }

    proptest! {
        #[test]
        fn runs_come_back(
            codes in codes(),
            start in any::<i64>(),
            steps in prop::collection::vec(0i64..1000, 60),
            base in any::<i64>(),
        ) {
            let start = start.min(i64::MAX - 100_000);
            let mut ends = Vec::new();
            let mut at = start - 1;
            for step in &steps[..codes.len() - 1] {
                at += 1 + step;
                ends.push(at);
            }
            let mut out = vec![1, 2];
            write(&mut out, base, start, &ends, &codes);
            let run = Run::read(&out, 2, base).unwrap();
            prop_assert_eq!(run.last_end(), ends.last().copied());
            let mut place = run.ends.first().map_or(Place::Open, Place::Ended);
            let mut from = start;
            for (i, code) in codes.iter().enumerate() {
                let end = ends.get(i).copied();
                prop_assert_eq!(run.span(place), (from, end));
                prop_assert_eq!(run.code(place), Some(*code));
                let Place::Ended(position) = place else { break };
                for t in [from, end.unwrap()] {
                    prop_assert_eq!(run.find(t, None), Some(position));
                }
                from = end.unwrap() + 1;
                place = run.ends.next(position).map_or(Place::Open, Place::Ended);
            }
        }
    }
}
