//! Programs on several threads end soon after Ctrl-C, and if their output is closed, with a status that
//! tells which, and leave no file that looks whole.

#![cfg(unix)]

use crate::support;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use lttv_traces::{Options, kernel_like};

/// The signal of Ctrl-C.
const SIGINT: i32 = 2;

/// The longest time to the end. It is less than a second, but the machine may be busy.
const SOON: Duration = Duration::from_secs(5);

/// The programs: arguments before those of all.
const COMMANDS: [&[&str]; 8] = [
    &["spans"],
    &["counters"],
    &["dump", "--count", "--filter", r#"event.name =~ "*_*w*" && next_comm != "nobody""#],
    &["dump"],
    &["stats"],
    &["usage", "--every=1ms"],
    &["latency"],
    &["history", "build"],
];

/// Writes a trace that takes some tenths of a second to read.
fn trace(folder: &Path) -> PathBuf {
    let path = folder.join("trace");
    kernel_like(&path, 4, 600_000, &Options::default()).expect("a trace");
    path
}

/// Starts a program on three threads. A history goes to `file`.
fn started(args: &[&str], trace: &Path, file: &Path, stdout: Stdio) -> Child {
    let mut command = Command::new(support::lttv());
    command.args(args).args(["--threads", "3"]).arg(trace);
    if args.first() == Some(&"history") {
        command.arg(file);
    }
    let command = command.env("XDG_CONFIG_HOME", "/nonexistent").stdin(Stdio::null());
    command.stdout(stdout).stderr(Stdio::null()).spawn().expect("a program")
}

/// Waits for the end, which has to come soon.
fn soon_ended(child: &mut Child, what: &[&str]) -> ExitStatus {
    let since = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("own child") {
            return status;
        }
        if since.elapsed() > SOON {
            child.kill().expect("own child");
            panic!("{what:?} goes on");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns whether a file is the whole history of a trace.
fn is_current(command: &[&str], trace: &Path, file: &Path) -> bool {
    let child = started(command, trace, file, Stdio::piped());
    let output = child.wait_with_output().expect("own child");
    output.status.success() && String::from_utf8_lossy(&output.stdout).contains("is up to date")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect()
}

/// Returns `true` if programs that this one starts ignore the signal of Ctrl-C, as those do that a script
/// runs in the background. Only Linux tells.
fn are_interrupts_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.unwrap_or(0) >> (SIGINT - 1) & 1 == 1
}

#[test]
fn an_interrupt_ends_all_threads() {
    if are_interrupts_ignored() {
        support::print_note(
            "skipped: interrupts are ignored here, as in the background of a script",
        );
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let results = folder.path().join("results");
    fs::create_dir(&results).expect("a folder");
    for command in COMMANDS {
        let mut interrupted = 0;
        for pause in [1, 5, 20, 60, 120, 240] {
            let file = results.join("history");
            let mut child = started(command, &trace, &file, Stdio::null());
            std::thread::sleep(Duration::from_millis(pause));
            support::interrupt(&child);
            let status = soon_ended(&mut child, command);
            // Text is ended by the signal; others write what they have.
            let is_interrupted = status.code() == Some(130) || status.signal() == Some(SIGINT);
            interrupted += u32::from(is_interrupted);
            assert!(is_interrupted || status.success(), "{command:?}: {status}");
            match names(&results).as_slice() {
                [] => {}
                // The signal may come between the last write and the end of the program.
                [one] if one == "history" => {
                    assert!(is_current(command, &trace, &file), "{command:?}: {status}");
                    fs::remove_file(&file).expect("a history");
                }
                // The next build continues it.
                [one] if one == "history.partial" && is_interrupted => {
                    fs::remove_file(results.join(one)).expect("a part");
                }
                left => panic!("{command:?} left {left:?}, {status}"),
            }
        }
        assert!(interrupted > 0, "{command:?} was always faster");
    }
}

#[test]
fn a_closed_output_ends_all_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let file = folder.path().join("history");
    for command in COMMANDS {
        let mut child = started(command, &trace, &file, Stdio::piped());
        drop(child.stdout.take());
        let is_text = command == COMMANDS[1];
        let limit = if is_text { SOON } else { Duration::from_secs(60) };
        let since = Instant::now();
        let status = child.wait().expect("own child");
        assert!(since.elapsed() < limit, "{command:?}: {:?}", since.elapsed());
        assert!(status.success(), "{command:?}: {status}");
    }
}

/// A service manager ends programs by another signal than Ctrl-C.
#[test]
fn a_conversion_that_is_terminated_leaves_no_unfinished_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(folder.path());
    let results = folder.path().join("results");
    fs::create_dir(&results).expect("a folder");
    let copy = results.join("copy");
    let mut terminated = 0;
    for pause in [20, 60, 120, 240, 480] {
        let mut command = Command::new(support::lttv());
        command.args(["convert", "--split", "1ms", "-o"]).arg(&copy).arg(&trace);
        let command = command.env("XDG_CONFIG_HOME", "/nonexistent").stdin(Stdio::null());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("a program");
        std::thread::sleep(Duration::from_millis(pause));
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("own child");
        let status = soon_ended(&mut child, &["convert"]);
        let left = names(&results);
        match left.as_slice() {
            [] => terminated += 1,
            [one] if one == "copy" => fs::remove_dir_all(&copy).expect("a copy"),
            left => panic!("convert left {left:?}, {status}"),
        }
    }
    assert!(terminated > 0, "it was always faster");
}
