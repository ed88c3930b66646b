//! Compares the analyses of the program `lttv` on the bundled trace with plain models that
//! read the lines of `lttv dump`.

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use crate::support::{Run, typed_json};
use lttv_context::Traceset;
use lttv_context::attributes::{AttributeId, AttributeValue, Attributes};
use lttv_state::history::{History, Timestamp};
use lttv_state::kernel_history::{Recorded, Target, record};
use lttv_state::waits::Cause;

const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
const LIMIT: Duration = Duration::from_secs(120);

fn lttv(args: &[&str]) -> Run {
    let args = [&["run"], args, &["-t", BUNDLED]].concat();
    let run = support::run(&support::program("lttv"), &args, None, LIMIT);
    assert_eq!(run.status, Some(0), "{run:?}");
    run
}

fn json(args: &[&str]) -> Attributes {
    typed_json::attributes(&lttv(&[args, &["--json", "--types"]].concat()).stdout)
}

fn text(args: &[&str]) -> String {
    String::from_utf8(lttv(args).stdout).unwrap()
}

/// Returns a value as it is printed.
fn value(found: &Attributes, path: &str) -> String {
    let id = found.find_path(path).unwrap().unwrap_or_else(|| panic!("no {path}"));
    found.value(id).unwrap().to_string()
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

#[test]
fn interrupts() {
    let lines = lines();
    // The running handlers of each CPU, and the durations of each interrupt.
    let mut open: BTreeMap<(&str, u32), Vec<(i64, i64)>> = BTreeMap::new();
    let mut runs: BTreeMap<(&str, i64), Vec<(i64, i64)>> = BTreeMap::new();
    for line in &lines {
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
                runs.entry((kind, number)).or_default().push((begin, line.time));
            }
        }
    }
    assert!(runs.len() > 10);
    let found = json(&["-m", "interrupts"]);
    let table = text(&["-m", "interrupts"]);
    let all = lines[lines.len() - 1].time - lines[0].time;
    for ((kind, number_), runs) in &runs {
        let at = |name: &str| format!("traces/[0]/interrupts/{kind}/[{number_}]/{name}");
        let near = |name: &str, expected: f64| {
            let value = number(&found, &at(name));
            assert!(
                (value - expected).abs() <= expected * 1e-9,
                "{}: {value}, {expected}",
                at(name)
            );
        };
        let durations: Vec<f64> = runs.iter().map(|(begin, end)| (end - begin) as f64).collect();
        let (count, total) = (runs.len() as f64, durations.iter().sum::<f64>());
        near("count", count);
        near("frequency", count * 1e9 / all as f64);
        near("total", total);
        let squares: f64 = durations.iter().map(|d| (d - total / count).powi(2)).sum();
        let deviation = (squares / count).sqrt();
        assert!((number(&found, &at("deviation_ns")) - deviation).abs() < 1e-3, "{}", at(""));
        let shortest = runs.iter().min_by_key(|(begin, end)| end - begin).unwrap();
        // The first of several equal ones; max_by_key returns the last.
        let longest = runs.iter().rev().max_by_key(|(begin, end)| end - begin).unwrap();
        for (name, (begin, end)) in [("min", shortest), ("max", longest)] {
            near(&format!("{name}/duration"), (end - begin) as f64);
            assert_eq!(value(&found, &at(&format!("{name}/begin"))), time(*begin));
            assert_eq!(value(&found, &at(&format!("{name}/end"))), time(*end));
            assert!(table.contains(&format!("  {}  {}", time(*begin), time(*end))), "{table}");
        }
    }
}

#[test]
fn interrupts_have_cpus_and_periods() {
    let lines = lines();
    // The starts of the handlers that ended, by kind, number and CPU.
    let mut open: BTreeMap<(&str, u32), Vec<(i64, i64)>> = BTreeMap::new();
    let mut begins: BTreeMap<(&str, i64, u32), Vec<i64>> = BTreeMap::new();
    for line in &lines {
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
                begins.entry((kind, number, line.cpu)).or_default().push(begin);
            }
        }
    }
    assert!(begins.values().any(|begins| begins.len() > 10));
    let found = json(&["-m", "interrupts"]);
    let table = text(&["-m", "interrupts"]);
    let (durations, _) = table.split_once("Shortest and longest").unwrap();
    let rows: Vec<Vec<&str>> =
        durations.lines().map(|line| line.split_whitespace().collect()).collect();
    // A row without periods has three cells less.
    assert_eq!(rows.iter().filter(|row| row.len() > 10).count(), begins.len() + 1, "and a head");
    for ((kind, number_, cpu), begins) in &begins {
        let at = |name| format!("traces/[0]/interrupts/{kind}/[{number_}]/cpus/[{cpu}]/{name}");
        assert_eq!(number(&found, &at("count")), begins.len() as f64);
        let periods: Vec<f64> = begins.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let cells_after_cpu = if periods.is_empty() { 7 } else { 10 };
        let row = rows.iter().find(|row| {
            row.len() > 10 && row[0] == *kind && row[1] == number_.to_string()
                // Names may contain spaces.
                && row[row.len() - cells_after_cpu - 1] == cpu.to_string()
        });
        let row = row.unwrap_or_else(|| panic!("no row for {kind} {number_} on {cpu}"));
        let shown = |column: usize| row[row.len() - column].parse::<f64>().unwrap();
        assert_eq!(shown(cells_after_cpu), begins.len() as f64, "{row:?}");
        if periods.is_empty() {
            // What was not measured is missing.
            assert_eq!(found.find_path(&at("period_ns")), Ok(None));
            continue;
        }
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let deviation = |of: &[f64]| {
            mean(&of.iter().map(|it| (it - mean(of)).powi(2)).collect::<Vec<_>>()).sqrt()
        };
        let frequencies: Vec<f64> = periods.iter().map(|period| 1e9 / period).collect();
        for (name, expected, column, unit) in [
            ("period_ns", mean(&periods), 3, 1e3),
            ("period_deviation_ns", deviation(&periods), 2, 1e3),
            ("frequency_deviation", deviation(&frequencies), 1, 1.0),
        ] {
            let value = number(&found, &at(name));
            // Frequencies are measured in whole mHz.
            let near = |a: f64, b: f64| (a - b).abs() < 2e-3 + b * 1e-9;
            assert!(near(value, expected), "{}: {value}, {expected}", at(name));
            assert!(near(shown(column), expected / unit), "{row:?}: {name} {expected}");
        }
    }
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
    let found = json(&["-m", "diskPerformance"]);
    let table = text(&["-m", "diskPerformance"]);
    let seconds = (lines[lines.len() - 1].time - lines[0].time) as f64 / 1e9;
    for (dev, [reads, read, writes, written]) in disks {
        let name = format!("{},{}", dev >> 20, dev & 0xf_ffff);
        let at = |what: &str| number(&found, &format!("traces/[0]/disks/{name}/{what}"));
        assert_eq!((at("reads"), at("bytes_read")), (reads as f64, read as f64));
        assert_eq!((at("writes"), at("bytes_written")), (writes as f64, written as f64));
        let rate = at("bytes_written_per_second");
        assert!((rate - written as f64 / seconds).abs() < 1e-3 * rate.max(1.0), "{rate}");
        let row = table.lines().find(|line| line.trim_start().starts_with(&name)).unwrap();
        let columns: Vec<&str> = row.split_whitespace().collect();
        assert_eq!((columns[2], columns[3]), (&*reads.to_string(), &*read.to_string()), "{row}");
    }
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
    let found = json(&["-m", "depAnalysis"]);
    let mut compared = 0;
    for (tid, blocked) in &blocked {
        let of_cause = |cause: &Cause| {
            let at = format!("traces/[0]/waits/threads/{tid}/states/blocked:{cause}");
            match found.find_path(&at).unwrap().and_then(|id| found.value(id)) {
                Some(AttributeValue::Duration(time)) => time.as_nanos() as i128,
                _ => 0,
            }
        };
        let ours: i128 = Cause::ALL.iter().map(of_cause).sum();
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
    let thread = "traces/[0]/waits/threads/180";
    assert_eq!(value(&found, &format!("{thread}/command")), "\"lttng-consumerd\"");
    let segments: Vec<(String, String)> = (0..)
        .map_while(|number| {
            let at = format!("{thread}/segments/[{number}]");
            found.find_path(&at).unwrap()?;
            let of = |name| value(&found, &format!("{at}/{name}"));
            Some((of("begin"), of("end")))
        })
        .collect();
    assert!(segments.len() > 20, "{}", segments.len());
    // Times have equal numbers of digits, so that their texts compare in time order.
    assert!(segments.iter().all(|(begin, end)| begin < end));
    assert!(segments.windows(2).all(|pair| pair[0].1 == pair[1].0));
    // The path covers the whole time of the trace.
    let ns = |time: &str| time.replace('.', "").parse::<i64>().unwrap();
    let lines = lines();
    assert_eq!(ns(&segments[0].0), lines[0].time);
    assert_eq!(ns(&segments[segments.len() - 1].1), lines[lines.len() - 1].time);
    let table = text(&args);
    assert!(table.contains(&format!("(the first 10 of {})", segments.len())), "{table}");
    assert!(table.contains("sync_file_range  block"), "{table}");
    // Both names of the module have the same results.
    let other = text(&["-m", "criticalPath", "--path-tid", "180", "--path-limit", "10"]);
    assert_eq!(table, other);
    let none = text(&["-m", "depAnalysis", "--dep-pid", "4000000"]);
    assert_eq!(none, "Trace 0 has no thread 4000000\n\n");
}

#[test]
fn statistics() {
    let lines = lines();
    let mut events: BTreeMap<&str, u64> = BTreeMap::new();
    lines.iter().for_each(|line| *events.entry(&line.name).or_default() += 1);
    // Filters select what is printed: times need all events.
    let found = json(&["-m", "batchAnalysis", "-s", "-e", "event.name == sched_switch"]);
    for (name, count) in &events {
        assert_eq!(number(&found, &format!("statistics/event_types/{name}")), *count as f64);
    }
    let tree = text(&["-m", "textDump", "-n", "-s"]);
    assert!(tree.contains("End trace set\n\nTraceset statistics:\n\n"), "{tree}");
    assert!(tree.contains("\nevents count: 6087\n"), "{tree}");
    // With a start in the middle, time starts there.
    let (begin, end) = (lines[3000].time, lines[lines.len() - 1].time);
    let found = json(&["-m", "statistics", "-m", "batchAnalysis", "--begin", &time(begin)]);
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
    let expected = record(&traceset, Target::Memory, |_| std::ops::ControlFlow::Continue(()));
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
    let args = ["run", "-m", "precompute", "--begin=0", "--history", "/nowhere"];
    let run = support::run(&support::program("lttv"), &args, None, LIMIT);
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
    let at = format!("traces/[0]/memory_maps/{name} ({pid})/0x{start}/contents");
    assert_eq!(value(&found, &at), "\"[heap]\"");
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
    let found = json(&["-m", "statistics"]);
    assert_eq!(number(&found, "statistics/traces/[0]/events count"), 6087.0);
}

#[test]
fn json_is_plain_unless_types_are_asked_for() {
    let output = lttv(&["-m", "statistics", "--json"]).stdout;
    let plain: serde_json::Value = serde_json::from_slice(&output).unwrap();
    let typed = json(&["-m", "statistics"]);
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
