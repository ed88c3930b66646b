//! The figures of call paths, collected while stacks change.

use ltt_read::Timestamp;

use super::chart::ChartRecorder;
use super::paths::PathId;
use super::tracker::{Frame, Stack};
use crate::durations::Durations;

/// The figures of a call path, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PathFigures {
    /// The durations of the calls that have ended, from entry to exit.
    pub calls: Durations,
    /// The time during which the path was the whole stack: without the calls from it.
    pub self_time: u64,
}

/// The numbers of events that do not fit together in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CallAnomalies {
    /// The number of exits at an empty stack: of calls that began before the trace.
    pub exits_at_empty_stack: u64,
    /// The number of exits from functions that are not on the stack. They are ignored.
    pub exits_not_on_stack: u64,
    /// The number of calls that ended together with one of their callers: their own exit was lost
    /// or skipped, as by `longjmp` and exceptions.
    pub ended_by_callers: u64,
    /// The number of calls that did not fit on a stack of 16384 calls (or 4194304 on all stacks).
    pub too_deep: u64,
    /// The number of calls beyond the maximum of 1048576 call paths: they have no figures.
    pub omitted_calls: u64,
    /// The number of events of threads beyond the maximum of 262144 threads.
    pub omitted_events: u64,
}

impl CallAnomalies {
    /// Adds those of another part.
    pub(super) fn add(&mut self, other: &CallAnomalies) {
        let sums = [
            (&mut self.exits_at_empty_stack, other.exits_at_empty_stack),
            (&mut self.exits_not_on_stack, other.exits_not_on_stack),
            (&mut self.ended_by_callers, other.ended_by_callers),
            (&mut self.too_deep, other.too_deep),
            (&mut self.omitted_calls, other.omitted_calls),
            (&mut self.omitted_events, other.omitted_events),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
}

/// The figures of a thread.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ThreadFigures {
    pub(super) entries: u64,
    pub(super) max_depth: usize,
    pub(super) anomalies: u64,
}

/// The collector of the figures of a trace.
#[derive(Debug, Clone)]
pub(super) struct Collector {
    /// The number among all collectors of the trace.
    pub(super) id: u64,
    /// The time from which on time counts, in ns.
    pub(super) start: i64,
    /// The time up to which time counts.
    pub(super) end: i64,
    /// The time of the first event after the window.
    until: i64,
    /// The figures, by path.
    pub(super) paths: Vec<PathFigures>,
    /// The figures, by thread.
    pub(super) threads: Vec<ThreadFigures>,
    pub(super) anomalies: CallAnomalies,
    pub(super) chart: Option<ChartRecorder>,
    /// The stacks at the end of the window, once it is over.
    pub(super) closed: Option<Vec<Stack>>,
}

impl Collector {
    /// Creates a collector of the events in a window that starts with some stacks. Time counts up
    /// to `end`, and events before `until`; both are `i64::MAX` if there is no limit.
    pub(super) fn new(id: u64, stacks: &[Stack], [start, end, until]: [i64; 3]) -> Self {
        let thread = |stack: &Stack| ThreadFigures {
            max_depth: stack.frames.len(),
            ..ThreadFigures::default()
        };
        Collector {
            id,
            start,
            end,
            until,
            paths: Vec::new(),
            threads: stacks.iter().map(thread).collect(),
            anomalies: CallAnomalies::default(),
            chart: None,
            closed: None,
        }
    }

    /// Ends the window if an event at a time is after it. The stacks are those before the event.
    #[inline]
    pub(super) fn advance(&mut self, time: i64, stacks: &[Stack]) {
        if time >= self.until && self.closed.is_none() {
            self.close(stacks);
        }
    }

    /// Returns `true` if the window is over.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// Ends the window with the stacks at its end. Calls that are open count up to the end, if the
    /// window has one.
    #[cold]
    pub(super) fn close(&mut self, stacks: &[Stack]) {
        if self.is_closed() {
            return;
        }
        for (thread, stack) in stacks.iter().enumerate() {
            if self.end < i64::MAX && !stack.frames.is_empty() {
                self.charge(stack.path(), stack.last, self.end);
            }
            let end = if self.end < i64::MAX { self.end } else { stack.last };
            for (depth, frame) in stack.frames.iter().enumerate() {
                self.record(thread, depth, frame, end, true);
            }
        }
        self.closed = Some(stacks.to_vec());
    }

    /// Adds the time from one event of a thread to the next one to the innermost call's path.
    #[inline]
    pub(super) fn charge(&mut self, path: PathId, from: i64, to: i64) {
        let (from, to) = (from.max(self.start), to.min(self.end));
        if from < to && !self.is_closed() {
            let figures = self.figures(path);
            figures.self_time = figures.self_time.saturating_add(to.abs_diff(from));
        }
    }

    /// Takes note of an entry, with the number of calls on the stack after it.
    #[inline]
    pub(super) fn entered(&mut self, thread: usize, depth: usize) {
        if !self.is_closed() {
            let of = self.thread(thread);
            of.entries += 1;
            of.max_depth = of.max_depth.max(depth);
        }
    }

    /// Takes note of the end of a call, with the number of calls on the stack after it.
    #[inline]
    pub(super) fn completed(
        &mut self,
        thread: usize,
        depth: usize,
        frame: &Frame,
        time: i64,
        by_caller: bool,
    ) {
        if self.is_closed() {
            return;
        }
        let duration = time.saturating_sub(frame.entered).max(0) as u64;
        self.figures(frame.path).calls.push(duration);
        if frame.path == PathId::OMITTED {
            self.anomalies.omitted_calls += 1;
        }
        if by_caller {
            self.anomalies.ended_by_callers += 1;
            self.thread(thread).anomalies += 1;
        }
        self.record(thread, depth, frame, time, false);
    }

    #[inline]
    fn record(&mut self, thread: usize, depth: usize, frame: &Frame, end: i64, is_open: bool) {
        let start = self.start;
        if let Some(chart) = &mut self.chart {
            let times = Timestamp::from_ns(frame.entered.max(start))..Timestamp::from_ns(end);
            chart.record(thread, depth, frame.path, times, [frame.entered < start, is_open]);
        }
    }

    #[cold]
    pub(super) fn too_deep(&mut self, thread: usize) {
        if !self.is_closed() {
            self.anomalies.too_deep += 1;
            self.thread(thread).anomalies += 1;
        }
    }

    #[cold]
    pub(super) fn exit_at_empty_stack(&mut self, thread: usize) {
        if !self.is_closed() {
            self.anomalies.exits_at_empty_stack += 1;
            self.thread(thread).anomalies += 1;
        }
    }

    #[cold]
    pub(super) fn exit_not_on_stack(&mut self, thread: usize) {
        if !self.is_closed() {
            self.anomalies.exits_not_on_stack += 1;
            self.thread(thread).anomalies += 1;
        }
    }

    #[cold]
    pub(super) fn omitted_event(&mut self) {
        if !self.is_closed() {
            self.anomalies.omitted_events += 1;
        }
    }

    /// Returns the figures of a path.
    #[inline]
    pub(super) fn figures(&mut self, path: PathId) -> &mut PathFigures {
        if self.paths.len() <= path.index() {
            self.add_paths(path);
        }
        &mut self.paths[path.index()]
    }

    #[cold]
    fn add_paths(&mut self, last: PathId) {
        self.paths.resize_with(last.index() + 1, PathFigures::default);
    }

    /// Returns the figures of a thread.
    #[inline]
    pub(super) fn thread(&mut self, thread: usize) -> &mut ThreadFigures {
        if self.threads.len() <= thread {
            self.add_threads(thread);
        }
        &mut self.threads[thread]
    }

    #[cold]
    fn add_threads(&mut self, last: usize) {
        self.threads.resize_with(last + 1, ThreadFigures::default);
    }
}
