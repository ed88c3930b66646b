//! Tests `lttv info`: its numbers are those of reading everything.

use crate::support;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use ltt_read::{Merge, TracefileIndex};
use lttv_traces::Options;
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(120);

fn bundled(name: &str) -> String {
    format!("{}/../../traces/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn info(trace: &str, args: &[&str]) -> support::Run {
    let args = [&["info"], args].concat();
    support::run(&support::lttv(), &args, Some(Path::new(trace)), LIMIT)
}

fn json(trace: &str, args: &[&str]) -> Value {
    let run = info(trace, &[&["--format=json"], args].concat());
    assert_eq!(run.status, Some(0), "{run:?}");
    serde_json::from_slice(&run.stdout).expect("JSON")
}

fn rows<'v>(value: &'v Value, table: &str) -> &'v [Value] {
    value[table].as_array().unwrap_or_else(|| panic!("no table {table}"))
}

/// Several traces are described one after the other.
#[test]
fn each_trace_is_described() {
    let second = bundled("ust");
    let run = info(&bundled("kernel"), &[&second]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let text = String::from_utf8(run.stdout).expect("UTF-8");
    let titles: Vec<&str> = text.lines().filter(|line| line.starts_with("Trace ")).collect();
    assert_eq!(titles.len(), 2, "{text}");
    assert!(titles[0].starts_with("Trace 0: ") && titles[1].starts_with("Trace 1: "), "{text}");
}

/// Reads all events, and compares their numbers and times with the description.
fn compare(path: &str) {
    let found = json(path, &["--events"]);
    let traces = ltt_read::open_all(path).unwrap();
    assert_eq!(rows(&found, "traces").len(), traces.len());
    let mut types: BTreeMap<(u64, String, u64), u64> = BTreeMap::new();
    for (index, (trace, row)) in traces.iter().zip(rows(&found, "traces")).enumerate() {
        let mut merge = Merge::new(std::slice::from_ref(trace));
        let (mut events, mut first, mut last) = (0u64, None, None);
        while let Some(event) = merge.next() {
            let time = event.timestamp().map(|time| time.as_ns());
            (events, first) = (events + 1, first.or(time));
            last = last.max(time);
            let of = event.event_type();
            *types.entry((index as u64, of.name().to_owned(), of.id)).or_default() += 1;
        }
        assert_eq!(row["events"], events, "{path}");
        assert_eq!((&row["first_ns"], &row["last_ns"]), (&first.into(), &last.into()), "{path}");
        let files = rows(&found, "tracefiles").iter().filter(|of| of["trace"] == index);
        let sum = |key: &str| files.clone().map(|of| of[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("events"), events);
        let mut packets = 0;
        for tracefile in (0..trace.tracefiles().len()).map(TracefileIndex) {
            let mut cursor = trace.cursor(tracefile);
            let mut place = None;
            while cursor.advance().unwrap() {
                let event = cursor.event();
                let here = Some((event.file_index(), event.packet().offset));
                packets += u64::from(place != here);
                place = here;
            }
        }
        assert!(sum("packets") >= packets, "packets without events count, too");
        assert_eq!(row["bytes"], trace.tracefiles().iter().map(|of| of.size()).sum::<u64>());
    }
    let counted = rows(&found, "event_types").iter().filter(|row| row["events"] != 0);
    let text = |row: &Value| row["name"].as_str().unwrap().to_owned();
    let number = |row: &Value, key: &str| row[key].as_u64().unwrap();
    let key = |row: &Value| (number(row, "trace"), text(row), number(row, "id"));
    let mut found_types: BTreeMap<_, u64> = BTreeMap::new();
    counted.for_each(|row| *found_types.entry(key(row)).or_default() += number(row, "events"));
    assert_eq!(found_types, types, "{path}");
}

#[test]
fn the_numbers_are_those_of_a_read() {
    for name in ["kernel", "ust", "ust-ctf2", "legacy"] {
        compare(&bundled(name));
    }
    let Some(shared) = support::shared() else {
        return support::print_note("SKIPPED: there are no recorded traces here");
    };
    for name in ["k1-rot", "k2-8cpu", "u1-discard", "gen-perf-sched", "k1-empty"] {
        compare(shared.join("traces/ctf").join(name).to_str().unwrap());
    }
}

#[test]
fn a_kernel_trace_is_described() {
    let found = json(&bundled("kernel"), &[]);
    let trace = &rows(&found, "traces")[0];
    assert_eq!((&trace["kind"], &trace["format"]), (&"kernel".into(), &"CTF 1.8".into()));
    assert!(trace["tracer"].as_str().unwrap().starts_with("lttng-modules 2."), "{trace}");
    assert_eq!((&trace["tracefiles"], &trace["cpus"]), (&16.into(), &8.into()));
    assert_eq!((&trace["events"], &trace["frequency_hz"]), (&6087.into(), &1_000_000_000.into()));
    let served = |command: &str| {
        let row = rows(&found, "uses").iter().find(|row| row["command"] == command).unwrap();
        (row["served"].clone(), row["missing"].clone())
    };
    for command in ["dump", "stats", "state", "wait", "irq", "disk", "history", "chart", "tui"] {
        assert_eq!(served(command), ("yes".into(), Value::Null), "{command}");
    }
    assert_eq!(found["losses"], Value::Array(Vec::new()));
    let text = String::from_utf8(info(&bundled("kernel"), &["--utc"]).stdout).unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "kind kernel",
        "events 6087",
        "first event 2026-11-21 03:56:56.",
        "commands dump, tui, stats",
    ] {
        assert!(words.contains(line), "{line} in {text}");
    }
}

#[test]
fn a_user_space_trace_names_the_events_that_commands_need() {
    let found = json(&bundled("ust"), &[]);
    assert_eq!(rows(&found, "traces")[0]["kind"], "user space");
    for row in rows(&found, "uses").iter().filter(|row| row["trace"] == 0) {
        let expected = match row["command"].as_str().unwrap() {
            "dump" | "tui" => ("yes".into(), Value::Null),
            "irq" => ("no".into(), "irq_handler_entry, irq_handler_exit (or irq_softirq_*)".into()),
            "disk" => ("no".into(), "block_rq_issue, block_rq_complete".into()),
            "latency" | "spans" | "why" => {
                let any = "syscall_entry_*, irq_handler_entry, irq_softirq_entry, block_rq_issue, ftrace:print";
                ("no".into(), format!("sched_switch (or {any})").into())
            }
            "stats" | "state" => ("no".into(), "sched_switch or the context tid".into()),
            "chart flame" => {
                let any = "callstack_kernel, callstack_user, kernel_stack, user_stack, funcgraph_entry, func_entry";
                ("no".into(), format!("callchain (or {any})").into())
            }
            _ => ("no".into(), "sched_switch".into()),
        };
        assert_eq!((row["served"].clone(), row["missing"].clone()), expected, "{row}");
    }
}

#[test]
fn events_of_large_traces_are_counted_only_if_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    lttv_traces::kernel_like(&path, 2, 500_000, &Options::default()).unwrap();
    let path = path.to_str().unwrap();
    let found = json(path, &[]);
    let trace = &rows(&found, "traces")[0];
    assert!(trace["bytes"].as_u64().unwrap() > 16 << 20, "{trace}");
    assert_eq!(trace["events"], Value::Null);
    assert!(trace["packets"].as_u64().unwrap() > 0 && !trace["duration_ns"].is_null());
    let text = String::from_utf8(info(path, &[]).stdout).unwrap();
    assert!(text.contains("not counted (use --events)"), "{text}");
    assert_eq!(rows(&json(path, &["--events"]), "traces")[0]["events"], 500_000);
}

#[test]
fn losses_are_summed_by_tracefile() {
    let Some(shared) = support::shared() else {
        return support::print_note("SKIPPED: there are no recorded traces here");
    };
    let path = shared.join("traces/ctf/u1-discard");
    let path = path.to_str().unwrap();
    let found = json(path, &[]);
    assert_eq!(rows(&found, "traces")[0]["lost_events"], 73228);
    let of_file = |name: &str| {
        let mut files = rows(&found, "tracefiles").iter();
        files.find(|row| row["tracefile"] == name).unwrap()["lost_events"].clone()
    };
    // The sums of babeltrace2's messages.
    assert_eq!((of_file("c_1"), of_file("c_0")), (19437.into(), 53791.into()));
    assert_eq!(rows(&found, "losses").len(), 11);
    let run = info(path, &[]);
    assert!(run.stderr.contains("lttv: 11 ranges lost 73228 events of about "), "{}", run.stderr);
}

#[test]
fn definitions_that_a_trace_serves_have_spans_and_counters_in_it() {
    let mut found = 0;
    for name in ["kernel", "ftrace", "ust"] {
        let trace = bundled(name);
        let all = json(&trace, &["--table", "definitions"]);
        let text = String::from_utf8(info(&trace, &[]).stdout).expect("UTF-8");
        let types = json(&trace, &["--events", "--table", "event_types"]);
        let has_type = |name: &str| {
            rows(&types, "event_types").iter().any(|of| of["name"].as_str().unwrap().contains(name))
        };
        let names: Vec<_> =
            rows(&all, "definitions").iter().map(|row| row["file"].as_str().unwrap()).collect();
        for (file, event) in [
            ("cpu-frequency", "cpu_frequency"),
            ("cpu-idle", "cpu_idle"),
            ("markers", "print"),
            ("ros2-callbacks", "ros2:callback_start"),
        ] {
            assert_eq!(names.contains(&file), has_type(event), "{name} {file} {names:?}");
        }
        for row in rows(&all, "definitions") {
            assert!(text.contains(row["file"].as_str().unwrap()), "{text}");
            found += 1;
        }
    }
    assert!(found > 0);
}
