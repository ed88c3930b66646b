//! `lttv calls`, the module `calls` and the program `flame_graph` agree with each other, and with
//! `lttv latency` about the same pairs.

use crate::support;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lttv_traces::{Options, calls_like};
use serde_json::Value;

const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");

/// Options for pairs of the events of soft interrupts.
const SOFTIRQ: [&str; 4] = [
    "--pair",
    "softirq",
    r#"event.name == "irq_softirq_entry""#,
    r#"event.name == "irq_softirq_exit""#,
];

/// A trace of programs that call functions and allocate memory.
struct Shop(tempfile::TempDir);

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options { index: false, mean_gap: 2_000, ..Options::default() };
        calls_like(&folder.path().join("shop"), 2, 4_000, &options).expect("a trace");
        Shop(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("shop")
    }
}

/// Runs a program, which must end without errors, and returns what it printed.
fn run(args: &[&str], trace: &Path) -> String {
    let args = [args, &[trace.to_str().expect("UTF-8")]].concat();
    let run = support::run(&support::lttv(), &args, None, Duration::from_secs(60));
    assert_eq!(run.status, Some(0), "{args:?}: {run:?}");
    String::from_utf8(run.stdout).expect("UTF-8")
}

fn json(args: &[&str], trace: &Path) -> Value {
    serde_json::from_str(&run(args, trace)).expect("JSON")
}

fn rows<'v>(tables: &'v Value, table: &str) -> &'v [Value] {
    tables[table].as_array().unwrap_or_else(|| panic!("no table {table}"))
}

fn number(row: &Value, column: &str) -> u64 {
    row[column].as_u64().unwrap_or_else(|| panic!("no {column} in {row}"))
}

#[test]
fn the_module_reports_the_same() {
    let shop = Shop::new();
    let tables = json(&["calls", "--no-symbols", "--format", "json"], &shop.path());
    let found = json(&["run", "-m", "calls", "--json", "-t"], &shop.path());
    for table in ["functions", "threads", "open", "anomalies", "heap", "sizes", "ages", "sites"] {
        let (found, expected) = (
            support::module_rows(&found, "calls", table),
            support::rows_without_empty(&tables, table),
        );
        assert_eq!(found, expected, "{table}");
    }
    assert!(rows(&tables, "functions").len() > 100 && !rows(&tables, "heap").is_empty());
}

#[test]
fn flame_graphs_contain_the_self_times() {
    let shop = Shop::new();
    let tables = json(&["calls", "--no-symbols", "--format", "json"], &shop.path());
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows(&tables, "functions").iter().filter(|row| number(row, "self_ns") > 0) {
        let function = row["function"].as_str().expect("a name");
        *expected.entry(function.to_owned()).or_default() += number(row, "self_ns");
    }
    for by in ["all", "process", "thread"] {
        let args = ["chart", "flame", "--no-symbols", "--format", "folded", "--by", by];
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for line in run(&args, &shop.path()).lines() {
            let (stack, time) = line.rsplit_once(' ').expect("a time");
            let top = stack.rsplit(';').next().expect("a frame");
            *found.entry(top.to_owned()).or_default() += time.parse::<u64>().expect("a time");
        }
        assert_eq!(found, expected, "by {by}");
    }
}

#[test]
fn pictures_name_the_functions_with_most_time() {
    let shop = Shop::new();
    let picture = run(&["chart", "flame", "--no-symbols", "--title", "a < b & c"], &shop.path());
    let titles: Vec<_> = picture
        .split("<title>")
        .skip(1)
        .map(|rest| rest.split_once("</title>").expect("an end").0)
        .collect();
    let tables = json(&["calls", "--no-symbols", "--format", "json"], &shop.path());
    let all = rows(&tables, "functions").iter().map(|row| number(row, "self_ns")).sum::<u64>();
    assert!(picture.contains(">a &lt; b &amp; c<"));
    let widest = rows(&tables, "functions").iter().filter(|row| number(row, "time_ns") > all / 100);
    for row in widest {
        let function = row["function"].as_str().expect("a name");
        assert!(titles.iter().any(|title| title.starts_with(function)), "{function}");
    }
}

#[test]
fn pairs_of_events_are_the_handlers_of_interrupts() {
    let kernel = Path::new(KERNEL);
    let calls = json(&[&["calls", "--format", "json"], &SOFTIRQ[..]].concat(), kernel);
    let handlers = json(&["latency", "--family", "softirq", "--format", "json"], kernel);
    let [call] = rows(&calls, "functions") else { panic!("{calls}") };
    let handlers = rows(&handlers, "softirq");
    let of = |column: &str| handlers.iter().map(|row| number(row, column)).collect::<Vec<_>>();
    assert_eq!(number(call, "calls"), of("count").iter().sum::<u64>());
    assert_eq!(Some(number(call, "min_ns")), of("min_ns").into_iter().min());
    assert_eq!(Some(number(call, "max_ns")), of("max_ns").into_iter().max());
}

#[test]
fn traces_without_calls_are_refused_with_the_way_to_record_them() {
    let kernel = Path::new(KERNEL);
    for args in [&["calls"][..], &["run", "-m", "calls", "-t"], &["chart", "flame"]] {
        let args = [args, &[kernel.to_str().expect("UTF-8")]].concat();
        let run = support::run(&support::lttv(), &args, None, Duration::from_secs(60));
        assert_ne!(run.status, Some(0), "{args:?}");
        assert!(run.stderr.contains("lttng enable-event -u"), "{args:?}: {}", run.stderr);
    }
}
