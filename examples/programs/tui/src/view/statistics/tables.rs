//! The tables of statistics: processes, CPUs and event types.

use lttv_state::stats::{Statistics, TraceStatistics};

use crate::time_text::length;
use crate::view::table::{Column, TableRow};

/// A table of statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Processes,
    Cpus,
    Events,
}

impl Subject {
    /// Returns the columns of the table.
    pub(super) fn columns(self) -> &'static [Column] {
        match self {
            Subject::Processes => &PROCESSES,
            Subject::Cpus => &CPUS,
            Subject::Events => &EVENTS,
        }
    }

    /// Returns the rows of the table.
    pub(super) fn rows(self, statistics: &Statistics) -> Vec<TableRow> {
        let traces = (0..).zip(statistics.traces());
        match self {
            Subject::Processes => traces.flat_map(processes).collect(),
            Subject::Cpus => traces.flat_map(cpus).collect(),
            Subject::Events => traces.flat_map(events).collect(),
        }
    }
}

const PROCESSES: [Column; 10] = [
    ("COMMAND", 20),
    ("TID", 7),
    ("PID", 7),
    ("CPU %", 7),
    ("CPU TIME", 10),
    ("USER", 10),
    ("SYSTEM", 10),
    ("INTERRUPTS", 10),
    ("EVENTS", 9),
    ("BLOCKED", 10),
];
const CPUS: [Column; 6] = [
    ("CPU", 8),
    ("BUSY %", 8),
    ("IDLE %", 8),
    ("UNKNOWN %", 9),
    ("INTERRUPTS %", 12),
    ("EVENTS", 10),
];
const EVENTS: [Column; 2] = [("EVENT", 44), ("COUNT", 12)];

fn percent(part: u64, whole: u64) -> String {
    format!("{:.2}", if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 })
}

/// A trace with its index.
type Numbered<'s> = (u64, &'s TraceStatistics);

fn cpus((number, trace): Numbered<'_>) -> impl Iterator<Item = TableRow> {
    trace.cpus().into_iter().map(move |cpu| {
        let of = |time| percent(time, trace.time());
        let name = format!("CPU {}", cpu.number);
        let cells = vec![
            name.clone(),
            of(cpu.busy_time),
            of(cpu.idle_time),
            of(cpu.unknown_time),
            of(cpu.interrupt_time),
            cpu.events.to_string(),
        ];
        let (ids, busy) = (vec![cpu.number.into()], cpu.busy_time);
        TableRow { cells, name, ids, busy, identity: vec![number] }
    })
}

fn processes((number, trace): Numbered<'_>) -> impl Iterator<Item = TableRow> {
    let mut sums = trace.processes();
    sums.sort_by_key(|sum| {
        let tid = trace.process_facts().get(sum.process.index()).map(|facts| facts.tid);
        (tid, sum.process)
    });
    sums.into_iter().filter_map(move |sum| {
        let facts = trace.process_facts().get(sum.process.index())?;
        // The time of idle processes is in the table of CPUs.
        if facts.tid == Some(0) {
            return None;
        }
        let id = |id: Option<i32>| id.map_or_else(|| "?".to_owned(), |id| id.to_string());
        let cells = vec![
            facts.name.to_string(),
            id(facts.tid),
            id(facts.pid),
            percent(sum.cpu_time, trace.time()),
            length(sum.cpu_time),
            length(sum.user_time),
            length(sum.system_time),
            length(sum.interrupt_time),
            sum.events.to_string(),
            length(facts.blocked_time),
        ];
        Some(TableRow {
            cells,
            name: facts.name.to_string(),
            ids: [facts.tid, facts.pid].into_iter().flatten().map(i64::from).collect(),
            busy: sum.cpu_time,
            identity: vec![number, sum.process.index() as u64],
        })
    })
}

fn events((number, trace): Numbered<'_>) -> impl Iterator<Item = TableRow> {
    let mut events: Vec<_> =
        trace.events().into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    events.sort();
    events.into_iter().map(move |(name, count)| TableRow {
        cells: vec![name.clone(), count.to_string()],
        name,
        ids: Vec::new(),
        busy: count,
        identity: vec![number],
    })
}
