//! `lttv stats`, `usage`, `latency`, `spans`, `irq`, `disk`, `wait`, `critical-path` and `history build` write the same
//! bytes with any number of threads, also for damaged traces.

use crate::support;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::Run;
use lttv_traces::{Options, calls_like, kernel_like};

fn lttv(args: &[&str]) -> Run {
    support::run(&support::lttv(), args, None, Duration::from_secs(120))
}

/// Returns the bundled traces, one of a kernel on three CPUs with small packets, and a damaged one.
fn traces(folder: &Path) -> Vec<PathBuf> {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    let (kernel, damaged) = (folder.join("kernel"), folder.join("damaged"));
    let options = Options { packet_bytes: 16 << 10, ..Options::default() };
    for path in [&kernel, &damaged] {
        kernel_like(path, 3, 60_000, &options).expect("a trace");
    }
    let file = fs::read_dir(&damaged).expect("a folder").map(|entry| entry.expect("a file").path());
    let file = file.filter(|file| file.is_file() && !file.ends_with("metadata"));
    let file = file.max().expect("a tracefile");
    let mut bytes = fs::read(&file).expect("its bytes");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 2000].fill(0xff);
    fs::write(&file, bytes).expect("the damaged file");
    vec![bundled.join("kernel"), bundled.join("legacy"), kernel, damaged]
}

/// Definitions of periods and counters.
const WRITES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../definitions/writes.toml");

#[test]
fn results_are_the_same_in_all_formats() {
    let folder = tempfile::tempdir().expect("a folder");
    let forms: [&[&str]; 37] = [
        &["spans"],
        &["why", "--at=+20ms", "--tid=210"],
        &["spans", "--format=json", "--sort=duration", "--limit=20"],
        &["spans", "--format=csv", "--begin=+1ms", "--end=+20ms"],
        &["spans", "--min=1us", "--nested", "--period=p : sched_switch : sched_waking"],
        &["spans", "--define", WRITES, "--family=period", "--format=csv"],
        &["counters", "--define", WRITES],
        &["counters", "--define", WRITES, "--every=1ms", "--begin=+20ms", "--format=json"],
        &["stats"],
        &["stats", "--format=json"],
        &["stats", "--format=csv", "--table=processes"],
        &["stats", "--tree"],
        &["usage"],
        &["usage", "--format=json", "--every=1ms"],
        &["latency"],
        &["latency", "--format=json"],
        &["irq"],
        &["irq", "--format=json"],
        &["disk", "--format=json"],
        &["disk", "--begin=+1ms", "--end=+20ms"],
        &["irq", "-e", "irq > 0"],
        &["irq", "-e", "state.execution_mode = IRQ", "--begin=+1ms", "--end=+20ms"],
        &["stats", "-e", "prev_tid > 0", "--table=events"],
        &["stats", "-e", "state.tid > 0", "--table=events", "--begin=+1ms"],
        &["stats", "--longest=read", "--format=json"],
        &["latency", "--format=json", "--begin=+2ms"],
        &["latency", "--format=json", "--period=p : sched_switch : sched_waking"],
        &["irq", "--begin=+1ms", "--end=+2ms"],
        &["stats", "--begin=+1ms", "--end=+2ms"],
        &["usage", "--begin=+1ms"],
        &["latency", "--begin=+1ms", "--end=+2ms"],
        &["latency", "--every=1ms"],
        &["wait", "--format=json"],
        &["wait", "--format=json", "--table=waits", "--begin=+1ms", "--end=+2ms"],
        &["critical-path"],
        &["critical-path", "--tid=210", "--format=json"],
        &["critical-path", "--tid=210", "--begin=+1ms", "--end=+20ms"],
    ];
    for trace in traces(folder.path()) {
        let trace = trace.to_str().expect("UTF-8");
        for form in forms {
            let run = |threads| lttv(&[form, &[trace, "--threads", threads][..]].concat());
            let one = run("1");
            // A window may be outside of a trace, and not all have the events that are needed.
            assert!(one.status != Some(0) || !one.stdout.is_empty(), "{trace} {form:?}");
            for threads in ["2", "5"] {
                let several = run(threads);
                assert_eq!(several.status, one.status, "{trace} {form:?}: {}", several.stderr);
                assert!(several.stdout == one.stdout, "{trace} {form:?}: other text");
                assert_eq!(several.stderr, one.stderr, "{trace} {form:?}");
            }
        }
    }
}

#[test]
fn calls_say_that_one_thread_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    calls_like(folder.path(), 2, 400, &Options::default()).expect("a trace");
    let trace = folder.path().to_str().expect("UTF-8");
    let said = |threads| lttv(&["calls", trace, "--threads", threads]).stderr;
    assert!(said("2").contains("one thread reads"), "{}", said("2"));
    assert!(!said("1").contains("one thread reads"));
}

#[test]
fn histories_are_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    for trace in traces(folder.path()) {
        let build = |threads: &str| {
            let file = folder.path().join(format!("history-{threads}"));
            let (trace, name) = (trace.to_str().expect("UTF-8"), file.to_str().expect("UTF-8"));
            let run = lttv(&["history", "build", trace, name, "--force", "--threads", threads]);
            (run.status, run.stderr, fs::read(&file).expect("a history"))
        };
        let one = build("1");
        assert!(one.2.len() > 1000, "{trace:?}");
        for threads in ["2", "5"] {
            let several = build(threads);
            assert_eq!((several.0, several.1), (one.0, one.1.clone()), "{trace:?}");
            assert!(several.2 == one.2, "{trace:?}: other bytes");
        }
    }
}
