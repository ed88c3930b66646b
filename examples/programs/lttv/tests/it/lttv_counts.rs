//! Tests the results of the modules `eventCounts` and `rates` of the program `lttv`.

use crate::support;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::support::{Run, typed_json};
use ltt_read::{Merge, TracefileIndex, open_all};
use lttv_context::attributes::{AttributeId, AttributeValue, Attributes, Path as AttributePath};

const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");

fn analyse(args: &[&str], trace: Option<&Path>) -> Run {
    let last: &[&str] = if trace.is_some() { &["--trace"] } else { &[] };
    let args = [&["run"], args, last].concat();
    support::run(&support::program("lttv"), &args, trace, Duration::from_secs(120))
}

/// Returns the results that the program printed.
fn results(args: &[&str], trace: Option<&Path>) -> Attributes {
    let run = analyse(&[&["-m", "rates", "--json", "--types"], args].concat(), trace);
    assert_eq!(run.status, Some(0), "{run:?}");
    typed_json::attributes(&run.stdout)
}

fn number(attributes: &Attributes, path: &str) -> f64 {
    let id = attributes.find_path(path).unwrap().unwrap_or_else(|| panic!("no {path}"));
    match attributes.value(id).unwrap() {
        AttributeValue::UInt(value) => *value as f64,
        AttributeValue::Float(value) => *value,
        AttributeValue::Duration(value) => value.as_secs_f64(),
        other => panic!("{path} is {other}"),
    }
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
    let mut sums = BTreeMap::new();
    for ((trace, cpu, name), count) in &expected {
        let cpu = cpu.map_or("unknown".to_owned(), |cpu| format!("[{cpu}]"));
        let name = name.replace('*', r"\*");
        let path = format!("traces/[{trace}]/cpus/{cpu}/event_types/{name}");
        assert_eq!(number(&found, &path), *count as f64, "{path}");
        for sum in [
            format!("traces/[{trace}]/event_types/{name}"),
            format!("traces/[{trace}]/cpus/{cpu}/events"),
            format!("traces/[{trace}]/events"),
        ] {
            *sums.entry(sum).or_insert(0) += count;
        }
    }
    for (path, sum) in &sums {
        assert_eq!(number(&found, path), *sum as f64, "{path}");
    }
    let all = typed_json::below(&found, AttributeId::ROOT).into_iter();
    let is_count = |path: &AttributePath| {
        let names: Vec<_> = path.names().map(|name| name.to_string()).collect();
        matches!(&*names, [traces, _, cpus, _, types, _]
            if [&**traces, &**cpus, &**types] == ["traces", "cpus", "event_types"])
    };
    let counts = all.filter_map(|id| found.path(id)).filter(is_count);
    assert_eq!(counts.count(), expected.len());
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
    let near = |path: &str, expected: f64| {
        let value = number(&found, path);
        assert!((value / expected - 1.0).abs() < 1e-9, "{path}: {value}, not {expected}");
    };
    near("traces/[0]/events", times.len() as f64);
    near("traces/[0]/duration", seconds);
    near("traces/[0]/rate", times.len() as f64 / seconds);
    let mut stretches = BTreeMap::new();
    for time in &times {
        *stretches.entry((time - first) / 10_000_000).or_insert(0) += 1;
    }
    near("traces/[0]/peak_rate", f64::from(*stretches.values().max().unwrap()) * 100.0);
    let switches = number(&found, "traces/[0]/event_types/sched_switch");
    near("traces/[0]/event_rates/sched_switch", switches / seconds);
    assert_eq!(found.find_path("traces/[0]/event_types/irq_handler_entry"), Ok(None));
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
    let args = ["-m", "eventCounts", "--json", "--types", "--begin", &begin, "--end", &end];
    let run = analyse(&args, None);
    let found = typed_json::attributes(&run.stdout);
    assert_eq!(number(&found, "traces/[0]/events"), within as f64);
    assert_eq!(found.find_path("traces/[0]/rate"), Ok(None), "rates were not asked for");
}

#[test]
fn forms_of_output() {
    let tree = String::from_utf8(analyse(&["-m", "rates"], None).stdout).unwrap();
    assert!(tree.starts_with("traces\n  [0]\n    path: \""), "{tree}");
    assert!(tree.contains("\n    events: 6087\n"), "{tree}");
    assert!(tree.contains("\n        events: "), "{tree}");
    let paths = String::from_utf8(analyse(&["-m", "rates", "-a"], None).stdout).unwrap();
    assert!(paths.contains("\n/traces/[0]/event_types/sched_switch: 497\n"), "{paths}");
}
