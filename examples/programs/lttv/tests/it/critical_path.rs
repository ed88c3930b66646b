//! `lttv critical-path` and the module `criticalPath`.

use crate::support;
use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");

/// Runs a program, which has to succeed, and returns its output.
fn run(args: &[&str]) -> String {
    let run = support::run(&support::lttv(), args, None, Duration::from_secs(60));
    assert!(run.is_orderly() && run.stderr.is_empty(), "{args:?}: {run:?}");
    String::from_utf8(run.stdout).expect("UTF-8")
}

fn json(args: &[&str]) -> Value {
    let args = [&["critical-path", "--format", "json", TRACE], args].concat();
    serde_json::from_str(&run(&args)).expect("JSON")
}

fn number(row: &Value, column: &str) -> i64 {
    row[column].as_i64().unwrap_or_else(|| panic!("{column} of {row}"))
}

fn rows<'v>(tables: &'v Value, table: &str) -> &'v [Value] {
    tables[table].as_array().unwrap_or_else(|| panic!("{table} of {tables}"))
}

/// Returns the sum of a column.
fn sum(tables: &Value, table: &str, column: &str) -> i64 {
    rows(tables, table).iter().map(|row| number(row, column)).sum()
}

#[test]
fn paths_cover_their_window() {
    let tables = json(&["--tid", "210", "--limit", "0"]);
    let segments = rows(&tables, "segments");
    let (first, last) = (&segments[0], &segments[segments.len() - 1]);
    let length = number(last, "end_ns") - number(first, "begin_ns");
    for pair in segments.windows(2) {
        assert_eq!(number(&pair[0], "end_ns"), number(&pair[1], "begin_ns"));
    }
    for (table, column) in
        [("segments", "duration_ns"), ("path", "total_ns"), ("kinds", "total_ns")]
    {
        assert_eq!(sum(&tables, table, column), length, "{table}");
    }
    let states = &rows(&tables, "states")[0];
    let blocked = ["task_ns", "timer_ns", "block_ns", "network_ns", "irq_ns", "softirq_ns"];
    let blocked = blocked.into_iter().chain(["ipi_ns", "interrupt_ns", "no_wakeup_ns", "open_ns"]);
    let blocked: i64 = blocked.map(|column| number(states, column)).sum();
    assert_eq!(sum(&tables, "waits", "total_ns"), blocked);
}

#[test]
fn a_wait_at_the_end_of_the_window_is_resolved_after_it() {
    let tables = json(&["--tid", "210", "--limit", "0"]);
    // Before its fork, the path is that of its parent.
    let all = rows(&tables, "segments").iter();
    let own = all.skip_while(|row| row["depth"] != 0 || row["state"] == "unknown");
    let waits = own.filter(|row| row["depth"] == 1);
    let longest = waits.max_by_key(|row| number(row, "duration_ns")).expect("a wait for a thread");
    let middle = number(longest, "begin_ns") + number(longest, "duration_ns") / 2;
    let end = format!("{}.{:09}", middle / 1_000_000_000, middle % 1_000_000_000);
    let part = json(&["--tid", "210", "--limit", "0", "--end", &end]);
    let open = rows(&part, "segments").iter().any(|row| row["state"] == "blocked:open");
    assert!(!open, "the wait is followed");
    let last = rows(&part, "segments").last().expect("a segment");
    assert_eq!((&last["thread"], number(last, "end_ns")), (&longest["thread"], middle));
}

#[test]
fn a_thread_that_is_not_there_is_an_error() {
    let args = ["critical-path", "--tid", "99999", TRACE];
    let run = support::run(&support::lttv(), &args, None, Duration::from_secs(60));
    assert!(run.stderr.contains("no thread in the window has TID 99999"), "{run:?}");
}

/// Some threads wait until the end of the trace, so that reading on does not find who ends their waits.
#[test]
fn all_threads_have_their_times_by_state() {
    for window in ["..", "+100ms..+300ms", "+100ms..", "..+100ms"] {
        let args = ["critical-path", "--timerange", window, "--format", "json", TRACE];
        let run = support::run(&support::lttv(), &args, None, Duration::from_secs(30));
        assert_eq!(run.status, Some(0), "{window}: {run:?}");
        let tables: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
        let states = tables["states"].as_array().expect("a table");
        assert!(states.len() > 100, "{window}: {}", states.len());
    }
}

#[test]
fn the_module_reports_the_same_path() {
    let text = run(&["run", "-t", TRACE, "-m", "criticalPath", "--path-tid", "210"]);
    for title in ["Thread states", "Critical path: threads and states", "Waits"] {
        assert!(text.contains(title), "{title}: {text}");
    }
}

#[test]
fn the_picture_has_a_row_for_each_thread_on_the_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("path.svg");
    let file_name = file.to_str().expect("UTF-8");
    let tables = json(&["--tid", "210", "--limit", "0", "--utc", "--picture", file_name]);
    let svg = std::fs::read_to_string(&file).expect("a picture");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains(">Critical path of diskio (210), "), "{svg}");
    let mut expected: BTreeMap<&str, i64> = BTreeMap::new();
    for row in rows(&tables, "path") {
        *expected.entry(row["thread"].as_str().expect("a name")).or_default() +=
            number(row, "total_ns");
    }
    let mut shown: BTreeMap<&str, i64> = BTreeMap::new();
    // Each state has its length at the pointer; narrow neighbours are drawn as one.
    for hint in svg.split("<title>").filter_map(|text| text.split_once("</title>")) {
        let Some((words, length)) = hint.0.split_once('\n') else { continue };
        let us = length.split_once(' ').expect("a unit").0;
        let thread = words.split_once(": ").expect("a state").0;
        *shown.entry(thread).or_default() += us.replace('.', "").parse::<i64>().expect("a length");
    }
    assert_eq!(shown.len(), 9, "{shown:?}");
    for (thread, time) in &expected {
        assert!(svg.contains(&format!(">{thread}</text>")), "{thread}");
        assert!(shown[thread] <= *time, "{thread}: {shown:?}");
    }
    let [shown, all] = [&shown, &expected].map(|of| of.values().sum::<i64>());
    assert!(shown > all / 100 * 99, "{shown} of {all}");

    // Without a choice, it is the thread that ran longest.
    json(&["--utc", "--picture", file_name]);
    let tables = json(&[]);
    let longest = rows(&tables, "states").iter().max_by_key(|row| number(row, "running_ns"));
    let (command, tid) = longest.map(|row| (&row["command"], number(row, "tid"))).expect("a row");
    let svg = std::fs::read_to_string(&file).expect("a picture");
    let title = format!(">Critical path of {} ({tid}), ", command.as_str().expect("a name"));
    assert!(svg.contains(&title), "{title}");
}

#[test]
fn the_picture_replaces_no_file_of_a_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = std::path::Path::new(TRACE).join("kernel");
    for entry in std::fs::read_dir(&trace).expect("a trace") {
        let path = entry.expect("an entry").path();
        let copy = folder.path().join(path.file_name().expect("a name"));
        if path.is_file() {
            std::fs::copy(path, copy).expect("a copy");
        }
    }
    let file = folder.path().join("metadata");
    let before = std::fs::read(&file).expect("metadata");
    let args = ["critical-path", "--picture", file.to_str().expect("UTF-8")];
    let run = support::run(&support::lttv(), &args, Some(folder.path()), Duration::from_secs(60));
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("cannot write to an input"), "{run:?}");
    assert!(std::fs::read(&file).expect("metadata") == before);
}
