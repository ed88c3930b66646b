//! The program: its messages, and the options that it refuses.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::support::small_traces;

fn server(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lttv-server"));
    command.args(["--no-cache", "--port", "0"]).args(args);
    command
}

#[test]
fn what_cannot_be_read_is_told_on_standard_error_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    small_traces::write_damaged(&directory.path().join("damaged"));
    small_traces::write_unreadable(&directory.path().join("unreadable"));
    let path = directory.path().to_str().unwrap();
    let mut child = server(&[path]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let found: Vec<String> = lines.map(Result::unwrap).take(3).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let count = |of: &str| found.iter().filter(|line| line.contains(of)).count();
    assert_eq!((count("lttv-server: error: "), count("unreadable/metadata")), (2, 1), "{found:?}");
    assert_eq!(count("damaged/stream_0: packet 1"), 2, "{found:?}");
}

#[test]
fn options_that_protect_nothing_are_refused() {
    let wrong: [&[&str]; 9] = [
        &["--token", ""],
        &["--origin", "*"],
        &["--origin", "http://*"],
        &["--origin", "https://*"],
        &["--origin", "://*"],
        &["--origin", "vscode-webview://a*"],
        &["--origin", "localhost"],
        &["--origin", "http://localhost:3000/"],
        &["--bind", "0.0.0.0"],
    ];
    for args in wrong {
        let run = server(args).output().unwrap();
        assert_eq!((run.status.code(), run.stdout.len()), (Some(2), 0), "{args:?}");
        assert!(String::from_utf8_lossy(&run.stderr).contains(args[0]), "{args:?}: {run:?}");
    }
}

#[test]
fn a_path_without_a_trace_ends_the_program_with_its_name() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("empty")).unwrap();
    small_traces::write_damaged(&directory.path().join("trace"));
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (good, empty, missing) = (at("trace"), at("empty"), at("missing"));
    for (args, part) in [
        ([good.as_str(), empty.as_str()], "no trace here"),
        ([good.as_str(), missing.as_str()], "missing: No such file"),
    ] {
        let run = server(&args).output().unwrap();
        assert_eq!((run.status.code(), run.stdout.len()), (Some(1), 0), "{args:?}");
        assert!(String::from_utf8_lossy(&run.stderr).contains(part), "{args:?}: {run:?}");
    }
}
