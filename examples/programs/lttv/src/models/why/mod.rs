//! The parts of the time of a span: the states of its thread, the handlers that interrupted it, the threads that ran
//! in its place, and its waits.

mod instead;
mod interrupted;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use ltt_read::Timestamp;
use lttv_state::waits::{
    Cause, CriticalPath, Interval, Segment, ThreadState, TimelineId, WaitGraph,
};

pub(crate) use instead::{Instead, instead};
pub(crate) use interrupted::{Handler, Interrupted};

/// The time of a span in one state of its thread. The times of all parts add up to the duration of the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// The state.
    pub state: State,
    /// The time in ns.
    pub time: u64,
    /// The number of intervals, or of handlers.
    pub count: u64,
}

/// A state of the thread of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// The thread has a state; it runs without being interrupted.
    Thread(ThreadState),
    /// Interrupt handlers run in its place.
    Interrupted,
    /// The span is none of a thread, and goes on.
    Elapsed,
}

impl State {
    /// Returns the name of the state in results.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            State::Thread(state) => state.label(),
            State::Interrupted => "interrupted",
            State::Elapsed => "elapsed",
        }
    }
}

/// The intervals of a thread in the time of a span, which they cover.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// The thread; `None` if it is unknown.
    pub thread: Option<TimelineId>,
    intervals: Vec<Piece>,
}

/// A piece of a timeline: its time, the state, and the interval of the graph, which is `None` if it has none.
type Piece = (Range<Timestamp>, ThreadState, Option<Interval>);

impl Timeline {
    /// Returns the timeline of a thread. Where the graph has no interval, the state is unknown.
    pub(crate) fn of(
        graph: &WaitGraph,
        thread: Option<TimelineId>,
        span: Range<Timestamp>,
    ) -> Self {
        let (mut intervals, mut at) = (Vec::new(), span.start);
        let unknown = |time: Range<Timestamp>| (time, ThreadState::Unknown, None);
        let found = thread.into_iter().flat_map(|id| graph.intervals(id, span.clone()));
        for interval in found {
            if interval.start > at {
                intervals.push(unknown(at..interval.start));
            }
            at = interval.end;
            intervals.push((interval.start..interval.end, interval.state, Some(interval)));
        }
        if at < span.end {
            intervals.push(unknown(at..span.end));
        }
        Timeline { thread, intervals }
    }

    /// Iterates over the times for which the thread was on a CPU, in ns, with the CPU.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (Range<i64>, u32)> {
        self.intervals.iter().filter_map(|(time, state, interval)| {
            let cpu = interval.as_ref()?.cpu.filter(|_| *state == ThreadState::Running)?;
            Some((time.start.as_ns()..time.end.as_ns(), cpu))
        })
    }

    /// Returns the parts of the time, the longest first, of which handlers took some.
    pub(crate) fn parts(&self, interrupted: &[Handler]) -> Vec<Part> {
        let mut sums: BTreeMap<State, (u64, u64)> = BTreeMap::new();
        for (time, state, _) in &self.intervals {
            let sum = sums.entry(State::Thread(*state)).or_default();
            sum.0 += time.end.since(time.start);
            sum.1 += 1;
        }
        let time: u64 = interrupted.iter().map(|of| of.time).sum();
        if time > 0 {
            if let Some(running) = sums.get_mut(&State::Thread(ThreadState::Running)) {
                running.0 = running.0.saturating_sub(time);
            }
            let count = interrupted.iter().map(|of| of.count).sum();
            sums.insert(State::Interrupted, (time, count));
        }
        let part = |(state, (time, count))| Part { state, time, count };
        let mut parts: Vec<Part> = sums.into_iter().map(part).collect();
        parts.sort_by_key(|part| Reverse(part.time));
        parts
    }

    /// Returns the waits for something to happen, the longest first.
    pub(crate) fn waits(&self) -> Vec<Interval> {
        let blocked = self.intervals.iter().filter(|(_, state, _)| state.cause().is_some());
        let mut waits: Vec<Interval> = blocked.filter_map(|(.., interval)| *interval).collect();
        waits.sort_by_key(|wait| Reverse(wait.time()));
        waits
    }

    /// Returns the critical path of the longest wait that a thread ended; `None` if there is none, or if nothing is
    /// known of that thread.
    pub(crate) fn chain(&self, graph: &WaitGraph) -> Option<CriticalPath> {
        let thread = self.thread?;
        let wait = self.waits().into_iter().find(|wait| wait.link.is_some())?;
        let path = graph.critical_path(thread, wait.start..wait.end);
        let is_other = |segment: &Segment| segment.thread != thread;
        path.segments().iter().any(is_other).then_some(path)
    }

    /// Returns `true` if it is not known what ended the wait at the end of the span, but it may be found later.
    pub(crate) fn is_open(&self) -> bool {
        let last = self.intervals.last();
        last.is_some_and(|(_, state, _)| *state == ThreadState::Blocked(Cause::Open))
    }
}
