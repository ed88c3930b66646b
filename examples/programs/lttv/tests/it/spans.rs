//! `lttv spans`: lines, records, selection and order.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support;
use serde_json::Value;

fn bundled() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel"))
}

/// Runs `lttv spans` on the bundled trace, which must succeed.
fn spans(args: &[&str]) -> String {
    let trace = bundled();
    let all = [&["spans", "--utc", "--no-cache"], args, &[trace.to_str().expect("UTF-8")]].concat();
    let run = support::run(&support::lttv(), &all, None, Duration::from_secs(60));
    assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
    String::from_utf8(run.stdout).expect("UTF-8")
}

fn json(args: &[&str]) -> Vec<Value> {
    let text = spans(&[&["--format=json"], args].concat());
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn calls_have_arguments_and_results() {
    let text = spans(&["--family=syscall", "--name=openat", "--result=ENOENT", "--limit=2"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "03:56:56.421343923 futexer/202 [7] openat(dfd: AT_FDCWD, filename: \
             \"/proc/self/task/212/comm\", flags: O_RDWR, mode: 0o0) = -1 ENOENT  <30.61 ms>",
            "03:56:56.435936523 work/208 [0] openat(dfd: AT_FDCWD, filename: \
             \"/nonexistent/été\", flags: O_RDONLY, mode: 0o0) = -1 ENOENT  <254 µs>",
        ]
    );
    let text = spans(&["--name=fdatasync", "--file=/mnt/*", "--exact", "--limit=1"]);
    assert!(text.contains("fdatasync(fd: 3</mnt/f1>) = 0  <105."), "{text}");
}

#[test]
fn parts_that_were_not_recorded_are_shown_as_such() {
    let unfinished = spans(&["-e", "completeness == \"no-end\""]);
    assert!(unfinished.lines().count() > 10);
    assert!(unfinished.lines().all(|line| line.ends_with("  <unfinished>")), "{unfinished}");
    let without = spans(&["-e", "completeness == \"no-begin\""]);
    assert!(without.lines().count() > 0);
    assert!(without.lines().all(|line| line.contains("] ... ")), "{without}");
}

#[test]
fn the_order_is_that_of_begins_or_durations() {
    let begins = |rows: &[Value]| -> Vec<i64> {
        rows.iter().map(|row| row["begin"].as_i64().expect("a time")).collect()
    };
    let all = json(&[]);
    assert!(begins(&all).is_sorted() && all.len() > 2_000);
    let mut longest: Vec<&Value> = all.iter().filter(|row| !row["duration"].is_null()).collect();
    longest.sort_by_key(|row| std::cmp::Reverse(row["duration"].as_u64()));
    let found = json(&["--sort=duration", "--limit=7"]);
    let durations = |rows: &mut dyn Iterator<Item = &Value>| -> Vec<Option<u64>> {
        rows.map(|row| row["duration"].as_u64()).collect()
    };
    let expected = durations(&mut longest.into_iter().take(7));
    assert_eq!(durations(&mut found.iter()), expected);
    let limited = json(&["--limit=5"]);
    assert_eq!(limited, all[..5]);
}

#[test]
fn options_select_the_spans_that_they_name() {
    let all = json(&["--family=syscall,run,irq,softirq,disk"]);
    let wanted = |expected: &dyn Fn(&Value) -> bool, args: &[&str]| {
        let found = json(&[&["--family=syscall,run,irq,softirq,disk"], args].concat());
        let expected: Vec<_> = all.iter().filter(|row| expected(row)).cloned().collect();
        assert!(!expected.is_empty(), "{args:?}");
        assert_eq!(found, expected, "{args:?}");
    };
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or("").to_owned();
    wanted(&|row| row["tid"] == 210, &["--tid=210"]);
    wanted(&|row| text(row, "comm").starts_with("work"), &["--comm=work*"]);
    wanted(&|row| row["cpu"] == 2 || row["cpu"] == 3, &["--cpu=2,3"]);
    wanted(&|row| row["duration"].as_u64() >= Some(10_000_000), &["--min=10ms"]);
    wanted(&|row| row["duration"].as_u64().is_some_and(|ns| ns <= 5_000), &["--max=5us"]);
    wanted(
        &|row| {
            let name = text(row, "name");
            name.starts_with("open") || name.split_once(' ').is_some_and(|(_, n)| n == "TIMER")
        },
        &["--name=open*,TIMER"],
    );
    let softirqs = |row: &Value| {
        matches!(&*text(row, "family"), "softirq" | "irq") && text(row, "name").starts_with("1 ")
    };
    wanted(&softirqs, &["--irq=1"]);
    wanted(
        &|row| row["begin_event"]["fields"]["count"].as_u64() >= Some(4096),
        &["-e", "count >= 4096"],
    );
}

#[test]
fn latency_and_spans_take_the_same_selection() {
    let trace = bundled();
    let trace = trace.to_str().expect("UTF-8");
    let families = "--family=syscall,run,wake-up,irq,softirq,disk,read";
    for selection in [
        &["--tid=210"][..],
        &["--comm=disk*,work", "--over=100us"],
        &["--name=open*", "--result=ENOENT"],
        &["--file=/mnt/*"],
        &["--cpu=2,3", "--max=1ms"],
        &["--irq=4,9"],
        &["--pid=209", "-e", "duration > 50us"],
        &["-e", "count >= 4096"],
        &["--around=03:56:56.45", "--width=20ms", "--cpu=1"],
    ] {
        let mut expected: std::collections::BTreeMap<String, (u64, u64, Vec<u64>)> =
            std::collections::BTreeMap::new();
        for row in json(&[&[families], selection].concat()) {
            if let ("whole", Some(duration)) =
                (row["completeness"].as_str().expect("a text"), row["duration"].as_u64())
            {
                let family = row["family"].as_str().expect("a text").to_owned();
                let sums = expected.entry(family).or_default();
                sums.0 += 1;
                sums.1 += duration;
                sums.2.push(duration);
            }
        }
        assert!(!expected.is_empty(), "{selection:?}");
        let options =
            ["latency", "--utc", "--no-cache", "--format=json", "--top=0", families, trace];
        let all = [&options[..], selection].concat();
        let run = support::run(&support::lttv(), &all, None, Duration::from_secs(60));
        assert_eq!(run.status, Some(0), "{selection:?}: {run:?}");
        let tables: Value = serde_json::from_slice(&run.stdout).expect("JSON");
        let rows = |table: &str| tables[table].as_array().expect("a table").clone();
        for row in rows("families") {
            let family = row["family"].as_str().expect("a text");
            let found = (row["count"].as_u64(), row["total_ns"].as_u64().unwrap_or(0));
            let sums = expected.get(family).cloned().unwrap_or_default();
            assert_eq!(found, (Some(sums.0), sums.1), "{selection:?} {family}");
            // With `--top 0`, the longest durations are all of them.
            let mut longest = sums.2;
            longest.sort_unstable_by(|a, b| b.cmp(a));
            let top: Vec<u64> = rows("top")
                .iter()
                .filter(|row| row["family"] == family)
                .map(|row| row["duration_ns"].as_u64().expect("a number"))
                .collect();
            assert_eq!(top, longest, "{selection:?} {family}");
        }
    }
}

/// Returns the tables of `lttv latency`; `None` if a trace has no event that it needs or none in the window.
fn latencies(trace: &Path, args: &[&str]) -> Option<Value> {
    let options = ["latency", "--utc", "--no-cache", "--format=json", "--top=0"];
    let all = [&options[..], args].concat();
    let run = support::run(&support::lttv(), &all, Some(trace), Duration::from_secs(60));
    assert!(run.is_orderly(), "{trace:?} {args:?}: {run:?}");
    serde_json::from_slice(&run.stdout).ok()
}

#[test]
fn a_selection_of_everything_changes_no_table_of_latencies() {
    let mut compared = 0;
    for trace in support::kernel_traces() {
        for window in [&[][..], &["--timerange=+20ms..+120ms"], &["--end=+50ms"]] {
            let Some(all) = latencies(&trace, window) else { continue };
            let selection = [window, &["-e", "begin >= 0"]].concat();
            let selected = latencies(&trace, &selection).expect("the same tables");
            for (table, rows) in selected.as_object().expect("tables") {
                let mut expected = all[table].as_array().expect("a table").clone();
                if table == "families" {
                    // Families without any are left out of a selection.
                    expected.retain(|row| row["count"] != 0 && row["missing"].is_null());
                }
                let rows = rows.as_array().expect("rows");
                assert_eq!(*rows, expected, "{trace:?} {window:?} {table}");
                compared += rows.len();
            }
        }
    }
    support::print_note(&format!("{compared} rows were compared"));
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn csv_and_json_tell_the_same() {
    let csv = spans(&["--format=csv"]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let keys: Vec<String> = reader.headers().expect("names").iter().map(str::to_owned).collect();
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let all = json(&[]);
    assert_eq!(rows.len(), all.len());
    let cell = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    for (row, object) in rows.iter().zip(&all) {
        for (key, found) in keys.iter().zip(row) {
            let expected = match &**key {
                "arguments" => continue,
                "waker" if object["waker"].is_object() => cell(&object["waker"]["comm"]),
                "waker_tid" => cell(&object["waker"]["tid"]),
                "begin_event" | "end_event" => cell(&object[key]["name"]),
                key => cell(&object[key]),
            };
            assert_eq!(*found, *expected, "{key} of {object}");
        }
    }
    let none = spans(&["--format=csv", "--name=nosuchcall"]);
    assert_eq!(none.lines().count(), 1);
}

#[test]
fn a_window_can_be_around_a_time() {
    let around = ["--around=03:56:56.5", "--width=2ms"];
    let window = ["--timerange=03:56:56.499..03:56:56.501"];
    assert_eq!(spans(&around), spans(&window));
    assert!(spans(&around).lines().count() > 5);
}

#[test]
fn nested_spans_are_indented() {
    let text = spans(&["--family=syscall,disk", "--tid=211", "--nested"]);
    assert!(text.lines().any(|line| line.contains("]   disk ")), "{text}");
}
