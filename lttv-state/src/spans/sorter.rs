//! Putting spans in order with bounded memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use ltt_read::Timestamp;

use super::span::Span;
use super::stored::{SPAN_BYTES, from_bytes, to_bytes};

/// The number of spans in memory beyond which they are written to a temporary file.
const MAX_SPANS: usize = 1 << 17;
/// The number of spans that are read from a run at once.
const READ_SPANS: usize = 64;

/// The order of spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanOrder {
    /// By the time of their begin.
    Begin,
    /// The longest first, and equal ones by the time of their begin. Those of unknown duration come last.
    Duration,
}

/// The key of a span in an order: of equal spans the trace and the number within it decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    first: Reverse<Option<u64>>,
    begin: i64,
    trace: usize,
    number: u64,
}

impl SpanOrder {
    fn key(self, span: &Span, number: u64) -> Key {
        let duration = match self {
            SpanOrder::Begin => None,
            SpanOrder::Duration => span.duration(),
        };
        Key { first: Reverse(duration), begin: span.begin.as_ns(), trace: span.trace.0, number }
    }
}

/// Puts spans in order.
///
/// In memory are at most 2¹⁷ of them; more are written to a temporary file, in sorted runs. In the order of their
/// begin, spans are passed on while others are still being found, as long as no run was written.
#[derive(Debug)]
pub struct SpanSorter {
    order: SpanOrder,
    limit: Option<usize>,
    new_file: fn() -> io::Result<File>,
    max_spans: usize,
    number: u64,
    /// The spans in memory, the first one on top.
    heap: BinaryHeap<Reverse<(Key, usize)>>,
    spans: Vec<Span>,
    free: Vec<usize>,
    file: Option<File>,
    /// The first span and the end of each run in the file, in spans.
    runs: Vec<(u64, u64)>,
    /// The number of spans that were passed on.
    passed: usize,
}

impl SpanSorter {
    /// Creates a sorter, with a function that creates a temporary file.
    pub fn new(order: SpanOrder, new_file: fn() -> io::Result<File>) -> Self {
        SpanSorter {
            order,
            limit: None,
            new_file,
            max_spans: MAX_SPANS,
            number: 0,
            heap: BinaryHeap::new(),
            spans: Vec::new(),
            free: Vec::new(),
            file: None,
            runs: Vec::new(),
            passed: 0,
        }
    }

    /// Sets the number of spans that are passed on, the first ones in the order.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        SpanSorter { limit: Some(limit), ..self }
    }

    /// Sets the number of spans in memory.
    #[cfg(test)]
    fn max_spans(self, max_spans: usize) -> Self {
        SpanSorter { max_spans, ..self }
    }

    /// Returns `true` if as many spans as wanted were passed on.
    pub fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.passed >= limit)
    }

    /// Adds a span.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be written.
    pub fn push(&mut self, span: &Span) -> io::Result<()> {
        let key = self.order.key(span, self.number);
        self.number += 1;
        let slot = match self.free.pop() {
            Some(slot) => {
                self.spans[slot] = *span;
                slot
            }
            None => {
                self.spans.push(*span);
                self.spans.len() - 1
            }
        };
        self.heap.push(Reverse((key, slot)));
        if self.heap.len() >= self.max_spans { self.write_run() } else { Ok(()) }
    }

    /// Passes on the spans that begin before a time, unless they are ordered by duration.
    ///
    /// # Errors
    ///
    /// Those of the receiver.
    pub fn pass(
        &mut self,
        earliest: Timestamp,
        mut receive: impl FnMut(&Span) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.order != SpanOrder::Begin || !self.runs.is_empty() {
            return Ok(());
        }
        while let Some(Reverse((key, slot))) = self.heap.peek().copied() {
            if key.begin >= earliest.as_ns() || self.is_full() {
                break;
            }
            self.heap.pop();
            self.free.push(slot);
            self.passed += 1;
            receive(&self.spans[slot])?;
        }
        Ok(())
    }

    /// Passes on all spans that remain, in order.
    ///
    /// # Errors
    ///
    /// Those of the receiver, or if a temporary file cannot be read.
    pub fn finish(mut self, mut receive: impl FnMut(&Span) -> io::Result<()>) -> io::Result<()> {
        let mut runs = std::mem::take(&mut self.runs);
        let mut file = self.file.take();
        let mut loaded: Vec<std::collections::VecDeque<(Key, Span)>> = Vec::new();
        let mut tops = BinaryHeap::new();
        for at in 0..runs.len() {
            loaded.push(Default::default());
            self.load(&mut runs[at], file.as_mut(), &mut loaded[at])?;
            tops.extend(loaded[at].front().map(|(key, _)| Reverse((*key, at))));
        }
        loop {
            let of_runs = tops.peek().map(|Reverse((key, _))| *key);
            let in_memory = self.heap.peek().map(|Reverse((key, _))| *key);
            if self.is_full() {
                return Ok(());
            }
            match (of_runs, in_memory) {
                (None, None) => return Ok(()),
                (Some(of_runs), in_memory) if in_memory.is_none_or(|key| of_runs < key) => {
                    let Some(Reverse((_, at))) = tops.pop() else { continue };
                    let Some((_, span)) = loaded[at].pop_front() else { continue };
                    if loaded[at].is_empty() {
                        self.load(&mut runs[at], file.as_mut(), &mut loaded[at])?;
                    }
                    tops.extend(loaded[at].front().map(|(key, _)| Reverse((*key, at))));
                    receive(&span)?;
                }
                _ => {
                    let Some(Reverse((_, slot))) = self.heap.pop() else { continue };
                    receive(&self.spans[slot])?;
                }
            }
            self.passed += 1;
        }
    }

    /// Writes the spans in memory to the file, or drops those beyond the limit.
    fn write_run(&mut self) -> io::Result<()> {
        let keep = self.limit.map(|limit| limit.saturating_sub(self.passed));
        if let Some(keep) = keep.filter(|keep| *keep < self.max_spans / 2) {
            // The first ones of the order remain.
            let mut all = std::mem::take(&mut self.heap).into_vec();
            all.sort_unstable_by_key(|Reverse(key)| *key);
            self.free.extend(all.drain(keep.min(all.len())..).map(|Reverse((_, slot))| slot));
            self.heap = all.into();
            return Ok(());
        }
        if self.file.is_none() {
            self.file = Some((self.new_file)()?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let first = self.runs.last().map_or(0, |(_, end)| *end);
        let mut out = BufWriter::new(file);
        let mut sorted = std::mem::take(&mut self.heap).into_vec();
        sorted.sort_unstable_by_key(|Reverse(key)| *key);
        for Reverse((key, slot)) in &sorted {
            out.write_all(&key.number.to_le_bytes())?;
            out.write_all(&to_bytes(&self.spans[*slot]))?;
        }
        out.flush()?;
        drop(out);
        self.runs.push((first, first + sorted.len() as u64));
        self.spans.clear();
        self.free.clear();
        Ok(())
    }

    /// Reads the next spans of a run.
    fn load(
        &self,
        (first, end): &mut (u64, u64),
        file: Option<&mut File>,
        to: &mut std::collections::VecDeque<(Key, Span)>,
    ) -> io::Result<()> {
        let Some(file) = file else { return Ok(()) };
        let count = (*end - *first).min(READ_SPANS as u64);
        file.seek(SeekFrom::Start(*first * RECORD as u64))?;
        let mut bytes = vec![0; count as usize * RECORD];
        file.read_exact(&mut bytes)?;
        *first += count;
        for record in bytes.chunks_exact(RECORD) {
            let (number, span) = record.split_at(8);
            let (Some(number), Some(span)) = (number.first_chunk(), span.first_chunk()) else {
                continue;
            };
            let span = from_bytes(span);
            to.push_back((self.order.key(&span, u64::from_le_bytes(*number)), span));
        }
        Ok(())
    }
}

/// The size of a span in the file, with its number.
const RECORD: usize = 8 + SPAN_BYTES;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::NameId;
    use crate::spans::Family;
    use crate::spans::place::EventPlace;
    use crate::spans::span::{Completeness, SpanThread, Waker};
    use crate::spans::threads::ThreadId;

    fn span(begin: i64, length: i64, trace: usize) -> Span {
        let place = EventPlace::new(ltt_read::TracefileIndex(7), ltt_read::Position::START);
        let thread = SpanThread { tid: Some(3), pid: None, comm: NameId::at(9) };
        Span {
            family: Family::Blocked,
            completeness: Completeness::Whole,
            trace: ltt_read::TraceIndex(trace),
            begin: Timestamp::from_ns(begin),
            end: Timestamp::from_ns(begin + length),
            cpu: 4,
            thread,
            waker: Waker::Thread(thread),
            file: NameId::at(11),
            result: Some(-2),
            first: Some(place),
            last: None,
            subject: 12,
            ids: (ThreadId::NONE, ThreadId::NONE),
        }
    }

    #[test]
    fn bytes_of_spans_lead_back_to_them() {
        let all = span(-5, 17, 3);
        assert_eq!(from_bytes(&to_bytes(&all)), all);
        let none = Span { waker: Waker::Interrupt, result: None, first: None, ..all };
        assert_eq!(from_bytes(&to_bytes(&none)), none);
    }

    proptest! {
        /// Spans come in the order of a plain sort, whatever is written to files.
        #[test]
        fn spans_are_sorted(
            all in prop::collection::vec((0_i64..50, 0_i64..20, 0_usize..3), 0..300),
            max_spans in 2_usize..100,
            by_duration: bool,
            limit in prop::option::of(0_usize..400),
            steps in 1_usize..50,
        ) {
            let order = if by_duration { SpanOrder::Duration } else { SpanOrder::Begin };
            let spans: Vec<Span> = {
                let mut spans: Vec<_> = all.iter().map(|(b, l, t)| span(*b, *l, *t)).collect();
                spans.sort_by_key(|span| span.end);
                spans
            };
            let mut sorter = SpanSorter::new(order, tempfile::tempfile).max_spans(max_spans);
            if let Some(limit) = limit {
                sorter = sorter.limit(limit);
            }
            let mut found = Vec::new();
            for (at, span) in spans.iter().enumerate() {
                sorter.push(span).expect("a temporary file");
                if at % steps == 0 {
                    let later = spans[at + 1..].iter().map(|span| span.begin).min();
                    let earliest = later.unwrap_or(Timestamp::MAX);
                    sorter.pass(earliest, |span| { found.push(*span); Ok(()) }).expect("no error");
                }
            }
            sorter.finish(|span| { found.push(*span); Ok(()) }).expect("no error");
            let mut wanted: Vec<_> = (0..).zip(spans).map(|(n, s)| (order.key(&s, n), s)).collect();
            wanted.sort_by_key(|(key, _)| *key);
            wanted.truncate(limit.unwrap_or(usize::MAX));
            prop_assert_eq!(found, wanted.into_iter().map(|(_, s)| s).collect::<Vec<_>>());
        }
    }
}
