//! Functions that the tests of the example programs share.
#![allow(dead_code)] // Each test uses a part of it.

pub(crate) mod convert;
pub(crate) mod ctf2_rules;
pub(crate) mod hosts;
pub(crate) mod recorders;
pub(crate) mod typed_json;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Returns the folder of recorded traces next to the repository, if it exists.
pub(crate) fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared");
    path.join("traces/ctf").is_dir().then_some(path)
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

/// Returns the path of an example program. Builds it if necessary, since
/// `cargo test --test NAME` alone does not.
pub(crate) fn example(name: &str) -> PathBuf {
    built(name, &["--example", name]).join("examples").join(name)
}

/// Returns the path of a program that is a package of its own, such as `lttv`. Builds it if
/// necessary.
pub(crate) fn program(name: &str) -> PathBuf {
    built(name, &["--bin", name]).join(name)
}

/// Returns the path of a program: the package `lttv`, or an example.
pub(crate) fn named(name: &str) -> PathBuf {
    if name == "lttv" { program(name) } else { example(name) }
}

/// Builds a program once. Returns the folder of its profile.
///
/// The features are those of a test of the whole workspace, which so compiles the libraries once. An
/// example is among what is built because the features of its dependencies for tests count as well.
fn built(name: &str, what: &[&str]) -> PathBuf {
    static BUILT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder = test.ancestors().nth(2).expect("tests are in target/PROFILE/deps");
    let mut built = BUILT.lock().expect("no build panics");
    if built.insert(name.to_owned()) {
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
        cargo.args(["build", "--quiet", "--profile", profile, "--workspace", "--all-features"]);
        cargo.args(["--example", "text_dump"]).args(what);
        let status = cargo.status().expect("cargo runs this test");
        assert!(status.success(), "cannot build the program {name}");
    }
    folder.to_owned()
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

/// Runs a program with UTC as the local time and without settings of the user, for at most
/// `limit`.
pub(crate) fn run(program: &Path, args: &[&str], path: Option<&Path>, limit: Duration) -> Run {
    let mut child = Command::new(program)
        .args(args)
        .args(path)
        .env("TZ", "UTC")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env_remove("LTTV_CONFIG")
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
