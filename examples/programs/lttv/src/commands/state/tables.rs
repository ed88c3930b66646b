//! The state as tables. Unknown values are empty.

use ltt_read::Timestamp;
use lttv_common::table::{Cell, Kind, Table};
use lttv_state::kernel::{CpuMode, ExecutionMode, ProcessStatus};
use lttv_state::kernel_history::{CpuState, Snapshot, ThreadState};

/// Returns the tables of the states of all traces.
pub(super) fn all(time: Timestamp, states: &[Snapshot]) -> Vec<Table> {
    vec![
        times(time, states),
        cpus(states),
        processes(states),
        interrupts(states),
        disks(states),
        anomalies(states),
    ]
}

/// Returns each item with the index of its trace.
fn each<'s, T: 's>(
    states: &'s [Snapshot],
    items: impl Fn(&'s Snapshot) -> &'s [T],
) -> impl Iterator<Item = (u64, &'s Snapshot, &'s T)> {
    let of_trace = move |(trace, state)| items(state).iter().map(move |item| (trace, state, item));
    (0..).zip(states).flat_map(of_trace)
}

/// Returns a text, or nothing if it is empty.
fn known(text: &str) -> Cell {
    Some(text).filter(|text| !text.is_empty()).into()
}

fn times(time: Timestamp, states: &[Snapshot]) -> Table {
    let mut table = Table::new("traces", "State before the events of a time")
        .column("trace", "TRACE", Kind::Integer)
        .column("time_ns", "TIME", Kind::Time)
        .column("cpus", "CPUS", Kind::Integer)
        .column("processes", "PROCESSES", Kind::Integer);
    for (trace, state) in (0u64..).zip(states) {
        let counts = [state.cpus.len(), state.threads.len()].map(|count| (count as u64).into());
        let [cpus, processes] = counts;
        table.row([trace.into(), time.into(), cpus, processes]);
    }
    table
}

fn cpus(states: &[Snapshot]) -> Table {
    let mut table = Table::new("cpus", "CPUs")
        .column("trace", "TRACE", Kind::Integer)
        .column("cpu", "CPU", Kind::Integer)
        .column("mode", "MODE", Kind::Text)
        .column("tid", "TID", Kind::Integer)
        .column("pid", "PID", Kind::Integer)
        .column("comm", "COMMAND", Kind::Text);
    for (trace, state, cpu) in each(states, |state| &state.cpus) {
        let CpuState { number, mode, thread, thread_name, .. } = cpu;
        let is_running =
            |of: &&ThreadState| Some(of.tid) == *thread && (of.tid != 0 || of.cpu == Some(*number));
        let pid = state.threads.iter().find(is_running).and_then(|of| of.pid);
        let mode = Some(*mode).filter(|mode| *mode != CpuMode::Unknown).map(CpuMode::as_str);
        let (number, thread) = (*number, *thread);
        table.row([
            trace.into(),
            number.into(),
            mode.into(),
            thread.into(),
            pid.into(),
            known(thread_name),
        ]);
    }
    table
}

fn processes(states: &[Snapshot]) -> Table {
    let mut table = Table::new("processes", "Processes")
        .column("trace", "TRACE", Kind::Integer)
        .column("tid", "TID", Kind::Integer)
        .column("pid", "PID", Kind::Integer)
        .column("ppid", "PPID", Kind::Integer)
        .column("comm", "COMMAND", Kind::Text)
        .column("cpu", "CPU", Kind::Integer)
        .column("status", "STATUS", Kind::Text)
        .column("mode", "MODE", Kind::Text)
        .column("submode", "SUBMODE", Kind::Text);
    for (trace, _, process) in each(states, |state| &state.threads) {
        let mode = Some(process.mode).filter(|mode| *mode != ExecutionMode::Unknown);
        let status = Some(process.status).filter(|status| *status != ProcessStatus::Unknown);
        let is_submode = |submode: &&str| !matches!(*submode, "" | "NONE" | "UNKNOWN");
        let submode = mode.and(Some(process.submode.as_str()).filter(is_submode));
        table.row([
            trace.into(),
            process.tid.into(),
            process.pid.into(),
            process.parent.into(),
            known(&process.name),
            process.cpu.into(),
            status.map(ProcessStatus::as_str).into(),
            mode.map(ExecutionMode::as_str).into(),
            submode.into(),
        ]);
    }
    table
}

fn interrupts(states: &[Snapshot]) -> Table {
    let mut table = Table::new("interrupts", "Interrupts being handled")
        .column("trace", "TRACE", Kind::Integer)
        .column("kind", "KIND", Kind::Text)
        .column("number", "NUMBER", Kind::Integer)
        .column("name", "NAME", Kind::Text)
        .column("handlers", "HANDLERS", Kind::Integer);
    let busy = each(states, |state| &state.sources).filter(|(.., of)| of.running > Some(0));
    for (trace, _, source) in busy {
        let kind = source.kind.label();
        let number = source.number.into();
        table.row([trace.into(), kind.into(), number, known(&source.name), source.running.into()]);
    }
    table
}

fn disks(states: &[Snapshot]) -> Table {
    let mut table = Table::new("disks", "Disks")
        .column("trace", "TRACE", Kind::Integer)
        .column("disk", "DISK", Kind::Text)
        .column("name", "NAME", Kind::Text)
        .column("mode", "MODE", Kind::Text)
        .column("requests", "REQUESTS", Kind::Integer);
    for (trace, _, disk) in each(states, |state| &state.devices) {
        let number = disk.number.to_string();
        let mode = disk.mode.to_string();
        table.row([
            trace.into(),
            number.into(),
            known(&disk.name),
            mode.into(),
            disk.in_flight.into(),
        ]);
    }
    table
}

fn anomalies(states: &[Snapshot]) -> Table {
    let mut table = Table::new("anomalies", "Contradictions in the trace")
        .column("trace", "TRACE", Kind::Integer)
        .column("kind", "KIND", Kind::Text)
        .column("count", "COUNT", Kind::Integer);
    for (trace, _, (name, count)) in each(states, |state| &state.anomalies) {
        table.row([trace.into(), name.replace('_', " ").into(), (*count).into()]);
    }
    table
}
