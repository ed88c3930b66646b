//! Recordings of ftrace and perf, beside traces in CTF that were converted from them: the tables of all analyses are
//! equal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support;
use crate::support::convert::run;
use crate::support::print_note;

/// The commands whose tables are compared.
const COMMANDS: [&[&str]; 11] = [
    &["stats"],
    &["state", "--at", "+50ms"],
    &["wait"],
    &["latency"],
    &["usage"],
    &["irq"],
    &["disk"],
    &["counters", "--define", "markers"],
    &["spans", "--limit", "1000000"],
    &["spans", "--sort", "duration", "--limit", "50"],
    &["info", "--table", "losses"],
];

/// The recordings of the shared folder that are compared. One is known to differ: the names of threads that `ftrace/marker`
/// has in the list that trace-cmd saves are not converted.
const RECORDINGS: [(&str, &[&str]); 2] = [
    ("ftrace", &["block-net", "k72-sched", "lost", "sched-v6", "state", "syscalls"]),
    (
        "perf-data",
        &["callgraph", "group", "kernel", "lost", "sched-record", "switch-events", "trace-record"],
    ),
];

/// Returns the recordings: the bundled ones, and those of the shared folder.
fn recordings() -> Vec<PathBuf> {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    let mut all: Vec<PathBuf> = ["ftrace", "perf"].map(|name| bundled.join(name)).into();
    let Some(shared) = support::shared() else {
        print_note("skipped: all recordings beside the repository, which are not there");
        return all;
    };
    for (kind, names) in RECORDINGS {
        let folders = names.iter().map(|name| shared.join("traces").join(kind).join(name));
        let files = ["trace.dat", "trace.dat.zst", "perf.data", "perf.data.zst"];
        let file = |folder: PathBuf| {
            files.map(|file| folder.join(file)).into_iter().find(|file| file.is_file())
        };
        all.extend(folders.filter_map(file));
    }
    all
}

/// Removes what tells the path of a trace.
fn without_paths(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, value| name != "trace" || !value.is_string());
            members.values_mut().for_each(without_paths);
        }
        Value::Array(elements) => elements.iter_mut().for_each(without_paths),
        _ => {}
    }
}

/// Returns the tables of a command, and whether it had results; `None` if it has none for this trace.
fn tables(command: &[&str], trace: &Path) -> Option<Vec<Value>> {
    let run = run(&[command, &["--format", "json", trace.to_str().unwrap()]].concat());
    if run.status != Some(0) {
        assert!(run.is_orderly(), "{command:?} {}: {}", trace.display(), run.stderr);
        return None;
    }
    // Spans are a line each.
    let values = serde_json::Deserializer::from_slice(&run.stdout).into_iter::<Value>();
    let mut values: Vec<Value> = values.map(|value| value.expect("JSON")).collect();
    values.iter_mut().for_each(without_paths);
    // In CTF, a counter tells that events were lost between the ends of two packets, which is another range of time than
    // that of the packet that follows the loss. Everything else is equal.
    values.iter_mut().filter_map(|value| value.get_mut("losses")?.as_array_mut()).for_each(
        |losses| {
            for loss in losses {
                loss["start_ns"] = Value::Null;
                loss["end_ns"] = Value::Null;
                // A loss without a number is one of at least one event.
                loss["at_most"] = Value::Null;
                loss["events"] = loss["events"].as_u64().unwrap_or(1).into();
            }
        },
    );
    Some(values)
}

#[test]
fn tables_of_recordings_are_those_of_their_conversions() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut different = Vec::new();
    let recordings = recordings();
    for recording in &recordings {
        let folder = tempfile::tempdir().unwrap();
        let results = [("ctf1", "ctf1.8"), ("ctf2", "ctf2")].map(|(name, format)| {
            let output = folder.path().join(name);
            let paths = [recording, &output].map(|path| path.to_str().unwrap());
            let done = run(&["convert", "--to", format, "-o", paths[1], paths[0]]);
            assert_eq!(done.status, Some(0), "{}: {}", recording.display(), done.stderr);
            output
        });
        // The thread that waited most.
        let waits = tables(&["wait"], recording);
        let thread = waits.and_then(|waits| waits[0]["threads"][0]["tid"].as_i64());
        let thread = thread.map(|tid| tid.to_string());
        let of_thread = thread.as_ref().map(|tid| ["critical-path", "--tid", tid]);
        for command in COMMANDS.into_iter().chain(of_thread.as_ref().map(|command| &command[..])) {
            let expected = tables(command, recording);
            for result in &results {
                let found = tables(command, result);
                let place = || format!("{command:?} {} {}", recording.display(), result.display());
                assert_eq!(found.is_some(), expected.is_some(), "{}", place());
                let (Some(found), Some(expected)) = (found, &expected) else { continue };
                let mut pairs = found.iter().zip(expected);
                let pair = pairs.find(|(found, expected)| found != expected);
                if pair.is_some() || found.len() != expected.len() {
                    different.push(format!("{}: {}", place(), difference(pair)));
                }
                *counts.entry(command[0].to_owned()).or_default() += 1;
            }
        }
    }
    print_note(&format!("{} recordings: {counts:?} tables", recordings.len()));
    assert!(different.is_empty(), "{}", different.join("\n"));
    let has = |command: &str| counts.get(command).is_some_and(|count| *count >= 2);
    assert!(["stats", "wait", "critical-path", "spans"].into_iter().all(has), "{counts:?}");
}

/// Returns the first lines in which two values differ.
fn difference(pair: Option<(&Value, &Value)>) -> String {
    let Some((found, expected)) = pair else { return String::new() };
    let lines = |value: &Value| -> Vec<String> {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    let (found, expected) = (lines(found), lines(expected));
    let at = found.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(0);
    let part = |lines: &[String]| lines[at.saturating_sub(3)..(at + 3).min(lines.len())].join("\n");
    format!("found\n{}\nexpected\n{}", part(&found), part(&expected))
}
