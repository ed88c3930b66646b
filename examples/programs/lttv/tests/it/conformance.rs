//! Compares `lttv dump --format babeltrace` with recorded output of babeltrace2 for every
//! trace in the shared folder, and checks verdicts on metadata. The references listed in
//! `docs/conformance.md` as wrong must differ.

use crate::support;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::Run;
use flate2::read::GzDecoder;

const LIMIT: Duration = Duration::from_secs(60);

/// The expectation of the manifest for a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// The trace is readable, with the same text.
    Same,
    /// The trace is refused, or reading ends with an error.
    Error,
    /// Readers disagree: anything but a crash.
    Either,
}

#[derive(Debug)]
struct Case {
    name: String,
    expect: Expect,
    events: Option<u64>,
    /// `true` if `docs/conformance.md` lists the reference as wrong.
    disputed: bool,
}

#[test]
fn same_text_with_default_names() {
    compare_all("ctf", "", &["--clock-seconds", "--no-delta"]);
}

#[test]
fn same_text_with_all_names_and_fields() {
    let args = ["--clock-seconds", "--no-delta", "--names=all", "--fields=all"];
    compare_all("ctf", ".all", &args);
}

#[test]
fn same_verdict_on_metadata() {
    compare_all("ctf-metadata", "", &[]);
}

/// Runs all cases of a folder, on as many threads as there are processors.
fn compare_all(folder: &str, suffix: &str, args: &[&str]) {
    let Some(shared) = support::shared() else {
        support::print_note(&format!(
            "{folder}{suffix}: all skipped, there is no ../shared/traces/ctf"
        ));
        return;
    };
    let expected = shared.join("expected").join(folder);
    let cases = manifest(&expected.join("manifest.json"));
    let args: Vec<_> = ["--format", "babeltrace"].iter().chain(args).copied().collect();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        let mut done = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let trace = shared.join("traces").join(folder).join(&case.name);
            done.push((&case.name, check(case, &trace, &expected, suffix, &args)));
        }
        results.lock().expect("no thread panics").extend(done);
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
    let results = results.into_inner().expect("no thread panics");
    let count = |f: fn(&Verdict) -> bool| results.values().filter(|v| f(v)).count();
    let skipped = count(|v| matches!(v, Verdict::Skip(_)));
    let mut failures = Vec::new();
    for (name, verdict) in &results {
        match verdict {
            Verdict::Pass => {}
            Verdict::Skip(why) => {
                support::print_note(&format!("{folder}{suffix}: {name} skipped: {why}"));
            }
            Verdict::Fail(why) => failures.push(format!("{name}: {why}")),
        }
    }
    let passed = count(|v| matches!(v, Verdict::Pass));
    let failed = failures.len();
    support::print_note(&format!(
        "{folder}{suffix}: {passed} passed, {failed} failed, {skipped} skipped"
    ));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn manifest(path: &Path) -> Vec<Case> {
    let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let list: Vec<serde_json::Value> = serde_json::from_slice(&text).expect("a list of cases");
    let disputed = disputed();
    let case = |value: &serde_json::Value| Case {
        name: value["name"].as_str().expect("a name").to_owned(),
        disputed: disputed.iter().any(|name| value["name"] == **name),
        expect: match value["expect"].as_str() {
            Some("error") => Expect::Error,
            Some("either") => Expect::Either,
            _ => Expect::Same,
        },
        events: value["events"].as_u64(),
    };
    list.iter().map(case).collect()
}

/// Returns the cases in the tables of the section on references.
fn disputed() -> Vec<&'static str> {
    let text = include_str!("../../../../../docs/conformance.md");
    let (_, section) = text.split_once("## Where recorded references").expect("this section");
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let first_cell = rows.filter_map(|row| row.split('|').nth(1));
    first_cell.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[derive(Debug)]
enum Verdict {
    Pass,
    Skip(&'static str),
    Fail(String),
}

fn check(case: &Case, trace: &Path, expected: &Path, suffix: &str, args: &[&str]) -> Verdict {
    if !trace.is_dir() {
        return Verdict::Skip("not in the folder");
    }
    let run = support::dump(args, Some(trace), LIMIT);
    if !run.is_orderly() {
        return Verdict::Fail(format!("crash or hang: {:?} {}", run.status, run.stderr));
    }
    match case.expect {
        Expect::Either => Verdict::Pass,
        Expect::Error if run.status == Some(0) => Verdict::Fail("no error".to_owned()),
        Expect::Error if run.stderr.trim().is_empty() => Verdict::Fail("no message".to_owned()),
        Expect::Error => Verdict::Pass,
        Expect::Same if run.status != Some(0) => Verdict::Fail(run.stderr.trim().to_owned()),
        Expect::Same => match reference(expected.join(format!("{}{suffix}.txt.gz", case.name))) {
            Some(reference) if case.disputed => other_text(&reference, &run),
            Some(reference) => same_text(&reference, &run),
            None if case.events.unwrap_or(0) == 0 => same_text(b"", &run),
            None => Verdict::Skip("no reference text"),
        },
    }
}

fn reference(path: PathBuf) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let file = File::open(path).ok()?;
    GzDecoder::new(file).read_to_end(&mut text).expect("sound gzip data");
    Some(text)
}

/// Checks for the same number of events, but another text.
fn other_text(reference: &[u8], run: &Run) -> Verdict {
    let (wanted, got) = (lines(reference).len(), lines(&run.stdout).len());
    match same_text(reference, run) {
        Verdict::Pass => Verdict::Fail("docs/conformance.md says that this differs".to_owned()),
        _ if wanted != got => Verdict::Fail(format!("{got} events of {wanted}")),
        _ => Verdict::Pass,
    }
}

/// Checks for the same text. Lines of one timestamp may be in any order.
fn same_text(reference: &[u8], run: &Run) -> Verdict {
    if reference == run.stdout {
        return Verdict::Pass;
    }
    let (mut wanted, mut got) = (lines(reference), lines(&run.stdout));
    sort_within_timestamps(&mut wanted);
    sort_within_timestamps(&mut got);
    let Some(at) = wanted.iter().zip(&got).position(|(w, g)| w != g) else {
        return match wanted.len() == got.len() {
            true => Verdict::Pass,
            false => Verdict::Fail(format!("{} events of {}", got.len(), wanted.len())),
        };
    };
    let show = |line: &[u8]| String::from_utf8_lossy(&line[..line.len().min(400)]).into_owned();
    let (wanted, got) = (show(wanted[at]), show(got[at]));
    Verdict::Fail(format!("line {}\n  wanted: {wanted}\n  got:    {got}", at + 1))
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<_> = text.split(|&c| c == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}

fn sort_within_timestamps(lines: &mut [&[u8]]) {
    let groups = lines.chunk_by_mut(|a, b| timestamp(a).is_some() && timestamp(a) == timestamp(b));
    groups.for_each(<[_]>::sort_unstable);
}

/// Returns `[…]` or `timestamp = …,` at the start of a line.
fn timestamp(line: &[u8]) -> Option<&[u8]> {
    let (start, end) = match line {
        [b'[', ..] => (1, b']'),
        _ if line.starts_with(b"timestamp = ") => (12, b','),
        _ => return None,
    };
    let length = line[start..].iter().position(|&c| c == end)?;
    Some(&line[start..start + length])
}
