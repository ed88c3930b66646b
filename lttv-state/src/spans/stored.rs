//! Spans as bytes, in temporary files.

use ltt_read::{Timestamp, TraceIndex};

use super::family::Family;
use super::place::EventPlace;
use super::span::{Completeness, Span, SpanThread, Waker};
use super::threads::ThreadId;
use crate::kernel::{NameId, Tid};

/// The size of a span in bytes.
pub(super) const SPAN_BYTES: usize = 2 * (1 + EventPlace::BYTES) + 72;

/// Writes parts of a span one after the other.
struct Writer<'b>(&'b mut [u8]);

impl Writer<'_> {
    fn put(&mut self, part: &[u8]) {
        let (head, rest) = std::mem::take(&mut self.0).split_at_mut(part.len());
        head.copy_from_slice(part);
        self.0 = rest;
    }

    fn optional(&mut self, number: Option<Tid>) {
        self.put(&[u8::from(number.is_some())]);
        self.put(&number.unwrap_or(0).to_le_bytes());
    }

    fn thread(&mut self, thread: &SpanThread) {
        self.optional(thread.tid);
        self.optional(thread.pid);
        self.put(&(thread.comm.index() as u32).to_le_bytes());
    }

    fn place(&mut self, place: Option<EventPlace>) {
        self.put(&[u8::from(place.is_some())]);
        self.put(&place.map_or([0; EventPlace::BYTES], EventPlace::to_bytes));
    }
}

/// Reads the parts of a span.
struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk() {
            Some((part, rest)) => {
                self.0 = rest;
                *part
            }
            None => [0; N],
        }
    }

    fn byte(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    fn optional(&mut self) -> Option<Tid> {
        let (is_known, number) = (self.byte() == 1, Tid::from_le_bytes(self.take()));
        is_known.then_some(number)
    }

    fn thread(&mut self) -> SpanThread {
        let (tid, pid) = (self.optional(), self.optional());
        SpanThread { tid, pid, comm: NameId::at(u32::from_le_bytes(self.take())) }
    }

    fn place(&mut self) -> Option<EventPlace> {
        let (is_known, place) = (self.byte() == 1, EventPlace::from_bytes(&self.take()));
        is_known.then_some(place)
    }
}

const COMPLETENESS: [Completeness; 4] =
    [Completeness::Whole, Completeness::NoBegin, Completeness::NoEnd, Completeness::Lost];

/// Converts a span to bytes.
pub(super) fn to_bytes(span: &Span) -> [u8; SPAN_BYTES] {
    let mut bytes = [0; SPAN_BYTES];
    let mut to = Writer(&mut bytes);
    to.place(span.first);
    to.place(span.last);
    to.put(&[span.family as u8, span.completeness as u8]);
    to.put(&(span.trace.0 as u32).to_le_bytes());
    to.put(&span.begin.as_ns().to_le_bytes());
    to.put(&span.end.as_ns().to_le_bytes());
    to.put(&span.cpu.to_le_bytes());
    to.thread(&span.thread);
    let (kind, waker) = match span.waker {
        Waker::Unknown => (0, SpanThread::default()),
        Waker::Interrupt => (1, SpanThread::default()),
        Waker::Thread(waker) => (2, waker),
    };
    to.put(&[kind]);
    to.thread(&waker);
    to.put(&(span.file.index() as u32).to_le_bytes());
    to.put(&[u8::from(span.result.is_some())]);
    to.put(&span.result.unwrap_or(0).to_le_bytes());
    to.put(&span.subject.to_le_bytes());
    bytes
}

/// Decodes a span from bytes.
pub(super) fn from_bytes(bytes: &[u8; SPAN_BYTES]) -> Span {
    let mut from = Reader(bytes);
    let (first, last) = (from.place(), from.place());
    let (family, completeness) = (from.byte(), from.byte());
    Span {
        first,
        last,
        family: Family::ALL.get(usize::from(family)).copied().unwrap_or(Family::Syscall),
        completeness: COMPLETENESS
            .get(usize::from(completeness))
            .copied()
            .unwrap_or(Completeness::Lost),
        trace: TraceIndex(u32::from_le_bytes(from.take()) as usize),
        begin: Timestamp::from_ns(i64::from_le_bytes(from.take())),
        end: Timestamp::from_ns(i64::from_le_bytes(from.take())),
        cpu: u32::from_le_bytes(from.take()),
        thread: from.thread(),
        waker: match (from.byte(), from.thread()) {
            (1, _) => Waker::Interrupt,
            (2, waker) => Waker::Thread(waker),
            _ => Waker::Unknown,
        },
        file: NameId::at(u32::from_le_bytes(from.take())),
        result: match (from.byte(), i64::from_le_bytes(from.take())) {
            (1, result) => Some(result),
            _ => None,
        },
        subject: u32::from_le_bytes(from.take()),
        ids: (ThreadId::NONE, ThreadId::NONE),
    }
}
