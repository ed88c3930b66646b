//! Functions that the tests share.

pub(crate) mod convert;
pub(crate) mod ctf2_rules;
pub(crate) mod hosts;
pub(crate) mod recorders;
pub(crate) mod typed_json;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Returns the folder of recorded traces next to the repository, if it exists.
pub(crate) fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared");
    path.join("traces/ctf").is_dir().then_some(path)
}

/// Returns kernel traces: the bundled one, and recordings of the shared folder.
pub(crate) fn kernel_traces() -> Vec<PathBuf> {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel");
    let Some(shared) = shared() else {
        print_note("skipped: recordings of kernels, which are not there");
        return vec![bundled];
    };
    let folder = std::fs::read_dir(shared.join("traces/ctf")).expect("a folder");
    let mut traces: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("k1-") || name.starts_with("k2-"))
    };
    traces.retain(is_ours);
    traces.sort();
    [vec![bundled], traces].concat()
}

/// Prints a line even if the test passes: the output of `println!` is shown only for failed
/// tests.
pub(crate) fn print_note(line: &str) {
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Sends the signal of Ctrl-C to a program that has not been waited for. It may have ended. (The program
/// `kill` would need longer to start than some programs to end.)
#[cfg(unix)]
pub(crate) fn interrupt(child: &Child) {
    let id = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("own child");
}

/// Returns the path of the program.
pub(crate) fn lttv() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_lttv"))
}

/// Returns the rows of a table in the results of a module of `lttv run --json`.
pub(crate) fn module_rows(results: &Value, module: &str, table: &str) -> Vec<Value> {
    let rows = results[module][table].as_object();
    let rows = rows.unwrap_or_else(|| panic!("no table {module}/{table}"));
    let all: Vec<_> = (0..).map_while(|number| rows.get(&format!("[{number}]")).cloned()).collect();
    assert_eq!(all.len(), rows.len(), "{module}/{table}");
    all
}

/// Returns the rows of a table of a command, as those of a module: without empty cells.
pub(crate) fn rows_without_empty(tables: &Value, table: &str) -> Vec<Value> {
    let rows = tables[table].as_array().unwrap_or_else(|| panic!("no table {table}"));
    let mut rows = rows.clone();
    let cells = rows.iter_mut().filter_map(Value::as_object_mut);
    cells.for_each(|row| row.retain(|_, cell| !cell.is_null()));
    rows
}

/// The result of running a program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    /// The exit status; `None` if it was killed by a signal or by the time limit.
    pub(crate) status: Option<i32>,
}

impl Run {
    /// Returns `true` if it ended by itself without a panic.
    pub(crate) fn is_orderly(&self) -> bool {
        self.status.is_some_and(|status| status != 101)
    }
}

/// Runs `lttv dump`, as [`run`] does.
pub(crate) fn dump(args: &[&str], path: Option<&Path>, limit: Duration) -> Run {
    run(&lttv(), &[&["dump"], args].concat(), path, limit)
}

/// Returns a time of an event as tables show it in UTC.
pub(crate) fn time_of_day(ns: i64) -> String {
    let (seconds, ns) = (ns / 1_000_000_000 % 86_400, ns % 1_000_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hour:02}:{minute:02}:{second:02}.{ns:09}")
}

/// Runs a program with UTC as the local time and without settings of the user, for at most
/// `limit`.
pub(crate) fn run(program: &Path, args: &[&str], path: Option<&Path>, limit: Duration) -> Run {
    let mut child = Command::new(program)
        .args(args)
        .args(path)
        .env("TZ", "UTC")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env_remove("LTTV_CONFIG")
        .env_remove("COLUMNS")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{}: {e}", program.display()));
    let collect = |mut pipe: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).map(|_| bytes).unwrap_or_default()
        })
    };
    let stdout = collect(Box::new(child.stdout.take().expect("piped")));
    let stderr = collect(Box::new(child.stderr.take().expect("piped")));
    let started = Instant::now();
    let mut pause = Duration::from_micros(500);
    let status = loop {
        match child.try_wait().expect("own child") {
            Some(status) => break status.code(),
            None if started.elapsed() > limit => {
                child.kill().expect("own child");
                child.wait().expect("own child");
                break None;
            }
            None => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    Run {
        stdout: stdout.join().expect("reader thread"),
        stderr: String::from_utf8_lossy(&stderr.join().expect("reader thread")).into_owned(),
        status,
    }
}
