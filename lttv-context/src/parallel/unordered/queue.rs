//! The pieces that threads still have to read.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ltt_read::{Cursor, Position, TraceIndex, TracefileIndex};

use super::piece::{Begin, Boundary, Job, Span};
use crate::traceset::Traceset;

/// The tracefiles that have not been read to their end, the largest rest first. Threads divide them
/// into pieces as they need some, so that few cursors are there at a time, and packets that are not in
/// memory are met shortly before they are read.
pub(super) struct Queue<'q> {
    traceset: &'q Traceset,
    tracefiles: &'q [(TraceIndex, TracefileIndex, bool)],
    /// The size of a piece in bytes.
    piece: u64,
    span: Option<Span>,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    rests: BinaryHeap<Rest>,
    /// The number of threads that may return a rest.
    dividing: usize,
}

/// The rest of a tracefile that no thread has begun to read.
struct Rest {
    tracefile: usize,
    /// The number of the next piece.
    number: usize,
    /// The approximate number of bytes before it, and its approximate size.
    before: u64,
    bytes: u64,
    begin: Begin,
    /// The cursor that finds the next pieces; `None` before the first one. Cursors are large, and rests change
    /// places.
    scout: Option<Box<Cursor>>,
}

impl<'q> Queue<'q> {
    /// Creates the queue of tracefiles with the given sizes; `None` for those that are left out.
    pub(super) fn new(
        traceset: &'q Traceset,
        tracefiles: &'q [(TraceIndex, TracefileIndex, bool)],
        positions: &[Position],
        sizes: &[Option<u64>],
        piece: u64,
        span: Option<Span>,
    ) -> Self {
        let rests =
            sizes.iter().zip(positions).enumerate().filter_map(|(tracefile, (size, at))| {
                let begin = Begin::Position(*at);
                size.map(|bytes| Rest {
                    tracefile,
                    number: 0,
                    before: 0,
                    bytes,
                    begin,
                    scout: None,
                })
            });
        let waiting = Mutex::new(Waiting { rests: rests.collect(), dividing: 0 });
        Queue { traceset, tracefiles, piece, span, waiting, changed: Condvar::new() }
    }

    /// Returns the next piece to read; `None` if there is no other one.
    pub(super) fn next(&self) -> Option<Job> {
        let mut waiting = self.lock();
        let rest = loop {
            if let Some(rest) = waiting.rests.pop() {
                break rest;
            }
            if waiting.dividing == 0 {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        };
        if rest.bytes < self.piece.saturating_add(self.piece / 2) {
            return Some(self.job(rest, None));
        }
        waiting.dividing += 1;
        drop(waiting);
        let (job, rest) = self.divide(rest);
        let mut waiting = self.lock();
        waiting.dividing -= 1;
        waiting.rests.extend(rest);
        self.changed.notify_all();
        Some(job)
    }

    /// Divides a rest into the next piece and those after it, if there are any.
    fn divide(&self, mut rest: Rest) -> (Job, Option<Rest>) {
        let scout = rest.scout.take().or_else(|| {
            let mut scout = Box::new(self.cursor(rest.tracefile));
            let Begin::Position(position) = rest.begin else { return Some(scout) };
            scout.seek(position).is_ok().then_some(scout)
        });
        let found = scout.and_then(|mut scout| {
            let limit = self.span.and_then(|span| span.limit);
            let (boundary, passed) = Boundary::find(&mut scout, self.piece, limit)?;
            Some((scout, Arc::new(boundary), passed))
        });
        let Some((scout, boundary, passed)) = found else { return (self.job(rest, None), None) };
        let after = Rest {
            tracefile: rest.tracefile,
            number: rest.number + 1,
            before: rest.before.saturating_add(passed),
            bytes: rest.bytes.saturating_sub(passed),
            begin: Begin::Boundary(boundary.clone()),
            scout: Some(scout),
        };
        rest.bytes = passed;
        (self.job(rest, Some(boundary)), Some(after))
    }

    fn job(&self, rest: Rest, next: Option<Arc<Boundary>>) -> Job {
        let Rest { tracefile, number, before, bytes, begin, .. } = rest;
        Job { tracefile, number, before, bytes, cursor: self.cursor(tracefile), begin, next }
    }

    fn cursor(&self, tracefile: usize) -> Cursor {
        let (trace, index, _) = self.tracefiles[tracefile];
        self.traceset.traces()[trace.0].cursor(index).with_trace_number(trace.0)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ord for Rest {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |rest: &Self| (rest.bytes, rest.tracefile);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Rest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rest {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rest {}
