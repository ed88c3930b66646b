//! Helpers shared by tests.
#![allow(dead_code)] // each test uses its part

pub(crate) mod event_text;
pub(crate) mod latency_text;
pub(crate) mod oracle;
pub(crate) mod scheduling;
pub(crate) mod ust;

use std::io::Write;
use std::path::{Path, PathBuf};

use ltt_read::Timestamp;
use lttv_context::Traceset;
use lttv_state::history::History;
use lttv_state::tree::Quark;

/// Returns the path of the small kernel trace in the repository.
pub(crate) fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/kernel")
}

/// Returns the path of a recorded trace in the shared folder, if it exists.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces").join(name);
    if path.is_dir() {
        return Some(path);
    }
    report(&format!("skipped: {} is not there", path.display()));
    None
}

/// Prints a line even if the test passes: the output of `println!` is shown for failed
/// tests only.
pub(crate) fn report(line: &str) {
    _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Returns real kernel traces: the bundled one, and those of the shared folder that exist.
pub(crate) fn kernel_traces() -> Vec<(String, Traceset)> {
    let names = [
        "ctf/k1-multi",
        "ctf/k1-8cpu",
        "ctf/k2-8cpu",
        "ctf/k2-multi",
        "ctf/k1-ctx",
        "ctf/k1-snap/snapshot-1-20261121-032430-0",
        "ctf/k2-rot",
        "ctf/tc-bug446190",
        "ctf/tc-synctraces/scp_src",
        "ctf/tc-uneven-streams",
        "ctf/cts-stream-pass-lttng-modules-2.0-pre5",
        "ctf/gen-perf-sched",
        "ctf/tc-perf-taskset2",
    ];
    let shared = names.iter().filter_map(|name| Some((name.to_string(), shared(name)?)));
    let all = [("bundled".to_owned(), bundled())].into_iter().chain(shared);
    all.map(|(name, path)| (name, Traceset::open(path).expect("a trace"))).collect()
}

/// Panics unless two histories have the same attributes with the same values at all times.
/// (If an attribute was set twice at one time, one history may have two intervals where the
/// other has one.)
pub(crate) fn same_history(found: &History, expected: &History, which: &str) {
    let span = |of: &History| (of.start(), of.end(), of.tree().len());
    for quark in found.tree().quarks() {
        let path = found.tree().path(quark);
        assert!(expected.tree().find(Quark::ROOT, &path).unwrap().is_some(), "{which}: {path}");
    }
    assert_eq!(span(found), span(expected), "{which}");
    let whole = expected.start()..expected.end();
    for quark in expected.tree().quarks() {
        let path = expected.tree().path(quark);
        let same = found.tree().find(Quark::ROOT, &path).unwrap().expect(&path);
        let all = |of: &History, quark| {
            let mut changes: Vec<(Timestamp, String)> = Vec::new();
            for interval in of.intervals(quark, whole.clone()).unwrap() {
                let interval = interval.unwrap();
                let value = interval.value.to_string();
                if changes.last().is_none_or(|(_, last)| *last != value) {
                    changes.push((interval.start, value));
                }
            }
            changes
        };
        assert_eq!(all(found, same), all(expected, quark), "{which}: {path}");
    }
}
