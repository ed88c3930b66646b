//! `lttv convert` on every trace of the shared folder: texts before and after, what babeltrace2 says
//! of the results, the rules of CTF 2, and statistics.
//!
//! Every eighth trace is converted, or all with `LTTV_CONVERT_ALL=1`.

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::convert::run;
use crate::support::print_note;
use lttv_context::Traceset;
use lttv_state::analysis::read;
use lttv_state::stats::StatisticsAnalysis;

/// The traces with fields, names or roles that CTF 1.8 lacks. The warnings of the conversion name
/// them.
const ONLY_IN_CTF2: [&str; 5] = [
    "yac2-pass-fl-sint-8-le-rev",
    "yac2-pass-opts",
    "yac2-pass-rel-data-loc-3",
    "yac2-pass-rel-data-loc-4",
    "yac2a-pass-multiple-dst-id-fl-ints",
];

/// The traces whose CTF 1.8 babeltrace 2.0.4 does not read: it ends itself, refuses times that go
/// back, or does not find a length in an earlier structure. Of the three whose originals are in
/// CTF 1.8, it does not read these either.
const NOT_FOR_BABELTRACE: [&str; 6] = [
    "bt2-succeed-meta-ctx-sequence",
    "gen-mut-k2-noise-events",
    "gen-mut-k2-ts-end-before-begin",
    "yac2a-pass-all-basic-features-be",
    "yac2a-pass-clk-vals",
    "yac2a-pass-dl-array-multi-len",
];

/// The generated traces before format 2.3. Unlike recorded ones, their events lack the channel in
/// their names, so that only the files of the result tell it.
const WITHOUT_CHANNELS: [&str; 3] = ["synth-v2.0-", "synth-v2.1-", "synth-v2.2-"];

const TEXT: [&str; 4] = ["--clock-seconds", "--no-delta", "--names=all", "--fields=all"];

#[test]
fn every_ctf_trace_keeps_its_text() {
    let Some(shared) = support::shared() else {
        return print_note("SKIPPED: there is no ../shared/traces/ctf");
    };
    let has_babeltrace = has_babeltrace();
    let (compared, peers) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (skipped, checked) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let folders = selected(&shared.join("traces/ctf"));
    in_parallel(&folders, |trace| {
        let Some(expected) = ours(trace, &TEXT) else {
            skipped.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let name = trace.file_name().unwrap().to_str().unwrap();
        let peer = Some(trace).filter(|_| has_babeltrace).and_then(|trace| theirs(trace, &TEXT));
        for (result, source, args) in [
            ("same", None, &[][..]),
            ("ctf1", None, &["--to", "ctf1.8"]),
            ("ctf2", None, &["--to", "ctf2"]),
            ("events", None, &["--filter", "event.name != \"\""]),
            ("back1", Some("ctf2"), &["--to", "ctf1.8"]),
            ("back2", Some("ctf1"), &["--to", "ctf2"]),
        ] {
            let source = source.map_or(trace.clone(), |name| folder.path().join(name));
            let is_of_ctf2 = is_ctf2(trace) && ["ctf1", "back2"].contains(&result);
            let is_lossy = ONLY_IN_CTF2.contains(&name) && (is_of_ctf2 || result == "back1");
            let output = folder.path().join(result);
            let done = convert(&source, &output, args);
            assert_eq!(done.status, Some(0), "{name}, {result}: {}", done.stderr);
            if args.contains(&"ctf2") {
                follows_rules(&output);
                checked.fetch_add(1, Ordering::Relaxed);
            }
            if is_lossy {
                let is_reported = done.stderr.contains("warning: ") || result == "back2";
                assert!(is_reported, "{name}, {result}: {}", done.stderr);
                assert!(ours(&output, &TEXT).is_some(), "{name}, {result}: cannot be read");
                continue;
            }
            let found = ours(&output, &TEXT);
            same(&format!("{name}, {result}"), found.as_deref(), &expected);
            compared.fetch_add(1, Ordering::Relaxed);
            if !has_babeltrace || is_ctf2(&output) || NOT_FOR_BABELTRACE.contains(&name) {
                continue;
            }
            let found = theirs(&output, &TEXT);
            match &peer {
                Some(peer) => {
                    same_but_empty(&format!("{name}, {result}"), found.as_deref(), peer, &expected)
                }
                // It does not read the original, because of its version or of its own faults.
                None if is_ctf2(trace) => {
                    let count = found.map(|lines| lines.len());
                    assert_eq!(count, Some(expected.len()), "{name}, {result}: babeltrace2");
                }
                None => continue,
            }
            peers.fetch_add(1, Ordering::Relaxed);
        }
    });
    let [compared, peers, skipped, checked] =
        [compared, peers, skipped, checked].map(AtomicUsize::into_inner);
    print_note(&format!(
        "{} traces: {skipped} cannot be read, {compared} results have the text of their source, \
         babeltrace2 reads {peers} alike, {checked} results follow the rules of CTF 2",
        folders.len()
    ));
    assert!(compared > folders.len() && checked > folders.len());
}

#[test]
fn every_trace_from_before_ctf_becomes_one() {
    let Some(shared) = support::shared().filter(|it| it.join("traces/legacy").is_dir()) else {
        return print_note("SKIPPED: there is no ../shared/traces/legacy");
    };
    let has_babeltrace = has_babeltrace();
    let text = ["--clock-seconds", "--no-delta"];
    let folders = selected(&shared.join("traces/legacy"));
    in_parallel(&folders, |trace| {
        let folder = tempfile::tempdir().unwrap();
        let name = trace.file_name().unwrap().to_str().unwrap();
        let expected = ours(trace, &text).expect("the trace can be read");
        for (result, args) in [("ctf1", ["--to", "ctf1.8"]), ("ctf2", ["--to", "ctf2"])] {
            let output = folder.path().join(result);
            let done = convert(trace, &output, &args);
            assert_eq!(done.status, Some(0), "{name}: {}", done.stderr);
            let found = ours(&output, &text).expect("the result can be read");
            let without_cpu: Vec<String> = sorted(found.iter().map(|line| without_cpu(line)));
            let place = format!("{name}, {result}");
            match result {
                // Names that are no identifiers become some, and those of facilities become part of
                // the names of events, as warnings tell.
                "ctf1" => {
                    let like = |line: &String| {
                        let (start, rest) = line.split_once(": ").unwrap_or((line, ""));
                        let (time, name) = start.rsplit_once(' ').unwrap_or(("", start));
                        only_letters(&format!("{time} {}: {rest}", without_facility(name)))
                    };
                    let found = sorted(without_cpu.iter().map(like));
                    same(&place, Some(&found), &sorted(expected.iter().map(like)));
                }
                _ => same(&place, Some(&without_cpu), &expected),
            }
            if result == "ctf2" {
                follows_rules(&output);
            }
            if !WITHOUT_CHANNELS.iter().any(|version| name.starts_with(version)) {
                assert_eq!(statistics_of(&output), statistics_of(trace), "{place}");
            }
            if has_babeltrace && result == "ctf1" {
                same_but_empty(&place, theirs(&output, &text).as_deref(), &found, &found);
            }
        }
    });
}

/// Checks the metadata of all traces in a folder against the rules of CTF 2.
fn follows_rules(folder: &Path) {
    for trace in ltt_read::find_traces(folder).unwrap() {
        let metadata = fs::read(trace.join("metadata")).unwrap();
        let verdict = support::ctf2_rules::check(&metadata);
        assert_eq!(verdict, Ok(()), "{}", trace.display());
    }
}

/// Returns the sums of each process, CPU and mode.
fn statistics_of(folder: &Path) -> BTreeMap<String, String> {
    let traceset = Traceset::open(folder).unwrap();
    let statistics = read(&traceset).threads(1).run(StatisticsAnalysis::new()).output;
    let mut sums: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for of_trace in statistics.traces() {
        for (key, counts) in of_trace.leaves() {
            let facts = of_trace.process_facts().get(key.process.index());
            let process = facts.map(|facts| (facts.tid, facts.start));
            let place = format!("{process:?} {} {:?}", key.cpu, key.mode);
            let mut events = BTreeMap::new();
            for (event_type, count) in counts.events.iter() {
                let name = without_facility(of_trace.event_name(event_type));
                *events.entry(only_letters(name)).or_insert(0) += count;
            }
            let times = [counts.cpu_time, counts.cumulative_cpu_time, counts.wait_time];
            sums.entry(place).or_default().push(format!("{times:?} {events:?}"));
        }
    }
    let in_order = |mut sums: Vec<String>| {
        sums.sort();
        sums.join("; ")
    };
    sums.into_iter().map(|(place, sums)| (place, in_order(sums))).collect()
}

#[test]
fn statistics_stay_with_the_names_of_today() {
    let Some(shared) = support::shared().filter(|it| it.join("traces/legacy").is_dir()) else {
        return print_note("SKIPPED: there is no ../shared/traces/legacy");
    };
    for name in [
        "trace-1021events-nolost-1cpu",
        "trace-15316events_nolost_newformat",
        "trace-2.6",
        "trace-618339events-1293lost-1cpu",
    ] {
        let source = shared.join("traces/legacy").join(name);
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("output");
        let done = convert(&source, &output, &["--modern-names"]);
        assert_eq!(done.status, Some(0), "{name}: {}", done.stderr);
        let sums = |folder: &Path| {
            let traceset = Traceset::open(folder).unwrap();
            let statistics = read(&traceset).threads(1).run(StatisticsAnalysis::new()).output;
            let trace = &statistics.traces()[0];
            let mut times: BTreeMap<(u32, String), (u64, u64)> = BTreeMap::new();
            for (key, counts) in trace.leaves() {
                let facts = trace.process_facts().get(key.process.index());
                let tid = facts.and_then(|facts| facts.tid);
                let sum = times.entry((key.cpu, format!("{tid:?}"))).or_default();
                sum.0 += counts.cpu_time;
                sum.1 += counts.events.iter().map(|(_, count)| count).sum::<u64>();
            }
            times
        };
        let (found, expected) = (sums(&output), sums(&source));
        assert!(expected.len() > 3, "{name}");
        assert_eq!(found, expected, "{name}");
    }
}

/// Returns all folders in a folder, or every eighth one.
fn selected(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    match std::env::var_os("LTTV_CONVERT_ALL") {
        Some(_) => all,
        None => all.into_iter().skip(2).step_by(8).collect(),
    }
}

/// Calls a function for each trace, on as many threads as there are processors.
fn in_parallel(traces: &[PathBuf], work: impl Fn(&PathBuf) + Sync) {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(trace) = traces.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let work = std::panic::AssertUnwindSafe(|| work(trace));
                    if std::panic::catch_unwind(work).is_err() {
                        failed.lock().unwrap().insert(trace.display().to_string());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{failed:#?}");
}

fn convert(source: &Path, output: &Path, args: &[&str]) -> support::Run {
    let paths = [source.to_str().unwrap(), "-o", output.to_str().unwrap()];
    run(&[&["convert"], &paths[..], args].concat())
}

/// Returns the text of a trace, sorted; `None` if it cannot be read whole.
fn ours(trace: &Path, args: &[&str]) -> Option<Vec<String>> {
    let all = [&["dump", "--format", "babeltrace"], args, &[trace.to_str().unwrap()]].concat();
    let run = run(&all);
    (run.status == Some(0)).then(|| lines(&run.stdout))
}

/// Returns the text of babeltrace2, sorted; `None` if it does not read the trace.
fn theirs(trace: &Path, args: &[&str]) -> Option<Vec<String>> {
    let output =
        Command::new("babeltrace2").args(args).arg(trace).env("TZ", "UTC").output().ok()?;
    output.status.success().then(|| lines(&output.stdout))
}

fn has_babeltrace() -> bool {
    let version = Command::new("babeltrace2").arg("--version").output();
    let is_there = version.is_ok_and(|output| output.status.success());
    if !is_there {
        print_note("babeltrace2 is not installed: its text is not compared");
    }
    is_there
}

/// Returns the lines in one order for equal times, without the names of traces, which are those of
/// their folders.
fn lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    sorted(text.lines().map(|line| match line.split_once("trace = ") {
        Some((before, rest)) => {
            let after = rest.split_once(',').map_or("", |(_, after)| after);
            format!("{before}{after}")
        }
        None => line.to_owned(),
    }))
}

fn sorted(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<_> = lines.collect();
    lines.sort();
    lines
}

/// Returns a line without the packet context that the result has and the source has not.
fn without_cpu(line: &str) -> String {
    let Some((before, rest)) = line.split_once(": { cpu_id = ") else { return line.to_owned() };
    let after = rest.split_once(" }").map_or("", |(_, after)| after);
    format!("{before}: {}", after.strip_prefix(", ").unwrap_or(after))
}

fn without_facility(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

fn only_letters(line: &str) -> String {
    line.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn is_ctf2(trace: &Path) -> bool {
    let traces = ltt_read::open_all(trace).unwrap_or_default();
    traces.iter().any(|trace| trace.schema().format == ltt_read::schema::Format::Ctf2)
}

fn same(place: &str, found: Option<&[String]>, expected: &[String]) {
    let found = found.unwrap_or_else(|| panic!("{place}: cannot be read"));
    let different = found.iter().zip(expected).find(|(found, expected)| found != expected);
    assert_eq!(different, None, "{place}");
    assert_eq!(found.len(), expected.len(), "{place}");
}

/// Compares texts of babeltrace2. In place of an empty text, 2.0.4 prints the one before it, so
/// texts are not compared in traces with empty ones.
fn same_but_empty(place: &str, found: Option<&[String]>, expected: &[String], ours: &[String]) {
    if !ours.iter().any(|line| line.contains("\"\"")) {
        return same(place, found, expected);
    }
    let plain = |line: &String| {
        let parts = line.replace("\\\\", "").replace("\\\"", "");
        let outside = parts.split('"').step_by(2).map(str::to_owned);
        outside.collect::<Vec<_>>().join("\"\"")
    };
    let found = found.map(|lines| sorted(lines.iter().map(plain)));
    same(place, found.as_deref(), &sorted(expected.iter().map(plain)));
}
