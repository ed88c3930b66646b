//! `lttv dump` prints the same bytes with any number of threads: events, warnings and
//! errors, in all formats, for windows, filters and damaged traces.

use crate::support;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::Run;
use lttv_traces::{Options, kernel_like, ust_like};

fn run(args: &[&str], trace: &Path) -> Run {
    let args = [args, &[trace.to_str().expect("UTF-8")]].concat();
    support::run(&support::lttv(), &args, None, Duration::from_secs(120))
}

/// Runs a program with one thread and with several. All results must be equal and have this status.
fn compare(args: &[&str], trace: &Path, status: i32) -> Run {
    let one = run(&[args, &["--threads", "1"]].concat(), trace);
    assert_eq!(one.status, Some(status), "{args:?}: {}", one.stderr);
    for threads in ["2", "5"] {
        let several = run(&[args, &["--threads", threads]].concat(), trace);
        assert_eq!(several.status, one.status, "{args:?}: {}", several.stderr);
        assert_eq!(several.stderr, one.stderr, "{args:?}");
        assert!(several.stdout == one.stdout, "{args:?}: other text");
    }
    one
}

/// Writes the trace of a kernel on three CPUs, large enough for threads, with small packets.
fn kernel(folder: &Path) -> PathBuf {
    let path = folder.join("kernel");
    let options = Options { packet_bytes: 16 << 10, ..Options::default() };
    kernel_like(&path, 3, 60_000, &options).expect("a trace");
    path
}

#[test]
fn all_formats_are_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = kernel(folder.path());
    let events = 60_000;
    for args in [
        &["--format=lttv"][..],
        &["--format=babeltrace"],
        &["--format=babeltrace", "--names=all", "--fields=all", "--color=always"],
        &["--format=babeltrace", "--clock-cycles"],
        &["--format=babeltrace", "--no-delta"],
        &["--format=json"],
    ] {
        let run = compare(&[&["dump"], args].concat(), &kernel, 0);
        let lines = run.stdout.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines, events, "{args:?}");
    }
    for args in [
        &["dump", "--columns=time,cpu,name,fields"][..],
        &["dump", "--format=csv", "--columns=name,channel"],
        // Each line depends on lines before it.
        &["dump", "--columns=time,delta,thread_delta,name"],
        &["dump", "--columns=time,name", "--top=7"],
        &["dump", "--format=lttv", "--process"],
        &["dump", "--relative"],
        &["dump", "-e", "state.cpu == 1"],
        &["dump", "--count"],
    ] {
        let run = compare(args, &kernel, 0);
        assert!(!run.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn counts_are_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = kernel(folder.path());
    for (args, events) in [
        (&[][..], Some(60_000)),
        (&["--timerange=+3ms..+9ms"], None),
        (&["--begin=+10ms"], None),
        (&["--end=+11ms"], None),
        (&["-e", r#"event.name == "sched_switch""#], None),
        (&["-e", "tracefile.cpu == 1"], None),
        (&["-e", "tracefile.cpu == 1 && next_tid > 1", "--begin=+2ms"], None),
        (&["-e", r#"event.name == "no such event""#], Some(0)),
        // One thread reads these: times are skipped in the order of all tracefiles, and the state too
        // needs an order.
        (&["-e", "event.time < 0"], Some(0)),
        (&["-e", "state.cpu == 1"], None),
        // Outside of the trace.
        (&["--begin=+100h"], Some(0)),
    ] {
        let run = compare(&[&["dump"], args, &["--count"]].concat(), &kernel, 0);
        let counted: u64 = String::from_utf8_lossy(&run.stdout).trim().parse().expect("a number");
        match events {
            Some(events) => assert_eq!(counted, events, "{args:?}"),
            None => assert!((1..60_000).contains(&counted), "{args:?}: {counted}"),
        }
    }
}

#[test]
fn windows_and_filters_are_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = kernel(folder.path());
    let all = run(&["dump", "--format=babeltrace"], &kernel).stdout;
    for args in [
        &["--timerange=+3ms..+9ms"][..],
        &["--begin=+10ms"],
        &["--end=+11ms"],
        &["-e", r#"event.name == "sched_switch""#],
        &["-e", r#"event.name == "sched_switch" && next_tid > 1"#, "--begin=+2ms"],
        &["-e", r#"event.name == "no such event""#],
    ] {
        let args = [args, &["--format=babeltrace"]].concat();
        let run = compare(&[&["dump"], &args[..]].concat(), &kernel, 0);
        assert!(run.stdout.len() < all.len(), "{args:?}");
    }
}

#[test]
fn damage_is_reported_once_and_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let ust = folder.path().join("ust");
    let options = Options { packet_bytes: 16 << 10, ..Options::default() };
    ust_like(&ust, 3, 60_000, &options).expect("a trace");
    // Damage the start of some packets, and the end of a file.
    let mut files: Vec<_> = fs::read_dir(&ust)
        .expect("a folder")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.is_file() && !path.ends_with("metadata"))
        .collect();
    files.sort();
    for (number, file) in files.iter().enumerate() {
        let mut bytes = fs::read(file).expect("a file");
        for packet in (number..bytes.len() / (16 << 10)).step_by(5) {
            let place = packet * (16 << 10);
            bytes[place..place + 4].fill(0xee);
        }
        let rest = bytes.len() - number * 100;
        bytes.truncate(rest);
        fs::write(file, bytes).expect("a file");
    }
    for args in [&["--format=babeltrace"][..], &["--format=json"], &["--begin=+5ms"]] {
        let run = compare(&[&["dump"], args].concat(), &ust, 1);
        assert!(run.stderr.lines().count() > 20, "{}", run.stderr);
        assert!(run.stdout.len() > 1 << 20);
    }
    for args in [&[][..], &["--begin=+5ms"], &["-e", "tracefile.cpu != 1"]] {
        let run = compare(&[&["dump"], args, &["--count"]].concat(), &ust, 1);
        assert!(run.stderr.lines().count() > 5, "{}", run.stderr);
    }
}

#[test]
fn a_closed_pipe_ends_all_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = kernel(folder.path());
    let script = "\"$0\" dump --threads 3 \"$1\" | head -n 3; echo ended";
    let program = support::lttv();
    let args = ["-c", script, program.to_str().expect("UTF-8"), kernel.to_str().expect("UTF-8")];
    let run = support::run(Path::new("sh"), &args, None, Duration::from_secs(60));
    let text = String::from_utf8(run.stdout).expect("UTF-8");
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.ends_with("ended\n") && run.stderr.is_empty(), "{}", run.stderr);
}
