//! Losses: in windows as babeltrace2 reports them, and their sums.

use crate::lossy;
use crate::support;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::Run;
use ltt_read::{Merge, NoticeKind, OpenOptions, TracefileIndex};
use lttv_common::losses::{Losses, Lost};
use lttv_common::time::Window;

const LIMIT: Duration = Duration::from_secs(120);

/// Recorded traces with losses.
const TRACES: [&str; 6] = [
    "u1-discard",
    "u2-discard",
    "gen-sinkctf-k1-discard",
    "bt1-packet-seq-num-2-lost-before-last",
    "bt1-packet-seq-num-2-streams-lost-in-1",
    "bt1-succeed-ev-disc-no-ts-begin-end",
];

/// Returns the paths of recorded traces with losses, if they are here.
fn traces() -> Vec<PathBuf> {
    let Some(shared) = support::shared() else {
        support::print_note("SKIPPED: there are no recorded traces here");
        return Vec::new();
    };
    // Warnings contain the paths without `..`.
    let shared = shared.canonicalize().unwrap();
    TRACES.iter().map(|name| shared.join("traces/ctf").join(name)).collect()
}

fn dump(trace: &Path, args: &[&str]) -> Run {
    support::dump(args, Some(trace), LIMIT)
}

/// Returns the warnings about losses, and the number of events before them.
fn warnings(stderr: &str) -> BTreeSet<String> {
    let is_loss = |line: &&str| line.starts_with("WARNING: Tracer ");
    stderr.lines().filter(is_loss).map(str::to_owned).collect()
}

/// Returns what babeltrace2 prints: the number of events and its warnings.
fn babeltrace2(trace: &Path, args: &[&str]) -> Option<(usize, BTreeSet<String>)> {
    let mut command = Command::new("babeltrace2");
    command.args(["--clock-seconds", "--no-delta"]).args(args).arg(trace);
    command.env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
    let output = command.output().ok()?;
    let events = String::from_utf8_lossy(&output.stdout).lines().count();
    Some((events, warnings(&String::from_utf8_lossy(&output.stderr))))
}

#[test]
fn a_window_without_events_reports_the_loss_around_it() {
    let Some(trace) = traces().into_iter().find(|path| path.ends_with("u1-discard")) else {
        return;
    };
    let window = ["--begin", "1795230099.40", "--end", "1795230099.54"];
    let run = dump(&trace, &window);
    assert_eq!((run.status, &*run.stdout), (Some(0), &b""[..]));
    let found = warnings(&run.stderr);
    assert_eq!(found.len(), 2, "{}", run.stderr);
    for line in &found {
        assert!(
            line.starts_with(
                "WARNING: Tracer may have discarded events between [03:01:39.400000000] and \
                 [03:01:39.540000000] in trace \"vm/ust/uid/0/64-bit\""
            ),
            "{line}"
        );
    }
    // The sum has the numbers of the whole ranges as a bound.
    let sum = "lttv: 2 ranges lost up to 21277 events, first at 1795230099.400000000";
    assert_eq!(run.stderr.lines().last(), Some(sum));
}

#[test]
fn the_sum_has_the_share_of_all_events() {
    let Some(trace) = traces().into_iter().find(|path| path.ends_with("u1-discard")) else {
        return;
    };
    for args in [&[][..], &["--count"]] {
        let run = dump(&trace, args);
        assert_eq!(run.status, Some(0));
        let sum = run.stderr.lines().last().unwrap_or_default();
        assert!(
            sum.starts_with("lttv: 11 ranges lost 73228 events of about ")
                && sum.ends_with(", first at 1795230099.321427714"),
            "{sum}"
        );
        assert_eq!(warnings(&run.stderr).len(), 11);
    }
    // With a filter, the number of recorded events is unknown.
    let run = dump(&trace, &["-e", "event.name == \"*\""]);
    let sum = "lttv: 11 ranges lost 73228 events, first at 1795230099.321427714";
    assert_eq!(run.stderr.lines().last(), Some(sum));
}

/// Compares windows at, just inside and just outside of the limits of each loss.
#[test]
fn losses_in_windows_are_those_of_babeltrace2() {
    let mut compared = 0;
    // Version 2.0.4 does not read CTF 2.
    for path in traces().into_iter().filter(|path| !path.ends_with("u2-discard")) {
        let traces = OpenOptions::new().open_all_of([&path]).unwrap().traces;
        let all = Losses::of(&traces, Window::default());
        assert!(!all.is_empty(), "{}", path.display());
        let times = all.ranges().iter().flat_map(|range| [range.start, range.end]).flatten();
        let times: Vec<_> = times.map(|time| time.as_ns()).collect();
        // Times after the last event are refused, but packets without events may end later.
        let events = dump(&path, &["--columns", "time", "--format", "csv"]);
        let last = String::from_utf8(events.stdout).unwrap();
        let end = last.lines().filter_map(|time| time.parse::<i64>().ok()).next_back();
        let end = end.unwrap_or(i64::MAX);
        let mut windows = Vec::new();
        for (number, time) in times.iter().enumerate() {
            for begin in [time - 1, *time, time + 1] {
                let last = times.get(number + 1).copied().unwrap_or(begin + 1000).min(end);
                windows.extend([(begin, begin), (begin, last.max(begin)), (begin, end)]);
            }
        }
        let inside = windows.into_iter().filter(|of| of.0 <= end);
        for (begin, end) in inside.step_by(5) {
            let text = |ns: i64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            let args = ["--begin".to_owned(), text(begin), "--end".to_owned(), text(end)];
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let Some((events, expected)) = babeltrace2(&path, &args) else {
                return support::print_note("SKIPPED: there is no babeltrace2 here");
            };
            let plain = ["--format=babeltrace", "--clock-seconds", "--no-delta"];
            let run = dump(&path, &[&plain, &args[..]].concat());
            let lines = run.stdout.split(|byte| *byte == b'\n').count() - 1;
            assert_eq!(lines, events, "{} {args:?}", path.display());
            assert_eq!(warnings(&run.stderr), expected, "{} {args:?}", path.display());
            compared += 1;
        }
    }
    if compared > 0 {
        support::print_note(&format!("compared {compared} windows with babeltrace2"));
    }
}

/// Reading everything and reading the packets alone give the same losses, for all traces.
#[test]
fn packets_declare_the_losses_that_a_read_reports() {
    let Some(shared) = support::shared() else {
        return support::print_note("SKIPPED: there are no recorded traces here");
    };
    let mut lossy = 0;
    for folder in ["traces/ctf", "traces/legacy"] {
        for entry in std::fs::read_dir(shared.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let Ok(opened) = OpenOptions::new().open_all_of([&path]) else { continue };
            let traces = opened.traces;
            let mut merge = Merge::new(&traces);
            let mut notices = Vec::new();
            while merge.next().is_some() {
                notices.extend(merge.take_notices().into_iter().filter(|it| it.kind.is_loss()));
            }
            notices.extend(merge.take_notices().into_iter().filter(|it| it.kind.is_loss()));
            let read = Losses::from_notices(&traces, &notices);
            let declared = Losses::of(&traces, Window::default());
            assert_eq!(declared.ranges(), read.ranges(), "{}", path.display());
            lossy += u32::from(!declared.is_empty());
        }
    }
    assert!(lossy >= TRACES.len() as u32, "{lossy} traces with losses");
}

#[test]
fn losses_are_sorted_by_trace_and_tracefile() {
    let Some(path) = traces().into_iter().find(|path| path.ends_with("u1-discard")) else { return };
    let traces = OpenOptions::new().open_all_of([&path]).unwrap().traces;
    let all = Losses::of(&traces, Window::default());
    let (mut events, mut ranges) = (0, 0);
    for (index, trace) in traces.iter().enumerate() {
        for tracefile in (0..trace.tracefiles().len()).map(TracefileIndex) {
            let part = all.of_tracefile(ltt_read::TraceIndex(index), tracefile);
            let count = |notice: &ltt_read::Notice| match notice.kind {
                NoticeKind::DiscardedEvents { count, .. } => count.unwrap(),
                _ => 0,
            };
            assert_eq!(part.events(), trace.losses(tracefile).iter().map(count).sum::<u64>());
            assert!(part.ranges().iter().all(|range| range.what == Lost::Events));
            (events, ranges) = (events + part.events(), ranges + part.ranges().len());
        }
    }
    assert_eq!((events, ranges), (all.events(), all.ranges().len()));
    assert_eq!((events, ranges), (73228, 11));
    assert_eq!(all.packets(), 0);
}

/// Each command ends with the losses of its window, and writes them as JSON.
#[test]
fn every_command_ends_with_the_losses_of_its_window() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    lossy::kernel_trace(&trace);
    let lttv =
        |args: &[&str]| support::run(&support::lttv(), args, Some(&trace), Duration::from_secs(60));
    let commands: [&[&str]; 9] = [
        &["dump"],
        &["stats"],
        &["wait"],
        &["irq"],
        &["disk"],
        &["counters"],
        &["chart", "counters"],
        &["chart", "usage"],
        &["run", "-m", "textDump", "-t"],
    ];
    for command in commands {
        let run = lttv(command);
        assert_eq!(run.status, Some(0), "{command:?}: {}", run.stderr);
        let sum = run.stderr.lines().last().unwrap_or_default();
        assert!(sum.starts_with("lttv: 2 ranges lost 5 events"), "{command:?}: {}", run.stderr);
        assert!(sum.contains("and 3 packets, first at "), "{command:?}: {sum}");
        let (window, rest) = match command {
            // The trace is the argument of the option -t.
            ["run", ..] => (vec!["run", "--end=+50us"], &command[1..]),
            _ => (command.to_vec(), &["--end=+50us"][..]),
        };
        let run = lttv(&[&window, rest].concat());
        assert_eq!(run.status, Some(0), "{command:?}");
        assert!(!run.stderr.contains("lost"), "{command:?}: {}", run.stderr);
    }
    for command in ["info", "stats", "wait", "irq", "disk", "counters"] {
        let run = lttv(&[command, "--format=json"]);
        let found: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        let losses = found["losses"].as_array().unwrap_or_else(|| panic!("{command}: {found}"));
        let sum = |of: &str| losses.iter().filter_map(|row| row[of].as_u64()).sum::<u64>();
        assert_eq!((losses.len(), sum("events"), sum("packets")), (2, 5, 3), "{command}: {found}");
        assert!(losses.iter().all(|row| row["cpu"] == 1), "{command}: {losses:?}");
    }
    let run = support::run(
        &support::lttv(),
        &["compare", "--window=..+50us", "--window=+50us.."],
        Some(&trace),
        Duration::from_secs(60),
    );
    assert!(run.stderr.contains("trace: 2 ranges lost"), "{}", run.stderr);
}
