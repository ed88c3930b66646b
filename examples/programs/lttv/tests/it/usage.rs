//! `lttv usage` and the module `usage` print what the library computes.

use crate::support;
use std::path::Path;
use std::time::Duration;

use lttv_context::Traceset;
use lttv_state::analysis::read;
use lttv_state::usage::{UsageAnalysis, UsageOptions};
use serde_json::Value;

const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");

fn lttv(args: &[&str]) -> support::Run {
    let args = [&["usage", KERNEL], args].concat();
    support::run(&support::lttv(), &args, None, Duration::from_secs(60))
}

fn tables(args: &[&str]) -> Value {
    let run = lttv(&[args, &["--format", "json"]].concat());
    assert_eq!(run.status, Some(0), "{run:?}");
    serde_json::from_slice(&run.stdout).expect("JSON")
}

fn rows<'v>(tables: &'v Value, table: &str) -> &'v [Value] {
    tables[table].as_array().unwrap_or_else(|| panic!("no table {table}"))
}

fn sum(rows: &[Value], column: &str) -> u64 {
    rows.iter().map(|row| row[column].as_u64().expect(column)).sum()
}

#[test]
fn tables_have_the_figures_of_the_library() {
    let found = tables(&["--every", "10ms"]);
    let traceset = Traceset::open(Path::new(KERNEL)).expect("the bundled trace");
    let options = UsageOptions::new().every(Duration::from_millis(10));
    let expected = read(&traceset).threads(1).run(UsageAnalysis::new(options)).output;
    let expected = &expected.traces()[0];
    for (row, cpu) in rows(&found, "cpus").iter().zip(expected.cpus()) {
        assert_eq!(row["busy_ns"], cpu.sum.busy_time);
        assert_eq!(row["idle_ns"], cpu.sum.idle_time);
        assert_eq!(row["switches"], cpu.switches);
        // What is not recorded is missing.
        assert_eq!(row["frequency_mhz"], Value::Null);
    }
    let (cpus, intervals) = (rows(&found, "cpus"), rows(&found, "intervals"));
    assert_eq!(cpus.len(), expected.cpus().len());
    assert_eq!(intervals.len(), expected.intervals().len());
    assert_eq!(sum(intervals, "busy_ns"), sum(cpus, "busy_ns"));
    assert_eq!(sum(intervals, "switches"), sum(cpus, "switches"));
    assert_eq!(sum(rows(&found, "cpu_intervals"), "busy_ns"), sum(cpus, "busy_ns"));
    assert!(intervals.iter().all(|row| row["pages_allocated"].is_null()));
    assert_eq!(rows(&found, "threads").len(), expected.threads().len());
    assert_eq!(rows(&found, "processes").len(), expected.processes().len());
    assert_eq!(found.get("frequencies").and_then(Value::as_array).map(Vec::len), Some(0));
}

#[test]
fn windows_and_missing_events_are_honoured() {
    let run = lttv(&["--timerange", "+10ms..+30ms", "--table", "cpus", "--format", "json"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stderr.contains("not recorded: ") && run.stderr.contains("power_cpu_frequency"));
    let found: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    for cpu in rows(&found, "cpus") {
        let times = ["busy_ns", "idle_ns", "unknown_ns"].map(|of| cpu[of].as_u64().expect(of));
        assert_eq!(times.iter().sum::<u64>(), 20_000_000, "{cpu}");
    }
    let without = tables(&[]);
    assert!(without.get("intervals").is_none());
    for wrong in [&["--every", "0"][..], &["--every", "soon"], &["-e", "sched_switch"]] {
        assert_eq!(lttv(wrong).status, Some(2), "{wrong:?}");
    }
}

#[test]
fn the_module_reports_the_same() {
    for window in [&[][..], &["--begin", "+10ms", "--end", "+300ms"]] {
        let expected = tables(window);
        let args = [&["run", "-t", KERNEL, "-m", "usage", "--json"], window].concat();
        let run = support::run(&support::lttv(), &args, None, Duration::from_secs(60));
        assert_eq!(run.status, Some(0), "{run:?}");
        assert!(run.stderr.contains("not recorded: ") && run.stderr.contains("page_alloc"));
        let found: Value = serde_json::from_slice(&run.stdout).expect("JSON");
        for table in ["cpus", "frequencies", "threads", "processes", "interfaces", "totals"] {
            let (found, expected) = (
                support::module_rows(&found, "usage", table),
                support::rows_without_empty(&expected, table),
            );
            assert_eq!(found, expected, "{table}");
        }
    }
}

#[test]
fn the_module_prints_tables_and_needs_a_kernel_trace() {
    let lttv = support::lttv();
    let run = |args: &[&str]| support::run(&lttv, args, None, Duration::from_secs(60));
    let text = run(&["run", "-t", KERNEL, "-m", "usage"]);
    let text = String::from_utf8(text.stdout).expect("text");
    for title in ["CPUs", "Threads", "Processes", "Network interfaces", "In all"] {
        assert!(text.lines().any(|line| line == title), "{title}: {text}");
    }
    let ust = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/ust");
    let refused = run(&["run", "-t", ust, "-m", "usage"]);
    assert!(refused.stderr.contains("sched_switch"), "{refused:?}");
}

#[test]
fn more_intervals_than_are_exact_are_refused() {
    for every in ["1ns", "1us"] {
        let run = lttv(&["--every", every]);
        assert_eq!((run.status, run.stdout.len()), (Some(2), 0), "{run:?}");
        assert!(run.stderr.contains("more than 65536 intervals"), "{run:?}");
    }
    // Of nearly as many as are allowed, none lacks anything.
    let found = tables(&["--every", "20us"]);
    let (cpus, intervals) = (rows(&found, "cpus"), rows(&found, "intervals"));
    assert_eq!(sum(rows(&found, "cpu_intervals"), "busy_ns"), sum(cpus, "busy_ns"));
    assert_eq!(sum(intervals, "busy_ns"), sum(cpus, "busy_ns"));
}

#[test]
fn too_many_threads_are_fewer_with_a_message() {
    let expected = lttv(&["--threads", "1", "--format", "csv", "--table", "cpus"]);
    let run = lttv(&["--threads", "100000", "--format", "csv", "--table", "cpus"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(run.stderr.contains("--threads: 512 threads are used"), "{run:?}");
    assert_eq!(run.stdout, expected.stdout);
}

#[test]
fn selections_are_rows_of_the_whole_tables() {
    let all = tables(&["--every=50ms"]);
    let threads = rows(&all, "threads");
    let busy = threads.iter().find(|row| row["tid"].as_i64() > Some(0)).expect("a thread");
    let (tid, comm) = (busy["tid"].to_string(), busy["command"].as_str().expect("a name"));
    for (options, column, value) in [
        (vec![format!("--tid={tid}")], "tid", busy["tid"].clone()),
        (vec![format!("--comm={comm}")], "command", busy["command"].clone()),
        (vec!["--cpu=1".to_owned()], "cpu", 1.into()),
    ] {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let picked = tables(&[&["--every=50ms"], &options[..]].concat());
        let names: Vec<&String> = picked.as_object().expect("tables").keys().collect();
        let mut compared = 0;
        for name in ["threads", "processes", "thread_intervals", "cpus", "cpu_intervals"] {
            let has_column = rows(&all, name).iter().any(|row| row.get(column).is_some());
            let is_of_kind = has_column && (column == "cpu" || !name.starts_with("cpu"));
            if !is_of_kind {
                assert!(!names.iter().any(|of| *of == name), "{options:?}: {name}");
                continue;
            }
            let of_all = rows(&all, name).iter().filter(|row| row[column] == value);
            let of_all: Vec<&Value> = of_all.collect();
            compared += of_all.len();
            assert!(of_all.iter().copied().eq(rows(&picked, name)), "{options:?}: {name}");
        }
        assert!(compared > 2, "{options:?}");
        assert!(!names.iter().any(|of| *of == "totals"), "{options:?}: {names:?}");
    }
}
