//! Statistics as JSON; times are in ns.

use std::collections::BTreeMap;

use lttv_state::kernel::Serial;
use lttv_state::stats::{Counts, Durations, ProcessSum, Statistics, TraceStatistics};
use serde_json::{Value, json};

/// Returns one object with the CPUs, processes and devices of all traces in common lists,
/// each with the index of its trace.
pub(crate) fn report(statistics: &Statistics, top: Option<usize>) -> Value {
    let mut events: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut cpus, mut processes, mut devices) = (Vec::new(), Vec::new(), Vec::new());
    for (index, trace) in statistics.traces().iter().enumerate() {
        for (name, count) in trace.events() {
            *events.entry(name).or_default() += count;
        }
        for cpu in trace.cpus() {
            let of_cpu = trace.sum(|leaf| leaf.cpu == cpu.number);
            cpus.push(json!({
                "trace": index,
                "cpu": cpu.number,
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
        let (calls, requests_of) = (trace.syscalls(), by_process(trace));
        processes.extend(busiest(trace, top).iter().filter_map(|sum| {
            let mut process = process(index, trace, sum)?;
            process["devices"] = requests_of
                .get(&sum.process)
                .map_or_else(|| json!([]), |counts| requests(trace, counts));
            process["syscalls"] =
                calls.get(&sum.process).map(syscalls).unwrap_or_else(|| json!({}));
            Some(process)
        }));
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
        "devices": devices,
    })
}

/// Returns the processes by decreasing CPU time.
pub(crate) fn busiest(trace: &TraceStatistics, top: Option<usize>) -> Vec<ProcessSum> {
    let mut sums = trace.processes();
    sums.sort_by_key(|sum| (std::cmp::Reverse(sum.cpu_time), sum.process));
    let facts = trace.process_facts();
    sums.retain(|sum| facts.get(sum.process.index()).is_some_and(|of| of.tid.is_some()));
    sums.truncate(top.unwrap_or(usize::MAX));
    sums
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

/// Converts the durations of system calls, by name.
fn syscalls(calls: &BTreeMap<&str, Durations>) -> Value {
    calls.iter().map(|(name, calls)| ((*name).to_owned(), durations(calls))).collect()
}

fn durations(of: &Durations) -> Value {
    json!({
        "count": of.len(),
        "total_ns": of.total(),
        "min_ns": of.shortest(),
        "max_ns": of.longest(),
    })
}
