//! The tables of critical paths and thread states.

use std::ops::Range;

use ltt_read::{Timestamp, TraceIndex};
use lttv_state::kernel::NameId;
use lttv_state::waits::{
    Cause, CriticalPath, ThreadState, TimelineId, Times, WaitGraph, WakeSource,
};

use super::label;
use crate::table::{Cell, Kind, Table};

/// The tables, to which threads are added.
#[derive(Debug)]
pub struct Tables<'g> {
    graph: &'g WaitGraph,
    window: Range<Timestamp>,
    has_traces: bool,
    /// The greatest number of segments of a path; 0 for all.
    limit: usize,
    states: Table,
    path: Table,
    causes: Table,
    blockers: Table,
    segments: Table,
    missing: Table,
}

/// The columns of the table of states: their keys and titles.
const STATES: [(&str, &str); 14] = [
    ("running_ns", "RUNNING us"),
    ("preempted_ns", "PREEMPTED us"),
    ("woken_ns", "WOKEN us"),
    ("unknown_ns", "UNKNOWN us"),
    ("task_ns", "TASK us"),
    ("timer_ns", "TIMER us"),
    ("block_ns", "BLOCK us"),
    ("network_ns", "NETWORK us"),
    ("irq_ns", "IRQ us"),
    ("softirq_ns", "SOFTIRQ us"),
    ("ipi_ns", "IPI us"),
    ("interrupt_ns", "INTERRUPT us"),
    ("no_wakeup_ns", "NO WAKE-UP us"),
    ("open_ns", "OPEN us"),
];

impl<'g> Tables<'g> {
    /// Creates tables of a window, in ns. `has_traces` adds columns for the numbers of traces, and
    /// `limit` is the greatest number of segments of each path; 0 for all.
    pub fn new(
        graph: &'g WaitGraph,
        window: Range<Timestamp>,
        has_traces: bool,
        limit: usize,
    ) -> Self {
        let table = |key, title: &str| {
            let table = Table::new(key, title);
            let table = match has_traces {
                true => table.column("trace", "TRACE", Kind::Integer),
                false => table,
            };
            table.column("tid", "TID", Kind::Integer)
        };
        let times = |table: Table| {
            table
                .column("count", "COUNT", Kind::Integer)
                .column("total_ns", "TOTAL us", Kind::Duration)
                .column("percent", "%", Kind::Decimal)
                .column("longest_ns", "LONGEST us", Kind::Duration)
                .column("longest_begin_ns", "LONGEST FROM", Kind::Time)
        };
        let states = table("states", "Thread states").column("pid", "PID", Kind::Integer);
        let states = states.column("command", "COMMAND", Kind::Text);
        let states = STATES
            .into_iter()
            .fold(states, |table, (key, title)| table.column(key, title, Kind::Duration));
        let thread = |table: Table| table.column("thread", "THREAD", Kind::Text);
        let path = thread(table("path", "Critical path: threads and states"));
        let causes = table("kinds", "Critical path: states and causes");
        let blockers = table("blockers", "Direct blockers").column("cause", "CAUSE", Kind::Text);
        let blockers = blockers.column("waker", "WOKEN UP BY", Kind::Text);
        let segments = table("segments", "Segments of the critical path")
            .column("begin_ns", "FROM", Kind::Time)
            .column("end_ns", "TO", Kind::Time)
            .column("duration_ns", "us", Kind::Duration)
            .column("depth", "DEPTH", Kind::Integer);
        let missing = Table::new("missing", "Events that were not recorded")
            .column("trace", "TRACE", Kind::Integer)
            .column("events", "EVENTS", Kind::Text)
            .column("consequence", "CONSEQUENCE", Kind::Text);
        Tables {
            graph,
            window,
            has_traces,
            limit,
            states,
            path: times(path.column("state", "STATE", Kind::Text)),
            causes: times(causes.column("state", "STATE", Kind::Text)),
            blockers: times(blockers.column("call", "IN", Kind::Text)),
            segments: thread(segments)
                .column("state", "STATE", Kind::Text)
                .column("cpu", "CPU", Kind::Integer)
                .column("call", "IN", Kind::Text)
                .column("source", "SOURCE", Kind::Text),
            missing,
        }
    }

    /// Returns the first cells of a row about a thread.
    fn ids(&self, id: TimelineId) -> Vec<Cell> {
        let timeline = self.graph.timeline(id);
        let trace = timeline.filter(|_| self.has_traces);
        let trace = trace.map(|timeline| Cell::Integer(timeline.trace().0 as i128));
        let tid = timeline.map(|timeline| timeline.tid()).into();
        trace.into_iter().chain([tid]).collect()
    }

    fn length(&self) -> u64 {
        self.window.end.as_ns().abs_diff(self.window.start.as_ns())
    }

    fn times(&self, times: &Times) -> [Cell; 5] {
        [
            times.count.into(),
            Cell::Duration(times.total),
            Cell::percent(times.total, self.length()),
            Cell::Duration(times.longest),
            times.longest_start.into(),
        ]
    }

    /// Adds the times of a thread by state and cause. Returns `false` if it has none.
    pub fn add_states(&mut self, id: TimelineId) -> bool {
        let times = self.graph.times(id, self.window.clone());
        if times.total() == 0 {
            return false;
        }
        let states = [ThreadState::Running, ThreadState::Preempted, ThreadState::Woken];
        let states = states.into_iter().chain([ThreadState::Unknown]);
        let states = states.chain(Cause::ALL.map(ThreadState::Blocked));
        let mut row = self.ids(id);
        row.push(self.graph.timeline(id).and_then(|timeline| timeline.pid()).into());
        row.push(self.graph.command(id).into());
        row.extend(states.map(|state| Cell::Duration(times.of(state).total)));
        self.states.push(row);
        true
    }

    /// Adds the critical path of a thread, and its direct blockers.
    pub fn add_path(&mut self, path: &CriticalPath) {
        let of = path.thread();
        for share in path.shares() {
            let mut row = self.ids(of);
            row.push(label(self.graph, share.thread).into());
            row.push(share.kind.label().into());
            row.extend(self.times(&share.times));
            self.path.push(row);
        }
        for (kind, times) in path.by_kind() {
            let mut row = self.ids(of);
            row.push(kind.label().into());
            row.extend(self.times(&times));
            self.causes.push(row);
        }
        for blocker in self.graph.blockers(of, self.window.clone()) {
            let mut row = self.ids(of);
            row.push(blocker.cause.label().into());
            row.push(blocker.thread.map(|waker| label(self.graph, waker)).into());
            row.push(self.call(of, blocker.call).into());
            row.extend(self.times(&blocker.times));
            self.blockers.push(row);
        }
        let limit = if self.limit == 0 { usize::MAX } else { self.limit };
        for segment in path.segments().iter().take(limit) {
            let mut row = self.ids(of);
            row.extend([
                segment.start.into(),
                segment.end.into(),
                Cell::Duration(segment.time()),
                segment.depth.into(),
                label(self.graph, segment.thread).into(),
                segment.kind.label().into(),
                segment.cpu.into(),
                self.call(segment.thread, segment.call).into(),
                self.source(segment.thread, segment.source).into(),
            ]);
            self.segments.push(row);
        }
        let left_out = path.segments().len().saturating_sub(limit);
        if left_out > 0 {
            let shown = limit.min(path.segments().len());
            let all = path.segments().len();
            self.segments.set_title(format!(
                "Segments of the critical path (the first {shown} of {all}; --limit 0 shows all)"
            ));
        }
    }

    /// Returns the name of a system call; `None` if it is unknown.
    fn call(&self, id: TimelineId, call: NameId) -> Option<&'g str> {
        let trace = self.graph.timeline(id)?.trace();
        let name = self.graph.name(trace, call);
        (!matches!(name, "" | "NONE" | "UNKNOWN")).then_some(name)
    }

    fn source(&self, id: TimelineId, source: WakeSource) -> Option<String> {
        self.graph.source_label(self.graph.timeline(id)?.trace(), source)
    }

    /// Adds the events that a trace lacks.
    pub fn add_missing(&mut self, trace: TraceIndex) {
        for of in self.graph.missing(trace).unwrap_or_default() {
            let number = Cell::Integer(trace.0 as i128);
            self.missing.row([number, of.names().into(), of.consequence().into()]);
        }
    }

    /// Returns the tables, with the threads sorted by decreasing time running. Tables without rows
    /// are left out unless `all` is set.
    pub fn finish(mut self, all: bool) -> Vec<Table> {
        // The column exists.
        _ = self.states.sort_by(STATES[0].0);
        let paths = [self.path, self.causes, self.blockers, self.segments];
        let tables = [self.states].into_iter().chain(paths).chain([self.missing]);
        tables.filter(|table| all || !table.rows().is_empty()).collect()
    }
}
