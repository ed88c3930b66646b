//! Functions that the tests of `lttv convert` share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Run;

pub(crate) const LIMIT: Duration = Duration::from_secs(120);

pub(crate) fn run(program: &str, args: &[&str]) -> Run {
    super::run(&super::named(program), args, None, LIMIT)
}

/// Returns the text of a trace, in one order for equal times.
pub(crate) fn dump(trace: &Path, args: &[&str]) -> Vec<String> {
    let trace = trace.to_str().unwrap();
    let format = ["--format", "babeltrace", "--clock-seconds", "--no-delta", trace];
    let run = run("text_dump", &[&format[..], args].concat());
    assert_eq!(run.status, Some(0), "{run:?}");
    let mut lines: Vec<_> =
        String::from_utf8_lossy(&run.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Converts the bundled kernel trace.
pub(crate) fn converted(folder: &Path, name: &str, args: &[&str]) -> PathBuf {
    let output = folder.join(name);
    let trace = kernel();
    let all = [&[trace.to_str().unwrap(), "-o", output.to_str().unwrap()], args].concat();
    let run = run("convert", &all);
    assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
    output
}

pub(crate) fn kernel() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/kernel/kernel")
}

/// Returns the first and the last time in a text, in ns.
pub(crate) fn span(lines: &[String]) -> (i64, i64) {
    (time(lines.first().unwrap()), time(lines.last().unwrap()))
}

/// Returns the time of a line `[seconds.nanoseconds] …` in ns.
pub(crate) fn time(line: &str) -> i64 {
    let text = line.split(['[', ']']).nth(1).unwrap();
    let (seconds, rest) = text.split_once('.').unwrap();
    seconds.parse::<i64>().unwrap() * 1_000_000_000 + rest.parse::<i64>().unwrap()
}

pub(crate) fn seconds(ns: i64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Numbers that look random and are the same in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as i64) % limit.max(1)
    }
}
