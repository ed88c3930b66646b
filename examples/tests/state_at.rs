//! Tests the three methods of `state_at`, and its files of checkpoints.

mod support;

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use support::Run;

const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/kernel");
const LIMIT: Duration = Duration::from_secs(120);
/// A time between the first and the last event of the bundled trace.
const TIME: &str = "1795233416400000000";

fn state_at(trace: &str, time: &str, args: &[&str]) -> Run {
    let args = [&[trace, "--format=json", "--time", time], args].concat();
    support::run(&support::example("state_at"), &args, None, LIMIT)
}

fn json(run: &Run) -> Value {
    assert_eq!(run.status, Some(0), "{run:?}");
    serde_json::from_slice(&run.stdout).expect("JSON")
}

#[test]
fn every_method_gives_the_same_fields_and_values() {
    for time in ["0", TIME, "9000000000000000000"] {
        let replay = json(&state_at(BUNDLED, time, &[]));
        let has = |value: &Value, keys: &[&str]| {
            keys.iter().all(|key| value.get(key).is_some_and(|value| !value.is_array()))
        };
        assert_eq!(replay["time_ns"], time.parse::<i64>().unwrap());
        let (cpus, processes) = (&replay["cpus"], &replay["processes"]);
        let (cpus, processes) = (cpus.as_array().unwrap(), processes.as_array().unwrap());
        assert_eq!(cpus.len(), 8, "at {time}");
        assert!(cpus.iter().all(|cpu| has(cpu, &["cpu", "tid", "mode"])));
        let keys = ["tid", "pid", "ppid", "name", "mode", "submode", "status", "cpu"];
        assert!(processes.len() > 8 && processes.iter().all(|process| has(process, &keys)));
        for method in ["checkpoint", "history"] {
            let other = json(&state_at(BUNDLED, time, &["--method", method]));
            // A history starts just before the trace, and ends with it.
            if time == TIME || method == "checkpoint" {
                assert_eq!(other, replay, "{method} at {time}");
            }
        }
    }
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
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/ust");
    let run = state_at(other, TIME, &with_file);
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
    let run = support::run(&support::program("lttv"), &args, None, LIMIT);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(Path::new(&history).is_file());
    let made = fs::read(&checkpoints).unwrap();
    let with_file = ["--method", "checkpoint", "--checkpoints", &checkpoints];
    let run = state_at(BUNDLED, TIME, &with_file);
    assert_eq!(json(&run), json(&state_at(BUNDLED, TIME, &[])));
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    assert_eq!(fs::read(&checkpoints).unwrap(), made);
}
