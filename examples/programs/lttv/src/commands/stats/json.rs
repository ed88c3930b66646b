//! Statistics as JSON; times are in ns.

use std::collections::BTreeMap;

use ltt_read::TraceIndex;
use lttv_common::table::Table;
use lttv_state::durations::Durations;
use lttv_state::kernel::{ExecutionMode, Serial};
use lttv_state::stats::{Counts, ProcessSum, TraceStatistics};
use serde_json::{Value, json};

use crate::models::statistics::{Collected, Group, groups};

/// Returns one object with the CPUs, processes and devices of all traces in common lists,
/// each with the index of its trace.
pub(super) fn report(found: &Collected, losses: &Table, top: usize) -> Value {
    let statistics = &found.statistics;
    let mut events: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut cpus, mut processes, mut devices) = (Vec::new(), Vec::new(), Vec::new());
    let (mut by_pid, mut commands) = (Vec::new(), Vec::new());
    let mut contradictions = Vec::new();
    for (index, trace) in statistics.traces().iter().enumerate() {
        for (what, count) in found.anomalies.get(index).into_iter().flatten() {
            contradictions.push(json!({"trace": index, "what": what, "count": count}));
        }
        for (name, count) in &found.events[index] {
            *events.entry(name).or_default() += count;
        }
        for cpu in trace.cpus().iter().filter(|cpu| found.picked.has_cpu(cpu.number)) {
            let of_cpu = trace.sum(|leaf| leaf.cpu == cpu.number);
            cpus.push(json!({
                "trace": index,
                "cpu": cpu.number,
                "busy_percent": cpu.busy_percent(),
                "busy_ns": cpu.busy_time,
                "idle_ns": cpu.idle_time,
                "unknown_ns": cpu.unknown_time,
                "interrupt_ns": cpu.interrupt_time,
                "times": {
                    "user_ns": cpu.times.user,
                    "system_ns": cpu.times.system,
                    "idle_ns": cpu.times.idle,
                    "interrupt_ns": cpu.times.interrupt,
                    "softirq_ns": cpu.times.softirq,
                    "unknown_ns": cpu.times.unknown,
                },
                "events": cpu.events,
                "bytes_read": of_cpu.bytes_read(),
                "bytes_written": of_cpu.bytes_written(),
                "devices": requests(trace, &of_cpu),
            }));
        }
        let (calls, requests_of) = (syscalls_of(trace), by_process(trace));
        let threads = found.picked.threads(TraceIndex(index), trace);
        processes.extend(threads.iter().take(top).filter_map(|sum| {
            let mut process = process(index, trace, sum)?;
            process["devices"] = requests_of
                .get(&sum.process)
                .map_or_else(|| json!([]), |counts| requests(trace, counts));
            process["syscalls"] =
                calls.get(&sum.process).map(syscalls).unwrap_or_else(|| json!({}));
            Some(process)
        }));
        let all = groups(trace, &threads, |facts| facts.pid.or(facts.tid));
        by_pid.extend(all.iter().take(top).map(|of| group(index, of, true)));
        let all = groups(trace, &threads, |facts| Some(facts.name.clone()));
        commands.extend(all.iter().take(top).map(|of| group(index, of, false)));
        for device in trace.devices() {
            devices.push(json!({
                "trace": index,
                "major": device.number.major,
                "minor": device.number.minor,
                "name": *device.name,
                "inserted": device.inserted,
                "merged": device.merged,
                "issued": device.issued,
                "completed": device.completed(),
                "reads": device.reads,
                "writes": device.writes,
                "other_requests": device.others,
                "bytes_read": device.bytes_read,
                "bytes_written": device.bytes_written,
                "busy_ns": device.busy_time,
                "idle_ns": trace.time().saturating_sub(device.busy_time),
                "average_queue_length": device.average_queue_length(trace.time()),
            }));
        }
    }
    let traces = statistics.traces().iter().map(|trace| {
        json!({
            "begin_ns": trace.start().as_ns(),
            "end_ns": trace.end().as_ns(),
            "duration_ns": trace.time(),
        })
    });
    json!({
        "begin_ns": statistics.start().map(|time| time.as_ns()),
        "end_ns": statistics.end().map(|time| time.as_ns()),
        "duration_ns": statistics.time(),
        "traces": traces.collect::<Vec<_>>(),
        "events": events,
        "cpus": cpus,
        "processes": processes,
        "groups": by_pid,
        "commands": commands,
        "devices": devices,
        "contradictions": contradictions,
        "losses": losses.to_json(),
    })
}

/// Returns the sums of a group of threads.
fn group(index: usize, of: &Group, has_pid: bool) -> Value {
    let mut value = json!({
        "trace": index,
        "command": of.command,
        "threads": of.threads,
        "cpu_ns": of.cpu,
        "user_ns": of.user,
        "system_ns": of.system,
        "interrupt_ns": of.interrupt,
        "blocked_ns": of.blocked,
        "ready_ns": of.ready,
        "events": of.events,
        "bytes_read": of.read,
        "bytes_written": of.written,
    });
    if has_pid {
        value["pid"] = of.pid.into();
    }
    value
}

fn process(index: usize, trace: &TraceStatistics, sum: &ProcessSum) -> Option<Value> {
    let facts = trace.process_facts().get(sum.process.index())?;
    Some(json!({
        "trace": index,
        "tid": facts.tid,
        "pid": facts.pid,
        "ppid": facts.parent,
        "name": *facts.name,
        "cpu_ns": sum.cpu_time,
        "user_ns": sum.user_time,
        "system_ns": sum.system_time,
        "interrupt_ns": sum.interrupt_time,
        "unknown_ns": sum.unknown_time,
        "blocked_ns": facts.blocked_time,
        "ready_ns": facts.ready_time,
        "bytes_read": facts.bytes_read,
        "bytes_written": facts.bytes_written,
        "blocks_read": facts.blocks_read,
        "blocks_written": facts.blocks_written,
        "times_scheduled": facts.times_scheduled,
        "migrations": facts.migrations,
        "wakeup_latency": durations(&facts.wakeup_latency),
        "events": sum.events,
        "start_ns": facts.start.map(|time| time.as_ns()),
        "end_ns": facts.end.map(|time| time.as_ns()),
    }))
}

/// Returns the sums of the processes with requests to block devices.
fn by_process(trace: &TraceStatistics) -> BTreeMap<Serial, Counts> {
    let mut sums: BTreeMap<Serial, Counts> = BTreeMap::new();
    for (key, counts) in trace.leaves() {
        if counts.requests_by_device().next().is_some() {
            sums.entry(key.process).or_default().add(counts);
        }
    }
    sums
}

/// Converts the requests to block devices; a device that is not known is `null`.
fn requests(trace: &TraceStatistics, counts: &Counts) -> Value {
    let all = counts.requests_by_device().map(|(device, of)| {
        let device = device.and_then(|device| trace.devices().get(device));
        json!({
            "major": device.map(|device| device.number.major),
            "minor": device.map(|device| device.number.minor),
            "inserted": of.inserted,
            "merged": of.merged,
            "issued": of.issued,
            "completed": of.completed,
            "bytes_read": of.bytes_read,
            "bytes_written": of.bytes_written,
        })
    });
    all.collect()
}

/// The durations of the system calls of a name that ended, and the time in them within the
/// window.
type Calls<'n> = BTreeMap<&'n str, (Durations, u64)>;

/// Returns the system calls of each process by name.
fn syscalls_of(trace: &TraceStatistics) -> BTreeMap<Serial, Calls<'_>> {
    let mut all: BTreeMap<Serial, Calls<'_>> = BTreeMap::new();
    for (process, calls) in trace.syscalls() {
        let of = all.entry(process).or_default();
        of.extend(calls.into_iter().map(|(name, durations)| (name, (durations, 0))));
    }
    for (key, counts) in trace.leaves().filter(|(key, _)| key.mode == ExecutionMode::Syscall) {
        let (name, elapsed) = (trace.name(key.submode), counts.elapsed_time());
        // The calls of other processes are no calls: the code of kernel threads.
        let is_known = all.get(&key.process).is_some_and(|of| of.contains_key(name));
        if is_known || elapsed > 0 && name != "NONE" {
            let call = all.entry(key.process).or_default().entry(name).or_default();
            call.1 = call.1.wrapping_add(elapsed);
        }
    }
    all
}

/// Converts the system calls of a process.
fn syscalls(calls: &Calls<'_>) -> Value {
    let all = calls.iter().map(|(name, (calls, elapsed))| {
        let mut value = durations(calls);
        value["elapsed_ns"] = (*elapsed).into();
        ((*name).to_owned(), value)
    });
    all.collect()
}

fn durations(of: &Durations) -> Value {
    json!({
        "count": of.count(),
        "total_ns": of.total(),
        "min_ns": of.shortest(),
        "max_ns": of.longest(),
    })
}
