//! `lttv record` as a command: what it prints, its exit status, and its errors. Its package tests recordings. Here a
//! script stands for LTTng, so that nothing is recorded.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::support;

/// A program that creates sessions and copies a trace.
const LTTNG: &str = r#"#!/bin/sh
shift
case "$1" in
    list) printf '      sched_switch (loglevel: X) (type: tracepoint)\n      block_rq_issue (x)\n      block_rq_complete (x)\n' ;;
    create) echo "${3#--output=}" > "${0%/*}/output" ;;
    stop) cp -r '@trace@' "$(cat "${0%/*}/output")/kernel" ;;
esac
"#;

fn record(folder: &Path, args: &[&str]) -> Output {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let script = bin.join("lttng");
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
    fs::write(&script, LTTNG.replace("@trace@", trace)).expect("a script");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a script");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(support::lttv());
    command.arg("record").args(args).current_dir(folder);
    command.env("PATH", format!("{}:{path}", bin.display()));
    command.env("XDG_STATE_HOME", folder.join("state"));
    command.output().expect("lttv")
}

fn stderr(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

#[test]
fn the_status_is_that_of_the_command_and_the_output_belongs_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["--for", "disk,wait", "-o", "my out", "--", "sh", "-c", "echo \"$PWD\"; exit 3"];
    let run = record(folder.path(), &args);
    let text = stderr(&run);
    assert_eq!(run.status.code(), Some(3), "{text}");
    let here = folder.path().canonicalize().expect("a folder");
    assert_eq!(String::from_utf8_lossy(&run.stdout), format!("{}\n", here.display()));
    for expected in [
        "lttv: lttng records into ",
        "lttng has no sched_waking, sched_wakeup_new: the causes of all waits are unknown",
        "lttv: recorded ",
        "look at it: `lttv 'my out'`, `lttv disk 'my out'`, `lttv wait 'my out'`",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("lost"), "{text}");
    assert!(folder.path().join("my out/kernel").is_dir());
    assert_eq!(fs::read_dir(folder.path().join("state/lttv/record")).expect("a folder").count(), 0);
    // The folder has a recording now.
    let run = record(folder.path(), &args);
    assert_eq!(run.status.code(), Some(1));
    assert!(stderr(&run).contains("my out: the folder for the recording is not empty"));
}

#[test]
fn recordings_have_names_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    for number in 1..3 {
        let run = record(folder.path(), &["--for", "disk", "--time", "10ms"]);
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
        assert!(folder.path().join(format!("lttv-recording-{number}/kernel")).is_dir());
    }
}

#[test]
fn commands_that_cannot_run_have_the_status_of_shells() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("data"), "no program").expect("a file");
    for (command, status) in [("./no-such-program", 127), ("./data", 126)] {
        let run = record(folder.path(), &["--for", "disk", "-o", "out", "--", command]);
        assert_eq!(run.status.code(), Some(status), "{}", stderr(&run));
        assert!(stderr(&run).contains(&format!("cannot run {command}: ")), "{}", stderr(&run));
        assert!(!folder.path().join("out").exists());
    }
}

#[test]
fn missing_tracers_and_wrong_options_are_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = record(folder.path(), &["--with", "ftrace", "--tracefs", "nowhere", "--", "true"]);
    assert_eq!(run.status.code(), Some(1));
    let text = stderr(&run);
    assert!(text.contains("lttv: error: ftrace: tracefs is not mounted at nowhere"), "{text}");
    assert!(text.contains("sudo mount -t tracefs tracefs nowhere"), "{text}");
    // Interrupts need other events than those of the script.
    let run = record(folder.path(), &["--with", "lttng", "--for", "irq", "--", "true"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(stderr(&run).contains("without which there are no interrupts"), "{}", stderr(&run));
    for (args, expected) in [
        (&["--for", "dsk"][..], "'disk'"),
        (&["--with", "perv"], "'perf'"),
        (&["--time", "0"], "expected a length of time"),
        (&["--buffer", "8"], "expected a size"),
        (&["--clean", "--", "true"], "cannot be used with"),
    ] {
        let run = record(folder.path(), args);
        assert_eq!(run.status.code(), Some(2), "{args:?}");
        assert!(stderr(&run).contains(expected), "{args:?}: {}", stderr(&run));
    }
    let run = record(folder.path(), &["--clean"]);
    assert_eq!(
        (run.status.code(), stderr(&run).trim()),
        (Some(0), "lttv: there is nothing to undo")
    );
}
