//! Answers of SQL over recordings of all kinds, compared with the analyses that the commands print.

#[path = "../../arrow/tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;

use arrow_cast::display::array_value_to_string;
use lttv_common::kernel_trace;
use lttv_context::Traceset;
use lttv_sql::{SessionOptions, TraceSession};
use lttv_state::analysis::read;
use lttv_state::latency::{Family, GroupBy, LatencyAnalysis, Settings};
use lttv_state::stats::{Statistics, StatisticsAnalysis};
use tokio::runtime::Runtime;

/// The recordings beside the repository that are compared.
const SHARED: [&str; 11] = [
    "ctf/k1-8cpu",
    "ctf/k1-ctx",
    "ctf/k1-rot",
    "ctf/k1-snap",
    "ctf/gen-perf-cs",
    "ctf/gen-perf-sched",
    "ctf/gen-perf-sys",
    "ftrace/syscalls",
    "ftrace/block-net",
    "perf-data/threads",
    "perf-data/lpd-sleep",
];

/// Numbers by a name.
type Sums = BTreeMap<String, Vec<i64>>;

/// Runs a query whose first column is a name and whose others are numbers. Rows without a number but 0 are left out.
fn ask(session: &TraceSession, query: &str) -> Sums {
    let runtime = Runtime::new().expect("a runtime");
    let batches = runtime.block_on(async { session.sql(query).await?.collect().await });
    let mut sums = Sums::new();
    for batch in batches.unwrap_or_else(|error| panic!("{query}: {error}")) {
        for row in 0..batch.num_rows() {
            let text = |column: usize| {
                array_value_to_string(batch.column(column), row)
                    .expect("a value that can be printed")
            };
            let numbers = (1..batch.num_columns()).map(|column| text(column).parse().unwrap_or(0));
            let numbers: Vec<i64> = numbers.collect();
            if numbers.iter().any(|number| *number != 0) {
                sums.insert(text(0), numbers);
            }
        }
    }
    sums
}

/// Returns the CPU time of each thread but idle ones.
fn cpu_times(statistics: &Statistics) -> Sums {
    let mut sums = Sums::new();
    for of in statistics.traces() {
        for process in of.processes().iter().filter(|process| process.cpu_time > 0) {
            if let Some(tid @ 1..) = of.process_facts()[process.process.index()].tid {
                let sum = sums.entry(tid.to_string()).or_insert_with(|| vec![0]);
                sum[0] += process.cpu_time as i64;
            }
        }
    }
    sums
}

#[test]
fn sql_answers_as_the_analyses_do() {
    let bundled = ["kernel", "ftrace", "perf", "legacy", "ust"];
    let bundled = bundled.into_iter().map(|name| (name, common::bundled(name)));
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../../shared/traces"));
    let beside = SHARED.into_iter().map(|name| (name, root.join(name)));
    let beside = beside.filter(|(name, path)| {
        let is_there = path.exists();
        if !is_there {
            eprintln!("SKIPPED: {name}, which is not beside the repository");
        }
        is_there
    });
    let mut calls = 0;
    for (name, path) in bundled.chain(beside) {
        let traceset = Traceset::open(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let session = TraceSession::new(traceset.clone(), SessionOptions::default());
        let session = session.unwrap_or_else(|error| panic!("{name}: {error}"));
        let statistics = read(&traceset).run(StatisticsAnalysis::new()).output;
        let mut events = Sums::new();
        for (name, count) in statistics.traces().iter().flat_map(|of| of.events()) {
            events.entry(name.to_owned()).or_insert_with(|| vec![0])[0] += count as i64;
        }
        assert_eq!(
            ask(&session, "select name, count(*) from events group by name"),
            events,
            "{name}"
        );

        // SQL refuses what the commands refuse.
        let is_served = |of| kernel_trace::require(&traceset, of).is_ok();
        let threads = "select tid, sum(cpu_time) from statistics where tid > 0 group by tid";
        if is_served(&kernel_trace::STATS) {
            assert_eq!(ask(&session, threads), cpu_times(&statistics), "{name}");
        }
        if !is_served(&kernel_trace::SPANS) {
            continue;
        }

        let whole = "select name, count(*), sum(duration) from spans \
                     where family = 'syscall' and completeness = 'whole' group by name";
        let latency = read(&traceset).run(LatencyAnalysis::new(Settings::new())).output;
        let mut expected = Sums::new();
        for of in latency.traces() {
            for row in of.rows(Family::Syscall, GroupBy::Subject) {
                let Some(subject) = row.subject else { continue };
                let spread = row.figures.durations().spread();
                let sums = expected.entry(of.subject(subject)).or_insert_with(|| vec![0; 2]);
                (sums[0], sums[1]) =
                    (sums[0] + spread.count() as i64, sums[1] + spread.total() as i64);
            }
        }
        expected.retain(|_, sums| sums[0] > 0);
        assert_eq!(ask(&session, whole), expected, "{name}");
        calls += expected.values().map(|sums| sums[0]).sum::<i64>();
    }
    assert!(calls > 1000, "{calls} system calls");
}
