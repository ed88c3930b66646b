//! Compares `lttv history` on the bundled kernel trace with the answers of the library, and tests
//! it on a growing trace.

use crate::support;
use lttv_filter::TraceTimes;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lttv_context::Traceset;
use lttv_state::history::{History, Interval, Timestamp};
use lttv_state::kernel_history::{HistoryTarget, record};
use lttv_traces::Options;

const LIMIT: Duration = Duration::from_secs(120);

fn trace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel")
}

fn run(args: &[&str]) -> support::Run {
    support::run(&support::lttv(), &[&["history"], args].concat(), None, LIMIT)
}

/// Returns the output of the program, which must succeed.
fn history(args: &[&str]) -> String {
    let run = run(args);
    assert_eq!(run.status, Some(0), "{args:?}: {}", run.stderr);
    String::from_utf8(run.stdout).expect("UTF-8")
}

/// Returns the words of each line.
fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_ascii_whitespace().collect()).collect()
}

/// Returns the words of an interval's line.
fn printed(history: &History, interval: &Interval<'_>) -> Vec<String> {
    let path = history.tree().path(interval.quark);
    let line = format!("{} {} {path} {}", interval.start, interval.end, interval.value);
    line.split_ascii_whitespace().map(str::to_owned).collect()
}

#[test]
fn queries_show_the_built_history() {
    let dir = tempfile::tempdir().expect("a directory");
    let (trace, file) = (trace(), dir.path().join("kernel.history"));
    let (trace, file) = (trace.to_str().unwrap(), file.to_str().unwrap());
    let traceset = Traceset::open(Path::new(trace)).expect("the bundled trace");
    let expected =
        record(&traceset, HistoryTarget::Memory, |_| std::ops::ControlFlow::Continue(()));
    let expected = expected.expect("its states").history;

    let built = history(&["build", trace, file]);
    let count = |of: &str| {
        let line = built.lines().find(|line| line.starts_with(of)).expect("a line of it");
        line.split_ascii_whitespace().nth(1).unwrap().trim_end_matches(',').to_owned()
    };
    assert_eq!(count("attributes"), expected.tree().len().to_string());
    assert_eq!(count("intervals"), expected.intervals_count().to_string());
    assert_eq!(count("file"), std::fs::metadata(file).unwrap().len().to_string());
    // Another build is not necessary, but can be forced.
    assert!(history(&["build", trace, file]).contains("is up to date"));
    assert_eq!(history(&["build", "--force", trace, file]).lines().next(), built.lines().next());

    let info = history(&["info", file]);
    for line in [
        format!("from       {}", expected.start()),
        format!("to         {}", expected.end()),
        format!("intervals  {}", expected.intervals_count()),
    ] {
        assert!(info.lines().any(|text| text == line), "{line:?} in {info}");
    }

    let middle = expected.start().as_ns().midpoint(expected.end().as_ns());
    let state: Vec<_> = expected.state_at(Timestamp::from_ns(middle)).unwrap();
    let state: Vec<_> = state.iter().map(|interval| printed(&expected, interval)).collect();
    let middle = Timestamp::from_ns(middle).to_string();
    assert_eq!(words(&history(&["at", file, &middle])), state);
    // Queries also accept a trace, and times from the first event.
    assert_eq!(words(&history(&["at", trace, &middle])), state);
    let first = TraceTimes::of(&ltt_read::open_all(trace).expect("a trace"))
        .events()
        .expect("events")
        .start;
    let since = expected.start().as_ns().midpoint(expected.end().as_ns()) - first.as_ns();
    assert_eq!(words(&history(&["at", file, &format!("+{since}ns")])), state);
    assert_eq!(expected.start().as_ns(), first.as_ns() - 1);
    // The other formats have the same values.
    let json = history(&["at", file, &middle, "--format=json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let rows = json["intervals"].as_array().expect("a list");
    let in_ns =
        |value: &serde_json::Value| Timestamp::from_ns(value.as_i64().expect("a time")).to_string();
    let row = |row: &serde_json::Value| {
        let text = |key: &str| row[key].as_str().expect("a text").to_owned();
        let (start, end) = (in_ns(&row["start_ns"]), in_ns(&row["end_ns"]));
        let line = format!("{start} {end} {} {}", text("path"), text("value"));
        line.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rows.iter().map(row).collect::<Vec<_>>(), state);
    let csv = history(&["at", file, &middle, "--format=csv"]);
    assert_eq!(csv.lines().next(), Some("start_ns,end_ns,path,value"));
    assert_eq!(csv.lines().count(), state.len() + 1);
}

/// A history of the first packets of a trace is extended with the later ones.
#[test]
fn a_history_is_extended_when_its_trace_has_grown() {
    const PACKET: u64 = 4096;
    let dir = tempfile::tempdir().expect("a directory");
    let (trace, file) = (dir.path().join("trace"), dir.path().join("kernel.history"));
    let options = Options { packet_bytes: PACKET, index: false, ..Options::default() };
    lttv_traces::kernel_like(&trace, 2, 20_000, &options).expect("a trace");
    let streams = ["channel0_0", "channel0_1"].map(|name| trace.join(name));
    let whole = streams.each_ref().map(|stream| std::fs::read(stream).expect("a stream"));
    for (stream, bytes) in streams.iter().zip(&whole) {
        let packets = bytes.len() / PACKET as usize;
        std::fs::write(stream, &bytes[..packets * 9 / 10 * PACKET as usize]).expect("a part");
    }
    let (trace, file) = (trace.to_str().unwrap(), file.to_str().unwrap());
    let events = |text: &str| -> u64 {
        let line = text.lines().find(|line| line.starts_with("events")).expect("a line of it");
        line.split_ascii_whitespace().nth(1).unwrap().parse().expect("a number")
    };
    let first = history(&["build", trace, file]);
    assert!(!first.contains("kept"), "{first}");
    for (stream, bytes) in streams.iter().zip(&whole) {
        std::fs::write(stream, bytes).expect("all of it");
    }
    let grown = history(&["build", trace, file]);
    assert!(grown.contains("kept"), "{grown}");
    assert!(events(&grown) < events(&first) / 2, "{grown}");
    let shown = |file: &str| history(&["range", file, "0/CPUs/*"]);
    let added = shown(file);
    assert_eq!(events(&history(&["build", "--force", trace, file])), 20_000);
    assert_eq!(added, shown(file));
}

#[test]
fn changes_and_ranges_tile_the_time() {
    let dir = tempfile::tempdir().expect("a directory");
    let (trace, file) = (trace(), dir.path().join("kernel.history"));
    let (trace, file) = (trace.to_str().unwrap(), file.to_str().unwrap());
    history(&["build", trace, file]);
    let stored = History::open(file).expect("what was built");
    let whole = stored.start()..stored.end();
    let busiest = stored.tree().quarks().max_by_key(|quark| {
        stored.intervals(*quark, whole.clone()).expect("in the history").count()
    });
    let path = stored.tree().path(busiest.expect("attributes"));

    let changes = history(&["changes", file, &path]);
    let (changes, sums) = changes.split_once("\ntotal\n").expect("sums");
    let changes = words(changes);
    assert!(changes.len() > 10, "{path} changes often");
    let time = |word: &str| word.parse::<Timestamp>().unwrap();
    let times: Vec<(Timestamp, Timestamp)> =
        changes.iter().map(|line| (time(line[0]), time(line[1]))).collect();
    let ends = (stored.start(), stored.end());
    assert_eq!((times[0].0, times.last().unwrap().1), ends);
    assert!(times.windows(2).all(|pair| pair[0].1 == pair[1].0), "no gap, no overlap");
    let sum = |word: usize| -> u64 {
        words(sums).iter().map(|line| line[word].parse::<u64>().unwrap()).sum()
    };
    assert_eq!(sum(0), stored.end().since(stored.start()));
    assert_eq!(sum(2), changes.len() as u64);

    let back = history(&["changes", file, &path, "--reverse"]);
    let mut back = words(back.split_once("\ntotal\n").expect("sums").0);
    back.reverse();
    assert_eq!(back, changes);

    // A part of the time; and at most one value per period.
    let (from, to) = (times[3].0.to_string(), times[6].1.to_string());
    let range = history(&["range", file, &path, "--from", &from, "--to", &to]);
    assert_eq!(words(&range), changes[3..=6]);
    let each = (stored.end().since(stored.start()) / 5).to_string();
    let seldom = history(&["range", file, &path, "--each", &each]);
    assert!((1..=6).contains(&seldom.lines().count()), "{seldom}");
    assert!(words(&seldom).iter().all(|line| changes.contains(line)));
}

#[test]
fn other_files_are_reported() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("other");
    std::fs::write(&file, "not a history").unwrap();
    let (trace, file) = (trace(), file.to_str().unwrap().to_owned());
    for args in [["info", &file].as_slice(), &["build", trace.to_str().unwrap(), &file]] {
        let run = run(args);
        assert_eq!(run.status, Some(1), "{args:?}");
        assert!(run.stderr.starts_with("lttv: error: "), "{}", run.stderr);
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"not a history", "left as it was");
}
