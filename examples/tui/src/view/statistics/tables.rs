//! The tables of statistics: processes, CPUs and event types.

use lttv_state::stats::{Statistics, TraceStatistics};

use crate::time_text::length;
use crate::view::table::Column;

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
    pub(super) fn rows(self, statistics: &Statistics) -> Vec<Vec<String>> {
        let traces = statistics.traces().iter();
        match self {
            Subject::Processes => traces.flat_map(processes).collect(),
            Subject::Cpus => traces.flat_map(cpus).collect(),
            Subject::Events => traces.flat_map(events).collect(),
        }
    }
}

const PROCESSES: [Column; 9] = [
    ("PROCESS", 20),
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

fn cpus(trace: &TraceStatistics) -> impl Iterator<Item = Vec<String>> {
    trace.cpus().into_iter().map(|cpu| {
        let of = |time| percent(time, trace.time());
        vec![
            format!("CPU {}", cpu.number),
            of(cpu.busy_time),
            of(cpu.idle_time),
            of(cpu.unknown_time),
            of(cpu.interrupt_time),
            cpu.events.to_string(),
        ]
    })
}

fn processes(trace: &TraceStatistics) -> impl Iterator<Item = Vec<String>> {
    let mut sums = trace.processes();
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.cpu_time));
    sums.into_iter().filter_map(|sum| {
        let facts = trace.process_facts().get(sum.process.index())?;
        // The time of idle processes is in the table of CPUs.
        if facts.tid == Some(0) {
            return None;
        }
        Some(vec![
            facts.name.to_string(),
            facts.tid.map_or_else(|| "?".to_owned(), |tid| tid.to_string()),
            percent(sum.cpu_time, trace.time()),
            length(sum.cpu_time),
            length(sum.user_time),
            length(sum.system_time),
            length(sum.interrupt_time),
            sum.events.to_string(),
            length(facts.blocked_time),
        ])
    })
}

fn events(trace: &TraceStatistics) -> impl Iterator<Item = Vec<String>> {
    let mut events: Vec<_> =
        trace.events().into_iter().map(|(name, count)| (count, name.to_owned())).collect();
    events.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    events.into_iter().map(|(count, name)| vec![name, count.to_string()])
}
