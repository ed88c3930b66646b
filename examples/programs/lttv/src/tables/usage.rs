//! Tables of the use of CPUs, memory and network.

use std::cmp::Reverse;

use ltt_read::{Timestamp, TraceIndex};
use lttv_common::table::{Declaration, Table, percent};
use lttv_state::kernel::Serial;
use lttv_state::stats::CpuSum;
use lttv_state::usage::{Activity, Figure, Pages, TraceUsage, Traffic};

/// Tells whether the thread of an id and of a process with a name is shown.
type IsShown<'u> = &'u dyn Fn(Option<i32>, Option<i32>, &str) -> bool;

/// The use of a traceset in a window, which is shown.
pub(crate) struct Shown<'u> {
    /// The traces with their use.
    pub traces: Vec<(TraceIndex, &'u TraceUsage)>,
    /// `true` if tables have a column for the numbers of traces.
    pub has_traces: bool,
    /// `true` if there are tables of intervals.
    pub has_intervals: bool,
    /// The threads whose rows are shown; `None` for all.
    pub threads: Option<IsShown<'u>>,
    /// The processes whose rows are shown, if they can be chosen; `None` for all.
    pub processes: Option<IsShown<'u>>,
    /// The CPUs whose rows are shown; all if empty.
    pub cpus: &'u [u32],
}

/// A row of one of the tables: what it is about, and its figures.
struct Row<'u, T> {
    trace: TraceIndex,
    of: &'u TraceUsage,
    it: T,
}

/// An interval of time.
#[derive(Clone, Copy)]
struct Span {
    start: Timestamp,
    end: Timestamp,
}

/// The activity of a thread or a process.
struct Work {
    cpu_time: u64,
    switches: u64,
    migrations: u64,
    pages: Pages,
    sent: Traffic,
}

/// A thread or a process with what it did.
struct Worker {
    tid: Option<i32>,
    pid: Option<i32>,
    name: String,
    threads: u64,
    work: Work,
}

/// The use of a traceset in a span of time.
struct Whole {
    span: Span,
    cpus: CpuSum,
    activity: Activity,
}

impl<'u> Shown<'u> {
    /// Returns the tables. If threads or CPUs are chosen, these are the tables with rows of them.
    pub(crate) fn tables(&self) -> Vec<Table> {
        let (of_threads, of_cpus) = (self.threads.is_some(), !self.cpus.is_empty());
        let has = self.has_intervals;
        let mut tables = Vec::new();
        let mut add = |is_shown: bool, table: &dyn Fn() -> Table| {
            tables.extend(is_shown.then(table));
        };
        let (cpus, threads) = (of_cpus || !of_threads, of_threads || !of_cpus);
        // A thread does not choose a process.
        let processes = threads && (!of_threads || self.processes.is_some());
        let all = !of_threads && !of_cpus;
        add(cpus, &|| self.cpus());
        add(cpus, &|| self.frequencies());
        add(threads, &|| self.threads());
        add(processes, &|| self.processes());
        add(all, &|| self.interfaces());
        add(all, &|| self.totals());
        add(all && has, &|| self.intervals());
        add(cpus && has, &|| self.cpu_intervals());
        add(threads && has, &|| self.thread_intervals());
        tables
    }

    fn has_cpu(&self, cpu: u32) -> bool {
        self.cpus.is_empty() || self.cpus.contains(&cpu)
    }

    fn has_thread(&self, tid: Option<i32>, pid: Option<i32>, name: &str) -> bool {
        self.threads.is_none_or(|is_shown| is_shown(tid, pid, name))
    }

    /// Returns the rows of all traces.
    fn rows<T, I: IntoIterator<Item = T>>(
        &self,
        each: impl Fn(&'u TraceUsage) -> I,
    ) -> Vec<Row<'u, T>> {
        let mut rows = Vec::new();
        for &(trace, of) in &self.traces {
            rows.extend(each(of).into_iter().map(|it| Row { trace, of, it }));
        }
        rows
    }

    fn table<'r, T>(
        &self,
        (key, title): (&'static str, &str),
        rows: &'r [Row<'u, T>],
    ) -> Declaration<'r, Row<'u, T>> {
        Table::of(key, title, rows).trace_if(self.has_traces, |row| row.trace)
    }

    fn cpus(&self) -> Table {
        let cpus = self.rows(|of| of.cpus().into_iter().filter(|of| self.has_cpu(of.sum.number)));
        self.table(("cpus", "CPUs"), &cpus)
            .integer("cpu", "CPU", |row| row.it.sum.number)
            .with(|table| busy(table, |row| &row.it.sum))
            .duration("idle_ns", "IDLE", |row| row.it.sum.idle_time)
            .duration("unknown_ns", "UNKNOWN", |row| row.it.sum.unknown_time)
            .count("switches", "SWITCHES", |row| row.it.switches)
            .decimal("switches_per_s", "SWITCHES/s", |row| {
                per_second(row.it.switches, row.of.time())
            })
            .minor()
            .decimal("frequency_mhz", "MEAN MHz", |row| {
                row.it.frequency.as_ref().map(|of| of.mean_hz / 1e6)
            })
            .minor()
            .build()
    }

    fn frequencies(&self) -> Table {
        let rows = self.rows(|of| {
            let cpus = of.cpus().into_iter().filter(|of| self.has_cpu(of.sum.number));
            cpus.flat_map(|cpu| {
                let residency = cpu.frequency.map(|of| of.residency).unwrap_or_default();
                let known: u64 = residency.iter().map(|of| of.1).sum();
                residency.into_iter().map(move |(hz, ns)| (cpu.sum.number, hz, ns, known))
            })
        });
        self.table(("frequencies", "Clock frequencies"), &rows)
            .integer("cpu", "CPU", |row| row.it.0)
            .decimal("frequency_mhz", "MHz", |row| row.it.1 as f64 / 1e6)
            .minor()
            .duration("time_ns", "TIME", |row| row.it.2)
            .percent("time_percent", "TIME %", |row| percent(row.it.2, row.it.3))
            .build()
    }

    fn threads(&self) -> Table {
        let rows = self.rows(|of| {
            let mut threads = of.threads();
            threads.sort_by_key(|of| (Reverse(of.cpu_time), of.thread));
            let workers = threads.into_iter().map(|thread| {
                let facts = of.thread_facts().get(thread.thread.index());
                let name = match (facts, thread.thread) {
                    (_, Serial::NONE) => "(interrupts)",
                    (Some(facts), _) if facts.tid.is_some() => &*facts.name,
                    _ => "(unknown)",
                };
                let is_none = thread.thread == Serial::NONE;
                Worker {
                    tid: facts.filter(|_| !is_none).and_then(|facts| facts.tid),
                    pid: facts.and_then(|facts| facts.pid),
                    name: name.to_owned(),
                    threads: 1,
                    work: Work {
                        cpu_time: thread.cpu_time,
                        switches: thread.switches,
                        migrations: thread.migrations,
                        pages: thread.pages,
                        sent: thread.sent,
                    },
                }
            });
            workers.filter(|of| self.has_thread(of.tid, of.pid, &of.name))
        });
        self.table(("threads", "Threads"), &rows)
            .integer("tid", "TID", |row| row.it.tid)
            .integer("pid", "PID", |row| row.it.pid)
            .text("command", "COMMAND", |row| row.it.name.as_str())
            .with(work)
            .build()
    }

    fn processes(&self) -> Table {
        let rows = self.rows(|of| {
            let mut processes = of.processes();
            processes.sort_by_key(|of| (Reverse(of.cpu_time), of.pid));
            let workers = processes.into_iter().map(|process| Worker {
                tid: None,
                pid: Some(process.pid),
                name: process.name.to_string(),
                threads: process.threads,
                work: Work {
                    cpu_time: process.cpu_time,
                    switches: process.switches,
                    migrations: process.migrations,
                    pages: process.pages,
                    sent: process.sent,
                },
            });
            let is_shown = |of: &Worker| {
                self.processes.is_none_or(|is_shown| is_shown(None, of.pid, &of.name))
            };
            workers.filter(is_shown)
        });
        self.table(("processes", "Processes"), &rows)
            .integer("pid", "PID", |row| row.it.pid)
            .text("command", "COMMAND", |row| row.it.name.as_str())
            .count("threads", "THREADS", |row| row.it.threads)
            .minor()
            .with(work)
            .build()
    }

    fn interfaces(&self) -> Table {
        self.table(("interfaces", "Network interfaces"), &self.rows(|of| of.interfaces()))
            .text("interface", "INTERFACE", |row| row.it.name.to_string())
            .with(|table| sent(table, |row| row.it.sent))
            .with(|table| received(table, |row| row.it.received))
            .build()
    }

    fn totals(&self) -> Table {
        let rows = self.rows(|of| [(of.time(), of.total())]);
        self.table(("totals", "In all"), &rows)
            .with(|table| activity(table, |row| (row.it.0, &row.it.1)))
            .build()
    }

    fn intervals(&self) -> Table {
        let rows = self.rows(|of| {
            of.intervals().into_iter().map(|interval| {
                let mut cpus = CpuSum::default();
                for (cpu, _) in &interval.cpus {
                    cpus.busy_time = cpus.busy_time.saturating_add(cpu.busy_time);
                    cpus.idle_time = cpus.idle_time.saturating_add(cpu.idle_time);
                    cpus.unknown_time = cpus.unknown_time.saturating_add(cpu.unknown_time);
                }
                let span = Span { start: interval.start, end: interval.end };
                Whole { span, cpus, activity: interval.activity }
            })
        });
        self.table(("intervals", "Over time"), &rows)
            .with(|table| times(table, |row| row.it.span))
            .with(|table| busy(table, |row| &row.it.cpus))
            .with(|table| {
                activity(table, |row| (row.it.span.end.since(row.it.span.start), &row.it.activity))
            })
            .build()
    }

    fn cpu_intervals(&self) -> Table {
        let rows = self.rows(|of| {
            of.intervals().into_iter().flat_map(|interval| {
                let span = Span { start: interval.start, end: interval.end };
                let cpus = interval.cpus.into_iter().filter(|(cpu, _)| self.has_cpu(cpu.number));
                cpus.map(move |(cpu, hz)| (span, cpu, hz))
            })
        });
        self.table(("cpu_intervals", "CPUs over time"), &rows)
            .with(|table| times(table, |row| row.it.0))
            .integer("cpu", "CPU", |row| row.it.1.number)
            .with(|table| busy(table, |row| &row.it.1))
            .decimal("frequency_mhz", "MEAN MHz", |row| row.it.2.map(|hz| hz / 1e6))
            .minor()
            .build()
    }

    fn thread_intervals(&self) -> Table {
        let rows = self.rows(|of| {
            of.intervals().into_iter().flat_map(move |interval| {
                let span = Span { start: interval.start, end: interval.end };
                let mut used = interval.threads;
                used.sort_by_key(|of| (Reverse(of.1), of.0));
                let used = used
                    .into_iter()
                    .map(move |(thread, ns)| (span, of.thread_facts().get(thread.index()), ns));
                used.filter(|(_, facts, _)| {
                    let (tid, pid) = (facts.and_then(|of| of.tid), facts.and_then(|of| of.pid));
                    self.has_thread(tid, pid, facts.map_or("", |of| &*of.name))
                })
            })
        });
        self.table(("thread_intervals", "Threads over time"), &rows)
            .with(|table| times(table, |row| row.it.0))
            .integer("tid", "TID", |row| row.it.1.and_then(|facts| facts.tid))
            .text("command", "COMMAND", |row| row.it.1.map_or("", |facts| &*facts.name))
            .duration("cpu_ns", "CPU", |row| row.it.2)
            .percent("cpu_percent", "CPU %", |row| {
                percent(row.it.2, row.it.0.end.since(row.it.0.start))
            })
            .build()
    }
}

/// A table of rows about `T`.
type Columns<'r, 'u, T> = Declaration<'r, Row<'u, T>>;

fn times<'r, 'u, T>(
    table: Columns<'r, 'u, T>,
    of: impl Fn(&'r Row<'u, T>) -> Span,
) -> Columns<'r, 'u, T> {
    table.time("begin_ns", "FROM", |row| of(row).start).time("end_ns", "TO", |row| of(row).end)
}

fn busy<'r, 'u, T>(
    table: Columns<'r, 'u, T>,
    of: impl Fn(&'r Row<'u, T>) -> &'r CpuSum,
) -> Columns<'r, 'u, T> {
    table.percent("busy_percent", "BUSY %", |row| of(row).busy_percent()).duration(
        "busy_ns",
        "BUSY",
        |row| of(row).busy_time,
    )
}

/// Returns a figure, or nothing if its events were not recorded.
fn figure<T>(row: &Row<'_, T>, figure: Figure, value: u64) -> Option<u64> {
    row.of.is_recorded(figure).then_some(value)
}

fn pages<'r, 'u, T>(
    table: Columns<'r, 'u, T>,
    of: impl Fn(&'r Row<'u, T>) -> Pages,
) -> Columns<'r, 'u, T> {
    let pages = Figure::Pages;
    table
        .count("pages_allocated", "PAGES", |row| figure(row, pages, of(row).allocated))
        .count("pages_freed", "FREED", |row| figure(row, pages, of(row).freed))
        .minor()
        .count("allocation_failures", "FAILED", |row| figure(row, pages, of(row).failures))
        .minor()
}

fn sent<'r, 'u, T>(
    table: Columns<'r, 'u, T>,
    of: impl Fn(&'r Row<'u, T>) -> Traffic,
) -> Columns<'r, 'u, T> {
    table
        .count("sent_packets", "PACKETS SENT", |row| figure(row, Figure::Sent, of(row).packets))
        .bytes("sent_bytes", "SENT", |row| figure(row, Figure::Sent, of(row).bytes))
}

fn received<'r, 'u, T>(
    table: Columns<'r, 'u, T>,
    of: impl Fn(&'r Row<'u, T>) -> Traffic,
) -> Columns<'r, 'u, T> {
    let received = Figure::Received;
    table
        .count("received_packets", "PACKETS RECEIVED", |row| figure(row, received, of(row).packets))
        .bytes("received_bytes", "RECEIVED", |row| figure(row, received, of(row).bytes))
}

fn work<'r, 'u>(table: Columns<'r, 'u, Worker>) -> Columns<'r, 'u, Worker> {
    table
        .duration("cpu_ns", "CPU", |row| row.it.work.cpu_time)
        .percent("cpu_percent", "CPU %", |row| percent(row.it.work.cpu_time, row.of.time()))
        .count("switches", "SWITCHES", |row| row.it.work.switches)
        .count("migrations", "MIGRATIONS", |row| {
            figure(row, Figure::Migrations, row.it.work.migrations)
        })
        .minor()
        .with(|table| pages(table, |row| row.it.work.pages))
        .with(|table| sent(table, |row| row.it.work.sent))
}

/// Adds the columns of an activity in a time in ns.
fn activity<'r, 'u, T>(
    table: Columns<'r, 'u, T>,
    of: impl Fn(&'r Row<'u, T>) -> (u64, &'r Activity),
) -> Columns<'r, 'u, T> {
    table
        .count("switches", "SWITCHES", |row| of(row).1.switches)
        .decimal("switches_per_s", "SWITCHES/s", |row| per_second(of(row).1.switches, of(row).0))
        .minor()
        .count("migrations", "MIGRATIONS", |row| {
            figure(row, Figure::Migrations, of(row).1.migrations)
        })
        .minor()
        .with(|table| pages(table, |row| of(row).1.pages))
        .with(|table| sent(table, |row| of(row).1.sent))
        .with(|table| received(table, |row| of(row).1.received))
        .count("retransmissions", "SENT AGAIN", |row| {
            figure(row, Figure::Retransmissions, of(row).1.retransmissions)
        })
}

fn per_second(count: u64, time: u64) -> Option<f64> {
    (time != 0).then(|| count as f64 * 1e9 / time as f64)
}
