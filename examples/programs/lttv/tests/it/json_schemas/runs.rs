//! The commands that are run, and what they read.

use std::path::Path;
use std::time::Duration;

use lttv_traces::{Options, calls_like};

use crate::support;
use crate::support::hosts::{Machine, messages, write};

/// A command with options, and what it is run on, one after the other: names of traces, with blanks
/// between those that are read together.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) command: &'static str,
    /// In place of `{}` are the traces, which are otherwise the last words, of `{clocks}` a file
    /// with transforms, and of `{writes}` one of definitions.
    options: &'static str,
    on: &'static [&'static str],
}

/// The traces that come with the repository, and one of calls and allocations.
const ALL: &[&str] =
    &["ftrace", "kernel", "legacy", "perf", "ust", "ust-ctf2", "ust-lost", "ust-threads", "shop"];
const KERNEL: &[&str] = &["kernel"];
/// With several traces, tables have a column for their numbers.
const SEVERAL: &[&str] = &["kernel ftrace"];
/// Traces of about the same time.
const TOGETHER: &[&str] = &["../stories/slow-build ../stories/noisy-neighbour"];
const HOSTS: &[&str] = &["client server"];

const fn run(command: &'static str, options: &'static str, on: &'static [&'static str]) -> Run {
    Run { command, options, on }
}

/// Options with which commands print all of their tables and members. What does not have the events that a
/// command needs is left out.
pub(super) const RUNS: &[Run] = &[
    run("dump", "", ALL),
    run("spans", "", ALL),
    run("spans", "--define {writes} --family period", KERNEL),
    run("why", "--at +250ms --tid 211 --family syscall", KERNEL),
    run("why", "--at +250ms --tid 202 --family futex", KERNEL),
    run("why", "--at +270ms --tid 211 --family disk", KERNEL),
    run("why", "--at +2s --tid 1394 --family blocked", &["ftrace"]),
    run("why", "--at 32.471 --tid 1875 --family syscall", &["legacy"]),
    run("stats", "", ALL),
    run("stats", "", SEVERAL),
    run("stats", "--longest fdatasync", KERNEL),
    run("stats", "--table cpu_processes,processes,groups,commands,devices,events", ALL),
    run("info", "", ALL),
    run("info", "--events", ALL),
    run("state", "--at +1ms", ALL),
    run("state", "--at +1ms", SEVERAL),
    run("wait", "", ALL),
    run("wait", "", SEVERAL),
    run("wait", "--tid 211", KERNEL),
    run("critical-path", "--tid 211", &["kernel", "kernel ftrace"]),
    run("irq", "", ALL),
    run("irq", "", SEVERAL),
    run("disk", "", ALL),
    run("disk", "", SEVERAL),
    run("usage", "", ALL),
    run("usage", "", SEVERAL),
    run("calls", "", ALL),
    run("calls", "", &["shop ust", "perf ust"]),
    run("calls", "--of off-cpu", &["ftrace"]),
    run("counters", "", ALL),
    run("counters", "--every 100ms", ALL),
    run("counters", "--every 100ms", TOGETHER),
    run("latency", "", ALL),
    run("latency", "", SEVERAL),
    run("latency", "--every 100ms", KERNEL),
    run("latency", "--every 100ms", TOGETHER),
    run("latency", "--family syscall --by thread", KERNEL),
    run("latency", "--family syscall --by process", KERNEL),
    run("latency", "--family syscall --by both", KERNEL),
    run("latency", "--family syscall --by file", KERNEL),
    run("latency", "--family syscall --by cpu", KERNEL),
    run("latency", "--family read,write,disk --by size", KERNEL),
    run("latency", "--family syscall --by result", KERNEL),
    run("latency", "--family syscall --tid 211", KERNEL),
    run("latency", "--family run,blocked --by thread", KERNEL),
    run("latency", "--define locks", &["ftrace", "kernel"]),
    run("latency", "--define {writes} --family period --by write.file", KERNEL),
    run("latency", "--define {writes} --family period --by written", KERNEL),
    run("compare", "", &["kernel kernel", "kernel ftrace"]),
    run("sync", "", HOSTS),
    run("sync", "--check {clocks}", HOSTS),
    run("history", "at {} +10ms", KERNEL),
    run("history", "range {} 0/CPUs/**", KERNEL),
    run("history", "changes {} 0/CPUs/0", KERNEL),
    run("run", "-m statistics -t {}", KERNEL),
    run("run", "-m textDump -m eventCounts -m rates -t {}", ALL),
    run("run", "-m latency -m interrupts -m usage -t {}", KERNEL),
    run("run", "--types -m eventCounts -t {}", KERNEL),
    run("run", "--list-fields -t {}", ALL),
];

impl Run {
    /// Returns the command lines, each with its traces.
    pub(super) fn lines(&self, inputs: &Inputs) -> Vec<(Vec<String>, Vec<String>)> {
        self.on.iter().map(|names| inputs.line(self, names)).collect()
    }
}

/// The traces that commands read.
pub(super) struct Inputs(tempfile::TempDir);

impl Inputs {
    pub(super) fn new() -> Self {
        let inputs = Inputs(tempfile::tempdir().expect("a folder"));
        let folder = inputs.0.path();
        let client = Machine { name: "client", offset: 5_000_000_000, ppb: 0 };
        let server = Machine { name: "server", offset: 7_250_000_000, ppb: 40_000 };
        write(folder, &[client, server], &messages(&[(0, 1)], 400));
        let options = Options { index: false, mean_gap: 2_000, ..Options::default() };
        calls_like(&folder.join("shop"), 2, 4_000, &options).expect("a trace");
        let [client, server, clocks] = ["client", "server", "clocks"].map(|name| inputs.path(name));
        let words = ["sync", &client, &server, "--write", &clocks];
        let run = support::run(&support::lttv(), &words, None, Duration::from_secs(60));
        assert_eq!(run.status, Some(0), "{run:?}");
        inputs
    }

    /// Returns the path of a trace, or of what else is there.
    fn path(&self, name: &str) -> String {
        let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(name);
        let path = if bundled.exists() { bundled } else { self.0.path().join(name) };
        path.to_str().expect("UTF-8").to_owned()
    }

    /// Returns the words of a command line, and the traces among them.
    fn line(&self, run: &Run, names: &str) -> (Vec<String>, Vec<String>) {
        let traces: Vec<String> = names.split(' ').map(|name| self.path(name)).collect();
        let mut words = vec![run.command.to_owned()];
        for word in run.options.split_whitespace() {
            match word {
                "{}" => words.extend(traces.iter().cloned()),
                "{clocks}" => words.push(self.path("clocks")),
                "{writes}" => words.push(self.path("../definitions/writes.toml")),
                word => words.push(word.to_owned()),
            }
        }
        if !run.options.contains("{}") {
            words.extend(traces.iter().cloned());
        }
        let json: &[&str] = if run.command == "run" { &["--json"] } else { &["--format", "json"] };
        words.extend(json.iter().map(|word| (*word).to_owned()));
        (words, traces)
    }
}
