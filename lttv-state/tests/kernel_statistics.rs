//! Statistics add up, and come out the same from one thread as from several.

mod support;

use std::collections::BTreeMap;

use lttv_context::attributes::{AttributeId, Attributes};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::kernel::KernelState;
use lttv_state::stats::{Counts, Statistics, statistics};

fn collected(traceset: &Traceset) -> (Statistics, u64) {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let statistics = Statistics::attach(&mut context, kernel);
    let read = context.middle(&Bounds::all()).expect("no position");
    (Statistics::take(&mut context, statistics, kernel), read.events)
}

#[test]
fn the_time_of_a_cpu_is_that_of_the_trace() {
    for (name, traceset) in support::kernel_traces() {
        let (statistics, events) = collected(&traceset);
        let trace = &statistics.traces()[0];
        let mut modes: BTreeMap<u32, u64> = BTreeMap::new();
        for (key, counts) in trace.leaves() {
            let time = modes.entry(key.cpu).or_default();
            *time = time.wrapping_add(counts.cpu_time);
        }
        assert!(!modes.is_empty(), "{name}: no CPUs");
        for (cpu, time) in modes {
            assert_eq!(time, trace.time(), "{name}: CPU {cpu}");
        }
        for cpu in trace.cpus() {
            let time = cpu.busy_time + cpu.idle_time + cpu.unknown_time;
            assert_eq!(time, trace.time(), "{name}: CPU {}", cpu.number);
        }
        let counted: u64 = trace.events().values().sum();
        assert_eq!(counted, events, "{name}");
    }
}

#[test]
fn leaves_add_up_to_roots() {
    for (name, traceset) in support::kernel_traces() {
        let (statistics, events) = collected(&traceset);
        let trace = &statistics.traces()[0];
        let mut leaves = Counts::default();
        trace.leaves().for_each(|(_, counts)| leaves.add(counts));
        assert_eq!(trace.total(), leaves, "{name}");
        assert_eq!(leaves.events.total(), events, "{name}");
        let by_process: u64 = trace.processes().iter().map(|of| of.cpu_time).sum();
        let by_cpu: u64 =
            trace.cpus().iter().map(|of| of.busy_time + of.idle_time + of.unknown_time).sum();
        assert_eq!((by_process, by_cpu), (leaves.cpu_time, leaves.cpu_time), "{name}");
        for of in trace.processes() {
            let parts = of.user_time + of.system_time + of.interrupt_time + of.unknown_time;
            assert_eq!(parts, of.cpu_time, "{name}: {:?}", of.process);
        }
    }
}

/// Sums in the tree of attributes: of each node over its children of one kind.
#[test]
fn attributes_add_up() {
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    let (statistics, events) = collected(&traceset);
    let exported = || {
        let mut tree = Attributes::new();
        statistics.export(&mut tree, AttributeId::ROOT).expect("nothing else is there");
        tree
    };
    let (tree, again) = (exported(), exported());
    assert_eq!(tree.to_string(), again.to_string(), "asking twice changes nothing");
    let count = |path: &str| -> u64 {
        let found = tree.at(path).expect("a path").and_then(|found| tree.key::<u64>(found));
        *tree.get(found.unwrap_or_else(|| panic!("no {path}"))).expect("a value")
    };
    assert_eq!(count("events count"), events);
    assert_eq!(count("traces/[0]/events count"), events);
    let cpus: u64 = (0..8).map(|cpu| count(&format!("traces/[0]/cpu/[{cpu}]/events count"))).sum();
    assert_eq!(cpus, events);
}

#[test]
fn several_threads_give_what_one_does() {
    for (name, traceset) in support::kernel_traces() {
        let (alone, _) = collected(&traceset);
        for threads in [1, 2, 5] {
            let (parallel, _) = statistics(&traceset, threads);
            same(&format!("{name}, {threads} threads"), &parallel, &alone);
        }
    }
}

fn same(name: &str, got: &Statistics, expected: &Statistics) {
    let [got, expected] = [got, expected].map(|statistics| &statistics.traces()[0]);
    assert_eq!((got.begin(), got.end()), (expected.begin(), expected.end()), "{name}");
    let leaves = |of: &lttv_state::stats::TraceStatistics| {
        let named = of.leaves().map(|(key, counts)| {
            let submode = of.name(key.submode).to_owned();
            ((key.process, key.cpu, key.function, key.mode, submode), counts.clone())
        });
        // A slice that begins in one may find that nothing happened in it.
        named.filter(|(_, counts)| *counts != Counts::default()).collect::<BTreeMap<_, _>>()
    };
    let (got_leaves, expected_leaves) = (leaves(got), leaves(expected));
    for (key, counts) in &expected_leaves {
        assert_eq!(got_leaves.get(key), Some(counts), "{name}: {key:?}");
    }
    assert_eq!(got_leaves.len(), expected_leaves.len(), "{name}");
    assert_eq!(got.process_facts().len(), expected.process_facts().len(), "{name}");
    for (got, expected) in got.process_facts().iter().zip(expected.process_facts()) {
        assert_eq!(got, expected, "{name}");
    }
    assert_eq!(got.devices(), expected.devices(), "{name}");
}
