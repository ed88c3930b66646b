//! The schemas of tables, from the declarations of their columns.

use std::sync::Arc;

use clap::{Args, Command};
use lttv::commands::{
    calls, compare, counters, critical_path, disk, info, irq, latency, state, stats, sync, usage,
    wait,
};
use lttv_common::host::Host;
use lttv_common::report::Report;
use lttv_common::table::{Kind, Table};
use lttv_context::Traceset;
use serde_json::{Map, Value, json};

use super::parts::{integer, list, number, of, or_null, text};
use super::runs::{Inputs, RUNS};

/// The commands whose output is made of tables.
pub(super) const COMMANDS: [&str; 13] = [
    "calls",
    "compare",
    "counters",
    "critical-path",
    "disk",
    "info",
    "irq",
    "latency",
    "state",
    "stats",
    "sync",
    "usage",
    "wait",
];

/// The units of numbers.
pub(super) const UNITS: [&str; 6] = ["ns", "ns since 1970", "µs", "bytes", "bytes/s", "%"];

/// Returns the schema of the values in a column.
fn values(kind: Kind) -> Value {
    let with_unit = |mut schema: Value, unit: &str| {
        assert!(UNITS.contains(&unit), "{unit}");
        schema["x-unit"] = unit.into();
        schema
    };
    match kind {
        Kind::Text => text(),
        Kind::Integer | Kind::Count => integer(),
        Kind::Value | Kind::Decimal => number(),
        Kind::Bytes => with_unit(integer(), "bytes"),
        Kind::BytesPerSecond => with_unit(number(), "bytes/s"),
        Kind::Percent => with_unit(number(), "%"),
        Kind::Time => with_unit(integer(), "ns since 1970"),
        Kind::Duration => with_unit(integer(), "ns"),
        Kind::Microseconds => with_unit(number(), "µs"),
    }
}

/// Returns the schema of all tables that a command writes in its runs. Nothing in it is required:
/// `--table` and `--columns` leave tables and columns out.
pub(super) fn schema(command: &str, inputs: &Inputs) -> Value {
    let mut tables: Map<String, Value> = Map::new();
    for run in RUNS.iter().filter(|run| run.command == command) {
        for (words, traces) in run.lines(inputs) {
            // The trace does not have what the command needs.
            let Some(found) = declared(command, &words[1..], &traces) else { continue };
            for table in &found {
                add(&mut tables, command, table);
            }
        }
    }
    assert!(!tables.is_empty(), "{command} has no tables");
    json!({ "type": "object", "properties": tables })
}

/// Adds a table, or the columns that it does not have yet.
fn add(tables: &mut Map<String, Value>, command: &str, table: &Table) {
    let rows = tables.entry(table.key()).or_insert_with(|| {
        let mut rows = list(of("object"));
        rows["items"]["properties"] = json!({});
        rows
    });
    let columns = rows["items"]["properties"].as_object_mut().expect("an object");
    for ((key, kind), (_, title)) in table.kinds().zip(table.titles()) {
        let mut column = or_null(values(kind));
        if !title.is_empty() {
            column["title"] = title.into();
        }
        let known = columns.entry(key).or_insert_with(|| column.clone());
        let place = format!("{command}: {}.{key}", table.key());
        assert_eq!(known["type"], column["type"], "{place}");
        assert_eq!(known.get("x-unit"), column.get("x-unit"), "{place}");
    }
}

/// Returns the tables that a command writes; `None` if it fails.
fn declared(command: &str, words: &[String], traces: &[String]) -> Option<Vec<Table>> {
    match command {
        "calls" => tables(calls::run, words, traces),
        "compare" => tables(compare::run, words, traces),
        "counters" => tables(counters::run, words, traces),
        "critical-path" => tables(critical_path::run, words, traces),
        "disk" => tables(disk::run, words, traces),
        "info" => tables(info::run, words, traces),
        "irq" => tables(irq::run, words, traces),
        "latency" => tables(latency::run, words, traces),
        "state" => tables(state::run, words, traces),
        "stats" => tables(stats::run, words, traces),
        "sync" => tables(sync::run, words, traces),
        "usage" => tables(usage::run, words, traces),
        "wait" => tables(wait::run, words, traces),
        _ => panic!("{command}"),
    }
}

type Failure = Box<dyn std::error::Error>;

/// Runs a command in this program, which receives its tables.
fn tables<A: Args>(
    run: impl FnOnce(&A, &mut Report) -> Result<(), Failure>,
    words: &[String],
    traces: &[String],
) -> Option<Vec<Table>> {
    let matches =
        A::augment_args(Command::new("test").no_binary_name(true)).get_matches_from(words);
    let args = A::from_arg_matches(&matches).expect("arguments");
    let traceset = Traceset::open_many(traces).expect("traces");
    let host = Arc::new(Host::new(traceset));
    host.run(|| run(&args, &mut Report::new("test"))).ok()?;
    Some(host.take_tables())
}
