//! The state as tables. Unknown values are empty.

use ltt_read::{Timestamp, TraceIndex};
use lttv_common::table::{Table, known};
use lttv_state::kernel::{CpuMode, ExecutionMode, ProcessStatus};
use lttv_state::kernel_history::{CpuState, Snapshot, ThreadState};

/// Returns the tables of the states of all traces.
pub(crate) fn all(time: Timestamp, states: &[Snapshot]) -> Vec<Table> {
    vec![
        times(time, states),
        cpus(states),
        processes(states),
        interrupts(states),
        disks(states),
        anomalies(states),
    ]
}

/// Returns each item with the index and the state of its trace.
fn each<'s, T: 's>(
    states: &'s [Snapshot],
    items: impl Fn(&'s Snapshot) -> &'s [T],
) -> Vec<(TraceIndex, &'s Snapshot, &'s T)> {
    let of_trace = move |(trace, state)| items(state).iter().map(move |item| (trace, state, item));
    (0..).map(TraceIndex).zip(states).flat_map(of_trace).collect()
}

fn times(time: Timestamp, states: &[Snapshot]) -> Table {
    let rows: Vec<_> = (0..).map(TraceIndex).zip(states).collect();
    Table::of("traces", "State before the events of a time", &rows)
        .trace_if(true, |row| row.0)
        .time("time_ns", "TIME", |_| time)
        .count("cpus", "CPUS", |row| row.1.cpus.len())
        .count("processes", "PROCESSES", |row| row.1.threads.len())
        .build()
}

/// Returns the process of the thread on a CPU.
fn process_on(state: &Snapshot, cpu: &CpuState) -> Option<i64> {
    let is_running = |of: &&ThreadState| {
        Some(of.tid) == cpu.thread && (of.tid != 0 || of.cpu == Some(cpu.number))
    };
    state.threads.iter().find(is_running).and_then(|of| of.pid).map(i64::from)
}

fn cpus(states: &[Snapshot]) -> Table {
    let mode = |of: &CpuState| (of.mode != CpuMode::Unknown).then(|| of.mode.as_str());
    Table::of("cpus", "CPUs", &each(states, |state| &state.cpus))
        .trace_if(true, |row| row.0)
        .integer("cpu", "CPU", |row| row.2.number)
        .text("mode", "MODE", |row| mode(row.2))
        .integer("tid", "TID", |row| row.2.thread)
        .integer("pid", "PID", |row| process_on(row.1, row.2))
        .text("comm", "COMMAND", |row| known(&row.2.thread_name))
        .build()
}

fn processes(states: &[Snapshot]) -> Table {
    let mode = |of: &ThreadState| Some(of.mode).filter(|mode| *mode != ExecutionMode::Unknown);
    let status = |of: &ThreadState| Some(of.status).filter(|of| *of != ProcessStatus::Unknown);
    let is_submode = |submode: &&str| !matches!(*submode, "" | "NONE" | "UNKNOWN");
    Table::of("processes", "Processes", &each(states, |state| &state.threads))
        .trace_if(true, |row| row.0)
        .integer("tid", "TID", |row| row.2.tid)
        .integer("pid", "PID", |row| row.2.pid)
        .integer("ppid", "PPID", |row| row.2.parent)
        .text("comm", "COMMAND", |row| known(&row.2.name))
        .integer("cpu", "CPU", |row| row.2.cpu)
        .text("status", "STATUS", |row| status(row.2).map(ProcessStatus::as_str))
        .text("mode", "MODE", |row| mode(row.2).map(ExecutionMode::as_str))
        .text("submode", "SUBMODE", |row| {
            mode(row.2).and(Some(row.2.submode.as_str()).filter(is_submode))
        })
        .text("executable", "EXECUTABLE", |row| known(&row.2.executable))
        .build()
}

fn interrupts(states: &[Snapshot]) -> Table {
    let mut rows = each(states, |state| &state.sources);
    rows.retain(|row| row.2.running > Some(0));
    Table::of("interrupts", "Interrupts being handled", &rows)
        .trace_if(true, |row| row.0)
        .text("kind", "KIND", |row| row.2.kind.label())
        .integer("number", "NUMBER", |row| row.2.number)
        .text("name", "NAME", |row| known(&row.2.name))
        .count("handlers", "HANDLERS", |row| row.2.running)
        .build()
}

fn disks(states: &[Snapshot]) -> Table {
    Table::of("disks", "Disks", &each(states, |state| &state.devices))
        .trace_if(true, |row| row.0)
        .text("disk", "DISK", |row| row.2.number.to_string())
        .text("name", "NAME", |row| known(&row.2.name))
        .text("mode", "MODE", |row| row.2.mode.to_string())
        .count("requests", "REQUESTS", |row| row.2.in_flight)
        .build()
}

fn anomalies(states: &[Snapshot]) -> Table {
    Table::of("anomalies", "Contradictions in the trace", &each(states, |state| &state.anomalies))
        .trace_if(true, |row| row.0)
        .text("kind", "KIND", |row| row.2.0.replace('_', " "))
        .count("count", "COUNT", |row| row.2.1)
        .build()
}
