//! Tests the three methods of `lttv state`, its files of checkpoints, and its times.

use crate::support;
use lttv_filter::TraceTimes;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::support::Run;
use lttv_traces::Options;
use serde_json::Value;

const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
const LIMIT: Duration = Duration::from_secs(120);
/// A time between the first and the last event of the bundled trace.
const TIME: &str = "1795233416.400000000";

fn state_at(trace: &str, time: &str, args: &[&str]) -> Run {
    let args = [&["state", trace, "--format=json", "--time", time], args].concat();
    support::run(&support::lttv(), &args, None, LIMIT)
}

fn json(run: &Run) -> Value {
    assert_eq!(run.status, Some(0), "{run:?}");
    serde_json::from_slice(&run.stdout).expect("JSON")
}

/// Returns the times of the first and the last event of the bundled trace, in ns.
fn limits() -> (i64, i64) {
    let traces = ltt_read::open_all(BUNDLED).unwrap();
    let events = TraceTimes::of(&traces).events().unwrap();
    (events.start.as_ns(), events.end.as_ns())
}

#[test]
fn every_method_gives_the_same_fields_and_values() {
    let (first, last) = limits();
    for (time, ns) in [("+0", first), (TIME, 1_795_233_416_400_000_000), ("-0s", last)] {
        let replay = json(&state_at(BUNDLED, time, &[]));
        let has = |value: &Value, keys: &[&str]| {
            keys.iter().all(|key| value.get(key).is_some_and(|value| !value.is_array()))
        };
        assert_eq!(replay["traces"][0]["time_ns"], ns);
        let (cpus, processes) = (&replay["cpus"], &replay["processes"]);
        let (cpus, processes) = (cpus.as_array().unwrap(), processes.as_array().unwrap());
        assert_eq!(cpus.len(), 8, "at {time}");
        assert!(cpus.iter().all(|cpu| has(cpu, &["cpu", "tid", "pid", "comm", "mode"])));
        let keys = ["tid", "pid", "ppid", "comm", "mode", "submode", "status", "cpu", "executable"];
        assert!(processes.len() > 8 && processes.iter().all(|process| has(process, &keys)));
        assert_eq!(replay["losses"], Value::Array(Vec::new()));
        for method in ["checkpoint", "history"] {
            let other = json(&state_at(BUNDLED, time, &["--method", method]));
            assert_eq!(other, replay, "{method} at {time}");
        }
    }
}

#[test]
fn all_notations_of_a_time_mean_the_same() {
    let (first, last) = limits();
    let ns = 1_795_233_416_400_000_000;
    let expected = json(&state_at(BUNDLED, TIME, &[]));
    let (after, before) = (format!("+{}ns", ns - first), format!("-{}ns", last - ns));
    for time in ["2026-11-21 03:56:56.4", "03:56:56.4", "03:56:56.4Z", &after, &before] {
        assert_eq!(json(&state_at(BUNDLED, time, &[])), expected, "{time}");
    }
    let args = ["state", BUNDLED, "--at", TIME, "--format=json"];
    assert_eq!(json(&support::run(&support::lttv(), &args, None, LIMIT)), expected);
}

#[test]
fn a_time_outside_of_the_trace_is_refused_with_its_range() {
    let (first, last) = limits();
    let text = |ns: i64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    let range = format!("are from {} to {}", text(first), text(last));
    for time in ["0", &text(first - 1), &text(last + 1), "9000000000", "-1h"] {
        let run = state_at(BUNDLED, time, &[]);
        assert_eq!((run.status, run.stdout.len()), (Some(2), 0), "{time}: {run:?}");
        assert!(run.stderr.contains(&range), "{}", run.stderr);
    }
}

#[test]
fn a_user_space_trace_has_no_state() {
    let ust = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/ust");
    for args in [&["state", "--at=+0"][..], &["history", "info"], &["chart", "usage"]] {
        let run = support::run(&support::lttv(), args, Some(Path::new(ust)), LIMIT);
        assert_eq!(run.status, Some(1), "{args:?}: {run:?}");
        let words = "needs a kernel trace with the events sched_switch";
        assert!(run.stderr.contains(words), "{}", run.stderr);
        assert!(run.stderr.contains("is a user-space trace"), "{}", run.stderr);
    }
}

/// The command is the last part of the path, and no more than 15 bytes.
#[test]
fn executables_have_their_path_beside_the_command() {
    let state = json(&state_at(BUNDLED, "-0s", &[]));
    let processes = state["processes"].as_array().unwrap();
    let executed = processes.iter().filter(|process| process["executable"].is_string());
    assert!(executed.clone().any(|process| process["executable"] == "/bin/work"), "{state}");
    let args = ["dump", "--count", "-e", "state.executable == \"/bin/work\"", BUNDLED];
    let run = support::run(&support::lttv(), &args, None, LIMIT);
    let count = String::from_utf8(run.stdout).unwrap();
    assert!(count.trim().parse::<u64>().is_ok_and(|count| count > 0), "{count}");
}

#[test]
fn columns_are_chosen_by_name() {
    let args = ["--table=processes", "--columns=comm,tid,pid", "--format=csv"];
    let args = [&["state", BUNDLED, "--at", TIME], &args[..]].concat();
    let run = support::run(&support::lttv(), &args, None, LIMIT);
    assert_eq!(run.status, Some(0), "{run:?}");
    let text = String::from_utf8(run.stdout).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("comm,tid,pid"));
    let processes = json(&state_at(BUNDLED, TIME, &[]))["processes"].as_array().unwrap().len();
    assert_eq!(lines.count(), processes);
}

#[test]
fn a_file_of_checkpoints_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.checkpoints");
    let file = path.to_str().unwrap();
    let with_file = ["--method", "checkpoint", "--checkpoints", file];
    let expected = json(&state_at(BUNDLED, TIME, &[]));
    assert_eq!(json(&state_at(BUNDLED, TIME, &with_file)), expected);
    let made = fs::read(&path).unwrap();
    assert_eq!(json(&state_at(BUNDLED, TIME, &with_file)), expected);
    assert_eq!(fs::read(&path).unwrap(), made);

    // A damaged file is written again.
    fs::write(&path, &made[..made.len() / 2]).unwrap();
    let run = state_at(BUNDLED, TIME, &with_file);
    assert_eq!(json(&run), expected);
    assert!(run.stderr.contains("truncated"), "{}", run.stderr);
    assert_eq!(fs::read(&path).unwrap(), made);
    // A file of another trace is also written again.
    let other = folder.path().join("other");
    lttv_traces::kernel_like(&other, 2, 1000, &Options::default()).expect("a trace");
    let run = state_at(other.to_str().unwrap(), "-0s", &with_file);
    assert!(run.stderr.contains("other traces") && run.status == Some(0), "{run:?}");
    assert_ne!(fs::read(&path).unwrap(), made);
    // Other files are not overwritten.
    fs::write(&path, "Dear diary").unwrap();
    let run = state_at(BUNDLED, TIME, &with_file);
    assert!(run.is_orderly() && run.status != Some(0), "{run:?}");
    assert_eq!(fs::read(&path).unwrap(), b"Dear diary");
    // The option requires that method.
    let run = state_at(BUNDLED, TIME, &["--checkpoints", file]);
    assert!(run.is_orderly() && run.status != Some(0), "{run:?}");
}

#[test]
fn the_driver_makes_files_that_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (history, checkpoints) = (in_folder("a.history"), in_folder("a.checkpoints"));
    let args = ["run", "-m", "precompute", "--history", &history, "--checkpoints", &checkpoints];
    let args = [&args[..], &["-t", BUNDLED]].concat();
    let run = support::run(&support::lttv(), &args, None, LIMIT);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(Path::new(&history).is_file());
    let made = fs::read(&checkpoints).unwrap();
    let with_file = ["--method", "checkpoint", "--checkpoints", &checkpoints];
    let run = state_at(BUNDLED, TIME, &with_file);
    assert_eq!(json(&run), json(&state_at(BUNDLED, TIME, &[])));
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    assert_eq!(fs::read(&checkpoints).unwrap(), made);
}
