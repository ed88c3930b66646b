//! Compares all places that answer one question, over recorded and generated traces.
//!
//! `questions.rs` is the table of questions and places. `known.txt` lists the disagreements that are
//! known; it may only shrink: a disagreement that is not listed fails, and so does a listed one that
//! is gone. `LTTV_AGREEMENT=all` takes all recorded traces instead of a sample of the large sets, and
//! `LTTV_PROGRAM` names another program to compare.

use crate::support;
mod generated;
mod questions;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use questions::{Answer, DUMP, Output, Place, QUESTIONS};
use serde_json::Value;

/// Commands that answer none of the questions, and why.
const OTHER_COMMANDS: &[(&str, &str)] = &[
    ("calls", "functions of programs, which no other command counts"),
    ("chart", "pictures; their numbers are those of the history"),
    (
        "counters",
        "numbers in events, which `counters.rs` compares with those of `dump` and `usage`",
    ),
    ("flame", "`chart flame` by a shorter name"),
    ("record", "writes recordings, which its package compares"),
    ("sql", "a program of its own, whose tests compare its tables"),
    ("compare", "differences of the tables of `stats` and `wait`"),
    ("sync", "clocks"),
    ("convert", "traces, which tests of its own compare"),
    ("tui", "needs a terminal"),
    ("serve", "is asked through the server's outputs"),
    ("why", "one span, whose parts `why.rs` compares with those of `wait`"),
    ("completions", "no traces"),
    ("man", "no traces"),
    ("help", "no traces"),
];

/// Modules of `lttv run` that answer none of the questions, and why.
const OTHER_MODULES: &[(&str, &str)] = &[
    ("core", "options"),
    ("print", "options"),
    ("textFilter", "options"),
    ("batchAnalysis", "reads for the other modules"),
    ("textDump", "the events of `dump`, which its tests compare"),
    ("precompute", "writes files"),
    ("memoryMaps", "no other place tells maps"),
    ("calls", "functions of programs, which no other command counts"),
    ("rates", "`eventCounts`, divided by time"),
];

/// The time that one command may take.
const LIMIT: Duration = Duration::from_secs(60);

fn program() -> PathBuf {
    std::env::var_os("LTTV_PROGRAM").map_or_else(support::lttv, PathBuf::from)
}

/// A disagreement, as `known.txt` names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Disagreement {
    question: String,
    places: String,
    trace: String,
}

/// The traces, by name: recordings that are bundled, recordings beside the repository, and those
/// that the test makes in a folder.
fn traces(folder: &Path) -> (Vec<(String, PathBuf)>, usize) {
    let mut traces = generated::write_all(folder);
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces");
    let list = |folder: &Path| -> BTreeSet<PathBuf> {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    traces
        .extend(list(&bundled).into_iter().map(|path| (format!("bundled:{}", name(&path)), path)));
    let Some(shared) = support::shared() else {
        support::print_note("skipped: all recordings beside the repository, which are not there");
        return (traces, 0);
    };
    let all = std::env::var_os("LTTV_AGREEMENT").is_some_and(|value| value == "all");
    let mut skipped = 0;
    for kind in ["ctf", "legacy"] {
        for (number, path) in list(&shared.join("traces").join(kind)).into_iter().enumerate() {
            let name = name(&path);
            // A fixed choice: all recordings of kernels but the longest, some of each of the others.
            let many = !name.starts_with("k1-") && !name.starts_with("gen-perf");
            let long = name.starts_with("trace-6") || name.starts_with("trace-15");
            if !all && (long || many && number % 8 != 0) {
                skipped += 1;
                continue;
            }
            traces.push((format!("{kind}:{name}"), path));
        }
    }
    (traces, skipped)
}

/// Runs commands on one trace, each once.
struct Session<'s> {
    program: &'s Path,
    trace: &'s Path,
    outputs: BTreeMap<Vec<String>, Option<Value>>,
    runs: usize,
}

impl Session<'_> {
    /// Returns the output of a command as JSON, or `None` if it printed no results.
    fn output(
        &mut self,
        args: &[&str],
        words: &[(&str, String)],
        more: &[String],
    ) -> Option<Value> {
        let trace = self.trace.to_string_lossy().into_owned();
        let mut own_place = false;
        let mut full: Vec<String> = Vec::new();
        for arg in args {
            let mut arg = (*arg).to_owned();
            own_place |= arg.contains("{trace}");
            arg = arg.replace("{trace}", &trace);
            for (word, value) in words {
                if arg.contains(word) && value.is_empty() {
                    return None;
                }
                arg = arg.replace(word, value);
            }
            full.push(arg);
        }
        full.extend_from_slice(more);
        if !own_place {
            full.push(trace);
        }
        if let Some(output) = self.outputs.get(&full) {
            return output.clone();
        }
        let list: Vec<&str> = full.iter().map(String::as_str).collect();
        let run = support::run(self.program, &list, None, LIMIT);
        assert!(run.is_orderly(), "{full:?}: {:?}\n{}", run.status, run.stderr);
        self.runs += 1;
        let output = parse(&run.stdout, args);
        self.outputs.insert(full, output.clone());
        output
    }
}

/// Returns the output without the events that have no time, which are in no window.
fn timed(json: &Value) -> Value {
    let Value::Array(events) = json else { return json.clone() };
    let is_timed = |event: &&Value| {
        let time = ["time", "timestamp"].into_iter().find_map(|key| event.get(key));
        time.is_none_or(|time| !time.is_null() && time != "")
    };
    events.iter().filter(is_timed).cloned().collect()
}

/// Parses CSV to a list of objects, JSON lines to a list, and JSON.
fn parse(bytes: &[u8], args: &[&str]) -> Option<Value> {
    if args.contains(&"--format=csv") {
        let mut reader = csv::Reader::from_reader(bytes);
        let headers = reader.headers().ok()?.clone();
        let rows = reader.records().map(|row| {
            let row = row.expect("rows of equal length");
            let cells = headers.iter().zip(&row);
            Value::Object(cells.map(|(name, cell)| (name.to_owned(), cell_value(cell))).collect())
        });
        let rows: Vec<Value> = rows.collect();
        return (!headers.is_empty()).then_some(Value::Array(rows));
    }
    if ["dump", "history", "spans"].iter().any(|command| args.starts_with(&[command])) {
        let lines = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
        let lines: Vec<Value> = lines.map(|line| line.expect("JSON lines")).collect();
        return Some(match <[Value; 1]>::try_from(lines) {
            Ok([Value::Array(rows)]) => Value::Array(rows),
            Ok([one]) => Value::Array(vec![one]),
            Err(lines) => Value::Array(lines),
        });
    }
    if bytes.is_empty() {
        return None;
    }
    Some(serde_json::from_slice(bytes).unwrap_or_else(|e| panic!("{args:?}: {e}")))
}

fn cell_value(cell: &str) -> Value {
    cell.parse::<i64>().map_or_else(|_| cell.into(), Value::from)
}

/// Returns a time in the notation of options.
fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// The result of comparing a trace.
#[derive(Default)]
struct Compared {
    comparisons: usize,
    runs: usize,
    found: Vec<(Disagreement, String)>,
}

/// Compares all places on one trace.
fn compare(program: &Path, name: &str, trace: &Path) -> Compared {
    let mut compared = Compared::default();
    let mut session = Session { program, trace, outputs: BTreeMap::new(), runs: 0 };
    let Some(Value::Array(events)) = session.output(DUMP, &[], &[]) else {
        return compared;
    };
    let times: Vec<u64> = events.iter().filter_map(|event| event["time"].as_u64()).collect();
    let of_kernel = events.iter().any(|event| {
        let name = event["name"].as_str().unwrap_or_default();
        ["sched_switch", "sched_schedule", "syscall_entry_", "irq_", "schedchange"]
            .iter()
            .any(|part| name.contains(part))
    });
    let (begin, end) = match (times.iter().min(), times.iter().max()) {
        (Some(begin), Some(end)) => (*begin, *end),
        _ => (0, 0),
    };
    let most = |column: &str| -> String {
        let mut counts = BTreeMap::<String, usize>::new();
        for event in &events {
            let value = &event[column];
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if !value.is_empty() && value != "null" && value != "0" && !value.contains('"') {
                *counts.entry(value).or_default() += 1;
            }
        }
        counts
            .into_iter()
            .max_by_key(|(_, count)| *count)
            .map_or_else(String::new, |(name, _)| name)
    };
    // A time without an event, that the name of the trace chooses.
    let mut sorted = times.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let start = name.bytes().map(usize::from).sum::<usize>() * 31 % sorted.len().max(1);
    let gaps = sorted.windows(2).cycle().skip(start).take(sorted.len());
    let at = gaps.clone().find(|gap| gap[1] - gap[0] > 1).map(|gap| gap[0] + 1);
    let words = [
        ("{tid}", most("tid")),
        ("{comm}", most("comm")),
        ("{at}", at.map_or_else(String::new, seconds)),
    ];
    for question in QUESTIONS.iter().filter(|question| question.of_all || of_kernel) {
        let mut first: Option<(&Place, Answer)> = None;
        for place in question.places {
            let Some(json) = session.output(place.args, &words, &[]) else { continue };
            let answer = (place.read)(&Output { json: &json, begin, end });
            if let Some((reference, expected)) = &first {
                compared.comparisons += 1;
                if let Some(difference) = difference(expected, &answer, question.partial) {
                    let places = format!("{}, {}", reference.name, place.name);
                    compared.add(question.name, places, name, difference);
                }
            }
            if let (true, Some(at)) = (place.adds, at) {
                let part = |session: &mut Session<'_>, option: &str| {
                    let json = session.output(
                        place.args,
                        &words,
                        &[format!("{option}={}", seconds(at))],
                    )?;
                    Some((place.read)(&Output { json: &json, begin, end }))
                };
                let (before, after) = (part(&mut session, "--end"), part(&mut session, "--begin"));
                let mut sum = before.unwrap_or_default();
                for (key, value) in after.unwrap_or_default() {
                    let of = sum.entry(key).or_insert_with(|| 0.into());
                    *of = (of.as_i64().unwrap_or(0) + value.as_i64().unwrap_or(0)).into();
                }
                compared.comparisons += 1;
                let whole = (place.read)(&Output { json: &timed(&json), begin, end });
                if let Some(difference) = difference(&whole, &sum, false) {
                    let places = format!("{}, in two windows", place.name);
                    compared.add(question.name, places, name, difference);
                }
            }
            if first.is_none() && !(question.partial && answer.is_empty()) {
                first = Some((place, answer));
            }
        }
    }
    compared.runs = session.runs;
    compared
}

impl Compared {
    fn add(&mut self, question: &str, places: String, trace: &str, difference: String) {
        let (question, trace) = (question.to_owned(), trace.to_owned());
        self.found.push((Disagreement { question, places, trace }, difference));
    }
}

/// Describes the first difference of two answers; if one may leave things out, of what both tell.
fn difference(expected: &Answer, actual: &Answer, partial: bool) -> Option<String> {
    let keys: BTreeSet<&String> = expected.keys().chain(actual.keys()).collect();
    let mut different = keys.into_iter().filter(|&key| {
        let (expected, actual) = (expected.get(key), actual.get(key));
        expected != actual && !(partial && (expected.is_none() || actual.is_none()))
    });
    let first = different.next()?;
    let show = |answer: &Answer| answer.get(first).map_or("nothing".to_owned(), Value::to_string);
    let more = different.count();
    Some(format!("{first}: {} and {} ({more} more)", show(expected), show(actual)))
}

/// Returns the list of known disagreements: `question | places | traces | why` in each line.
fn known() -> BTreeSet<Disagreement> {
    let mut known = BTreeSet::new();
    for line in include_str!("known.txt").lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [question, places, traces, why] = fields[..] else { panic!("four fields: {line}") };
        assert!(!why.is_empty(), "a reason: {line}");
        for trace in traces.split_whitespace() {
            let (question, places) = (question.to_owned(), places.to_owned());
            let of = Disagreement { question, places, trace: trace.to_owned() };
            assert!(known.insert(of), "listed twice: {line}");
        }
    }
    known
}

#[test]
fn all_places_give_one_answer() {
    let started = Instant::now();
    let program = program();
    let folder = tempfile::tempdir().expect("a folder");
    let (traces, skipped) = traces(folder.path());
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, path)) = traces.get(next.fetch_add(1, Relaxed)) {
                    let compared = compare(&program, name, path);
                    results.lock().expect("no other panic").push(compared);
                }
            });
        }
    });
    let results = results.into_inner().expect("no panic");
    let comparisons: usize = results.iter().map(|compared| compared.comparisons).sum();
    let runs: usize = results.iter().map(|compared| compared.runs).sum();
    let found: BTreeMap<Disagreement, String> =
        results.into_iter().flat_map(|compared| compared.found).collect();
    support::print_note(&format!(
        "agreement: {} traces, {skipped} skipped (LTTV_AGREEMENT=all takes them), {comparisons} comparisons, \
         {runs} runs, {} disagreements, {:.0?}",
        traces.len(),
        found.len(),
        started.elapsed()
    ));
    assert!(comparisons > 100, "nothing was compared");

    let known = known();
    let mut unknown: BTreeMap<(&str, &str), Vec<(&str, &str)>> = BTreeMap::new();
    for (of, difference) in found.iter().filter(|(of, _)| !known.contains(of)) {
        let traces = unknown.entry((&of.question, &of.places)).or_default();
        traces.push((&of.trace, difference));
    }
    let names: BTreeSet<&str> = traces.iter().map(|(name, _)| name.as_str()).collect();
    let gone: Vec<&Disagreement> = known
        .iter()
        .filter(|of| names.contains(of.trace.as_str()) && !found.contains_key(of))
        .collect();
    for ((question, places), traces) in &unknown {
        let names: Vec<&str> = traces.iter().map(|(name, _)| *name).collect();
        let (example, difference) = traces[0];
        support::print_note(&format!(
            "{question} | {places} | {} | {example}: {difference}",
            names.join(" ")
        ));
    }
    assert!(unknown.is_empty(), "disagreements that known.txt does not list, above");
    assert!(gone.is_empty(), "take these out of known.txt, since they are gone: {gone:#?}");
}

/// Fails for a new command or module: it joins the table of questions, or the list of those that
/// answer none of them.
#[test]
fn each_command_and_module_is_compared_or_said_to_answer_nothing() {
    let program = program();
    let printed = |args: &[&str]| {
        let run = support::run(&program, args, None, LIMIT);
        assert_eq!(run.status, Some(0), "{args:?}: {}", run.stderr);
        String::from_utf8(run.stdout).expect("text")
    };
    let places = || QUESTIONS.iter().flat_map(|question| question.places);
    let section = |text: &str, title: &str| -> BTreeSet<String> {
        let lines = text.lines().skip_while(|line| *line != title).skip(1);
        let lines = lines.take_while(|line| line.starts_with("  "));
        lines.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
    };
    let commands = section(&printed(&["--help"]), "Commands:");
    let compared = places().map(|place| place.args[0].to_owned());
    let listed: BTreeSet<String> =
        compared.chain(OTHER_COMMANDS.iter().map(|(name, _)| (*name).to_owned())).collect();
    assert_eq!(commands, listed);

    let modules = section(&printed(&["run", "--help"]), "Modules:");
    let compared = places().filter_map(|place| place.name.strip_prefix("run ").map(str::to_owned));
    let listed: BTreeSet<String> =
        compared.chain(OTHER_MODULES.iter().map(|(name, _)| (*name).to_owned())).collect();
    assert_eq!(modules, listed);
}
