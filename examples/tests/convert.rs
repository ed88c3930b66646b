//! `lttv convert` and the example program of the same name: parts and other formats of traces.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_context::{Traceset, TracesetContext};
use lttv_state::kernel::KernelState;
use support::Run;

const LIMIT: Duration = Duration::from_secs(120);

fn run(program: &str, args: &[&str]) -> Run {
    support::run(&support::named(program), args, None, LIMIT)
}

/// Returns the text of a trace, in one order for equal times.
fn dump(trace: &Path, args: &[&str]) -> Vec<String> {
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
fn converted(folder: &Path, name: &str, args: &[&str]) -> PathBuf {
    let output = folder.join(name);
    let trace = kernel();
    let all = [&[trace.to_str().unwrap(), "-o", output.to_str().unwrap()], args].concat();
    let run = run("convert", &all);
    assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
    output
}

fn kernel() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/kernel/kernel")
}

/// Returns the first and the last time in a text, in ns.
fn span(lines: &[String]) -> (i64, i64) {
    (time(lines.first().unwrap()), time(lines.last().unwrap()))
}

/// Returns the time of a line `[seconds.nanoseconds] …` in ns.
fn time(line: &str) -> i64 {
    let text = line.split(['[', ']']).nth(1).unwrap();
    let (seconds, rest) = text.split_once('.').unwrap();
    seconds.parse::<i64>().unwrap() * 1_000_000_000 + rest.parse::<i64>().unwrap()
}

fn seconds(ns: i64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as i64) % limit.max(1)
    }
}

#[test]
fn a_converted_trace_has_the_same_text() {
    let folder = tempfile::tempdir().unwrap();
    let expected = dump(&kernel(), &["--names=all", "--fields=all"]);
    assert!(expected.len() > 1000);
    for (name, args) in [
        ("same", &[][..]),
        ("ctf2", &["--to", "ctf2"]),
        ("ctf1", &["--to", "ctf1.8"]),
        ("filtered", &["--filter", "event.name != \"\""]),
    ] {
        let output = converted(folder.path(), name, args);
        let found = dump(&output, &["--names=all", "--fields=all"]);
        assert!(found == expected, "{name}: {} lines, {} expected", found.len(), expected.len());
    }
    let there = folder.path().join("ctf2");
    let back = folder.path().join("back");
    let (from, to) = (there.to_str().unwrap(), back.to_str().unwrap());
    let run = run("convert", &[from, "-o", to, "--to", "ctf1.8"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    assert!(dump(&back, &["--names=all", "--fields=all"]) == expected);
    let small = converted(folder.path(), "small", &["--packet-size", "4K"]);
    assert!(dump(&small, &[]) == dump(&kernel(), &[]));
}

#[test]
fn windows_are_slices_of_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let all = dump(&kernel(), &[]);
    let (first, last) = span(&all);
    let mut random = Random(7);
    for number in 0..25 {
        let begin = first + random.below(last - first);
        let end = begin + random.below(last - begin);
        let (from, to) = (seconds(begin), seconds(end));
        let name = format!("window{number}");
        let output = converted(folder.path(), &name, &["--begin", &from, "--end", &to]);
        let inside = |line: &&String| (begin..=end).contains(&time(line));
        let expected: Vec<_> = all.iter().filter(inside).cloned().collect();
        assert!(dump(&output, &[]) == expected, "{from} to {to}");
    }
}

#[test]
fn parts_are_the_whole_together() {
    let folder = tempfile::tempdir().unwrap();
    let all = dump(&kernel(), &[]);
    for (name, split) in [("time", "50ms"), ("count", "1000"), ("size", "100K")] {
        let output = converted(folder.path(), name, &["--split", split]);
        let mut parts: Vec<_> = fs::read_dir(&output).unwrap().map(|e| e.unwrap().path()).collect();
        parts.sort();
        assert!(parts.len() > 1, "{name}");
        let mut together: Vec<String> = parts.iter().flat_map(|part| dump(part, &[])).collect();
        together.sort();
        assert!(together == all, "{name}: {} of {} lines", together.len(), all.len());
    }
}

#[test]
fn events_and_cpus_are_selected() {
    let folder = tempfile::tempdir().unwrap();
    let output = converted(folder.path(), "out", &["--events", "sched_*", "--cpus", "0-1"]);
    let all = dump(&kernel(), &[]);
    let wanted = |line: &&String| {
        line.contains(" sched_") && (line.contains("cpu_id = 0 }") || line.contains("cpu_id = 1 }"))
    };
    let expected: Vec<_> = all.iter().filter(wanted).cloned().collect();
    assert!(!expected.is_empty() && dump(&output, &[]) == expected);
    let trace = kernel();
    let other = folder.path().join("other");
    let args = [trace.to_str().unwrap(), "-o", other.to_str().unwrap()];
    let unknown = run("convert", &[&args[..], &["--events", "nothing"]].concat());
    assert_eq!(unknown.status, Some(2), "{unknown:?}");
    let occupied = run("convert", &[args[0], "-o", output.to_str().unwrap()]);
    assert_eq!(occupied.status, Some(1), "{occupied:?}");
    let entries = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(entries, 1, "only the result is there");
}

#[test]
fn a_state_dump_keeps_the_names_of_processes() {
    let folder = tempfile::tempdir().unwrap();
    let (first, last) = span(&dump(&kernel(), &[]));
    let middle = first + (last - first) / 2;
    let part = converted(folder.path(), "part", &["--begin", &seconds(middle), "--with-statedump"]);
    let later = Timestamp::from_ns(first + (last - first) / 4 * 3);
    let processes = |trace: &Path| {
        let mut context = TracesetContext::new(Traceset::open(trace).unwrap());
        let kernel = context.attach(KernelState::new());
        context.seek_time_with_state(later);
        let mut found = BTreeMap::new();
        for state in context.extensions()[kernel].traces() {
            for (_, process) in state.processes() {
                let Some(tid) = process.tid().filter(|tid| *tid != 0) else { continue };
                let files = process.files().iter();
                let files = files.map(|(fd, name)| (*fd, state.name(*name).to_owned()));
                let name = state.name(process.name()).to_owned();
                found.insert(tid, (name, process.pid(), files.collect::<Vec<_>>()));
            }
        }
        found
    };
    let expected = processes(&kernel());
    assert!(expected.len() > 10);
    let found = processes(&part);
    for (tid, process) in expected {
        assert_eq!(found.get(&tid), Some(&process), "thread {tid}");
    }
}

#[test]
fn anonymous_traces_have_the_same_events_and_other_names() {
    let folder = tempfile::tempdir().unwrap();
    let output = converted(folder.path(), "out", &["--anonymise"]);
    let (before, after) = (dump(&kernel(), &[]), dump(&output, &[]));
    assert_eq!(before.len(), after.len());
    let text = after.join("\n");
    for name in ["corpushost", "lttng-consumerd", "kworker"] {
        assert!(before.join("\n").contains(name) && !text.contains(name), "{name}");
    }
    assert!(text.contains("\"process-1\"") && text.contains("host-1"));
}

#[test]
fn perfetto_reads_the_json() {
    let folder = tempfile::tempdir().unwrap();
    let file = converted(folder.path(), "trace.json", &["--to", "perfetto"]);
    let json: serde_json::Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let of = |kind: &str| events.iter().filter(|event| event["ph"] == kind).count();
    assert!(of("X") > 100 && of("M") > 10 && of("i") > 1000 && of("B") > 10);
    let times = events.iter().filter(|event| event["ph"] != "M");
    assert!(times.into_iter().all(|event| event["ts"].is_number() && event["pid"].is_i64()));
}

#[test]
fn a_killed_conversion_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let expected = dump(&kernel(), &[]);
    let mut random = Random(3);
    let (mut whole, mut none) = (0, 0);
    for number in 0..20 {
        let output = folder.path().join(format!("out{number}"));
        let mut child = Command::new(support::named("convert"))
            .args([kernel().as_path(), Path::new("-o"), &output])
            .args(["--filter", "event.name != \"\""])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(random.below(60_000) as u64));
        _ = child.kill();
        child.wait().unwrap();
        match output.exists() {
            true => {
                assert!(dump(&output, &[]) == expected);
                fs::remove_dir_all(&output).unwrap();
                whole += 1;
            }
            false => none += 1,
        }
        let found = ltt_read::find_traces(folder.path());
        assert!(found.is_err(), "{found:?} is a part of a trace");
    }
    eprintln!("{whole} whole, {none} without result");
}
