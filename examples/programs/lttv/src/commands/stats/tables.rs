//! Statistics as tables.

use std::cmp::Reverse;

use lttv_common::table::{Cell, Format, Kind, Table};
use lttv_state::stats::{ProcessSum, TraceStatistics};

use super::collect::Collected;
use super::longest::Call;
use super::rows::{Group, busiest, first_of, groups};
use super::{BY_CPU, CALL};

/// Returns all tables; without rows that of threads by CPU unless `by_cpu` is true. In text, the
/// index of the trace is printed only if there are several.
pub(super) fn tables(
    found: &Collected,
    top: Option<usize>,
    format: Format,
    by_cpu: bool,
) -> Vec<Table> {
    let with_trace = format != Format::Text || found.statistics.traces().len() > 1;
    let new = |key, title: &str| Rows::new(key, title, with_trace);
    let mut cpus = new("cpus", "CPUs")
        .column("cpu", "CPU", Kind::Integer)
        .percents(&[
            ("busy_percent", "BUSY %"),
            ("user_percent", "USER %"),
            ("system_percent", "SYSTEM %"),
            ("interrupt_percent", "INTERRUPT %"),
            ("softirq_percent", "SOFTIRQ %"),
            ("idle_percent", "IDLE %"),
            ("unknown_percent", "? %"),
        ])
        .column("busy_ns", "BUSY us", Kind::Duration)
        .column("events", "EVENTS", Kind::Integer)
        .bytes();
    let mut processes = new("processes", "Processes")
        .column("tid", "TID", Kind::Integer)
        .column("pid", "PID", Kind::Integer)
        .column("command", "COMMAND", Kind::Text)
        .times()
        .column("switches", "SWITCHES", Kind::Integer)
        .column("migrations", "MIGRATIONS", Kind::Integer)
        .column("events", "EVENTS", Kind::Integer)
        .bytes();
    let mut cpu_processes = new(BY_CPU, "Threads by CPU")
        .column("cpu", "CPU", Kind::Integer)
        .column("tid", "TID", Kind::Integer)
        .column("pid", "PID", Kind::Integer)
        .column("command", "COMMAND", Kind::Text)
        .cpu_times()
        .column("events", "EVENTS", Kind::Integer);
    let group = |table: Rows| {
        let table = table.column("threads", "THREADS", Kind::Integer).times();
        table.column("events", "EVENTS", Kind::Integer).bytes()
    };
    let by_pid = new("groups", "Thread groups").column("pid", "PID", Kind::Integer);
    let mut by_pid = group(by_pid.column("command", "COMMAND", Kind::Text));
    let mut commands = group(new("commands", "Commands").column("command", "COMMAND", Kind::Text));
    let mut devices = new("devices", "Block devices")
        .column("device", "DEVICE", Kind::Text)
        .column("name", "NAME", Kind::Text)
        .percents(&[("busy_percent", "BUSY %")])
        .column("busy_ns", "BUSY us", Kind::Duration)
        .column("average_queue_length", "QUEUE", Kind::Decimal)
        .column("inserted", "INSERTED", Kind::Integer)
        .column("merged", "MERGED", Kind::Integer)
        .column("issued", "ISSUED", Kind::Integer)
        .column("completed", "COMPLETED", Kind::Integer)
        .column("reads", "READS", Kind::Integer)
        .column("writes", "WRITES", Kind::Integer)
        .bytes();
    let title = if found.is_filtered { "Events that pass the filter" } else { "Events" };
    let mut events = new("events", title).column("event", "EVENT", Kind::Text).column(
        "count",
        "COUNT",
        Kind::Integer,
    );
    let mut traces = new("traces", "Window")
        .column("name", "NAME", Kind::Text)
        .column("begin_ns", "BEGIN", Kind::Time)
        .column("end_ns", "END", Kind::Time)
        .column("duration_ns", "DURATION us", Kind::Duration);
    let mut contradictions = new("contradictions", "Contradictions in the trace")
        .column("what", "WHAT", Kind::Text)
        .column("count", "COUNT", Kind::Integer);
    for (index, trace) in found.statistics.traces().iter().enumerate() {
        for (what, count) in found.anomalies.get(index).into_iter().flatten() {
            contradictions.row(index, vec![what.as_str().into(), (*count).into()]);
        }
        let name = found.names.get(index).map_or("", String::as_str);
        let (start, end, time) = (trace.start(), trace.end(), Cell::Duration(trace.time()));
        traces.row(index, vec![name.into(), start.into(), end.into(), time]);
        cpu_rows(&mut cpus, index, trace);
        let threads = busiest(trace, trace.processes());
        process_rows(&mut processes, index, trace, first_of(&threads, top));
        if by_cpu {
            by_cpu_rows(&mut cpu_processes, index, trace, top, found.longest.as_ref());
        }
        for group in groups(trace, &threads, top, |facts| facts.pid.or(facts.tid)) {
            let keys = vec![group.pid.into(), group.command.as_str().into()];
            by_pid.row(index, group_row(keys, trace, &group));
        }
        for group in groups(trace, &threads, top, |facts| Some(facts.name.clone())) {
            commands.row(index, group_row(vec![group.command.as_str().into()], trace, &group));
        }
        device_rows(&mut devices, index, trace);
        let mut counts: Vec<_> = found.events[index].iter().collect();
        counts.sort_by_key(|(name, count)| (Reverse(**count), (*name).clone()));
        for (name, count) in counts.into_iter().take(top.unwrap_or(usize::MAX)) {
            events.row(index, vec![name.as_str().into(), (*count).into()]);
        }
    }
    let tables =
        [traces, cpus, cpu_processes, processes, by_pid, commands, devices, events, contradictions];
    let longest = found.longest.as_ref().map(|call| call_table(call, found, with_trace));
    longest.into_iter().chain(tables).map(|rows| rows.table).collect()
}

/// A table whose first column may be the index of the trace.
struct Rows {
    table: Table,
    with_trace: bool,
}

impl Rows {
    fn new(key: &'static str, title: &str, with_trace: bool) -> Self {
        let table = Table::new(key, title);
        let table = if with_trace { table.column("trace", "TRACE", Kind::Integer) } else { table };
        Rows { table, with_trace }
    }

    fn column(self, key: &'static str, title: &str, kind: Kind) -> Self {
        Rows { table: self.table.column(key, title, kind), ..self }
    }

    fn percents(self, columns: &[(&'static str, &str)]) -> Self {
        columns.iter().fold(self, |rows, (key, title)| rows.column(key, title, Kind::Decimal))
    }

    fn bytes(self) -> Self {
        self.column("bytes_read", "READ bytes", Kind::Integer).column(
            "bytes_written",
            "WRITTEN bytes",
            Kind::Integer,
        )
    }

    /// Adds the columns of CPU time.
    fn cpu_times(self) -> Self {
        self.percents(&[("cpu_percent", "CPU %")])
            .column("cpu_ns", "CPU us", Kind::Duration)
            .column("user_ns", "USER us", Kind::Duration)
            .column("system_ns", "SYSTEM us", Kind::Duration)
            .column("interrupt_ns", "INTERRUPT us", Kind::Duration)
    }

    /// Adds the columns of CPU time and waits.
    fn times(self) -> Self {
        let rows = self.cpu_times().column("blocked_ns", "BLOCKED us", Kind::Duration);
        rows.column("ready_ns", "READY us", Kind::Duration)
    }

    fn row(&mut self, trace: usize, mut cells: Vec<Cell>) {
        if self.with_trace {
            cells.insert(0, (trace as u64).into());
        }
        self.table.push(cells);
    }
}

fn cpu_rows(rows: &mut Rows, index: usize, trace: &TraceStatistics) {
    for cpu in trace.cpus() {
        let of = |time| Cell::percent(time, trace.time());
        let sum = trace.sum(|leaf| leaf.cpu == cpu.number);
        rows.row(
            index,
            vec![
                cpu.number.into(),
                cpu.busy_percent().map_or(Cell::Empty, Cell::Number),
                of(cpu.times.user),
                of(cpu.times.system),
                of(cpu.times.interrupt),
                of(cpu.times.softirq),
                of(cpu.times.idle),
                of(cpu.times.unknown),
                Cell::Duration(cpu.busy_time),
                cpu.events.into(),
                sum.bytes_read().into(),
                sum.bytes_written().into(),
            ],
        );
    }
}

fn process_rows(rows: &mut Rows, index: usize, trace: &TraceStatistics, threads: &[ProcessSum]) {
    for sum in threads {
        let facts = &trace.process_facts()[sum.process.index()];
        rows.row(
            index,
            vec![
                facts.tid.into(),
                facts.pid.into(),
                (&*facts.name).into(),
                Cell::percent(sum.cpu_time, trace.time()),
                Cell::Duration(sum.cpu_time),
                Cell::Duration(sum.user_time),
                Cell::Duration(sum.system_time),
                Cell::Duration(sum.interrupt_time),
                Cell::Duration(facts.blocked_time),
                Cell::Duration(facts.ready_time),
                facts.times_scheduled.into(),
                facts.migrations.into(),
                sum.events.into(),
                facts.bytes_read.into(),
                facts.bytes_written.into(),
            ],
        );
    }
}

/// Adds the threads on each CPU, the busiest ones first. With a system call, these are the CPUs that
/// executed its thread.
fn by_cpu_rows(
    rows: &mut Rows,
    index: usize,
    trace: &TraceStatistics,
    top: Option<usize>,
    call: Option<&Call>,
) {
    let cpus: Vec<u32> = match call {
        Some(call) if call.trace.0 == index => call.cpus(trace).into_iter().collect(),
        Some(_) => Vec::new(),
        None => trace.cpus().iter().map(|cpu| cpu.number).collect(),
    };
    for cpu in cpus {
        let mut sums = trace.processes_on(cpu);
        sums.retain(|sum| sum.cpu_time > 0 || sum.events > 0);
        for sum in first_of(&busiest(trace, sums), top) {
            let facts = &trace.process_facts()[sum.process.index()];
            rows.row(
                index,
                vec![
                    cpu.into(),
                    facts.tid.into(),
                    facts.pid.into(),
                    (&*facts.name).into(),
                    Cell::percent(sum.cpu_time, trace.time()),
                    Cell::Duration(sum.cpu_time),
                    Cell::Duration(sum.user_time),
                    Cell::Duration(sum.system_time),
                    Cell::Duration(sum.interrupt_time),
                    sum.events.into(),
                ],
            );
        }
    }
}

/// Returns the table of the system call whose time is the window.
fn call_table(call: &Call, found: &Collected, with_trace: bool) -> Rows {
    let mut rows = Rows::new(CALL, &format!("Longest {}", call.name), with_trace)
        .column("tid", "TID", Kind::Integer)
        .column("pid", "PID", Kind::Integer)
        .column("command", "COMMAND", Kind::Text)
        .column("call", "CALL", Kind::Text)
        .column("begin_ns", "FROM", Kind::Time)
        .column("end_ns", "TO", Kind::Time)
        .column("duration_ns", "DURATION us", Kind::Duration)
        .column("cpus", "CPUS", Kind::Text)
        .column("returned", "RETURNED", Kind::Text);
    let cpus = found.statistics.traces().get(call.trace.0).map(|trace| call.cpus(trace));
    let cpus: Vec<_> = cpus.unwrap_or_default().iter().map(u32::to_string).collect();
    let cells = vec![
        call.tid.into(),
        call.pid.into(),
        call.command.as_str().into(),
        call.name.as_str().into(),
        call.span.start.into(),
        call.span.end.into(),
        Cell::Duration(call.time()),
        cpus.join(" ").into(),
        if call.returned { "yes" } else { "no" }.into(),
    ];
    rows.row(call.trace.0, cells);
    rows
}

/// Returns the row of a group after its first cells.
fn group_row(mut cells: Vec<Cell>, trace: &TraceStatistics, group: &Group) -> Vec<Cell> {
    cells.extend([
        group.threads.into(),
        Cell::percent(group.cpu, trace.time()),
        Cell::Duration(group.cpu),
        Cell::Duration(group.user),
        Cell::Duration(group.system),
        Cell::Duration(group.interrupt),
        Cell::Duration(group.blocked),
        Cell::Duration(group.ready),
        group.events.into(),
        group.read.into(),
        group.written.into(),
    ]);
    cells
}

fn device_rows(rows: &mut Rows, index: usize, trace: &TraceStatistics) {
    for device in trace.devices() {
        rows.row(
            index,
            vec![
                device.number.to_string().into(),
                (&*device.name).into(),
                Cell::percent(device.busy_time, trace.time()),
                Cell::Duration(device.busy_time),
                Cell::Number(device.average_queue_length(trace.time())),
                device.inserted.into(),
                device.merged.into(),
                device.issued.into(),
                device.completed().into(),
                device.reads.into(),
                device.writes.into(),
                device.bytes_read.into(),
                device.bytes_written.into(),
            ],
        );
    }
}
