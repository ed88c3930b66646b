//! Tests `lttv stats`: its tables, filters and windows.

use crate::support;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::Run;
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(60);

/// A window in the middle of the bundled trace.
const WINDOW: [&str; 2] = ["--begin=+100ms", "--end=+200ms"];

fn bundled(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(name)
}

fn lttv(args: &[&str], trace: &Path) -> Run {
    support::run(&support::lttv(), args, Some(trace), LIMIT)
}

/// Runs `lttv stats` on the bundled kernel trace.
fn stats(args: &[&str]) -> String {
    let run = lttv(&[&["stats"], args].concat(), &bundled("kernel"));
    assert_eq!(run.status, Some(0), "{args:?}: {}", run.stderr);
    String::from_utf8(run.stdout).expect("text")
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stats(&[args, &["--format=json"]].concat())).expect("JSON")
}

fn list<'v>(of: &'v Value, name: &str) -> &'v [Value] {
    of[name].as_array().expect("a list")
}

fn sum(of: &[Value], name: &str) -> u64 {
    of.iter().map(|row| row[name].as_u64().expect("a number")).sum()
}

/// The driver's module and the command agree on a window, and nothing of the time before it is
/// left over.
#[test]
fn the_driver_measures_windows_right_at_their_borders() {
    let [begin, end] = WINDOW;
    let run = lttv(&["run", "-m", "statistics", begin, end, "-t"], &bundled("kernel"));
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let by_driver = String::from_utf8(run.stdout).expect("text");
    let (_, by_driver) = by_driver.split_once("Traceset statistics:\n").expect("a tree");
    let tree = stats(&[begin, end, "--tree"]);
    let (_, tree) = tree.split_once("\nstart time: ").expect("a tree after the tables");
    assert!(by_driver.trim().ends_with(tree.trim()), "{by_driver}\n{tree}");

    let run = lttv(&["run", "-m", "statistics", "--json", begin, end, "-t"], &bundled("kernel"));
    let tree: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let trace = &tree["statistics"]["traces"]["[0]"];
    let cpus = trace["cpu"].as_object().expect("CPUs");
    assert_eq!(cpus.len(), 8);
    for cpu in cpus.values() {
        assert_eq!(cpu["cpu time"], 100_000_000);
    }
    for (name, process) in trace["processes"].as_object().expect("processes") {
        for time in ["cpu time", "wait time", "blocked time", "ready time"] {
            assert!(process[time].as_u64().expect("a time") <= 100_000_000, "{name}: {time}");
        }
        let modes = process["mode_types"].as_object().expect("modes");
        for (mode, of) in modes.iter().filter(|(mode, _)| *mode == "SYSCALL") {
            let elapsed = of["elapsed time"].as_u64().expect("a time");
            assert!(elapsed <= 100_000_000, "{name}: {mode} for {elapsed} ns");
        }
    }
}

#[test]
fn traces_of_user_space_are_refused() {
    let trace = bundled("ust");
    let run = lttv(&["stats"], &trace);
    assert_eq!((run.status, run.stdout.len()), (Some(1), 0), "{run:?}");
    assert!(run.stderr.contains("needs a kernel trace with the events sched_switch"), "{run:?}");
    // Their events can be counted.
    let run = lttv(&["stats", "--table=events"], &trace);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(String::from_utf8_lossy(&run.stdout).starts_with("Events\n"), "{run:?}");
    // Beside a kernel trace they are left out, with a warning.
    let (ust, kernel) = (bundled("ust"), bundled("kernel"));
    let run = lttv(&["stats", ust.to_str().expect("a plain name")], &kernel);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stderr.contains("is a user-space trace"), "{run:?}");
}

#[test]
fn busy_percentages_have_one_definition() {
    for window in [&[][..], &WINDOW] {
        let found = json(window);
        let time = found["duration_ns"].as_u64().expect("a time") as f64;
        let args = [window, &["--table=cpus", "--format=csv"]].concat();
        let csv = stats(&args);
        let mut lines = csv.lines();
        let titles: Vec<&str> = lines.next().expect("titles").split(',').collect();
        let column = |name: &str| titles.iter().position(|title| *title == name).expect("a column");
        for (cpu, line) in list(&found, "cpus").iter().zip(lines) {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |name: &str| cells[column(name)].parse::<f64>().expect("a number");
            let busy = cpu["busy_ns"].as_u64().expect("a time") as f64 * 100.0 / time;
            assert!((number("busy_percent") - busy).abs() < 1e-9, "{line}");
            assert!((cpu["busy_percent"].as_f64().expect("a number") - busy).abs() < 1e-9, "{cpu}");
            // What the CPU executes is another division of the same time.
            let parts = ["user", "system", "interrupt", "idle", "unknown"];
            let all: f64 = parts.iter().map(|part| number(&format!("{part}_percent"))).sum();
            assert!((all - 100.0).abs() < 1e-9, "{line}");
        }
    }
}

#[test]
fn groups_and_commands_are_sums_of_processes() {
    let found = json(&WINDOW);
    let processes = list(&found, "processes");
    let busy: Vec<Value> = processes.iter().filter(|of| of["tid"] != 0).cloned().collect();
    for table in ["groups", "commands"] {
        for name in ["cpu_ns", "user_ns", "blocked_ns", "ready_ns", "events", "bytes_read"] {
            assert_eq!(sum(list(&found, table), name), sum(&busy, name), "{table}: {name}");
        }
        assert_eq!(sum(list(&found, table), "threads"), busy.len() as u64, "{table}");
    }
    let csv = stats(&["--table=commands", "--format=csv", "--columns=command,cpu_ns", "--top=3"]);
    assert_eq!((csv.lines().next(), csv.lines().count()), (Some("command,cpu_ns"), 4), "{csv}");
}

/// Idle threads are not among the busiest ones.
#[test]
fn idle_threads_come_last() {
    let csv = stats(&["--table=processes", "--format=csv", "--columns=tid,cpu_ns"]);
    let rows: Vec<(u32, u64)> = csv
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').expect("two cells"))
        .map(|(tid, cpu)| (tid.parse().expect("a TID"), cpu.parse().expect("a time")))
        .collect();
    let idle = rows.iter().filter(|(tid, _)| *tid == 0).count();
    let (busy, last) = rows.split_at(rows.len() - idle);
    assert!(idle == 8 && last.iter().all(|(tid, _)| *tid == 0), "{csv}");
    assert!(busy.is_sorted_by(|a, b| a.1 >= b.1) && last.is_sorted_by(|a, b| a.1 >= b.1), "{csv}");
    assert!(last[0].1 > busy[0].1, "an idle thread would be the first one: {csv}");
}

#[test]
fn a_filter_selects_the_counted_events_only() {
    let filter = ["-e", "event.name == sched_switch"];
    let (all, some) = (json(&WINDOW), json(&[&WINDOW[..], &filter].concat()));
    let switches = all["events"]["sched_switch"].as_u64().expect("switches");
    assert_eq!(some["events"], serde_json::json!({ "sched_switch": switches }));
    assert_eq!(some["cpus"], all["cpus"]);
    let csv = stats(&[&WINDOW[..], &filter, &["--table=events", "--format=csv"]].concat());
    assert_eq!(csv, format!("trace,event,count\n0,sched_switch,{switches}\n"));
}

/// A window outside of the trace is an error that names the trace's times.
#[test]
fn a_window_outside_of_the_trace_is_refused() {
    let run = lttv(&["stats", "--begin=5s", "--end=6s"], &bundled("kernel"));
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("outside of the traces, whose events are from"), "{run:?}");
}

/// Selected threads and CPUs have the figures that they have among all others, and `dump` prints the
/// events that are counted.
#[test]
fn selected_threads_and_cpus_have_the_figures_of_the_whole() {
    let whole = json(&[&WINDOW[..], &["--table=processes,cpus,cpu_processes"]].concat());
    let rows = |options: &[&str], table: &str| {
        let table = format!("--table={table}");
        let found = json(&[&WINDOW[..], &[&table], options].concat());
        found
            .as_object()
            .expect("tables")
            .values()
            .next()
            .expect("a table")
            .as_array()
            .unwrap()
            .clone()
    };
    let of = |table: &str, is: &dyn Fn(&Value) -> bool| -> Vec<Value> {
        list(&whole, table).iter().filter(|row| is(row)).cloned().collect()
    };
    let is_diskio = |row: &Value| row["command"] == "diskio";
    assert!(!of("processes", &is_diskio).is_empty());
    assert_eq!(rows(&["--comm=diskio"], "processes"), of("processes", &is_diskio));
    let is_one = |row: &Value| [210, 214].contains(&row["tid"].as_i64().unwrap());
    assert_eq!(rows(&["--tid=210,214"], "cpu_processes"), of("cpu_processes", &is_one));
    let is_one_of = |row: &Value| row["cpu"] == 1;
    assert_eq!(rows(&["--cpu=1"], "cpus"), of("cpus", &is_one_of));
    let (found, expected) = (rows(&["--cpu=1"], "processes"), of("cpu_processes", &is_one_of));
    assert!(expected.len() > 2);
    for (found, expected) in found.iter().zip(&expected) {
        for key in ["tid", "cpu_ns", "user_ns", "events"] {
            assert_eq!(found[key], expected[key], "{key}");
        }
    }
    assert_eq!(found.len(), expected.len());

    for options in [&["--cpu=2"][..], &["--tid=210,214"], &["--comm=disk*", "--cpu=1,2"]] {
        let counts = json(&[&WINDOW[..], options].concat())["events"].clone();
        let counted: u64 =
            counts.as_object().expect("events").values().filter_map(Value::as_u64).sum();
        let run = lttv(&[&["dump", "--count"], &WINDOW[..], options].concat(), &bundled("kernel"));
        let dumped = String::from_utf8(run.stdout).expect("text");
        assert_eq!(dumped.trim(), counted.to_string(), "{options:?}");
        assert!(counted > 0, "{options:?}");
    }
    let names = lttv(&["dump", "--count", "--name=sched_*,irq_*"], &bundled("kernel"));
    let filter = ["dump", "--count", "-e", "name =~ \"sched_*\" || name =~ \"irq_*\""];
    assert_eq!(names.stdout, lttv(&filter, &bundled("kernel")).stdout);
}
