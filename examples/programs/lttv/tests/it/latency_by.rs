//! `lttv latency --by`: rows, their distributions and their longest durations add up to those of the family.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::support::{self, kernel_traces};
use serde_json::Value;

const FAMILIES: [&str; 5] = ["syscall", "read", "wake-up", "softirq", "disk"];

fn tables(args: &[&str], trace: &Path) -> Option<Value> {
    let families = format!("--family={}", FAMILIES.join(","));
    let options = ["latency", "--no-cache", "--format=json", &families];
    let all = [&options[..], args].concat();
    let run = support::run(&support::lttv(), &all, Some(trace), Duration::from_secs(60));
    assert!(run.is_orderly(), "{trace:?} {args:?}: {run:?}");
    serde_json::from_slice(&run.stdout).ok()
}

fn rows<'v>(tables: &'v Value, table: &str) -> &'v Vec<Value> {
    tables[table].as_array().unwrap_or_else(|| panic!("no table {table}"))
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap_or(0)
}

/// Returns the columns of a row that tell what its durations have in common.
fn key(row: &Value) -> String {
    let keys = ["trace", "subject", "tid", "thread", "pid", "process", "file", "cpu"];
    let keys = keys.into_iter().chain(["size_from", "size_below", "result"]);
    keys.map(|key| row.get(key).map_or(String::new(), Value::to_string)).collect()
}

#[test]
fn rows_and_their_distributions_add_up_to_the_family() {
    let mut compared = 0;
    for trace in kernel_traces() {
        let Some(whole) = tables(&["--table=families,histogram"], &trace) else { continue };
        for by in ["name", "thread", "process", "both", "file", "cpu", "size", "result"] {
            let by = format!("--by={by}");
            let list = format!("--table={},histogram", FAMILIES.join(","));
            let divided = tables(&[&by, &list, "--top=0"], &trace).expect("the same tables");
            for family in FAMILIES {
                let context = format!("{trace:?} {by} {family}");
                let sum = |rows: &[Value], key: &str| -> u64 {
                    rows.iter().map(|row| number(row, key)).sum()
                };
                let own = |table: &str, of: &Value| -> Vec<Value> {
                    let rows = rows(of, table).iter();
                    rows.filter(|row| row["family"] == family).cloned().collect()
                };
                let total = own("families", &whole);
                let found = rows(&divided, family);
                for key in ["count", "total_ns"] {
                    assert_eq!(sum(found, key), sum(&total, key), "{context} {key}");
                }
                // The bins of each row have its durations, and together those of the family.
                let bins = own("histogram", &divided);
                let mut of_rows: BTreeMap<String, u64> = BTreeMap::new();
                let mut of_bins: BTreeMap<u64, u64> = BTreeMap::new();
                for bin in &bins {
                    *of_rows.entry(key(bin)).or_default() += number(bin, "count");
                    *of_bins.entry(number(bin, "from_ns")).or_default() += number(bin, "count");
                }
                let mut expected: BTreeMap<String, u64> = BTreeMap::new();
                for row in found.iter().filter(|row| number(row, "count") > 0) {
                    *expected.entry(key(row)).or_default() += number(row, "count");
                }
                assert_eq!(of_rows, expected, "{context}");
                let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
                for bin in own("histogram", &whole).iter().filter(|bin| number(bin, "count") > 0) {
                    *expected.entry(number(bin, "from_ns")).or_default() += number(bin, "count");
                }
                of_bins.retain(|_, count| *count > 0);
                assert_eq!(of_bins, expected, "{context}");
                compared += found.len();
            }
        }
    }
    support::print_note(&format!("{compared} rows were compared"));
    assert!(compared > 200, "{compared}");
}

#[test]
fn the_longest_of_each_row_are_its_own() {
    for trace in kernel_traces() {
        let all = ["--table=top", "--top=0"];
        let Some(all) = tables(&all, &trace) else { continue };
        let found = tables(&["--by=thread", "--table=top,syscall", "--top=2"], &trace);
        let found = found.expect("the same tables");
        let of = |row: &Value, tid: &Value| row["family"] == "syscall" && row["tid"] == *tid;
        for row in rows(&found, "syscall") {
            let own = |tables: &Value| -> Vec<u64> {
                let rows = rows(tables, "top").iter().filter(|of_row| of(of_row, &row["tid"]));
                let mut longest: Vec<u64> = rows.map(|row| number(row, "duration_ns")).collect();
                // Threads of several traces, or one after the other, have rows of their own.
                longest.sort_unstable_by(|a, b| b.cmp(a));
                longest.truncate(2);
                longest
            };
            assert_eq!(own(&found), own(&all), "{trace:?} {row}");
        }
    }
}
