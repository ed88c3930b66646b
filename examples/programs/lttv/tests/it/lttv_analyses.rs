//! Compares the analyses of the program `lttv` on the bundled trace with plain models that
//! read the lines of `lttv dump`.

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use crate::support::{Run, module_rows as rows, time_of_day, typed_json};
use lttv_common::units::bytes;
use lttv_context::Traceset;
use lttv_context::attributes::{AttributeId, AttributeValue, Attributes};
use lttv_state::history::{History, Timestamp};
use lttv_state::kernel_history::{HistoryTarget, Recorded, record};
use lttv_state::waits::Cause;
use serde_json::Value;

const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
const LIMIT: Duration = Duration::from_secs(120);

fn lttv(args: &[&str]) -> Run {
    let args = [&["run"], args, &["-t", BUNDLED]].concat();
    let run = support::run(&support::lttv(), &args, None, LIMIT);
    assert_eq!(run.status, Some(0), "{run:?}");
    run
}

fn json(args: &[&str]) -> Value {
    let output = lttv(&[args, &["--json"]].concat()).stdout;
    serde_json::from_slice(&output).expect("JSON")
}

fn with_types(args: &[&str]) -> Attributes {
    typed_json::attributes(&lttv(&[args, &["--json", "--types"]].concat()).stdout)
}

fn text(args: &[&str]) -> String {
    String::from_utf8(lttv(args).stdout).unwrap()
}

fn number(found: &Attributes, path: &str) -> f64 {
    let id = found.find_path(path).unwrap().unwrap_or_else(|| panic!("no {path}"));
    match found.value(id).unwrap() {
        AttributeValue::UInt(value) => *value as f64,
        AttributeValue::Float(value) => *value,
        AttributeValue::Duration(value) => value.as_nanos() as f64,
        other => panic!("{path} is {other}"),
    }
}

/// An event line of `lttv dump`.
struct Line {
    name: String,
    time: i64,
    cpu: u32,
    text: String,
}

impl Line {
    fn field(&self, name: &str) -> &str {
        let (_, rest) = self.text.rsplit_once(&format!("{name} = ")).unwrap();
        rest.split([',', ' ']).next().unwrap()
    }

    fn number(&self, name: &str) -> i64 {
        self.field(name).parse().unwrap()
    }
}

fn lines() -> Vec<Line> {
    let run = support::dump(&["--format=lttv"], Some(Path::new(BUNDLED)), LIMIT);
    let parse = |line: &str| {
        let (name, rest) = line.split_once(": ").unwrap();
        let (time, rest) = rest.split_once(" (").unwrap();
        let (place, _) = rest.split_once(')').unwrap();
        let (_, fields) = rest.split_once(" { ").unwrap_or(("", ""));
        Line {
            name: name.split_once('.').unwrap().1.to_owned(),
            time: time.replace('.', "").parse().unwrap(),
            cpu: place.rsplit_once('_').unwrap().1.parse().unwrap(),
            text: fields.to_owned(),
        }
    };
    String::from_utf8(run.stdout).unwrap().lines().map(parse).collect()
}

/// Formats a time as in attributes and tables.
fn time(ns: i64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// The begins and ends of handlers of interrupts, by kind, number and CPU.
type Handlers = BTreeMap<(&'static str, i64, u32), Vec<(i64, i64)>>;

/// Returns the handlers of interrupts that ended in lines.
fn handlers(lines: &[Line]) -> Handlers {
    let mut open: BTreeMap<(&str, u32), Vec<(i64, i64)>> = BTreeMap::new();
    let mut handlers = Handlers::new();
    for line in lines {
        for (kind, entry, exit, field) in [
            ("irq", "irq_handler_entry", "irq_handler_exit", "irq"),
            ("softirq", "irq_softirq_entry", "irq_softirq_exit", "vec"),
        ] {
            let open = open.entry((kind, line.cpu)).or_default();
            if line.name == entry {
                open.push((line.number(field), line.time));
            } else if line.name == exit
                && let Some((number, begin)) = open.pop()
            {
                handlers.entry((kind, number, line.cpu)).or_default().push((begin, line.time));
            }
        }
    }
    handlers
}

#[test]
fn interrupts() {
    let lines = lines();
    let expected = handlers(&lines);
    assert!(expected.len() > 10);
    let found = json(&["-m", "interrupts"]);
    let (durations, extremes) =
        (rows(&found, "interrupts", "interrupts"), rows(&found, "interrupts", "extremes"));
    let table = text(&["-m", "interrupts"]);
    assert!(table.starts_with("Interrupts\n"), "{table}");
    let all = lines[lines.len() - 1].time - lines[0].time;
    let (mut compared, mut with_periods) = (0, 0);
    for ((kind, number, cpu), runs) in &expected {
        let is_of =
            |row: &&Value| row["kind"] == *kind && row["number"] == *number && row["cpu"] == *cpu;
        let row = durations.iter().find(is_of);
        let row = row.unwrap_or_else(|| panic!("no row for {kind} {number} on {cpu}"));
        let near = |name: &str, expected: f64, least: f64| {
            let value = row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"));
            assert!((value - expected).abs() <= least + expected * 1e-9, "{row}: {expected}");
        };
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let deviation = |of: &[f64]| {
            mean(&of.iter().map(|it| (it - mean(of)).powi(2)).collect::<Vec<_>>()).sqrt()
        };
        let times: Vec<f64> = runs.iter().map(|(begin, end)| (end - begin) as f64).collect();
        near("count", times.len() as f64, 0.0);
        near("frequency", times.len() as f64 * 1e9 / all as f64, 0.0);
        near("time_ns", times.iter().sum(), 0.0);
        near("average_us", mean(&times) / 1e3, 0.0);
        near("deviation_us", deviation(&times) / 1e3, 1e-6);
        let row_of_extremes = extremes.iter().find(is_of).expect("a row");
        let shortest = runs.iter().min_by_key(|(begin, end)| end - begin).unwrap();
        // The first of several equal ones; max_by_key returns the last.
        let longest = runs.iter().rev().max_by_key(|(begin, end)| end - begin).unwrap();
        for (name, (begin, end)) in [("min", shortest), ("max", longest)] {
            near(&format!("{name}_ns"), (end - begin) as f64, 0.0);
            assert_eq!(row_of_extremes[format!("{name}_begin_ns")], *begin);
            assert_eq!(row_of_extremes[format!("{name}_end_ns")], *end);
            assert!(
                table.contains(&format!("  {}  {}", time_of_day(*begin), time_of_day(*end))),
                "{table}"
            );
        }
        compared += 1;
        let periods: Vec<f64> =
            runs.windows(2).map(|pair| (pair[1].0 - pair[0].0) as f64).collect();
        if periods.is_empty() {
            // What was not measured is missing.
            assert_eq!(row.get("period_us"), None);
            continue;
        }
        let frequencies: Vec<f64> = periods.iter().map(|period| 1e9 / period).collect();
        near("period_us", mean(&periods) / 1e3, 0.0);
        near("period_deviation_us", deviation(&periods) / 1e3, 1e-6);
        // Frequencies are measured in whole mHz.
        near("frequency_deviation", deviation(&frequencies), 2e-3);
        with_periods += 1;
    }
    assert!(compared == durations.len() && with_periods > 10, "{compared} {with_periods}");
}

#[test]
fn disks() {
    const WRITE: i64 = 1;
    const READ: i64 = 4;
    let lines = lines();
    let mut disks: BTreeMap<i64, [u64; 4]> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.name == "block_rq_complete") {
        let bytes = line.number("nr_sector") as u64 * 512;
        let [reads, read, writes, written] = disks.entry(line.number("dev")).or_default();
        // Without data it is the end of a flush.
        match line.number("rwbs") {
            kind if kind & (WRITE | 2) == WRITE && bytes > 0 => {
                (*writes, *written) = (*writes + 1, *written + bytes)
            }
            kind if kind & (READ | WRITE | 2) == READ && bytes > 0 => {
                (*reads, *read) = (*reads + 1, *read + bytes)
            }
            _ => {}
        }
    }
    assert!(disks.values().any(|[reads, _, writes, _]| *reads > 0 && *writes > 0));
    let disks_found = rows(&json(&["-m", "diskPerformance"]), "diskPerformance", "disks");
    let table = text(&["-m", "diskPerformance"]);
    let seconds = (lines[lines.len() - 1].time - lines[0].time) as f64 / 1e9;
    for (dev, [reads, read, writes, written]) in disks {
        let name = format!("{},{}", dev >> 20, dev & 0xf_ffff);
        let disk = disks_found.iter().find(|row| row["disk"] == *name).expect("a disk");
        assert_eq!((&disk["reads"], &disk["bytes_read"]), (&reads.into(), &read.into()));
        assert_eq!((&disk["writes"], &disk["bytes_written"]), (&writes.into(), &written.into()));
        let rate = disk["bytes_written_per_second"].as_f64().expect("a rate");
        assert!((rate - written as f64 / seconds).abs() < 1e-3 * rate.max(1.0), "{rate}");
        let row = table.lines().find(|line| line.trim_start().starts_with(&name)).unwrap();
        let columns: Vec<&str> = row.split_whitespace().collect();
        let read_in_units = bytes(read);
        let expected: Vec<&str> = read_in_units.split(' ').collect();
        assert_eq!(columns[2], reads.to_string(), "{row}");
        assert_eq!(columns[3..3 + expected.len()], expected, "{row}");
    }
}

/// Returns the time in all causes of waits in a row of thread states, in ns.
fn blocked_time(row: &Value) -> i128 {
    let causes = Cause::ALL.iter().map(|cause| match cause {
        Cause::Unknown => "no_wakeup_ns".to_owned(),
        cause => format!("{cause}_ns"),
    });
    causes.map(|of| i128::from(row[&of].as_u64().unwrap_or_else(|| panic!("no {of}")))).sum()
}

#[test]
fn dependencies() {
    let lines = lines();
    // The blocked time of each process, from the switch that put it to sleep.
    let (mut asleep, mut blocked) = (BTreeMap::new(), BTreeMap::<i64, i64>::new());
    // Threads that were mentioned: others slept from the start to their first wake-up.
    let mut seen: BTreeSet<i64> = BTreeSet::new();
    let mut cpus: BTreeSet<u32> = BTreeSet::new();
    let start = lines[0].time;
    for line in lines.iter().filter(|line| line.name == "sched_switch") {
        if cpus.insert(line.cpu) {
            seen.insert(line.number("prev_tid"));
        }
    }
    for line in &lines {
        let (mut wake, mut tid) = (false, 0);
        match &*line.name {
            "sched_switch" => {
                let previous = line.number("prev_tid");
                // Without processes that are ending.
                let state = line.number("prev_state") & 0xff;
                if state != 0 && state & (16 | 32) == 0 && previous != 0 {
                    asleep.insert(previous, line.time);
                }
                (wake, tid) = (true, line.number("next_tid"));
            }
            "sched_process_fork" => _ = seen.insert(line.number("child_tid")),
            "lttng_statedump_process_state"
                if line.text.contains(" status = 5,") && seen.insert(line.number("tid")) =>
            {
                asleep.entry(line.number("tid")).or_insert(start);
            }
            "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => {
                (wake, tid) = (true, line.number("tid"));
                if seen.insert(tid) {
                    asleep.entry(tid).or_insert(start);
                }
            }
            _ => {}
        }
        seen.insert(tid);
        if let Some(since) = asleep.remove(&tid).filter(|_| wake) {
            *blocked.entry(tid).or_default() += line.time - since;
        }
    }
    let end = lines[lines.len() - 1].time;
    asleep.into_iter().for_each(|(tid, since)| *blocked.entry(tid).or_default() += end - since);
    let states = rows(&json(&["-m", "depAnalysis"]), "depAnalysis", "states");
    let mut compared = 0;
    for (tid, blocked) in &blocked {
        // Threads with one id, one after the other, have a row each.
        let of_thread = states.iter().filter(|row| row["tid"] == *tid);
        let ours: i128 = of_thread.map(blocked_time).sum();
        // The waits before which a thread was woken already are missing.
        let difference = i128::from(*blocked) - ours;
        assert!((0..2_000_000).contains(&difference), "{tid}: {difference} ns apart");
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn critical_paths() {
    let args = ["-m", "depAnalysis", "--dep-pid", "180", "--dep-limit", "10"];
    let found = json(&args);
    assert_eq!(rows(&found, "depAnalysis", "states")[0]["command"], "lttng-consumerd");
    // Only the text has a limit.
    let segments = rows(&found, "depAnalysis", "segments");
    let ns = |row: &Value, name: &str| row[name].as_i64().expect("a time");
    let segments: Vec<(i64, i64)> =
        segments.iter().map(|row| (ns(row, "begin_ns"), ns(row, "end_ns"))).collect();
    assert!(segments.len() > 20, "{}", segments.len());
    assert!(segments.iter().all(|(begin, end)| begin < end));
    assert!(segments.windows(2).all(|pair| pair[0].1 == pair[1].0));
    // The path covers the whole time of the trace.
    let lines = lines();
    assert_eq!(segments[0].0, lines[0].time);
    assert_eq!(segments[segments.len() - 1].1, lines[lines.len() - 1].time);
    let table = text(&args);
    assert!(table.contains(&format!("(the first 10 of {})", segments.len())), "{table}");
    assert!(table.contains("sync_file_range  block"), "{table}");
    // Both names of the module have the same results.
    let other = text(&["-m", "criticalPath", "--path-tid", "180", "--path-limit", "10"]);
    assert_eq!(table, other);
    let args = ["run", "-m", "depAnalysis", "--dep-pid", "4000000", "-t", BUNDLED];
    let none = support::run(&support::lttv(), &args, None, LIMIT);
    assert_eq!((none.status, none.stdout.len()), (Some(1), 0), "{none:?}");
    assert!(none.stderr.contains("no thread in the window has TID 4000000"), "{none:?}");
}

#[test]
fn statistics() {
    let lines = lines();
    let mut events: BTreeMap<&str, u64> = BTreeMap::new();
    lines.iter().for_each(|line| *events.entry(&line.name).or_default() += 1);
    // Filters select what is printed: times need all events.
    let found = with_types(&["-m", "batchAnalysis", "-s", "-e", "event.name == sched_switch"]);
    for (name, count) in &events {
        assert_eq!(number(&found, &format!("statistics/event_types/{name}")), *count as f64);
    }
    let tree = text(&["-m", "textDump", "-n", "-s"]);
    assert!(tree.contains("End trace set\n\nTraceset statistics:\n\n"), "{tree}");
    assert!(tree.contains("\nevents count: 6087\n"), "{tree}");
    // With a start in the middle, time starts there.
    let (begin, end) = (lines[3000].time, lines[lines.len() - 1].time);
    let found = with_types(&["-m", "statistics", "-m", "batchAnalysis", "--begin", &time(begin)]);
    let mut cpus = 0;
    while let Some(id) =
        found.find_path(&format!("statistics/traces/[0]/cpu/[{cpus}]/cpu time")).unwrap()
    {
        let AttributeValue::Duration(on_cpu) = found.value(id).unwrap() else {
            panic!("a duration")
        };
        assert!(on_cpu.as_nanos() as i64 <= end - begin, "{on_cpu:?}");
        cpus += 1;
    }
    assert_eq!(cpus, 8);
}

#[test]
fn histories() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.history");
    // Another module has no influence.
    let checkpoints = folder.path().join("kernel.checkpoints");
    let files = ["--history", path.to_str().unwrap(), "--checkpoints"];
    let files = [&files[..], &[checkpoints.to_str().unwrap()]].concat();
    lttv(&[&["-m", "precompute"], &files[..], &["-m", "interrupts"]].concat());
    let traceset = Traceset::open(BUNDLED).unwrap();
    let stored = History::open_for(&path, &Recorded::identity(&traceset)).unwrap();
    assert!(stored.is_complete());
    stored.verify().unwrap();
    let expected =
        record(&traceset, HistoryTarget::Memory, |_| std::ops::ControlFlow::Continue(()));
    let expected = expected.unwrap().history;
    assert_eq!((stored.start(), stored.end()), (expected.start(), expected.end()));
    assert_eq!(stored.intervals_count(), expected.intervals_count());
    let middle = stored.start().as_ns().midpoint(stored.end().as_ns());
    let values = |history: &History| {
        let all = history.state_matching("**", Timestamp::from_ns(middle)).unwrap();
        all.iter()
            .map(|at| (history.tree().path(at.quark), at.value.to_string()))
            .collect::<Vec<_>>()
    };
    assert_eq!(values(&stored), values(&expected));
    let args = ["run", "-m", "precompute", "--begin=0s", "--history", "/nowhere"];
    let run = support::run(&support::lttv(), &args, None, LIMIT);
    assert!(run.stderr.contains("a history covers whole traces"), "{run:?}");
}

#[test]
fn memory_maps_at_the_end() {
    let lines = lines();
    // The last program break of a program that has a heap.
    let last = lines.iter().rfind(|line| line.name == "syscall_exit_brk").unwrap();
    let end = format!("--end={}", time(last.time));
    let table = text(&["-m", "memoryMaps", &end]);
    let page_end = (last.number("ret") as u64).next_multiple_of(4096);
    let heap = table.lines().find(|line| line.contains(&format!(" {page_end:x} ")));
    let heap = heap.unwrap_or_else(|| panic!("no heap to {page_end:x}: {table}"));
    assert!(heap.contains("rw-p") && heap.ends_with("[heap]"), "{heap}");
    let words: Vec<&str> = heap.split_whitespace().collect();
    let found = json(&["-m", "memoryMaps", &end]);
    let (pid, name, start) = (words[0], words[1], words[2]);
    let found = rows(&found, "memoryMaps", "memory_maps");
    let pid: i64 = pid.parse().expect("a number");
    let is_heap = |row: &&Value| row["pid"] == pid && row["start"] == start;
    let heap = found.iter().find(is_heap).expect("a row");
    assert_eq!((&heap["name"], &heap["contents"]), (&name.into(), &"[heap]".into()));
}

#[test]
fn statistics_alone_read_the_trace() {
    let alone = text(&["-m", "statistics"]);
    assert!(alone.contains("\nevents count: 6087\n"), "{alone}");
    // Whichever module has the traces read, they are read once.
    for args in [
        &["-m", "statistics", "-s"][..],
        &["-m", "statistics", "-m", "batchAnalysis"],
        &["-m", "batchAnalysis", "-m", "statistics"],
        &["-m", "batchAnalysis", "-s"],
    ] {
        assert_eq!(text(args), alone, "{args:?}");
    }
    let found = with_types(&["-m", "statistics"]);
    assert_eq!(number(&found, "statistics/traces/[0]/events count"), 6087.0);
}

#[test]
fn json_is_plain_unless_types_are_asked_for() {
    let output = lttv(&["-m", "statistics", "--json"]).stdout;
    let plain: serde_json::Value = serde_json::from_slice(&output).unwrap();
    let typed = with_types(&["-m", "statistics"]);
    let of_trace = &plain["statistics"]["traces"]["[0]"];
    assert_eq!(of_trace["events count"], 6087);
    let cpu = of_trace["cpu"]["[0]"]["cpu time"].as_u64().unwrap();
    assert_eq!(cpu as f64, number(&typed, "statistics/traces/[0]/cpu/[0]/cpu time"));
    // The plain form has the same members as the form with types.
    fn members(of: &serde_json::Value) -> usize {
        of.as_object().map_or(0, |of| of.len() + of.values().map(members).sum::<usize>())
    }
    assert_eq!(members(&plain), typed_json::below(&typed, AttributeId::ROOT).len());
}
