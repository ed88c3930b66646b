//! Common questions, each answered by one command that fits a terminal of 100 columns, and checked against plain
//! computations over what `lttv dump` prints.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::support;

mod sums;

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces");

/// The questions, their commands, and the trace.
const TASKS: &[(&str, &str, &str)] = &[
    ("who used CPU 1", "stats --cpu 1 --timerange +100ms..+200ms --table processes", "kernel"),
    ("why was a thread late", "wait --tid 210", "kernel"),
    ("what did it wait for", "critical-path --tid 210", "kernel"),
    ("slow system calls with arguments", "spans --family syscall --min 30ms --utc", "kernel"),
    ("reads by size", "latency --family read --by size --table read", "kernel"),
    ("who writes", "latency --family write --by thread --table write --sort bytes", "kernel"),
    ("to which files", "latency --family write --by file --table write --sort bytes", "kernel"),
    ("which disk is busy", "disk", "kernel"),
    ("who wakes whom", "latency --family wake-up --table wakes --top 10", "kernel"),
    ("the longest softirq", "spans --family softirq --sort duration --limit 1", "kernel"),
    ("the handlers of interrupts", "irq --sort max_ns", "kernel"),
    ("what led to an event", "spans --around +272ms --width 1ms", "kernel"),
    ("lost events", "info --table losses", "ust-lost"),
    ("two parts", "compare --window +0..+300ms --window +300ms..+600ms", "kernel"),
    ("CPUs, memory, network", "usage", "kernel"),
    ("a distribution", "latency --family wake-up --table histogram", "kernel"),
    ("samples of functions", "calls --no-symbols --table functions", "perf/perf.data"),
    ("missing files", "latency --name open* --result ENOENT --by file --table syscall", "kernel"),
    (
        "where the time of a call went",
        "why --at +190.435384ms --tid 210 --family syscall",
        "kernel",
    ),
    ("runs of a thread", "spans --family run --tid 210", "kernel"),
    (
        "switches",
        "dump --name sched_switch --tid 210 --columns time,cpu,prev_state,next_comm",
        "kernel",
    ),
    ("failures by error", "latency --family syscall --by result --table syscall", "kernel"),
    ("gaps of threads", "dump --columns thread_delta,time,tid,comm,name --top 5", "ust-threads"),
    ("the state at a time", "state --at +100ms --table cpus", "kernel"),
    ("what a trace is good for", "info", "ust"),
];

fn run(command: &str, trace: &str) -> String {
    let words: Vec<&str> = command.split(' ').collect();
    let mut program = Command::new(support::lttv());
    program.args(&words).arg(Path::new(TRACES).join(trace)).env("TZ", "UTC").env("COLUMNS", "100");
    let output = program.output().expect("the program can be run");
    assert_eq!(output.status.code(), Some(0), "{command}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn answers_fit_a_terminal_of_100_columns() {
    for (question, command, trace) in TASKS {
        let answer = run(command, trace);
        assert!(answer.lines().count() > 1 || !answer.trim().is_empty(), "{question}");
        for line in answer.lines() {
            assert!(line.chars().count() <= 100, "{question}: {line}");
        }
    }
}

/// An event as `lttv dump` prints it: its time, CPU, thread, name, and the texts of fields.
struct Row {
    time: i64,
    cpu: u32,
    tid: i64,
    name: String,
    fields: Vec<String>,
}

impl Row {
    fn number(&self, at: usize) -> i64 {
        self.fields[at].parse().unwrap_or_default()
    }
}

/// Returns all events of the bundled trace with some fields, of which only the last may contain commas.
fn events(fields: &str) -> Vec<Row> {
    let count = fields.split(',').count();
    let text = run(&format!("dump --format csv --columns time,cpu,tid,name,{fields}"), "kernel");
    // Names of files contain line breaks, which quotes enclose.
    let mut records: Vec<String> = Vec::new();
    for line in text.lines().skip(1) {
        match records.last_mut().filter(|last| last.matches('"').count() % 2 == 1) {
            Some(open) => *open += &format!("\n{line}"),
            None => records.push(line.to_owned()),
        }
    }
    let row = |record: String| {
        let cells: Vec<&str> = record.splitn(4 + count, ',').collect();
        Row {
            time: cells[0].parse().expect("a time"),
            cpu: cells[1].parse().expect("a CPU"),
            tid: cells[2].parse().unwrap_or(-1),
            name: cells[3].to_owned(),
            fields: cells[4..].iter().map(|cell| cell.trim_matches('"').to_owned()).collect(),
        }
    };
    records.into_iter().map(row).collect()
}

/// Returns the cells of the rows of CSV, without the heads.
fn cells(command: &str) -> Vec<Vec<String>> {
    let text = run(&format!("{command} --format csv"), "kernel");
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn time_on_a_cpu_is_that_between_its_switches() {
    let rows = events("prev_tid,next_tid");
    let (from, to) = (rows[0].time + 100_000_000, rows[0].time + 200_000_000);
    let mut times = BTreeMap::<i64, i64>::new();
    let mut last: Option<(i64, i64)> = None;
    let mut add = |tid: i64, begin: i64, end: i64| {
        *times.entry(tid).or_default() += (end.min(to) - begin.max(from)).max(0);
    };
    for row in rows.iter().filter(|row| row.cpu == 1 && row.name == "sched_switch") {
        let (tid, since) = last.unwrap_or((row.number(0), i64::MIN));
        add(tid, since, row.time);
        last = Some((row.number(1), row.time));
    }
    let (tid, since) = last.expect("a switch");
    add(tid, since, i64::MAX);
    times.retain(|_, time| *time > 0);
    let found =
        cells("stats --cpu 1 --timerange +100ms..+200ms --table processes --columns tid,cpu_ns");
    let number = |cell: &String| cell.parse::<i64>().expect("a number");
    let found: BTreeMap<i64, i64> = found
        .iter()
        .map(|row| (number(&row[0]), number(&row[1])))
        .filter(|row| row.1 > 0)
        .collect();
    assert!(times.len() > 2);
    assert_eq!(found, times);
}

#[test]
fn slow_system_calls_are_the_pairs_of_their_events() {
    let slow = calls().into_iter().filter(|(_, _, begin, end, _)| end - begin >= 30_000_000);
    let slow = slow.map(|(name, tid, begin, end, _)| {
        vec![begin.to_string(), end.to_string(), name, tid.to_string()]
    });
    let mut slow: Vec<_> = slow.collect();
    slow.sort();
    let found = cells("spans --family syscall --min 30ms");
    // Calls without an end are not among the pairs.
    let found = found.iter().filter(|row| row[3] == "whole");
    let mut found: Vec<_> =
        found.map(|row| [0, 1, 5, 7].map(|at| row[at].clone()).to_vec()).collect();
    found.sort();
    assert!(slow.len() > 10);
    assert_eq!(found, slow);
}

#[test]
fn the_longest_softirq_is_that_of_the_events() {
    let mut open = BTreeMap::<u32, i64>::new();
    let mut longest = (0, 0);
    for row in events("vec") {
        match row.name.as_str() {
            "irq_softirq_entry" => _ = open.insert(row.cpu, row.time),
            "irq_softirq_exit" => {
                let begin = open.remove(&row.cpu);
                longest = longest.max(begin.map_or((0, 0), |begin| (row.time - begin, begin)));
            }
            _ => {}
        }
    }
    let found = cells("spans --family softirq --sort duration --limit 1");
    assert_eq!(found[0][0], longest.1.to_string());
    assert_eq!(found[0][2], longest.0.to_string());
}

#[test]
fn neighbours_of_an_event_are_those_in_time() {
    let rows = events("ret");
    let exits = rows.iter().filter(|row| row.name == "sched_process_exit" && row.tid == 201);
    let exits: Vec<i64> = exits.map(|row| row.time).collect();
    let near = |row: &&Row| exits.iter().any(|exit| row.time.abs_diff(*exit) <= 200_000);
    let near: Vec<String> = rows.iter().filter(near).map(|row| row.time.to_string()).collect();
    let found =
        cells("dump --name sched_process_exit --tid 201 --context 200us --columns time,name");
    assert!(near.len() > 1);
    assert_eq!(found.iter().map(|row| row[0].clone()).collect::<Vec<_>>(), near);
}

#[test]
fn values_of_arguments_select_events() {
    let rows = events("prev_state,prev_comm");
    let matching = rows.iter().filter(|row| {
        row.name == "sched_switch" && row.number(0) & 2 != 0 && row.fields[1] == "diskio"
    });
    let expected: Vec<String> = matching.map(|row| row.time.to_string()).collect();
    let filter = "name==sched_switch&&prev_state&2&&prev_comm==\"diskio\"";
    let found = cells(&format!("dump --columns time -e {filter}"));
    assert!(expected.len() > 5);
    assert_eq!(found.concat(), expected);
}

#[test]
fn missing_files_are_those_of_failed_opens() {
    let mut open = BTreeMap::<i64, String>::new();
    let mut missing = BTreeMap::<String, u64>::new();
    for row in events("ret,filename") {
        if row.name.starts_with("syscall_entry_open") {
            open.insert(row.tid, row.fields[1].clone());
        } else if row.name.starts_with("syscall_exit_open")
            && let Some(file) = open.remove(&row.tid)
            && row.number(0) == -2
        {
            *missing.entry(file).or_default() += 1;
        }
    }
    let found = cells(
        "latency --name open* --result ENOENT --by file --top 0 --table syscall --columns file,count",
    );
    let found: BTreeMap<String, u64> =
        found.into_iter().map(|row| (row[0].clone(), row[1].parse().expect("a count"))).collect();
    assert!(missing.len() > 5);
    assert_eq!(found, missing);
}

#[test]
fn runs_of_a_thread_are_between_its_switches() {
    let mut begin = None;
    let mut runs = Vec::new();
    for row in events("prev_tid,next_tid").iter().filter(|row| row.name == "sched_switch") {
        if row.number(0) == 210
            && let Some(begin) = begin.take()
        {
            runs.push(vec![begin, row.time.to_string()]);
        }
        if row.number(1) == 210 {
            begin = Some(row.time.to_string());
        }
    }
    let found = cells("spans --family run --tid 210");
    let found = found.iter().filter(|row| row[3] == "whole").map(|row| row[..2].to_vec());
    assert!(runs.len() > 5);
    assert_eq!(found.collect::<Vec<_>>(), runs);
}

/// Returns the system calls with an entry and an exit: name, thread, begin, end and result.
fn calls() -> Vec<(String, i64, i64, i64, i64)> {
    let mut open = BTreeMap::<i64, (String, i64)>::new();
    let mut calls = Vec::new();
    for row in events("ret") {
        if let Some(call) = row.name.strip_prefix("syscall_entry_") {
            open.insert(row.tid, (call.to_owned(), row.time));
        } else if let Some(call) = row.name.strip_prefix("syscall_exit_")
            && let Some((name, begin)) = open.remove(&row.tid)
            && name == call
        {
            calls.push((name, row.tid, begin, row.time, row.number(0)));
        }
    }
    calls
}

fn number(cell: &str) -> i64 {
    cell.parse().unwrap_or_else(|_| panic!("{cell}: no number"))
}

#[test]
fn failures_are_those_of_results() {
    let names =
        [(-2, "ENOENT"), (-3, "ESRCH"), (-9, "EBADF"), (-10, "ECHILD"), (-36, "ENAMETOOLONG")];
    let names = BTreeMap::from(names);
    let mut failures = BTreeMap::<String, i64>::new();
    for (.., result) in calls().iter().filter(|call| (-4095..0).contains(&call.4)) {
        let name = names.get(result).unwrap_or_else(|| panic!("the name of {result}"));
        *failures.entry((*name).to_owned()).or_default() += 1;
    }
    let found = cells(
        "latency --family syscall --by result --top 0 --table syscall --columns result,count",
    );
    let found: BTreeMap<String, i64> = found
        .into_iter()
        .filter(|row| row[0].starts_with('E'))
        .map(|row| (row[0].clone(), number(&row[1])))
        .collect();
    assert_eq!(failures.len(), names.len());
    assert_eq!(found, failures);
}

#[test]
fn busy_times_are_those_between_switches() {
    let rows = events("prev_tid,next_tid");
    let (first, end) = (rows[0].time, rows.last().expect("events").time);
    let mut busy = BTreeMap::<u32, i64>::new();
    let mut running = BTreeMap::<u32, (i64, i64)>::new();
    for row in rows.iter().filter(|row| row.name == "sched_switch") {
        let (tid, since) = running.get(&row.cpu).copied().unwrap_or((row.number(0), first));
        assert_eq!(tid, row.number(0), "no switch is missing");
        *busy.entry(row.cpu).or_default() += if tid == 0 { 0 } else { row.time - since };
        running.insert(row.cpu, (row.number(1), row.time));
    }
    for (cpu, (tid, since)) in &running {
        *busy.entry(*cpu).or_default() += if *tid == 0 { 0 } else { end - since };
    }
    let found = cells("usage --table cpus --columns cpu,busy_ns");
    let found: BTreeMap<u32, i64> =
        found.iter().map(|row| (number(&row[0]) as u32, number(&row[1]))).collect();
    assert_eq!(busy.len(), 8);
    assert_eq!(found, busy);
}

#[test]
fn the_state_at_a_time_is_that_after_the_last_switch() {
    let rows = events("prev_tid,next_tid");
    for ms in [50, 100, 333, 500] {
        let at = rows[0].time + ms * 1_000_000;
        let mut running = BTreeMap::<i64, i64>::new();
        for row in rows.iter().filter(|row| row.name == "sched_switch") {
            let cpu = i64::from(row.cpu);
            match row.time <= at {
                true => _ = running.insert(cpu, row.number(1)),
                // Before the first switch of a CPU, the thread ran that it ends.
                false => _ = running.entry(cpu).or_insert(row.number(0)),
            }
        }
        let found = cells(&format!("state --at +{ms}ms --table cpus --columns cpu,tid"));
        let found: BTreeMap<i64, i64> =
            found.iter().map(|row| (number(&row[0]), number(&row[1]))).collect();
        assert_eq!(found, running, "{ms} ms");
    }
}

/// Returns all events of the bundled trace whose name starts with `sched_`, with their fields: name, time, fields.
fn sched_events() -> Vec<(String, i64, serde_json::Value)> {
    let text = run("dump --format json --name sched_*", "kernel");
    let event = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let name = event["name"].as_str().expect("a name").to_owned();
        (name, event["timestamp"].as_i64().expect("a time"), event["fields"].clone())
    };
    text.lines().map(event).collect()
}

#[test]
fn blocked_times_end_with_wake_ups() {
    let (mut since, mut total, mut count, mut longest) = (None, 0, 0, 0);
    for (name, time, fields) in sched_events() {
        if name == "sched_switch" && fields["prev_tid"] == 210 && fields["prev_state"] != 0 {
            since = Some(time);
        } else if name == "sched_waking"
            && fields["tid"] == 210
            && let Some(since) = since.take()
        {
            let blocked: i64 = time - since;
            (total, count, longest) = (total + blocked, count + 1, longest.max(blocked));
        }
    }
    assert!(count > 3);
    let found = cells("wait --tid 210 --table threads --columns blocked_ns,waits,longest_ns");
    let found: Vec<i64> = found.concat().iter().map(|cell| number(cell)).collect();
    assert_eq!(found, [total, count, longest]);
}

#[test]
fn handlers_of_interrupts_are_the_pairs_of_their_events() {
    let mut open = BTreeMap::<u32, Vec<(i64, i64)>>::new();
    let mut handlers = BTreeMap::<(i64, i64), (i64, i64)>::new();
    for row in events("irq") {
        let stack = open.entry(row.cpu).or_default();
        if row.name == "irq_handler_entry" {
            stack.push((row.number(0), row.time));
        } else if row.name == "irq_handler_exit"
            && let Some((irq, begin)) = stack.pop()
        {
            let of = handlers.entry((irq, row.cpu.into())).or_default();
            *of = (of.0 + 1, of.1.max(row.time - begin));
        }
    }
    let found = cells("irq --table interrupts --columns kind,number,cpu,count,max_ns");
    let found = found.iter().filter(|row| row[0] == "irq").map(|row| {
        let of = |at: usize| number(&row[at]);
        ((of(1), of(2)), (of(3), of(4)))
    });
    assert!(handlers.len() > 5);
    assert_eq!(found.collect::<BTreeMap<_, _>>(), handlers);
}

#[test]
fn differences_are_those_of_counts() {
    let rows = events("ret");
    let first = rows[0].time;
    let middle = first + 300_000_000;
    let mut counts = BTreeMap::<String, (i64, i64)>::new();
    for row in rows.iter().filter(|row| !row.name.starts_with("lttng_statedump_")) {
        let of = counts.entry(row.name.clone()).or_default();
        // Windows contain both of their ends.
        of.0 += i64::from(row.time <= middle);
        of.1 += i64::from(row.time >= middle && row.time <= middle + 300_000_000);
    }
    let windows = "compare --window +0..+300ms --window +300ms..+600ms --top 0";
    let found = cells(&format!("{windows} --table events --columns event,a,b"));
    let found: BTreeMap<String, (i64, i64)> =
        found.iter().map(|row| (row[0].clone(), (number(&row[1]), number(&row[2])))).collect();
    assert!(counts.len() > 50);
    assert_eq!(found, counts);
}

#[test]
fn delays_of_wake_ups_end_when_the_thread_runs() {
    let mut woken = BTreeMap::<i64, i64>::new();
    let mut delays = Vec::new();
    for (name, time, fields) in sched_events() {
        match &*name {
            // A second wake-up before the thread runs changes nothing.
            "sched_waking" | "sched_wakeup_new" => {
                let tid = fields["tid"].as_i64().expect("a thread");
                woken.entry(tid).or_insert(time);
            }
            "sched_switch" => {
                let tid = fields["next_tid"].as_i64().expect("a thread");
                delays.extend(woken.remove(&tid).map(|begin| (begin, time, tid)));
            }
            _ => {}
        }
    }
    delays.sort_unstable();
    let found = cells("spans --family wake-up");
    let mut found: Vec<(i64, i64, i64)> = found
        .iter()
        .filter(|row| row[3] == "whole")
        .map(|row| (number(&row[0]), number(&row[1]), number(&row[7])))
        .collect();
    found.sort_unstable();
    assert!(delays.len() > 100);
    let differ = |a: &[(i64, i64, i64)], b: &[(i64, i64, i64)]| {
        a.iter().filter(|of| !b.contains(of)).copied().collect::<Vec<_>>()
    };
    assert_eq!((differ(&found, &delays), differ(&delays, &found)), (vec![], vec![]));
}

#[test]
fn gaps_of_threads_are_between_their_events() {
    let text = run("dump --format csv --columns time,tid", "ust-threads");
    let mut last = BTreeMap::<i64, i64>::new();
    let mut gaps: Vec<i64> = Vec::new();
    for line in text.lines().skip(1) {
        let (time, tid) = line.split_once(',').expect("two columns");
        let (time, tid) = (number(time), number(tid));
        gaps.extend(last.insert(tid, time).map(|before| time - before));
    }
    gaps.sort_unstable_by(|a, b| b.cmp(a));
    let text = run("dump --format csv --columns thread_delta,tid --top 5", "ust-threads");
    let found: Vec<i64> =
        text.lines().skip(1).map(|line| number(line.split(',').next().expect("a cell"))).collect();
    assert_eq!(found, gaps[..5]);
}

/// Exported files contain all spans, events and stacks.
#[test]
fn exports_are_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let write = |args: &[&str], trace: &str| {
        let trace = Path::new(TRACES).join(trace);
        let run = support::run(&support::lttv(), args, Some(&trace), Duration::from_secs(60));
        assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
    };
    let (csv, perfetto, part) = (path("spans.csv"), path("trace.json"), path("part"));
    write(&["spans", "--family", "disk", "-o", &csv], "kernel");
    assert_eq!(fs::read_to_string(&csv).expect("a file").lines().count(), 1 + 47);
    write(&["convert", "--to", "perfetto", "-o", &perfetto], "kernel");
    let text = fs::read_to_string(&perfetto).expect("a file");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(found["traceEvents"].as_array().is_some_and(|events| events.len() > 6087));
    write(&["convert", "--anonymise", "--timerange", "+100ms..+200ms", "-o", &part], "kernel");
    let whole = run("dump --count --timerange +100ms..+200ms", "kernel");
    let copied =
        support::run(&support::lttv(), &["dump", "--count", &part], None, Duration::from_secs(60));
    assert_eq!(String::from_utf8(copied.stdout).expect("text"), whole);
    let flame = path("flame.folded");
    write(&["flame", "--no-symbols", "-o", &flame], "perf/perf.data");
    assert!(fs::read_to_string(&flame).expect("a file").lines().count() > 20);
}
