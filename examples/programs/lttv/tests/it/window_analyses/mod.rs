//! Compares `lttv wait`, `lttv irq`, `lttv disk`, `lttv latency` and `lttv stats --longest`, for windows of the bundled trace, with plain
//! models that read the lines of `lttv dump`, and with the modules of `lttv run`.

mod disks;
mod interrupts;
mod latency;
mod longest;
mod waits;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use clap::Parser;
use lttv::commands::disk::{self, DiskArgs};
use lttv::commands::dump::{self, DumpArgs};
use lttv::commands::irq::{self, IrqArgs};
use lttv::commands::run::{self, RunArgs};
use lttv::commands::stats::{self, StatsArgs};
use lttv::commands::wait::{self, WaitArgs};
use lttv_common::report::{Report, Usage};
use serde_json::Value;

const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
const UST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/ust");

/// The command line of a subcommand.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line<A: clap::Args> {
    #[command(flatten)]
    args: A,
}

type Done = Result<String, Box<dyn Error>>;

/// The function of a subcommand.
type Run<A> = fn(&A, &mut Report) -> Result<(), Box<dyn Error>>;

/// Runs a subcommand, and returns its output.
fn output<A: clap::Args>(run: Run<A>, args: &[&str]) -> Done {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("output");
    let file = path.to_str().ok_or("a path that is no text")?;
    let words = [args, &["-o", file]].concat();
    run(&Line::<A>::try_parse_from(words)?.args, &mut Report::new("lttv"))?;
    Ok(fs::read_to_string(path)?)
}

fn json<A: clap::Args>(run: Run<A>, args: &[&str]) -> Value {
    let args = [args, &["--utc", "--format", "json", KERNEL]].concat();
    let text = output(run, &args).unwrap_or_else(|error| panic!("{args:?}: {error}"));
    serde_json::from_str(&text).unwrap()
}

fn rows<'v>(of: &'v Value, table: &str) -> &'v Vec<Value> {
    of[table].as_array().unwrap_or_else(|| panic!("no table {table} in {of}"))
}

fn ns(row: &Value, key: &str) -> i64 {
    row[key].as_i64().unwrap_or_else(|| panic!("no {key} in {row}"))
}

/// An event line of `lttv dump`.
struct EventLine {
    name: String,
    time: i64,
    cpu: u32,
    /// The thread that caused the event, from its context.
    tid: i64,
    fields: String,
}

impl EventLine {
    fn number(&self, name: &str) -> i64 {
        let (_, rest) = self.fields.rsplit_once(&format!("{name} = ")).unwrap();
        rest.split([',', ' ']).next().unwrap().parse().unwrap()
    }
}

fn lines() -> &'static [EventLine] {
    static LINES: OnceLock<Vec<EventLine>> = OnceLock::new();
    LINES.get_or_init(|| {
        let text = output::<DumpArgs>(dump::run, &["--format=lttv", KERNEL]).unwrap();
        let parse = |line: &str| {
            let (name, rest) = line.split_once(": ").unwrap();
            let (time, rest) = rest.split_once(" (").unwrap();
            let (place, context) = rest.split_once("), tid = ").unwrap();
            let (tid, _) = context.split_once(',').unwrap();
            let (_, fields) = rest.split_once(" { ").unwrap_or(("", ""));
            EventLine {
                name: name.split_once('.').unwrap().1.to_owned(),
                time: time.replace('.', "").parse().unwrap(),
                cpu: place.rsplit_once('_').unwrap().1.parse().unwrap(),
                tid: tid.parse().unwrap(),
                fields: fields.to_owned(),
            }
        };
        text.lines().map(parse).collect()
    })
}

/// Returns the times of the first and the last event.
fn all() -> (i64, i64) {
    let lines = lines();
    (lines[0].time, lines[lines.len() - 1].time)
}

/// Formats a time for the command line.
fn time(ns: i64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

fn range((begin, end): (i64, i64)) -> String {
    format!("{}..{}", time(begin), time(end))
}

/// Returns pseudo-random windows of all lengths.
fn windows(count: u64) -> Vec<(i64, i64)> {
    let (first, last) = all();
    let mut seed = 2026_u64;
    let mut random = |below: i64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) as i64) % below.max(1)
    };
    let window = |at| {
        let begin = first + random(last - first);
        (begin, begin + random((last - begin) >> (at % 12)))
    };
    (0..count).map(window).collect()
}

/// Returns the part of a time span in a window.
fn part((begin, end): (i64, i64), window: (i64, i64)) -> i64 {
    (end.min(window.1) - begin.max(window.0)).max(0)
}

/// Returns times that divide the trace, none of them that of an event, so that consecutive
/// windows have no event in common.
fn cuts() -> Vec<i64> {
    let (first, last) = all();
    let is_event = |time| lines().iter().any(|line| line.time == time);
    let cut = |part| (first + (last - first) * part / 7..).find(|time| !is_event(*time)).unwrap();
    [first].into_iter().chain((1..7).map(cut)).chain([last]).collect()
}

#[test]
fn modules_have_the_results_of_the_commands() {
    let (first, last) = all();
    let (begin, end) = (time(first + (last - first) / 3), time(last - (last - first) / 3));
    let window = ["--begin", &*begin, "--end", &*end];
    let module = |name| {
        let words = [&["-m", name, "-t", KERNEL], &window[..]].concat();
        output::<RunArgs>(run::run, &words).unwrap().replace(" of trace 0\n", "\n")
    };
    let args = [&window[..], &["--utc", KERNEL]].concat();
    assert_eq!(module("interrupts"), output::<IrqArgs>(irq::run, &args).unwrap());
    assert_eq!(module("diskPerformance"), output::<DiskArgs>(disk::run, &args).unwrap());
}

#[test]
fn traces_without_the_needed_events_are_refused() {
    let needs = |done: Done, events: &str| {
        let error = done.unwrap_err();
        let text = error.to_string();
        assert!(
            !error.is::<Usage>() && text.contains("needs a kernel trace with the events"),
            "{text}"
        );
        assert!(text.contains(events) && text.ends_with("is a user-space trace"), "{text}");
    };
    needs(output::<WaitArgs>(wait::run, &[UST]), "events sched_switch:");
    needs(output::<IrqArgs>(irq::run, &[UST]), "irq_handler_entry, irq_handler_exit");
    needs(output::<DiskArgs>(disk::run, &[UST]), "block_rq_issue, block_rq_complete");
    // One kernel trace among others is enough.
    let both =
        output::<IrqArgs>(irq::run, &["--format", "csv", "--table", "interrupts", UST, KERNEL]);
    let alone = output::<IrqArgs>(irq::run, &["--format", "csv", "--table", "interrupts", KERNEL]);
    assert_eq!(both.unwrap(), alone.unwrap());
}

#[test]
fn options_without_effect_are_refused() {
    for error in [
        output::<WaitArgs>(wait::run, &["-e", "vec == 1", KERNEL]).unwrap_err(),
        output::<DiskArgs>(disk::run, &["-e", "vec == 1", KERNEL]).unwrap_err(),
        output::<IrqArgs>(irq::run, &["--begin", "5s", "--end", "6s", KERNEL]).unwrap_err(),
        output::<WaitArgs>(wait::run, &["--sort", "blocked", KERNEL]).unwrap_err(),
    ] {
        assert!(error.is::<Usage>(), "{error}");
    }
    let none = output::<WaitArgs>(wait::run, &["--tid", "4000000", KERNEL]).unwrap_err();
    assert_eq!(none.to_string(), "no thread in the window has TID 4000000");
    assert!(Path::new(KERNEL).is_dir());
}
