//! Tests the results of the modules `eventCounts` and `rates` of the program `lttv`.

use crate::support;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::support::{Run, module_rows};
use ltt_read::{Merge, TracefileIndex, open_all};
use serde_json::{Value, json};

const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");

fn analyse(args: &[&str], trace: Option<&Path>) -> Run {
    let last: &[&str] = if trace.is_some() { &["--trace"] } else { &[] };
    let args = [&["run"], args, last].concat();
    support::run(&support::lttv(), &args, trace, Duration::from_secs(120))
}

/// Returns the results that the program printed.
fn results(args: &[&str], trace: Option<&Path>) -> Value {
    let run = analyse(&[&["-m", "rates", "--json"], args].concat(), trace);
    assert_eq!(run.status, Some(0), "{run:?}");
    serde_json::from_slice(&run.stdout).expect("JSON")
}

/// Returns the row of a table about a trace.
fn row(found: &Value, module: &str, table: &str) -> Value {
    module_rows(found, module, table).swap_remove(0)
}

/// Returns the number of events by trace, CPU and name, counted by reading them.
fn counted(path: &Path) -> BTreeMap<(usize, Option<u32>, String), u64> {
    let traces = open_all(path).unwrap();
    let mut counts = BTreeMap::new();
    for (index, trace) in traces.iter().enumerate() {
        for (number, tracefile) in trace.tracefiles().iter().enumerate() {
            let mut cursor = trace.cursor(TracefileIndex(number));
            while let Some(event) = cursor.next().unwrap() {
                let key = (index, tracefile.cpu(), event.event_type().name().to_owned());
                *counts.entry(key).or_insert(0) += 1;
            }
        }
    }
    counts
}

/// Checks that every count and its sum exist, and no others.
fn check_counts(path: &Path) {
    let found = results(&[], Some(path));
    let expected = counted(path);
    let has_traces = expected.keys().any(|key| key.0 > 0);
    let mut sums: BTreeMap<(&str, String), u64> = BTreeMap::new();
    for ((trace, cpu, name), count) in &expected {
        for (table, cpu, name) in [
            ("cpu_event_types", *cpu, Some(name)),
            ("event_types", None, Some(name)),
            ("cpus", *cpu, None),
            ("totals", None, None),
        ] {
            let of = json!({ "trace": has_traces.then_some(trace), "cpu": cpu, "event": name });
            *sums.entry((table, of.to_string())).or_insert(0) += count;
        }
    }
    let mut counts = BTreeMap::new();
    for table in ["cpu_event_types", "event_types", "cpus", "totals"] {
        for row in module_rows(&found, "eventCounts", table) {
            let of = json!({ "trace": row["trace"], "cpu": row["cpu"], "event": row["event"] });
            let count = row["count"].as_u64().expect("a count");
            assert_eq!(counts.insert((table, of.to_string()), count), None, "{row}");
        }
    }
    assert_eq!(counts, sums);
}

#[test]
fn counts_are_those_of_a_plain_reader() {
    check_counts(Path::new(BUNDLED));
    check_counts(&Path::new(BUNDLED).with_file_name("ust"));
    // Both traces together.
    check_counts(Path::new(BUNDLED).parent().unwrap());
}

#[test]
fn recorded_traces() {
    let Some(shared) = support::shared() else {
        support::print_note("SKIPPED: there are no recorded traces in ../shared");
        return;
    };
    let mut checked = 0;
    for name in ["k1-mix", "k2-multi", "k1-rot", "u1-all", "u1-discard"] {
        let path = shared.join("traces/ctf").join(name);
        if path.is_dir() {
            check_counts(&path);
            checked += 1;
        }
    }
    support::print_note(&format!("lttv: {checked} recorded traces compared"));
}

#[test]
fn rates_are_counts_by_time() {
    let path = Path::new(BUNDLED);
    let mut merge = Merge::new(&open_all(path).unwrap());
    let mut times = Vec::new();
    while let Some(event) = merge.next() {
        if event.event_type().name().starts_with("sched_") {
            times.push(event.timestamp().unwrap().as_ns());
        }
    }
    let found = results(&["--events=sched_*", "--rate-interval", "0.01"], None);
    let (first, last) = (times[0], times[times.len() - 1]);
    let seconds = (last - first) as f64 / 1e9;
    let near = |row: &Value, column: &str, expected: f64| {
        let value = row[column].as_f64().unwrap_or_else(|| panic!("no {column} in {row}"));
        assert!((value / expected - 1.0).abs() < 1e-9, "{row}: {column} is not {expected}");
    };
    near(&row(&found, "eventCounts", "totals"), "count", times.len() as f64);
    let totals = row(&found, "rates", "totals");
    near(&totals, "duration_ns", seconds * 1e9);
    near(&totals, "rate", times.len() as f64 / seconds);
    let mut stretches = BTreeMap::new();
    for time in &times {
        *stretches.entry((time - first) / 10_000_000).or_insert(0) += 1;
    }
    near(&totals, "peak_rate", f64::from(*stretches.values().max().unwrap()) * 100.0);
    let of_type = |module: &str, name: &str| {
        let rows = module_rows(&found, module, "event_types").into_iter();
        rows.filter(|row| row["event"] == name).collect::<Vec<_>>()
    };
    let switches = of_type("eventCounts", "sched_switch")[0]["count"].as_f64().expect("a count");
    near(&of_type("rates", "sched_switch")[0], "rate", switches / seconds);
    assert!(of_type("eventCounts", "irq_handler_entry").is_empty());
    let cpus = module_rows(&found, "rates", "cpus");
    let rates = cpus.iter().map(|row| row["rate"].as_f64().expect("a rate"));
    near(&totals, "rate", rates.sum());
}

#[test]
fn a_time_window() {
    let path = Path::new(BUNDLED);
    let mut merge = Merge::new(&open_all(path).unwrap());
    let mut times = Vec::new();
    while let Some(event) = merge.next() {
        times.push(event.timestamp().unwrap());
    }
    let (begin, end) = (times[1000], times[2000]);
    let within = times.iter().filter(|time| (begin..=end).contains(time)).count();
    let (begin, end) = (begin.to_string(), end.to_string());
    let args = ["-m", "eventCounts", "--json", "--begin", &begin, "--end", &end];
    let found: Value = serde_json::from_slice(&analyse(&args, None).stdout).expect("JSON");
    assert_eq!(row(&found, "eventCounts", "totals")["count"], within);
    assert_eq!(found.get("rates"), None, "rates were not asked for");
}

#[test]
fn forms_of_output() {
    let text = String::from_utf8(analyse(&["-m", "rates"], None).stdout).unwrap();
    assert!(text.starts_with("Events\n  COUNT\n  6,087\n\nEvents by type\n"), "{text}");
    assert!(text.contains("\nRates\n  DURATION"), "{text}");
    let paths = String::from_utf8(analyse(&["-m", "rates", "-a"], None).stdout).unwrap();
    let name = paths.lines().find_map(|line| line.strip_suffix("/event: \"sched_switch\""));
    let name = name.expect("a type");
    assert!(paths.contains(&format!("\n{name}/count: 497\n")), "{paths}");
}
