//! The timeline of a thread: its intervals in order.

use std::ops::Range;

use ltt_read::{Timestamp, TraceIndex};

use super::graph::TimelineId;
use super::interval::{Form, StoredInterval};
use super::machine::Intervals;
use crate::kernel::{NameId, Tid};

/// The timeline of a thread, or of the idle task of a CPU.
///
/// Thread ids that are used again have one timeline for each thread.
#[derive(Debug, Clone)]
pub struct Timeline {
    pub(super) trace: TraceIndex,
    pub(super) tid: Tid,
    pub(super) pid: Option<Tid>,
    pub(super) name: NameId,
    pub(super) cpu: u32,
    pub(super) start: i64,
    pub(super) ended: Option<i64>,
    pub(super) parent: Option<TimelineId>,
    pub(super) first_start: i64,
    pub(super) intervals: Intervals,
}

/// An interval as it is stored, with its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) stored: StoredInterval,
}

impl Timeline {
    /// Returns the index of the trace that contains the thread.
    pub fn trace(&self) -> TraceIndex {
        self.trace
    }

    /// Returns the id of the thread; 0 for an idle task.
    pub fn tid(&self) -> Tid {
        self.tid
    }

    /// Returns the id of the thread group, which user space calls process id; `None` if unknown.
    pub fn pid(&self) -> Option<Tid> {
        self.pid
    }

    /// Returns the last name of the thread: see [`WaitGraph::name`](super::WaitGraph::name).
    pub fn name(&self) -> NameId {
        self.name
    }

    /// Returns `true` for the idle task of a CPU.
    pub fn is_idle(&self) -> bool {
        self.tid == 0
    }

    /// Returns the number of the CPU of an idle task, or of the CPU on which the thread was last.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// Returns the time of the fork, or else that at which the trace first mentions the thread.
    pub fn start(&self) -> Timestamp {
        Timestamp::from_ns(self.start)
    }

    /// Returns the time at which the life of the thread ended; `None` if that is not known.
    pub fn ended(&self) -> Option<Timestamp> {
        self.ended.map(Timestamp::from_ns)
    }

    /// Returns the timeline of the thread that forked this one; `None` if that is not known.
    pub fn parent(&self) -> Option<TimelineId> {
        self.parent
    }

    /// Returns the times that the intervals cover: the start of the first one and the end of the
    /// last one; `None` if there are none.
    pub fn covers(&self) -> Option<Range<Timestamp>> {
        let last = self.intervals.get(self.intervals.len().checked_sub(1)?)?;
        Some(Timestamp::from_ns(self.first_start)..Timestamp::from_ns(last.end))
    }

    /// Returns the number of intervals.
    pub fn len(&self) -> usize {
        self.intervals.len()
    }

    /// Returns `true` if there are no intervals.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the index of the first interval that ends after a time, in ns.
    pub(super) fn index_at(&self, time: i64) -> usize {
        self.intervals.partition_point(|interval| interval.end <= time)
    }

    /// Returns the interval at an index.
    #[inline]
    pub(super) fn span(&self, at: usize) -> Option<Span> {
        let stored = self.intervals.get(at)?;
        let before = at.checked_sub(1).and_then(|before| self.intervals.get(before));
        let start = before.map_or(self.first_start, |before| before.end);
        Some(Span { start, end: stored.end, stored })
    }

    /// Iterates over the intervals in a window, cut to it. Gaps between lives are left out.
    pub(super) fn spans_in(&self, window: Range<i64>) -> impl Iterator<Item = Span> {
        let Range { start, end } = window;
        (self.index_at(start)..)
            .map_while(|at| self.span(at))
            .take_while(move |span| span.start < end)
            .map(move |span| {
                let (start, end) = (span.start.max(start), span.end.min(end));
                Span { start, end, ..span }
            })
            .filter(|span| span.start < span.end && span.stored.form() != Form::Gap)
    }
}
