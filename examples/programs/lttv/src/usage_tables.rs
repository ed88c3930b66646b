//! Tables of the use of CPUs, memory and network.

use ltt_read::TraceIndex;
use lttv_common::table::{Cell, Kind, Table};
use lttv_state::kernel::Serial;
use lttv_state::stats::CpuSum;
use lttv_state::usage::{Activity, Figure, Pages, TraceUsage, Traffic};

/// The tables, which are filled trace by trace.
#[derive(Debug)]
pub(crate) struct Tables {
    has_traces: bool,
    cpus: Table,
    frequencies: Table,
    threads: Table,
    processes: Table,
    interfaces: Table,
    totals: Table,
    over_time: Option<[Table; 3]>,
}

impl Tables {
    /// Creates empty tables.
    pub(crate) fn new(has_traces: bool, has_intervals: bool) -> Self {
        let table = |key, title: &str| match has_traces {
            true => Table::new(key, title).column("trace", "TRACE", Kind::Integer),
            false => Table::new(key, title),
        };
        let cpus = table("cpus", "CPUs")
            .column("cpu", "CPU", Kind::Integer)
            .column("busy_percent", "BUSY %", Kind::Decimal)
            .column("busy_ns", "BUSY us", Kind::Duration)
            .column("idle_ns", "IDLE us", Kind::Duration)
            .column("unknown_ns", "UNKNOWN us", Kind::Duration)
            .column("switches", "SWITCHES", Kind::Integer)
            .column("switches_per_s", "SWITCHES/s", Kind::Decimal)
            .column("frequency_mhz", "MEAN MHz", Kind::Decimal);
        let frequencies = table("frequencies", "Clock frequencies")
            .column("cpu", "CPU", Kind::Integer)
            .column("frequency_mhz", "MHz", Kind::Decimal)
            .column("time_ns", "TIME us", Kind::Duration)
            .column("time_percent", "TIME %", Kind::Decimal);
        let threads = of_threads(
            table("threads", "Threads")
                .column("tid", "TID", Kind::Integer)
                .column("pid", "PID", Kind::Integer)
                .column("command", "COMMAND", Kind::Text),
        );
        let processes = of_threads(
            table("processes", "Processes")
                .column("pid", "PID", Kind::Integer)
                .column("command", "COMMAND", Kind::Text)
                .column("threads", "THREADS", Kind::Integer),
        );
        let interfaces = of_traffic(table("interfaces", "Network interfaces").column(
            "interface",
            "INTERFACE",
            Kind::Text,
        ));
        let totals = of_activity(table("totals", "In all"));
        let over_time = has_intervals.then(|| {
            let times = |table: Table| {
                table.column("begin_ns", "FROM", Kind::Time).column("end_ns", "TO", Kind::Time)
            };
            [
                of_activity(
                    times(table("intervals", "Over time"))
                        .column("busy_percent", "BUSY %", Kind::Decimal)
                        .column("busy_ns", "BUSY us", Kind::Duration),
                ),
                times(table("cpu_intervals", "CPUs over time"))
                    .column("cpu", "CPU", Kind::Integer)
                    .column("busy_percent", "BUSY %", Kind::Decimal)
                    .column("busy_ns", "BUSY us", Kind::Duration)
                    .column("frequency_mhz", "MEAN MHz", Kind::Decimal),
                times(table("thread_intervals", "Threads over time"))
                    .column("tid", "TID", Kind::Integer)
                    .column("command", "COMMAND", Kind::Text)
                    .column("cpu_ns", "CPU us", Kind::Duration)
                    .column("cpu_percent", "CPU %", Kind::Decimal),
            ]
        });
        Tables { has_traces, cpus, frequencies, threads, processes, interfaces, totals, over_time }
    }

    /// Adds the rows of a trace.
    pub(crate) fn add(&mut self, index: TraceIndex, of: &TraceUsage) {
        let trace = self.has_traces.then_some(Cell::Integer(index.0 as i128));
        let row = |cells: Vec<Cell>| trace.clone().into_iter().chain(cells).collect::<Vec<_>>();
        let time = of.time();
        for cpu in of.cpus() {
            let (number, frequency) = (cpu.sum.number, cpu.frequency.as_ref());
            let mut cells = vec![number.into()];
            cells.extend(busy(&cpu.sum));
            cells.extend([
                Cell::Duration(cpu.sum.idle_time),
                Cell::Duration(cpu.sum.unknown_time),
                cpu.switches.into(),
                per_second(cpu.switches, time),
                frequency.map_or(Cell::Empty, |of| mhz(of.mean_hz)),
            ]);
            self.cpus.push(row(cells));
            let residency = frequency.map(|of| &of.residency[..]).unwrap_or_default();
            let known = residency.iter().map(|of| of.1).sum();
            for (hz, ns) in residency {
                let time = [Cell::Duration(*ns), Cell::percent(*ns, known)];
                let cells = [number.into(), mhz(*hz as f64)].into_iter().chain(time).collect();
                self.frequencies.push(row(cells));
            }
        }
        let mut threads = of.threads();
        threads.sort_by_key(|of| (std::cmp::Reverse(of.cpu_time), of.thread));
        for thread in threads {
            let facts = of.thread_facts().get(thread.thread.index());
            let (tid, name) = match (facts, thread.thread) {
                (_, Serial::NONE) => (Cell::Empty, "(interrupts)"),
                (Some(facts), _) => (facts.tid.map_or(Cell::Empty, Cell::from), &*facts.name),
                (None, _) => (Cell::Empty, ""),
            };
            let pid = facts.and_then(|facts| facts.pid).map_or(Cell::Empty, Cell::from);
            let mut cells = vec![tid, pid, name.into()];
            cells.extend(use_of(of, thread.cpu_time, thread.switches, thread.migrations));
            cells.extend(memory_and_sent(of, thread.pages, thread.sent));
            self.threads.push(row(cells));
        }
        let mut processes = of.processes();
        processes.sort_by_key(|of| (std::cmp::Reverse(of.cpu_time), of.pid));
        for process in processes {
            let mut cells =
                vec![process.pid.into(), (&*process.name).into(), process.threads.into()];
            cells.extend(use_of(of, process.cpu_time, process.switches, process.migrations));
            cells.extend(memory_and_sent(of, process.pages, process.sent));
            self.processes.push(row(cells));
        }
        for interface in of.interfaces() {
            let mut cells = vec![interface.name.into()];
            cells.extend(traffic(of, interface.sent, interface.received));
            self.interfaces.push(row(cells));
        }
        self.totals.push(row(activity(of, &of.total(), time)));
        let Some([intervals, cpus, threads]) = &mut self.over_time else { return };
        for interval in of.intervals() {
            let time = interval.end.since(interval.start);
            let times = || [Cell::Time(interval.start), Cell::Time(interval.end)];
            let mut all = CpuSum::default();
            for (cpu, hz) in &interval.cpus {
                all.busy_time = all.busy_time.saturating_add(cpu.busy_time);
                all.idle_time = all.idle_time.saturating_add(cpu.idle_time);
                all.unknown_time = all.unknown_time.saturating_add(cpu.unknown_time);
                let hz = hz.map_or(Cell::Empty, mhz);
                let number = [cpu.number.into()];
                cpus.push(row(times()
                    .into_iter()
                    .chain(number)
                    .chain(busy(cpu))
                    .chain([hz])
                    .collect()));
            }
            let activity = activity(of, &interval.activity, time);
            intervals.push(row(times().into_iter().chain(busy(&all)).chain(activity).collect()));
            let mut used = interval.threads.clone();
            used.sort_by_key(|of| (std::cmp::Reverse(of.1), of.0));
            for (thread, ns) in used {
                let facts = of.thread_facts().get(thread.index());
                let tid = facts.and_then(|facts| facts.tid).map_or(Cell::Empty, Cell::from);
                let name = facts.map_or("", |facts| &*facts.name).into();
                let cells = [tid, name, Cell::Duration(ns), Cell::percent(ns, time)];
                threads.push(row(times().into_iter().chain(cells).collect()));
            }
        }
    }

    /// Returns the tables.
    pub(crate) fn finish(self) -> Vec<Table> {
        let tables = [
            self.cpus,
            self.frequencies,
            self.threads,
            self.processes,
            self.interfaces,
            self.totals,
        ];
        tables.into_iter().chain(self.over_time.into_iter().flatten()).collect()
    }
}

/// Returns the events that a trace lacks, without which figures are missing: one of each figure.
pub(crate) fn missing(of: &TraceUsage) -> Vec<&'static str> {
    let missing = Figure::ALL.into_iter().filter(|figure| !of.is_recorded(*figure));
    missing.filter_map(|figure| figure.events().first().copied()).collect()
}

fn of_threads(table: Table) -> Table {
    table
        .column("cpu_ns", "CPU us", Kind::Duration)
        .column("cpu_percent", "CPU %", Kind::Decimal)
        .column("switches", "SWITCHES", Kind::Integer)
        .column("migrations", "MIGRATIONS", Kind::Integer)
        .column("pages_allocated", "PAGES", Kind::Integer)
        .column("pages_freed", "FREED", Kind::Integer)
        .column("allocation_failures", "FAILED", Kind::Integer)
        .column("sent_packets", "SENT", Kind::Integer)
        .column("sent_bytes", "SENT bytes", Kind::Integer)
}

fn of_traffic(table: Table) -> Table {
    table
        .column("sent_packets", "SENT", Kind::Integer)
        .column("sent_bytes", "SENT bytes", Kind::Integer)
        .column("received_packets", "RECEIVED", Kind::Integer)
        .column("received_bytes", "RECEIVED bytes", Kind::Integer)
}

fn of_activity(table: Table) -> Table {
    let table = table
        .column("switches", "SWITCHES", Kind::Integer)
        .column("switches_per_s", "SWITCHES/s", Kind::Decimal)
        .column("migrations", "MIGRATIONS", Kind::Integer)
        .column("pages_allocated", "PAGES", Kind::Integer)
        .column("pages_freed", "FREED", Kind::Integer)
        .column("allocation_failures", "FAILED", Kind::Integer);
    of_traffic(table).column("retransmissions", "SENT AGAIN", Kind::Integer)
}

fn busy(cpu: &CpuSum) -> [Cell; 2] {
    [cpu.busy_percent().map_or(Cell::Empty, Cell::Number), Cell::Duration(cpu.busy_time)]
}

fn mhz(hz: f64) -> Cell {
    Cell::Number(hz / 1e6)
}

fn per_second(count: u64, time: u64) -> Cell {
    if time == 0 { Cell::Empty } else { Cell::Number(count as f64 * 1e9 / time as f64) }
}

/// Returns a cell with a figure, which is empty if it was not recorded.
fn figure(of: &TraceUsage, figure: Figure, value: u64) -> Cell {
    if of.is_recorded(figure) { value.into() } else { Cell::Empty }
}

fn use_of(of: &TraceUsage, cpu_time: u64, switches: u64, migrations: u64) -> [Cell; 4] {
    [
        Cell::Duration(cpu_time),
        Cell::percent(cpu_time, of.time()),
        switches.into(),
        figure(of, Figure::Migrations, migrations),
    ]
}

fn pages(of: &TraceUsage, pages: Pages) -> [Cell; 3] {
    [pages.allocated, pages.freed, pages.failures].map(|count| figure(of, Figure::Pages, count))
}

fn memory_and_sent(of: &TraceUsage, memory: Pages, sent: Traffic) -> Vec<Cell> {
    let sent = [sent.packets, sent.bytes].map(|count| figure(of, Figure::Sent, count));
    pages(of, memory).into_iter().chain(sent).collect()
}

fn traffic(of: &TraceUsage, sent: Traffic, received: Traffic) -> Vec<Cell> {
    let sent = [sent.packets, sent.bytes].map(|count| figure(of, Figure::Sent, count));
    let received =
        [received.packets, received.bytes].map(|count| figure(of, Figure::Received, count));
    sent.into_iter().chain(received).collect()
}

fn activity(of: &TraceUsage, activity: &Activity, time: u64) -> Vec<Cell> {
    let mut cells = vec![
        activity.switches.into(),
        per_second(activity.switches, time),
        figure(of, Figure::Migrations, activity.migrations),
    ];
    cells.extend(pages(of, activity.pages));
    cells.extend(traffic(of, activity.sent, activity.received));
    cells.push(figure(of, Figure::Retransmissions, activity.retransmissions));
    cells
}
