//! Statistics as tables.

use std::cmp::Reverse;

use ltt_read::TraceIndex;
use lttv_common::table::{Declaration, Format, Table, percent};
use lttv_state::stats::{DeviceFacts, ProcessFacts, ProcessSum, TraceStatistics};

use crate::models::statistics::{Call, Collected, Group, groups};

/// The table of the system call whose time is the window.
pub(crate) const CALL: &str = "call";

/// The table of threads by CPU, which is filled only if it is written.
pub(crate) const BY_CPU: &str = "cpu_processes";

/// Returns all tables; without rows that of threads by CPU unless `by_cpu` is true. In text, the
/// index of the trace is printed only if there are several.
pub(crate) fn tables(
    found: &Collected,
    top: Option<usize>,
    format: Format,
    by_cpu: bool,
) -> Vec<Table> {
    let traces = found.statistics.traces();
    let shown = Shown {
        found,
        top,
        traces: (0..).map(TraceIndex).zip(traces).collect(),
        has_traces: format != Format::Text || traces.len() > 1,
    };
    let call = found.longest.as_ref().map(|call| shown.call(call));
    let tables = [
        shown.windows(),
        shown.cpus(),
        shown.threads_by_cpu(by_cpu),
        shown.threads(),
        shown.groups(),
        shown.commands(),
        shown.devices(),
        shown.events(),
        shown.contradictions(),
    ];
    call.into_iter().chain(tables).collect()
}

/// The statistics that are shown.
struct Shown<'s> {
    found: &'s Collected,
    top: Option<usize>,
    traces: Vec<(TraceIndex, &'s TraceStatistics)>,
    has_traces: bool,
}

/// A thread with its figures, on one CPU or on all.
struct ThreadRow<'s> {
    trace: TraceIndex,
    /// The length of the window in ns.
    time: u64,
    cpu: Option<u32>,
    facts: &'s ProcessFacts,
    sum: ProcessSum,
}

/// A group of threads.
struct GroupRow {
    trace: TraceIndex,
    /// The length of the window in ns.
    time: u64,
    group: Group,
}

/// The times of a CPU's user.
struct CpuTimes {
    /// The length of the window in ns.
    window: u64,
    cpu: u64,
    user: u64,
    system: u64,
    interrupt: u64,
}

impl ThreadRow<'_> {
    fn times(&self) -> CpuTimes {
        let ProcessSum { cpu_time: cpu, user_time: user, system_time: system, .. } = self.sum;
        CpuTimes { window: self.time, cpu, user, system, interrupt: self.sum.interrupt_time }
    }
}

impl GroupRow {
    fn times(&self) -> CpuTimes {
        let Group { cpu, user, system, interrupt, .. } = self.group;
        CpuTimes { window: self.time, cpu, user, system, interrupt }
    }
}

/// Adds the columns of CPU time.
fn cpu_times<'r, R>(
    table: Declaration<'r, R>,
    of: impl Fn(&'r R) -> CpuTimes,
) -> Declaration<'r, R> {
    table
        .percent("cpu_percent", "CPU %", |row| percent(of(row).cpu, of(row).window))
        .duration("cpu_ns", "CPU", |row| of(row).cpu)
        .duration("user_ns", "USER", |row| of(row).user)
        .minor()
        .duration("system_ns", "SYSTEM", |row| of(row).system)
        .minor()
        .duration("interrupt_ns", "INTERRUPT", |row| of(row).interrupt)
        .minor()
}

/// Adds the columns of bytes that were read and written.
fn bytes<'r, R>(table: Declaration<'r, R>, of: impl Fn(&'r R) -> (u64, u64)) -> Declaration<'r, R> {
    table
        .bytes("bytes_read", "READ", |row| of(row).0)
        .bytes("bytes_written", "WRITTEN", |row| of(row).1)
}

/// Adds the columns of a group of threads after its identity.
fn group<'r>(table: Declaration<'r, GroupRow>) -> Declaration<'r, GroupRow> {
    let table = cpu_times(
        table.count("threads", "THREADS", |row| row.group.threads).minor(),
        GroupRow::times,
    );
    let table = table
        .duration("blocked_ns", "BLOCKED", |row| row.group.blocked)
        .duration("ready_ns", "READY", |row| row.group.ready)
        .count("events", "EVENTS", |row| row.group.events)
        .minor();
    bytes(table, |row| (row.group.read, row.group.written))
}

impl<'s> Shown<'s> {
    fn windows(&self) -> Table {
        let name = |trace: TraceIndex| self.found.names.get(trace.0).map_or("", String::as_str);
        Table::of("traces", "Window", &self.traces)
            .trace_if(self.has_traces, |row| row.0)
            .text("name", "NAME", |row| name(row.0))
            .time("begin_ns", "BEGIN", |row| row.1.start())
            .time("end_ns", "END", |row| row.1.end())
            .duration("duration_ns", "DURATION", |row| row.1.time())
            .build()
    }

    fn cpus(&self) -> Table {
        let mut rows = Vec::new();
        for (trace, of) in &self.traces {
            for cpu in of.cpus().into_iter().filter(|cpu| self.found.picked.has_cpu(cpu.number)) {
                let sum = of.sum(|leaf| leaf.cpu == cpu.number);
                let bytes = (sum.bytes_read(), sum.bytes_written());
                rows.push((*trace, of.time(), cpu, bytes));
            }
        }
        let table = Table::of("cpus", "CPUs", &rows)
            .trace_if(self.has_traces, |row| row.0)
            .integer("cpu", "CPU", |row| row.2.number)
            .percent("busy_percent", "BUSY %", |row| row.2.busy_percent())
            .percent("user_percent", "USER %", |row| percent(row.2.times.user, row.1))
            .percent("system_percent", "SYSTEM %", |row| percent(row.2.times.system, row.1))
            .percent("interrupt_percent", "INTERRUPT %", |row| {
                percent(row.2.times.interrupt, row.1)
            })
            .percent("softirq_percent", "SOFTIRQ %", |row| percent(row.2.times.softirq, row.1))
            .minor()
            .percent("idle_percent", "IDLE %", |row| percent(row.2.times.idle, row.1))
            .minor()
            .percent("unknown_percent", "? %", |row| percent(row.2.times.unknown, row.1))
            .duration("busy_ns", "BUSY", |row| row.2.busy_time)
            .count("events", "EVENTS", |row| row.2.events)
            .minor();
        bytes(table, |row| row.3).build()
    }

    fn thread_row(
        trace: TraceIndex,
        of: &'s TraceStatistics,
        cpu: Option<u32>,
        sum: &ProcessSum,
    ) -> ThreadRow<'s> {
        let facts = &of.process_facts()[sum.process.index()];
        ThreadRow { trace, time: of.time(), cpu, facts, sum: *sum }
    }

    /// Returns the table of the threads on each CPU, the busiest ones first. With a system call,
    /// the CPUs are those that executed its thread.
    fn threads_by_cpu(&self, has_rows: bool) -> Table {
        let mut rows = Vec::new();
        for &(trace, of) in self.traces.iter().filter(|_| has_rows) {
            let cpus: Vec<u32> = match &self.found.longest {
                Some(call) if call.trace == trace => call.cpus(of).into_iter().collect(),
                Some(_) => Vec::new(),
                None => of.cpus().iter().map(|cpu| cpu.number).collect(),
            };
            for cpu in cpus.into_iter().filter(|cpu| self.found.picked.has_cpu(*cpu)) {
                let busiest = self.found.picked.threads_on(trace, of, cpu);
                rows.extend(busiest.iter().map(|sum| Self::thread_row(trace, of, Some(cpu), sum)));
            }
        }
        let table = Table::of(BY_CPU, "Threads by CPU", &rows)
            .at_most(self.top, |row| (row.trace, row.cpu))
            .trace_if(self.has_traces, |row| row.trace)
            .integer("cpu", "CPU", |row| row.cpu)
            .integer("tid", "TID", |row| row.facts.tid)
            .integer("pid", "PID", |row| row.facts.pid)
            .text("command", "COMMAND", |row| &*row.facts.name);
        cpu_times(table, ThreadRow::times)
            .count("events", "EVENTS", |row| row.sum.events)
            .minor()
            .build()
    }

    fn threads(&self) -> Table {
        let mut rows = Vec::new();
        for &(trace, of) in &self.traces {
            let busiest = self.found.picked.threads(trace, of);
            rows.extend(busiest.iter().map(|sum| Self::thread_row(trace, of, None, sum)));
        }
        let table = Table::of("processes", "Processes", &rows)
            .at_most(self.top, |row| row.trace)
            .trace_if(self.has_traces, |row| row.trace)
            .integer("tid", "TID", |row| row.facts.tid)
            .integer("pid", "PID", |row| row.facts.pid)
            .text("command", "COMMAND", |row| &*row.facts.name);
        let table = cpu_times(table, ThreadRow::times)
            .duration("blocked_ns", "BLOCKED", |row| row.facts.blocked_time)
            .duration("ready_ns", "READY", |row| row.facts.ready_time)
            .count("switches", "SWITCHES", |row| row.facts.times_scheduled)
            .minor()
            .count("migrations", "MIGRATIONS", |row| row.facts.migrations)
            .minor()
            .count("events", "EVENTS", |row| row.sum.events)
            .minor();
        bytes(table, |row| (row.facts.bytes_read, row.facts.bytes_written)).build()
    }

    /// Returns the groups of threads with the same key.
    fn groups_by<K: Ord>(&self, key: impl Fn(&ProcessFacts) -> Option<K>) -> Vec<GroupRow> {
        let mut rows = Vec::new();
        for (trace, of) in &self.traces {
            let threads = self.found.picked.threads(*trace, of);
            let groups = groups(of, &threads, &key).into_iter();
            rows.extend(groups.map(|group| GroupRow { trace: *trace, time: of.time(), group }));
        }
        rows
    }

    fn groups(&self) -> Table {
        Table::of("groups", "Thread groups", &self.groups_by(|facts| facts.pid.or(facts.tid)))
            .at_most(self.top, |row| row.trace)
            .trace_if(self.has_traces, |row| row.trace)
            .integer("pid", "PID", |row| row.group.pid)
            .text("command", "COMMAND", |row| row.group.command.as_str())
            .with(group)
            .build()
    }

    fn commands(&self) -> Table {
        Table::of("commands", "Commands", &self.groups_by(|facts| Some(facts.name.clone())))
            .at_most(self.top, |row| row.trace)
            .trace_if(self.has_traces, |row| row.trace)
            .text("command", "COMMAND", |row| row.group.command.as_str())
            .with(group)
            .build()
    }

    fn devices(&self) -> Table {
        let mut rows: Vec<(TraceIndex, u64, &DeviceFacts)> = Vec::new();
        for (trace, of) in &self.traces {
            rows.extend(of.devices().iter().map(|device| (*trace, of.time(), device)));
        }
        let table = Table::of("devices", "Block devices", &rows)
            .trace_if(self.has_traces, |row| row.0)
            .text("device", "DEVICE", |row| row.2.number.to_string())
            .text("name", "NAME", |row| &*row.2.name)
            .percent("busy_percent", "BUSY %", |row| percent(row.2.busy_time, row.1))
            .duration("busy_ns", "BUSY", |row| row.2.busy_time)
            .decimal("average_queue_length", "QUEUE", |row| row.2.average_queue_length(row.1))
            .count("inserted", "INSERTED", |row| row.2.inserted)
            .minor()
            .count("merged", "MERGED", |row| row.2.merged)
            .minor()
            .count("issued", "ISSUED", |row| row.2.issued)
            .minor()
            .count("completed", "COMPLETED", |row| row.2.completed())
            .count("reads", "READS", |row| row.2.reads)
            .count("writes", "WRITES", |row| row.2.writes);
        bytes(table, |row| (row.2.bytes_read, row.2.bytes_written)).build()
    }

    fn events(&self) -> Table {
        let title = if self.found.is_filtered { "Events that pass the filter" } else { "Events" };
        let mut rows = Vec::new();
        for (trace, _) in &self.traces {
            let mut counts: Vec<_> = self.found.events[trace.0].iter().collect();
            counts.sort_by_key(|(name, count)| (Reverse(**count), (*name).clone()));
            rows.extend(counts.into_iter().map(|(name, count)| (*trace, name, *count)));
        }
        Table::of("events", title, &rows)
            .at_most(self.top, |row| row.0)
            .trace_if(self.has_traces, |row| row.0)
            .text("event", "EVENT", |row| row.1.as_str())
            .count("count", "COUNT", |row| row.2)
            .build()
    }

    fn contradictions(&self) -> Table {
        let mut rows = Vec::new();
        for (trace, _) in &self.traces {
            let found = self.found.anomalies.get(trace.0).into_iter().flatten();
            rows.extend(found.map(|(what, count)| (*trace, what, *count)));
        }
        Table::of("contradictions", "Contradictions in the trace", &rows)
            .trace_if(self.has_traces, |row| row.0)
            .text("what", "WHAT", |row| row.1.as_str())
            .count("count", "COUNT", |row| row.2)
            .build()
    }

    /// Returns the table of the system call whose time is the window.
    fn call(&self, call: &Call) -> Table {
        let trace = self.traces.get(call.trace.0);
        let cpus = trace.map(|(_, of)| call.cpus(of)).unwrap_or_default();
        let cpus: Vec<_> = cpus.iter().map(u32::to_string).collect();
        Table::of(CALL, format!("Longest {}", call.name), std::slice::from_ref(call))
            .trace_if(self.has_traces, |call| call.trace)
            .integer("tid", "TID", |call| call.tid)
            .integer("pid", "PID", |call| call.pid)
            .text("command", "COMMAND", |call| call.command.as_str())
            .text("call", "CALL", |call| call.name.as_str())
            .time("begin_ns", "FROM", |call| call.span.start)
            .time("end_ns", "TO", |call| call.span.end)
            .duration("duration_ns", "DURATION", |call| call.time())
            .text("cpus", "CPUS", |_| cpus.join(" "))
            .text("returned", "RETURNED", |call| if call.returned { "yes" } else { "no" })
            .build()
    }
}
