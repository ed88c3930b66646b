//! The longest system call of a name, and what its CPUs executed.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// Returns the time span, the thread and the name of each system call. A call that does not
/// return lasts up to `i64::MAX`.
fn calls() -> Vec<((i64, i64), i64, String)> {
    let mut calls = Vec::new();
    let mut open: BTreeMap<i64, (String, i64)> = BTreeMap::new();
    for line in lines() {
        let entry = line.name.strip_prefix("syscall_entry_");
        let Some(name) = entry.or(line.name.strip_prefix("syscall_exit_")) else { continue };
        let before = open.remove(&line.tid).filter(|(of, _)| entry.is_some() || of == name);
        if entry.is_some() {
            open.insert(line.tid, (name.to_owned(), line.time));
        } else if let Some((name, begin)) = before {
            calls.push(((begin, line.time), line.tid, name));
        }
    }
    calls.extend(open.into_iter().map(|(tid, (name, begin))| ((begin, i64::MAX), tid, name)));
    calls
}

#[test]
fn the_longest_call_is_that_of_a_plain_pairing() {
    let calls = calls();
    let mut compared = 0;
    for window in windows(40).into_iter().chain([all()]) {
        for name in ["openat", "write", "sched_yield", "clock_nanosleep", "fdatasync", "clone"] {
            let of_name = calls.iter().filter(|(_, _, of)| of == name);
            let times = of_name.map(|(span, tid, _)| (part(*span, window), *span, *tid));
            let longest = times.clone().map(|(time, ..)| time).max().unwrap_or(0);
            if longest == 0 {
                continue;
            }
            let args = ["--longest", name, "--timerange", &range(window)];
            let found = json::<StatsArgs>(stats::run, &args);
            let [call] = &rows(&found, "call")[..] else { panic!("one call: {found}") };
            assert_eq!(ns(call, "duration_ns"), longest, "{name} in {window:?}: {call}");
            let span = (ns(call, "begin_ns"), ns(call, "end_ns"));
            let mut equal = times.filter(|(time, ..)| *time == longest);
            let is_listed = |(_, (begin, end), tid): (i64, (i64, i64), i64)| {
                (begin.max(window.0), end.min(window.1), tid) == (span.0, span.1, ns(call, "tid"))
            };
            assert!(equal.any(is_listed), "{name} in {window:?}: {call}");
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn the_statistics_are_those_of_the_time_of_the_call() {
    let found = json::<StatsArgs>(stats::run, &["--longest", "openat"]);
    let call = &rows(&found, "call")[0];
    let span = (ns(call, "begin_ns"), ns(call, "end_ns"));
    let of_window = json::<StatsArgs>(stats::run, &["--timerange", &range(span)]);
    for part in ["cpus", "processes", "devices", "events"] {
        assert_eq!(found[part], of_window[part], "{part}");
    }
    // The threads of each CPU add up to the time of the call.
    let mut times: BTreeMap<i64, i64> = BTreeMap::new();
    let mut of_thread = BTreeSet::new();
    for row in rows(&found, "cpu_processes") {
        *times.entry(ns(row, "cpu")).or_default() += ns(row, "cpu_ns");
        if row["tid"] == call["tid"] {
            of_thread.insert(ns(row, "cpu"));
        }
    }
    assert_eq!(times.keys().copied().collect::<BTreeSet<_>>(), of_thread);
    assert!(times.values().all(|time| *time == span.1 - span.0), "{times:?}");
    let listed: Vec<_> = of_thread.iter().map(i64::to_string).collect();
    assert_eq!(call["cpus"], listed.join(" "));
}

#[test]
fn an_unknown_call_is_an_error_with_the_similar_name() {
    let error = output::<StatsArgs>(stats::run, &["--longest", "opennat", KERNEL]);
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "no system call `opennat` in the window; a similar one is `openat`");
}
