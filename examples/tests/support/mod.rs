//! What the tests of the example programs share.
#![allow(dead_code)] // each test uses its part

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The folder of recorded traces next to the repository, if it is there.
pub(crate) fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    path.join("traces/ctf").is_dir().then_some(path)
}

/// Tells something even if the test passes: what `println!` writes is shown of
/// failed tests only.
pub(crate) fn tell(line: &str) {
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// An example program. `cargo test` builds them along with the tests, but
/// `cargo test --test NAME` does not.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let profile = test.ancestors().nth(2).expect("tests are in target/PROFILE/deps");
    profile.join("examples").join(name)
}

/// What a program did.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    /// `None` if it was killed by a signal or had to be.
    pub(crate) status: Option<i32>,
}

impl Run {
    /// Whether it ended by itself and without a panic.
    pub(crate) fn is_orderly(&self) -> bool {
        self.status.is_some_and(|status| status != 101)
    }
}

/// Runs a program with UTC as the local time, for at most `limit`.
pub(crate) fn run(program: &Path, args: &[&str], path: Option<&Path>, limit: Duration) -> Run {
    let mut child = Command::new(program)
        .args(args)
        .args(path)
        .env("TZ", "UTC")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{}: {e} (cargo build --examples)", program.display()));
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
