//! Tables of the states of threads, of their waits, and of their critical paths.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ltt_read::TraceIndex;
use lttv_common::critical_path::label;
use lttv_common::table::{Declaration, Table, percent};
use lttv_state::durations::Spread;
use lttv_state::kernel::needs::Need;
use lttv_state::waits::{
    Blocker, Cause, CriticalPath, Interval, SegmentKind, StateTimes, ThreadState, Timeline,
    TimelineId,
};

use crate::models::waits::{CpuTimes, WindowWaits};

/// Threads that are shown, with their waits in a window.
#[derive(Debug)]
pub(crate) struct Shown<'w> {
    /// The waits of the window.
    pub waits: &'w WindowWaits,
    /// The threads.
    pub threads: &'w [TimelineId],
    /// `true` if tables have a column for the numbers of traces.
    pub has_traces: bool,
    /// The greatest number of segments of each path; 0 for all.
    pub limit: usize,
}

/// A row of a table: the thread that it is about, and its figures.
struct Row<T> {
    id: TimelineId,
    it: T,
}

/// The times of a thread, the part of them in which it was interrupted, and its longest wait.
struct Overview {
    times: StateTimes,
    interrupted: u64,
    longest: Option<Interval>,
}

/// An activity of a thread.
struct Activity {
    what: String,
    total: u64,
    /// The intervals, if it is known how many there are.
    times: Option<Spread>,
    /// The time of the thread in all activities.
    all: u64,
}

/// The columns of the states of threads: their keys and titles.
const STATES: [(&str, &str, ThreadState); 14] = [
    ("running_ns", "RUNNING", ThreadState::Running),
    ("preempted_ns", "PREEMPTED", ThreadState::Preempted),
    ("woken_ns", "WOKEN", ThreadState::Woken),
    ("unknown_ns", "UNKNOWN", ThreadState::Unknown),
    ("task_ns", "TASK", ThreadState::Blocked(Cause::Task)),
    ("timer_ns", "TIMER", ThreadState::Blocked(Cause::Timer)),
    ("block_ns", "BLOCK", ThreadState::Blocked(Cause::Block)),
    ("network_ns", "NETWORK", ThreadState::Blocked(Cause::Network)),
    ("irq_ns", "IRQ", ThreadState::Blocked(Cause::Irq)),
    ("softirq_ns", "SOFTIRQ", ThreadState::Blocked(Cause::Softirq)),
    ("ipi_ns", "IPI", ThreadState::Blocked(Cause::Ipi)),
    ("interrupt_ns", "INTERRUPT", ThreadState::Blocked(Cause::Interrupt)),
    ("no_wakeup_ns", "NO WAKE-UP", ThreadState::Blocked(Cause::Unknown)),
    ("open_ns", "OPEN", ThreadState::Blocked(Cause::Open)),
];

impl Shown<'_> {
    /// Returns the table of the times of threads by state and cause, those that ran most first.
    pub(crate) fn states(&self) -> Table {
        let rows = self.rows(|id| Some(self.waits.times(id)).filter(|times| times.total() > 0));
        let mut table = self
            .table("states", "Thread states", &rows)
            .integer("pid", "PID", |row| self.pid(row.id))
            .minor()
            .text("command", "COMMAND", |row| self.waits.command(row.id));
        for (key, title, state) in STATES {
            table = table.duration(key, title, |row| row.it.of(state).total());
        }
        let table = table.duration("asleep_ns", "ASLEEP BEFORE", |row| row.it.asleep()).minor();
        let mut table = table.build();
        // The column exists.
        _ = table.sort_by(STATES[0].0);
        table
    }

    /// Returns the table of how long threads ran and waited. Those of which nothing is known are
    /// left out.
    pub(crate) fn threads(&self, cpu_times: &CpuTimes) -> Table {
        let rows = self.rows(|id| {
            let times = self.waits.times(id);
            let waits = self.waits.intervals(id).filter(|of| of.state.cause().is_some());
            // Of several, the first one.
            let longest = waits.reduce(|a, b| if b.time() > a.time() { b } else { a });
            let interrupted = cpu_times.interrupted(id);
            let is_known = times.all().any(|(state, _)| state != ThreadState::Unknown);
            is_known.then_some(Overview { times, interrupted, longest })
        });
        let waits = |of: &Overview| {
            let waits = of.times.all().filter(|(state, _)| state.cause().is_some());
            waits.map(|(_, times)| times.count()).sum::<u64>()
        };
        self.table("threads", "Threads", &rows)
            .integer("pid", "PID", |row| self.pid(row.id))
            .minor()
            .text("command", "COMMAND", |row| self.waits.command(row.id))
            .duration("running_ns", "RUNNING", |row| {
                row.it.times.of(ThreadState::Running).total().saturating_sub(row.it.interrupted)
            })
            .duration("interrupted_ns", "INTERRUPTED", |row| row.it.interrupted)
            .minor()
            .duration("ready_ns", "READY", |row| row.it.times.ready())
            .duration("blocked_ns", "BLOCKED", |row| row.it.times.blocked())
            .duration("asleep_ns", "ASLEEP BEFORE", |row| row.it.times.asleep())
            .minor()
            .count("waits", "WAITS", |row| waits(&row.it))
            .duration("longest_ns", "LONGEST", |row| row.it.longest.map(|of| of.time()))
            .time("longest_begin_ns", "LONGEST FROM", |row| row.it.longest.map(|of| of.start))
            .text("longest_call", "IN", |row| {
                row.it.longest.and_then(|of| self.waits.call(row.id, of.call))
            })
            .text("longest_cause", "CAUSE", |row| {
                row.it.longest.and_then(|of| of.state.cause()).map(Cause::label)
            })
            .text("longest_waker", "WOKEN UP BY", |row| {
                let longest = row.it.longest?;
                let thread = longest.link.map(|link| link.from);
                self.waits.waker(row.id, thread, longest.source)
            })
            .build()
    }

    /// Returns the table of what threads did: the modes in which they ran, with the system call or
    /// interrupt, and the waits by system call.
    pub(crate) fn activities(&self, cpu_times: &CpuTimes) -> Table {
        let rows = self.rows(|id| self.activities_of(id, cpu_times));
        self.table("activities", "Activities", &rows)
            .text("command", "COMMAND", |row| self.waits.command(row.id))
            .text("activity", "ACTIVITY", |row| row.it.what.as_str())
            .count("count", "COUNT", |row| row.it.times.map(|times| times.count()))
            .duration("total_ns", "TOTAL", |row| row.it.total)
            .duration("longest_ns", "LONGEST", |row| {
                row.it.times.map(|times| times.greatest().value)
            })
            .time("longest_begin_ns", "LONGEST FROM", |row| {
                row.it.times.map(|times| times.greatest().begin())
            })
            .percent("percent", "%", |row| percent(row.it.total, row.it.all))
            .build()
    }

    fn activities_of(&self, id: TimelineId, cpu_times: &CpuTimes) -> Vec<Activity> {
        let all = self.waits.times(id).total();
        let mut waits: BTreeMap<String, Spread> = BTreeMap::new();
        for of in self.waits.intervals(id).filter(|of| of.state != ThreadState::Running) {
            let what = match (of.state, self.waits.call(id, of.call)) {
                (ThreadState::Blocked(_), Some(call)) => format!("blocked in {call}"),
                (ThreadState::Blocked(_), None) => "blocked".to_owned(),
                (state, _) => state.label().to_owned(),
            };
            waits.entry(what).or_default().add(of.time(), of.end.as_ns());
        }
        let waits = waits.into_iter().map(|(what, times)| (what, times.total(), Some(times)));
        let runs = cpu_times.modes(id).map(|(what, total)| (what, total, None));
        let activity = |(what, total, times)| Activity { what, total, times, all };
        let mut activities: Vec<_> = runs.chain(waits).map(activity).collect();
        activities.sort_by_key(|of| Reverse(of.total));
        activities
    }

    /// Returns the table of the waits of threads, by what ended them.
    pub(crate) fn waits(&self) -> Table {
        let rows = self.rows(|id| self.waits.blockers(id));
        self.table("waits", "Waits", &rows)
            .text("command", "COMMAND", |row| self.waits.command(row.id))
            .text("call", "IN", |row| self.waits.call(row.id, row.it.call))
            .text("cause", "CAUSE", |row| row.it.cause.label())
            .text("waker", "WOKEN UP BY", |row| {
                self.waits.waker(row.id, row.it.thread, row.it.source)
            })
            .with(|table| self.times(table, |blocker: &Blocker| &blocker.times))
            .build()
    }

    /// Returns the tables of critical paths: by thread and state, by state, and their segments.
    pub(crate) fn paths(&self) -> [Table; 3] {
        let paths: Vec<_> = self.threads.iter().map(|id| self.waits.critical_path(*id)).collect();
        [self.shares(&paths), self.kinds(&paths), self.segments(&paths)]
    }

    fn shares(&self, paths: &[CriticalPath]) -> Table {
        let rows = rows_of(paths, CriticalPath::shares);
        self.table("path", "Critical path: threads and states", &rows)
            .text("thread", "THREAD", |row| label(&self.waits.graph, row.it.thread))
            .text("state", "STATE", |row| row.it.kind.label())
            .with(|table| self.times(table, |share| &share.times))
            .build()
    }

    fn kinds(&self, paths: &[CriticalPath]) -> Table {
        let rows = rows_of(paths, CriticalPath::by_kind);
        self.table("kinds", "Critical path: states and causes", &rows)
            .text("state", "STATE", |row| row.it.0.label())
            .with(|table| self.times(table, |of: &(SegmentKind, Spread)| &of.1))
            .build()
    }

    fn segments(&self, paths: &[CriticalPath]) -> Table {
        let limit = if self.limit == 0 { usize::MAX } else { self.limit };
        let rows = rows_of(paths, |path| path.segments().iter().take(limit).copied());
        let all: usize = paths.iter().map(|path| path.segments().len()).sum();
        let title = match rows.len() {
            shown if shown < all => {
                format!("Segments of the critical path (the first {shown} of {all})")
            }
            _ => "Segments of the critical path".to_owned(),
        };
        self.table("segments", title, &rows)
            .time("begin_ns", "FROM", |row| row.it.start)
            .time("end_ns", "TO", |row| row.it.end)
            .minor()
            .duration("duration_ns", "DURATION", |row| row.it.time())
            .count("depth", "DEPTH", |row| row.it.depth)
            .minor()
            .text("thread", "THREAD", |row| label(&self.waits.graph, row.it.thread))
            .text("state", "STATE", |row| row.it.kind.label())
            .integer("cpu", "CPU", |row| row.it.cpu)
            .text("call", "IN", |row| self.waits.call(row.it.thread, row.it.call))
            .text("source", "SOURCE", |row| self.waits.source(row.it.thread, row.it.source))
            .build()
    }

    /// Returns the rows of all threads.
    fn rows<T, I: IntoIterator<Item = T>>(&self, each: impl Fn(TimelineId) -> I) -> Vec<Row<T>> {
        let all = self.threads.iter();
        all.flat_map(|id| each(*id).into_iter().map(|it| Row { id: *id, it })).collect()
    }

    fn table<'r, T>(
        &self,
        key: &'static str,
        title: impl Into<String>,
        rows: &'r [Row<T>],
    ) -> Declaration<'r, Row<T>> {
        let trace = |row: &Row<T>| self.timeline(row.id).map_or(TraceIndex(0), Timeline::trace);
        Table::of(key, title, rows)
            .trace_if(self.has_traces, trace)
            .integer("tid", "TID", |row| self.timeline(row.id).map(Timeline::tid))
    }

    /// Adds the columns of times.
    fn times<'r, T>(
        &self,
        table: Declaration<'r, Row<T>>,
        times: impl Fn(&T) -> &Spread,
    ) -> Declaration<'r, Row<T>> {
        table
            .count("count", "COUNT", |row| times(&row.it).count())
            .duration("total_ns", "TOTAL", |row| times(&row.it).total())
            .percent("percent", "%", |row| {
                percent(times(&row.it).total(), self.waits.length(row.id))
            })
            .duration("longest_ns", "LONGEST", |row| times(&row.it).greatest().value)
            .time("longest_begin_ns", "LONGEST FROM", |row| times(&row.it).greatest().begin())
    }

    fn timeline(&self, id: TimelineId) -> Option<&Timeline> {
        self.waits.graph.timeline(id)
    }

    fn pid(&self, id: TimelineId) -> Option<i32> {
        self.timeline(id).and_then(Timeline::pid)
    }
}

/// Returns the table of the events that traces lack.
pub(crate) fn missing(missing: &[(TraceIndex, Need)]) -> Table {
    Table::of("missing", "Events that were not recorded", missing)
        .integer("trace", "TRACE", |row| row.0.0)
        .text("events", "EVENTS", |row| row.1.events)
        .text("consequence", "CONSEQUENCE", |row| row.1.consequence)
        .build()
}

/// Returns the rows of all paths.
fn rows_of<'p, T, I: IntoIterator<Item = T>>(
    paths: &'p [CriticalPath],
    each: impl Fn(&'p CriticalPath) -> I,
) -> Vec<Row<T>> {
    let row = |path: &CriticalPath, it| Row { id: path.thread(), it };
    let each = &each;
    paths.iter().flat_map(|path| each(path).into_iter().map(move |it| row(path, it))).collect()
}
