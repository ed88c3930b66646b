//! Tests the programs on traces that cannot be opened, and on traces named twice: they read
//! the rest, report the failure, and set the exit status.

use crate::support;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::Run;

const LIMIT: Duration = Duration::from_secs(60);

fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel/kernel")
}

fn run(args: &[&str], paths: &[&Path]) -> Run {
    let paths = paths.iter().map(|path| path.to_str().expect("plain names"));
    let args: Vec<_> = args.iter().copied().chain(paths).collect();
    support::run(&support::lttv(), &args, None, LIMIT)
}

/// Copies the bundled trace.
fn copy_to(dir: &Path) -> PathBuf {
    fs::create_dir_all(dir).unwrap();
    for entry in fs::read_dir(bundled()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, dir.join(path.file_name().unwrap())).unwrap();
        }
    }
    dir.to_owned()
}

/// Creates a copy of the bundled trace as `a`, and `b` with invalid metadata beside it.
fn one_bad_of_two() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    copy_to(&dir.path().join("a"));
    let bad = copy_to(&dir.path().join("b"));
    fs::write(bad.join("metadata"), "garbage!").unwrap();
    dir
}

#[test]
fn programs_read_the_traces_beside_a_bad_one_and_fail() {
    let dir = one_bad_of_two();
    let good = dir.path().join("a");
    let cases: [&[&str]; 5] = [
        &["dump", "--count"],
        &["dump"],
        &["stats", "--format", "json"],
        &["state", "--at", "1795233416.4"],
        &["chart", "flow", "--svg"],
    ];
    for args in cases {
        let (of_all, of_good) = (run(args, &[dir.path()]), run(args, &[&good]));
        assert_eq!(of_good.status, Some(0), "{args:?}: {}", of_good.stderr);
        assert!(!of_good.stdout.is_empty(), "{args:?}");
        // Only names that depend on the given path may differ.
        assert_eq!(of_all.stdout.len(), of_good.stdout.len(), "{args:?}");
        assert_eq!(of_all.status, Some(1), "{args:?}: {}", of_all.stderr);
        let reports = of_all.stderr.matches("b/metadata:1:1: ").count();
        assert_eq!(reports, 1, "{args:?}: {}", of_all.stderr);
    }
}

#[test]
fn a_bad_trace_sets_the_status_of_a_history_build() {
    let dir = one_bad_of_two();
    let file = dir.path().join("out.history");
    let args = ["history", "build", "--force"];
    let run = run(&args, &[dir.path(), &file]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("b/metadata:1:1: "), "{}", run.stderr);
    assert!(file.is_file());
}

#[test]
fn a_bad_trace_sets_the_status_of_modules() {
    let dir = one_bad_of_two();
    let of = |path: &Path| run(&["run", "-m", "textDump", "-t"], &[path]);
    let (of_all, of_good) = (of(dir.path()), of(&dir.path().join("a")));
    assert_eq!((of_all.status, of_good.status), (Some(1), Some(0)), "{}", of_all.stderr);
    assert!(of_all.stderr.contains("b/metadata:1:1: "), "{}", of_all.stderr);
    let lines = |run: &Run| run.stdout.iter().filter(|byte| **byte == b'\n').count();
    assert!(lines(&of_all) > 6087);
    assert_eq!(lines(&of_all), lines(&of_good));
}

#[test]
fn without_any_trace_each_failure_is_reported_once() {
    let dir = one_bad_of_two();
    let (bad, missing) = (dir.path().join("b"), dir.path().join("missing"));
    let run = run(&["dump", "--count"], &[&bad, &missing]);
    assert_eq!((run.status, run.stdout.as_slice()), (Some(1), [].as_slice()));
    assert_eq!(run.stderr.lines().count(), 2, "{}", run.stderr);
    assert_eq!(run.stderr.matches("b/metadata:1:1: ").count(), 1, "{}", run.stderr);
    assert_eq!(run.stderr.matches("missing: ").count(), 1, "{}", run.stderr);
}

#[test]
fn a_trace_named_twice_is_read_once_and_noted() {
    let dir = tempfile::tempdir().unwrap();
    let trace = copy_to(&dir.path().join("kernel"));
    for paths in [[&*trace, &*trace], [dir.path(), &*trace], [&*trace, dir.path()]] {
        let run = run(&["dump", "--count"], &paths);
        assert_eq!((run.stdout.as_slice(), run.status), (b"6087\n".as_slice(), Some(0)));
        assert_eq!(run.stderr.matches("read once, as ").count(), 1, "{}", run.stderr);
    }
}

/// Runs as a user without permission to read everything, if this user has it.
#[cfg(unix)]
#[test]
fn a_directory_without_permission_is_reported_and_the_rest_is_read() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    let dir = tempfile::tempdir().unwrap();
    copy_to(&dir.path().join("a"));
    let bad = copy_to(&dir.path().join("b"));
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(dir.path(), 0o755);
    mode(&bad, 0o000);
    let mut command = Command::new(support::lttv());
    command.args(["dump".as_ref(), "--count".as_ref(), dir.path().as_os_str()]);
    // The settings of this user may be unreadable for the other one.
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    if fs::read_dir(&bad).is_ok() {
        command.uid(65534).gid(65534);
    }
    let output = command.output();
    mode(&bad, 0o700);
    let Ok(output) = output else {
        support::print_note("skipped: the program cannot be run as another user");
        return;
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.stdout, b"6087\n", "{stderr}");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("b: Permission denied"), "{stderr}");
}

#[test]
fn overlapping_snapshots_are_read_as_babeltrace_reads_them() {
    let Some(shared) = support::shared() else {
        support::print_note("skipped: there are no shared traces");
        return;
    };
    let snapshots = shared.join("traces/snapshots-overlap");
    let run = run(&["dump", "--count"], &[&snapshots]);
    assert_eq!((run.stdout.as_slice(), run.status), (b"600\n".as_slice(), Some(0)));
    assert_eq!(run.stderr.matches("left out ").count(), 2, "{}", run.stderr);
}
