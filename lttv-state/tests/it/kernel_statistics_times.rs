//! The times of statistics: of CPUs by what they execute, of traces and of the traceset.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::support;
use crate::support::oracle::{Machine, cpu_of};
use ltt_read::{Merge, Timestamp};
use lttv_context::Traceset;
use lttv_context::attributes::{AttributeId, AttributeValue, Attributes};
use lttv_state::analysis::read;
use lttv_state::stats::{Statistics, StatisticsAnalysis};

/// Returns the user, system, idle, interrupt, softirq and unknown time of each CPU, by the
/// naive model, which looks at all CPUs at each event.
fn times_of_model(traceset: &Traceset) -> BTreeMap<u64, [u64; 6]> {
    let [trace] = traceset.traces() else { panic!("one trace") };
    let mut model = Machine::before(trace);
    let mut merge = Merge::new(traceset.traces());
    let mut cpus: BTreeMap<u64, [u64; 6]> = BTreeMap::new();
    while let Some(event) = merge.next() {
        cpus.entry(cpu_of(&event)).or_default();
    }
    let mut merge = Merge::new(traceset.traces());
    let mut last: Option<i64> = None;
    while let Some(event) = merge.next() {
        let time = event.timestamp().expect("a time").as_ns();
        let passed = last.map_or(0, |last| time.abs_diff(last));
        last = Some(time);
        for (cpu, times) in &mut cpus {
            let tid = model.running.get(cpu).copied();
            let (mode, _) = tid.map(|tid| model.doing(tid)).unwrap_or_default();
            let place = match (mode, tid) {
                ("USER_MODE", _) => 0,
                ("SYSCALL", Some(..0)) => 2,
                ("SYSCALL", _) => 1,
                ("IRQ" | "SOFTIRQ", _) => 3,
                _ => 5,
            };
            times[place] += passed;
            times[4] += if mode == "SOFTIRQ" { passed } else { 0 };
        }
        model.step(&event);
    }
    cpus
}

fn check(name: &str, traceset: &Traceset) {
    let expected = times_of_model(traceset);
    let statistics = read(traceset).run(StatisticsAnalysis::new()).output;
    let trace = &statistics.traces()[0];
    let found: BTreeMap<u64, [u64; 6]> = trace
        .cpus()
        .into_iter()
        .map(|cpu| {
            let of = cpu.times;
            assert_eq!(of.covered(), of.user + of.system + of.idle + of.interrupt);
            assert_eq!(of.covered() + of.unknown, trace.time(), "{name}: CPU {}", cpu.number);
            (cpu.number.into(), [of.user, of.system, of.idle, of.interrupt, of.softirq, of.unknown])
        })
        .collect();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn user_system_idle_and_interrupt_times_are_those_of_the_model() {
    check("bundled", &Traceset::open(support::bundled()).expect("a trace"));
    for name in ["k1-multi", "k1-8cpu", "k2-8cpu", "k1-ctx", "tc-synctraces/scp_src"] {
        if let Some(path) = support::shared(&format!("ctf/{name}")) {
            check(name, &Traceset::open(path).expect("a trace"));
        }
    }
}

fn exported(statistics: &Statistics) -> Attributes {
    let mut tree = Attributes::new();
    statistics.export(&mut tree, AttributeId::ROOT).expect("nothing else is there");
    tree
}

fn value<'t>(tree: &'t Attributes, path: &str) -> &'t AttributeValue<'static> {
    let id = tree.find_path(path).expect("a path").unwrap_or_else(|| panic!("no {path}"));
    tree.value(id).unwrap_or_else(|| panic!("{path} is a tree"))
}

fn duration(tree: &Attributes, path: &str) -> u64 {
    match value(tree, path) {
        AttributeValue::Duration(time) => time.as_nanos() as u64,
        other => panic!("{path}: {other}"),
    }
}

/// The idle time is neither a part of the system time nor of the mode of system calls.
#[test]
fn idle_time_has_a_mode_of_its_own_in_the_tree() {
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    let statistics = read(&traceset).threads(1).run(StatisticsAnalysis::new()).output;
    let tree = exported(&statistics);
    for cpu in statistics.traces()[0].cpus() {
        let at = |name: &str| duration(&tree, &format!("traces/[0]/cpu/[{}]/{name}", cpu.number));
        assert_eq!(at("idle time"), cpu.times.idle);
        assert_eq!(at("mode_types/IDLE/cpu time"), cpu.times.idle);
        let parts = ["user", "system", "idle", "interrupt", "unknown"];
        let sum: u64 = parts.iter().map(|name| at(&format!("{name} time"))).sum();
        assert_eq!(sum, at("cpu time"), "CPU {}", cpu.number);
        let process = format!("traces/[0]/processes/swapper\\/{}", cpu.number);
        assert_eq!(value(&tree, &format!("{process}/name")).to_string(), {
            format!("\"swapper/{}\"", cpu.number)
        });
        let idle = format!("{process}/mode_types/IDLE/cpu time");
        assert_eq!(duration(&tree, &idle), cpu.times.idle);
    }
    let tree = tree.to_string();
    let mut lines = tree.lines().map(str::trim_start);
    assert!(!lines.any(|line| line.starts_with("0-0.0")), "a process 0 without its CPU");
}

#[test]
fn traces_and_the_traceset_have_start_end_and_duration() {
    let traces = ["kernel", "legacy", "ust"].map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces").join(name);
        Traceset::open(path).expect("a trace").traces()[0].clone()
    });
    let mut spans: Vec<(Timestamp, Timestamp)> = Vec::new();
    for trace in &traces {
        let mut merge = Merge::new(std::slice::from_ref(trace));
        let times = std::iter::from_fn(|| merge.next().map(|event| event.timestamp()));
        let times: Vec<_> = times.flatten().collect();
        spans.push((*times.iter().min().expect("events"), *times.iter().max().expect("events")));
    }
    let statistics =
        read(&Traceset::from_iter(traces)).threads(1).run(StatisticsAnalysis::new()).output;
    let tree = exported(&statistics);
    let check = |at: &str, (start, end): (Timestamp, Timestamp)| {
        let time = Duration::from_nanos(end.as_ns().abs_diff(start.as_ns()));
        for (name, expected) in [
            ("start time", AttributeValue::from(start)),
            ("end time", AttributeValue::from(end)),
            ("duration", AttributeValue::from(time)),
        ] {
            assert_eq!(*value(&tree, &format!("{at}{name}")), expected, "{at}{name}");
        }
    };
    for (number, span) in spans.iter().enumerate() {
        check(&format!("traces/[{number}]/"), *span);
    }
    let whole = (spans.iter().map(|of| of.0).min(), spans.iter().map(|of| of.1).max());
    assert_eq!((statistics.start(), statistics.end()), whole);
    check("", (whole.0.expect("events"), whole.1.expect("events")));
    assert_eq!((Statistics::default().start(), Statistics::default().time()), (None, 0));
}
