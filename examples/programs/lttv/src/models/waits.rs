//! The waits of a time window, and what its threads did while they ran.

use std::collections::BTreeMap;
use std::ops::Range;

use ltt_read::{TimeSpan, Timestamp, TraceIndex};
use lttv_common::critical_path::label;
use lttv_state::kernel::{ExecutionMode, NameId};
use lttv_state::stats::{ProcessFacts, Statistics};
use lttv_state::waits::{
    Blocker, Cause, CriticalPath, Interval, StateTimes, ThreadState, Timeline, TimelineId,
    WaitGraph, WakeSource,
};

/// The waits of a time window.
#[derive(Debug)]
pub(crate) struct WindowWaits {
    /// The graph.
    pub graph: WaitGraph,
    window: Range<Timestamp>,
    /// The part of the window in which each trace has events.
    spans: Vec<Option<TimeSpan>>,
}

impl WindowWaits {
    /// Creates the waits of a window. `spans` are the parts of it in which each trace has events.
    pub(crate) fn new(
        graph: WaitGraph,
        window: Range<Timestamp>,
        spans: Vec<Option<TimeSpan>>,
    ) -> Self {
        WindowWaits { graph, window, spans }
    }

    /// Returns the part of the window in which the trace of a thread has events.
    fn span(&self, id: TimelineId) -> Range<Timestamp> {
        let trace = self.graph.timeline(id).map(Timeline::trace);
        let span = trace.and_then(|trace| *self.spans.get(trace.0)?);
        span.map_or(self.window.start..self.window.start, |span| span.start..span.end)
    }

    /// Returns the length of the window, as far as the trace of a thread has events, in ns.
    pub(crate) fn length(&self, id: TimelineId) -> u64 {
        let span = self.span(id);
        span.end.as_ns().abs_diff(span.start.as_ns())
    }

    /// Returns the times of a thread.
    pub(crate) fn times(&self, id: TimelineId) -> StateTimes {
        self.graph.times(id, self.span(id))
    }

    /// Iterates over the intervals of a thread.
    pub(crate) fn intervals(&self, id: TimelineId) -> impl Iterator<Item = Interval> {
        self.graph.intervals(id, self.span(id))
    }

    /// Returns the direct blockers of a thread.
    pub(crate) fn blockers(&self, id: TimelineId) -> Vec<Blocker> {
        self.graph.blockers(id, self.span(id))
    }

    /// Returns the critical path of a thread.
    pub(crate) fn critical_path(&self, id: TimelineId) -> CriticalPath {
        self.graph.critical_path(id, self.window.clone())
    }

    /// Returns the command of a thread; `idle` for an idle task.
    pub(crate) fn command(&self, id: TimelineId) -> &str {
        match self.graph.timeline(id).is_some_and(Timeline::is_idle) {
            true => "idle",
            false => self.graph.command(id),
        }
    }

    /// Returns the name of a system call; `None` if it is unknown.
    pub(crate) fn call(&self, id: TimelineId, call: NameId) -> Option<&str> {
        known(self.graph.name(self.graph.timeline(id)?.trace(), call))
    }

    /// Describes the source of a wake-up of a thread.
    pub(crate) fn source(&self, id: TimelineId, source: WakeSource) -> Option<String> {
        self.graph.source_label(self.graph.timeline(id)?.trace(), source)
    }

    /// Describes what woke a thread: another thread, or else a source.
    pub(crate) fn waker(
        &self,
        id: TimelineId,
        thread: Option<TimelineId>,
        source: WakeSource,
    ) -> Option<String> {
        let thread = thread.map(|thread| label(&self.graph, thread));
        thread.or_else(|| self.source(id, source))
    }
}

/// Returns the window from the first to the last event of all traces.
pub(crate) fn window_of(spans: &[Option<TimeSpan>]) -> Option<Range<Timestamp>> {
    let spans = spans.iter().flatten().map(|span| (span.start, span.end));
    let (start, end) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    Some(start..end)
}

/// Returns a name, unless it says that there is none.
pub(crate) fn known(name: &str) -> Option<&str> {
    Some(name).filter(|name| !matches!(*name, "" | "NONE" | "UNKNOWN"))
}

/// Reads on after a window whose graph is `at_end`, until it is known who ended the waits that are open
/// at its end: further and further, up to the last event. `graph_until` returns the graph up to a time,
/// and `is_open` tells whether waits are open that matter. Threads keep the names that they have at the
/// end of the window. After an error, the graph so far is returned.
pub(crate) fn read_on<E>(
    window: &Range<Timestamp>,
    last: Timestamp,
    at_end: WaitGraph,
    is_open: impl Fn(&WaitGraph) -> bool,
    mut graph_until: impl FnMut(Timestamp) -> Result<WaitGraph, E>,
) -> (WaitGraph, Result<(), E>) {
    let (mut until, mut further) = (window.end, None);
    // Each graph is built from the first event on: few steps, of lengths that grow fast.
    let mut step = window.end.as_ns().abs_diff(window.start.as_ns()).max(MIN_STEP);
    while until < last && is_open(further.as_ref().unwrap_or(&at_end)) {
        until = until.saturating_add(step);
        step = step.saturating_mul(8);
        match graph_until(until) {
            Ok(graph) => further = Some(graph),
            Err(error) => return (at_end, Err(error)),
        }
    }
    match further {
        Some(graph) => (graph.with_names_of(&at_end), Ok(())),
        None => (at_end, Ok(())),
    }
}

/// The least time that is read after a window, in ns.
const MIN_STEP: u64 = 100_000_000;

/// Returns `true` if the wait at the end of a window is open.
pub(crate) fn ends_open(graph: &WaitGraph, id: TimelineId, window: &Range<Timestamp>) -> bool {
    let last = graph.intervals(id, window.clone()).last();
    last.is_some_and(|last| last.state == ThreadState::Blocked(Cause::Open))
}

/// The times for which threads ran in each mode, in ns.
#[derive(Debug, Default)]
pub(crate) struct CpuTimes(BTreeMap<TimelineId, BTreeMap<(ExecutionMode, String), u64>>);

impl CpuTimes {
    /// Returns the times of the threads of a graph.
    pub(crate) fn of(graph: &WaitGraph, statistics: &Statistics) -> Self {
        let mut times = CpuTimes::default();
        for (index, trace) in (0..).map(TraceIndex).zip(statistics.traces()) {
            for (key, counts) in trace.leaves().filter(|(_, counts)| counts.cpu_time > 0) {
                let facts = trace.process_facts().get(key.process.index());
                if let Some(id) = facts.and_then(|facts| find(graph, index, facts, key.cpu)) {
                    let of_thread = times.0.entry(id).or_default();
                    let what = (key.mode, trace.name(key.submode).to_owned());
                    let time = of_thread.entry(what).or_default();
                    *time = time.wrapping_add(counts.cpu_time);
                }
            }
        }
        times
    }

    /// Iterates over the modes in which a thread ran, with the name of the system call or interrupt.
    pub(crate) fn modes(&self, id: TimelineId) -> impl Iterator<Item = (String, u64)> {
        self.0.get(&id).into_iter().flatten().map(|((mode, name), time)| {
            let mode = mode.as_str();
            (known(name).map_or_else(|| mode.to_owned(), |name| format!("{mode} {name}")), *time)
        })
    }

    /// Returns the time for which a thread was on a CPU that handled interrupts.
    pub(crate) fn interrupted(&self, id: TimelineId) -> u64 {
        let modes = self.0.get(&id).into_iter().flatten();
        let interrupts = modes.filter(|((mode, _), _)| mode.is_interrupt());
        interrupts.fold(0, |sum, (_, time)| sum.wrapping_add(*time))
    }
}

/// Finds the timeline of a process of a trace; of an idle task by its CPU.
fn find(graph: &WaitGraph, trace: TraceIndex, of: &ProcessFacts, cpu: u32) -> Option<TimelineId> {
    let is_of_cpu = |id: &TimelineId| graph.timeline(*id).is_some_and(|of| of.cpu() == cpu);
    match of.tid? {
        0 => graph.find_all(trace, 0).find(is_of_cpu),
        tid => graph.find(trace, tid, of.start.unwrap_or(Timestamp::MIN)),
    }
}
