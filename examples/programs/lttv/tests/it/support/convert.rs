//! Functions that the tests of `lttv convert` share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use ltt_read::schema::Scope;
use ltt_read::{Trace, Value};
use lttv::commands::convert::ConvertArgs;
use lttv_common::report::Report;

use super::Run;

pub(crate) const LIMIT: Duration = Duration::from_secs(120);

pub(crate) fn run(args: &[&str]) -> Run {
    super::run(&super::lttv(), args, None, LIMIT)
}

/// Returns the text of a trace, in one order for equal times.
pub(crate) fn dump(trace: &Path, args: &[&str]) -> Vec<String> {
    let trace = trace.to_str().unwrap();
    let format = ["dump", "--format", "babeltrace", "--clock-seconds", "--no-delta", trace];
    let run = run(&[&format[..], args].concat());
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
    let all =
        [&["convert", trace.to_str().unwrap(), "-o", output.to_str().unwrap()], args].concat();
    let run = run(&all);
    assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
    output
}

/// Converts a trace within this process, which is faster than starting another one.
pub(crate) fn convert_here(trace: &Path, output: &Path, args: &[&str]) {
    let done = try_convert_here(trace, output, args);
    done.unwrap_or_else(|error| panic!("{}: {args:?}: {error}", trace.display()));
}

/// Converts a trace within this process. Returns the text of the error if that fails.
pub(crate) fn try_convert_here(trace: &Path, output: &Path, args: &[&str]) -> Result<(), String> {
    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: ConvertArgs,
    }
    let paths = ["convert", trace.to_str().unwrap(), "-o", output.to_str().unwrap()];
    let cli = Cli::parse_from([&paths, args].concat());
    let mut report = Report::new("convert");
    let done = lttv::commands::convert::run(&cli.args, &mut report);
    done.map_err(|error| error.to_string())
}

/// Returns a line for each event of a trace, with its time, name, CPU and fields.
pub(crate) fn canonical_text(trace: &Arc<Trace>) -> Vec<String> {
    events(trace).into_iter().map(|(time, text)| format!("{time:?} {text}")).collect()
}

/// Returns the time in ns and the text of each event of a trace, without the tracefile.
pub(crate) fn events(trace: &Arc<Trace>) -> Vec<(Option<i64>, String)> {
    let mut all = Vec::new();
    for mut cursor in trace.cursors() {
        while let Some(event) = cursor.next().expect("a sound trace") {
            let time = event.timestamp().map(|time| time.as_ns());
            let mut text = format!("{} {:?}", event.event_type().name(), event.tracefile().cpu());
            for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
                if let Some(fields) = event.scope(scope) {
                    text.push_str(&format!(" {}", Value::Struct(fields)));
                }
            }
            all.push((time, text));
        }
    }
    all
}

pub(crate) fn kernel() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel/kernel")
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
