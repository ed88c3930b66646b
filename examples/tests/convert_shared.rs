//! `lttv convert` on every trace of the shared folder: texts before and after, and what babeltrace2
//! says of the results.
//!
//! Every eighth trace is converted, or all with `LTTV_CONVERT_ALL=1`.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use support::convert::run;
use support::print_note;

/// The traces with fields, names or roles that CTF 1.8 lacks. The warnings of the conversion name
/// them.
const ONLY_IN_CTF2: [&str; 7] = [
    "yac1-pass-all-basic-features-be",
    "yac2-pass-fl-sint-8-le-rev",
    "yac2-pass-opts",
    "yac2-pass-rel-data-loc-3",
    "yac2-pass-rel-data-loc-4",
    "yac2a-pass-all-basic-features-be",
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

const TEXT: [&str; 4] = ["--clock-seconds", "--no-delta", "--names=all", "--fields=all"];

#[test]
fn every_ctf_trace_keeps_its_text() {
    let Some(shared) = support::shared() else {
        return print_note("SKIPPED: there is no ../shared/traces/ctf");
    };
    let has_babeltrace = has_babeltrace();
    let (compared, peers) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let skipped = AtomicUsize::new(0);
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
            if is_lossy {
                let is_reported = done.stderr.contains("warning: ") || result == "back2";
                assert!(is_reported, "{name}, {result}: {}", done.stderr);
                continue;
            }
            assert_eq!(done.status, Some(0), "{name}, {result}: {}", done.stderr);
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
    let [compared, peers, skipped] = [compared, peers, skipped].map(AtomicUsize::into_inner);
    print_note(&format!(
        "{} traces: {skipped} cannot be read, {compared} results have the text of their source, \
         babeltrace2 reads {peers} alike",
        folders.len()
    ));
    assert!(compared > folders.len());
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
                // Names that are no identifiers become some, as warnings tell.
                "ctf1" => {
                    let like = |line: &String| only_letters(line);
                    let found = sorted(without_cpu.iter().map(like));
                    same(&place, Some(&found), &sorted(expected.iter().map(like)));
                }
                _ => same(&place, Some(&without_cpu), &expected),
            }
            if has_babeltrace && result == "ctf1" {
                same_but_empty(&place, theirs(&output, &text).as_deref(), &found, &found);
            }
        }
    });
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
    run("convert", &[&paths, args].concat())
}

/// Returns the text of a trace, sorted; `None` if it cannot be read whole.
fn ours(trace: &Path, args: &[&str]) -> Option<Vec<String>> {
    let all = [&["--format", "babeltrace"], args, &[trace.to_str().unwrap()]].concat();
    let run = run("text_dump", &all);
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
