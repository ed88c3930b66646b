//! Comparisons, checked against separate statistics of each side and against plain models of
//! the events.

use lttv_filter::TraceTimes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support;

use clap::Parser;
use ltt_read::schema::Scope;
use ltt_read::{Event, Merge, open_all};
use lttv::commands::compare::{CompareArgs, run};
use lttv_common::report::{Report, Usage};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::analysis::attach;
use lttv_state::kernel::KernelState;
use lttv_state::stats::StatisticsAnalysis;
use serde_json::Value;

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    args: CompareArgs,
}

fn bundled(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(name)
}

/// Runs a comparison, and returns its output.
fn output(args: &[&str]) -> Result<String, Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("out");
    let file = file.to_str().expect("a path in UTF-8");
    let args = ["compare"].iter().chain(args).copied().chain(["--utc", "-o", file]);
    let cli = Cli::try_parse_from(args)?;
    run(&cli.args, &mut Report::new("compare"))?;
    Ok(std::fs::read_to_string(file)?)
}

fn json(args: &[&str]) -> Value {
    let all = [args, &["--format", "json"]].concat();
    let text = output(&all).unwrap_or_else(|error| panic!("{args:?}: {error}"));
    serde_json::from_str(&text).expect("JSON")
}

/// Returns the values of a column by the values of the columns that name a row.
fn column(table: &Value, names: &[&str], value: &str) -> BTreeMap<String, i64> {
    let mut all = BTreeMap::new();
    for row in table.as_array().expect("rows") {
        let name: Vec<&str> = names.iter().map(|name| row[name].as_str().expect("text")).collect();
        *all.entry(name.join(" ")).or_default() += row[value].as_i64().expect("an integer");
    }
    all.retain(|_, value| *value != 0);
    all
}

/// The times of the first and the last event, in ns.
fn span(path: &Path) -> (i64, i64) {
    let span = TraceTimes::of(&open_all(path).expect("a trace")).events().expect("events");
    (span.start.as_ns(), span.end.as_ns())
}

/// Calls a function for each event with its time.
fn each(path: &Path, mut with: impl FnMut(i64, &Event<'_>)) {
    let traces = open_all(path).expect("a trace");
    let mut merge = Merge::new(&traces);
    while let Some(event) = merge.next() {
        with(event.timestamp().expect("a time").as_ns(), &event);
    }
}

fn number(event: &Event<'_>, name: &str) -> i64 {
    event.field(name).and_then(|value| value.as_i64()).expect("an integer")
}

fn text(event: &Event<'_>, name: &str) -> String {
    let value = event.field(name).and_then(|value| value.as_str()).expect("a text");
    value.to_str_lossy().into_owned()
}

/// Two traces have the numbers of separate statistics.
#[test]
fn two_traces_have_the_numbers_of_separate_statistics() {
    let (a, b) = (bundled("kernel"), bundled("legacy"));
    let found = json(&[a.to_str().unwrap(), b.to_str().unwrap()]);
    for (side, path) in [("a", &a), ("b", &b)] {
        let mut context = TracesetContext::new(Traceset::open(path).expect("a trace"));
        let kernel = context.attach(KernelState::new());
        let statistics = attach(&mut context, kernel, .., StatisticsAnalysis::new());
        assert_eq!(context.read(&Bounds::all()).expect("bounds").errors, 0);
        let statistics = statistics.take(context.extensions_mut());
        let [trace] = statistics.traces() else { panic!("one trace") };
        let mut events = BTreeMap::new();
        for (name, count) in trace.events() {
            events.insert(name.to_owned(), count as i64);
        }
        // Those of state dumps are left out: the channels of LTTng 0.x that have nothing else.
        let of_dump =
            ["interrupt", "softirq_vec", "sys_call_table", "process_state", "statedump_end"];
        events.retain(|name, _| !name.contains("statedump") && !of_dump.contains(&name.as_str()));
        assert_eq!(column(&found["events"], &["event"], side), events);
        let mut times: BTreeMap<String, i64> = BTreeMap::new();
        let mut interrupts: BTreeMap<String, i64> = BTreeMap::new();
        for (key, counts) in trace.leaves() {
            let Some(facts) = trace.process_facts().get(key.process.index()) else { continue };
            let command = match facts.tid {
                Some(0) => "idle".to_owned(),
                Some(tid) if facts.name.is_empty() => format!("({tid})"),
                Some(_) => facts.name.to_string(),
                None => "unknown".to_owned(),
            };
            *times.entry(command).or_default() += counts.cpu_time as i64;
            if key.mode.is_interrupt() {
                let name = trace.name(key.submode).to_owned();
                *interrupts.entry(name).or_default() += counts.cpu_time as i64;
            }
        }
        times.retain(|_, time| *time != 0);
        interrupts.retain(|_, time| *time != 0);
        let value = format!("{side}_ns");
        assert_eq!(column(&found["cpu"], &["command"], &value), times, "{side}");
        assert_eq!(column(&found["interrupts"], &["interrupt"], &value), interrupts, "{side}");
    }
    let names: Vec<_> = (0..2).map(|at| found["sides"][at]["trace"].clone()).collect();
    assert_eq!(names, ["kernel", "legacy"]);
}

/// Sums of times by thread, with the last command of each thread in a window.
struct Sums {
    from: i64,
    to: i64,
    times: BTreeMap<i64, i64>,
    commands: BTreeMap<i64, String>,
}

impl Sums {
    fn new(from: i64, to: i64) -> Self {
        Sums { from, to, times: BTreeMap::new(), commands: BTreeMap::new() }
    }

    /// Adds the part of a time that is in the window.
    fn add(&mut self, tid: i64, begin: i64, end: i64) {
        let time = end.min(self.to) - begin.max(self.from);
        *self.times.entry(tid).or_default() += time.max(0);
    }

    fn name(&mut self, tid: i64, time: i64, command: String) {
        if time <= self.to {
            self.commands.insert(tid, command);
        }
    }

    /// Takes over the command of a program that a thread executes: the last name of its path.
    fn executes(&mut self, time: i64, event: &Event<'_>) {
        let path = text(event, "filename");
        let command = path.rsplit('/').next().unwrap_or_default();
        // A command has at most 15 bytes.
        self.name(number(event, "tid"), time, command[..command.len().min(15)].to_owned());
    }

    fn by_command(self) -> BTreeMap<String, i64> {
        let mut sums = BTreeMap::new();
        for (tid, time) in self.times.into_iter().filter(|(_, time)| *time > 0) {
            let command = match tid {
                0 => "idle".to_owned(),
                _ => self.commands.get(&tid).cloned().unwrap_or_else(|| format!("({tid})")),
            };
            *sums.entry(command).or_default() += time;
        }
        sums
    }
}

/// The CPU time by command between two times, from the switches alone.
fn cpu_model(path: &Path, from: i64, to: i64) -> BTreeMap<String, i64> {
    let mut sums = Sums::new(from, to);
    let mut since: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
    each(path, |time, event| match event.event_type().name() {
        "sched_switch" => {
            let cpu = event.tracefile().cpu().expect("a CPU");
            let [out, into] = ["prev_tid", "next_tid"].map(|field| number(event, field));
            let (begin, _) = since.insert(cpu, (time, into)).unwrap_or((i64::MIN, out));
            sums.add(out, begin, time);
            sums.name(out, time, text(event, "prev_comm"));
            sums.name(into, time, text(event, "next_comm"));
        }
        "sched_waking" | "sched_wakeup" | "sched_wakeup_new" | "sched_migrate_task" => {
            sums.name(number(event, "tid"), time, text(event, "comm"));
        }
        "sched_process_exec" => sums.executes(time, event),
        _ => {}
    });
    for (begin, tid) in since.into_values() {
        sums.add(tid, begin, to);
    }
    sums.by_command()
}

/// The blocked time by command between two times, from switches and wake-ups alone.
fn blocked_model(path: &Path, from: i64, to: i64) -> BTreeMap<String, i64> {
    let mut sums = Sums::new(from, to);
    let mut since: BTreeMap<i64, i64> = BTreeMap::new();
    let (first, _) = span(path);
    // What a CPU's first switch switches out has run since the start.
    let (mut seen, mut cpus) = (BTreeSet::new(), BTreeSet::new());
    each(path, |_, event| {
        if event.event_type().name() == "sched_switch" && cpus.insert(event.tracefile().cpu()) {
            seen.insert(number(event, "prev_tid"));
        }
    });
    // Threads that were woken while they ran did not wait when they were switched out.
    let (mut woken_early, mut running) = (BTreeSet::new(), seen.clone());
    each(path, |time, event| match event.event_type().name() {
        "sched_switch" => {
            let [out, into] = ["prev_tid", "next_tid"].map(|field| number(event, field));
            // Neither ready nor dead.
            let state = number(event, "prev_state");
            if out != 0 && state != 0 && state & 0x130 == 0 {
                since.insert(out, time);
            }
            seen.extend([out, into]);
            let is_early = woken_early.remove(&into);
            if let Some(begin) = since.remove(&into).filter(|_| !is_early) {
                sums.add(into, begin, time);
            }
            running.remove(&out);
            running.insert(into);
            sums.name(out, time, text(event, "prev_comm"));
            sums.name(into, time, text(event, "next_comm"));
        }
        "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => {
            let tid = number(event, "tid");
            if running.contains(&tid) {
                woken_early.insert(tid);
            }
            // What its wake-up mentions first has slept since the start.
            let unseen = seen.insert(tid).then_some(first);
            if let Some(begin) = since.remove(&tid).or(unseen) {
                sums.add(tid, begin, time);
            }
            sums.name(tid, time, text(event, "comm"));
        }
        "sched_migrate_task" => sums.name(number(event, "tid"), time, text(event, "comm")),
        "sched_process_fork" => _ = seen.insert(number(event, "child_tid")),
        "sched_process_exec" => sums.executes(time, event),
        "lttng_statedump_process_state" => {
            // The dump says that the process waits.
            let payload = event.scope(Scope::Payload).expect("a payload");
            let of = |name| payload.get(name).and_then(|value| value.as_i64()).expect("a number");
            if of("status") == 5 && seen.insert(of("tid")) {
                let name = payload.get("name").and_then(|name| name.as_str()).expect("a name");
                sums.name(of("tid"), time, name.to_str_lossy().into_owned());
                since.entry(of("tid")).or_insert(first);
            }
        }
        _ => {}
    });
    for (tid, begin) in since {
        sums.add(tid, begin, to);
    }
    sums.by_command()
}

/// Windows of one trace have the numbers of plain models, to the nanosecond.
#[test]
fn windows_have_the_numbers_of_plain_models() {
    let path = bundled("kernel");
    let (first, last) = span(&path);
    let length = last - first;
    let time =
        |ns: i64| format!("{}.{:09}", ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
    for (number, (from, to)) in [(0, 3), (2, 5), (4, 8), (7, 10)].into_iter().enumerate() {
        let (from, to) = (first + length * from / 10, first + length * to / 10);
        let middle = from + (to - from) / 3;
        let windows = [(from, middle), (middle + 1, to)];
        let [a, b] = windows.map(|(from, to)| format!("{}..{}", time(from), time(to)));
        let found = json(&[path.to_str().unwrap(), "--window", &a, "--window", &b]);
        for (side, (from, to)) in ["a", "b"].into_iter().zip(windows) {
            let mut events = BTreeMap::new();
            each(&path, |time, event| {
                let name = event.event_type().name();
                if (from..=to).contains(&time) && !name.contains("statedump") {
                    *events.entry(name.to_owned()).or_default() += 1;
                }
            });
            assert_eq!(column(&found["events"], &["event"], side), events, "{number} {side}");
            let value = format!("{side}_ns");
            let cpu = column(&found["cpu"], &["command"], &value);
            assert_eq!(cpu, cpu_model(&path, from, to), "{number} {side}");
            assert!(cpu.len() > 5);
            let waits = column(&found["waits"], &["command"], &value);
            let model = blocked_model(&path, from, to);
            for (command, time) in &waits {
                assert_eq!(Some(time), model.get(command), "{number} {side} {command}");
            }
            assert!(waits.len() > 5);
        }
        for table in ["events", "cpu", "waits", "interrupts"] {
            check_order(&found, table);
        }
    }
}

/// Rows are ordered by the change per second, and differences are those of the values.
fn check_order(found: &Value, table: &str) {
    let duration = |at: usize| found["sides"][at]["duration_ns"].as_f64().expect("a number");
    let is_time = table != "events";
    let of = |row: &Value, side: &str| {
        let key = if is_time { format!("{side}_ns") } else { side.to_owned() };
        row[key].as_f64().expect("a number")
    };
    let mut last = f64::INFINITY;
    for row in found[table].as_array().expect("rows") {
        let (a, b) = (of(row, "a"), of(row, "b"));
        let change = (a / duration(0) - b / duration(1)).abs();
        assert!(change <= last * (1.0 + 1e-9), "{table}: {row}");
        last = change;
        let difference = if is_time { &row["difference_ns"] } else { &row["difference"] };
        assert_eq!(difference.as_f64(), Some(b - a), "{table}: {row}");
        match row["difference_percent"].as_f64() {
            Some(percent) => assert!((percent - (b - a) * 100.0 / a).abs() < 1e-6, "{row}"),
            None => assert_eq!(a, 0.0, "{row}"),
        }
    }
}

/// Latencies are those that `lttv latency` has of the same window.
#[test]
fn latencies_are_those_of_their_command() {
    let path = bundled("kernel");
    let path = path.to_str().unwrap();
    let windows = ["+50ms..+300ms", "+300ms..+500ms"];
    let found = json(&[path, "--window", windows[0], "--window", windows[1]]);
    let mut rows = 0;
    for (side, window) in ["a", "b"].into_iter().zip(windows) {
        let of = |key: &str| format!("{side}_{key}");
        let args = ["latency", "--timerange", window, "--format", "json", path];
        let latency = support::run(&support::lttv(), &args, None, Duration::from_secs(120));
        let latency: Value = serde_json::from_slice(&latency.stdout).expect("JSON");
        for row in found["latencies"].as_array().expect("rows") {
            let family = row["family"].as_str().expect("a family");
            let same = latency[family].as_array().expect("rows of a family");
            let same = same.iter().find(|of| of["subject"] == row["name"]);
            let keys = [
                ("count", "count"),
                ("p50_ns", "p50_ns"),
                ("p99_ns", "p99_ns"),
                ("total_ns", "total_ns"),
            ];
            for (mine, others) in keys {
                let none = if ["count", "total_ns"].contains(&mine) {
                    Value::from(0)
                } else {
                    Value::Null
                };
                assert_eq!(row[of(mine)], *same.map_or(&none, |of| &of[others]), "{row}");
            }
            rows += 1;
        }
    }
    assert!(rows > 100, "{rows}");
}

/// Equal sides have no differences.
#[test]
fn a_trace_equals_itself() {
    let path = bundled("kernel");
    let path = path.to_str().unwrap();
    let found = json(&[path, path]);
    for (table, key) in
        [("events", "difference"), ("cpu", "difference_ns"), ("waits", "difference_ns")]
    {
        let rows = found[table].as_array().expect("rows");
        assert!(rows.len() > 5 && rows.iter().all(|row| row[key] == 0), "{table}");
    }
}

#[test]
fn results_are_text_and_csv_too() {
    let (a, b) = (bundled("kernel"), bundled("legacy"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let text = output(&[a, b]).unwrap();
    for title in ["Compared", "Events by name", "CPU time by", "Blocked time by", "interrupts"] {
        assert!(text.contains(title), "{title}: {text}");
    }
    // The titles, and 20 rows.
    let events = text.split("\n\n").find(|table| table.starts_with("Events")).unwrap();
    assert_eq!(events.lines().count(), 22);
    let csv = output(&[a, b, "--format", "csv", "--table", "cpu", "--top", "3"]).unwrap();
    assert_eq!(csv.lines().count(), 4);
    assert!(csv.starts_with("command,mode,a_ns,b_ns,difference_ns,difference_percent,"), "{csv}");
    let columns = output(&[a, b, "--format", "csv", "--columns", "event,difference"]).unwrap();
    assert!(columns.starts_with("event,difference\n"));
}

#[test]
fn wrong_arguments_are_usage_errors() {
    let path = bundled("kernel");
    let path = path.to_str().unwrap();
    for (args, expected) in [
        (&[path][..], "two traces are compared, or two windows of one"),
        (&[path, path, path], "two traces are compared, not 3"),
        (&[path, "--window", "+0..+1"], "two traces are compared, or two windows of one"),
        (&[path, path, "-e", "sched_switch"], "follow all events"),
        (&[path, "--window", "+0..", "--window", "5..6"], "outside of the trace"),
        (&[path, "--window", "..", "--window", "..", "--window", ".."], "at most two windows"),
    ] {
        let error = output(args).expect_err("wrong arguments");
        assert!(error.to_string().contains(expected), "{args:?}: {error}");
        assert!(error.is::<Usage>(), "{args:?}: {error}");
    }
    let both = output(&[path, "--window", "..", "--begin", "5"]).expect_err("a conflict");
    assert!(both.to_string().contains("cannot be used with"), "{both}");
}
