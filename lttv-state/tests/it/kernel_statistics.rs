//! Statistics add up, and do not depend on the number of threads.

use std::collections::BTreeMap;
use std::path::Path;

use ltt_read::TraceIndex;
use lttv_context::attributes::{AttributeId, Attributes};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::analysis::{attach, read};
use lttv_state::kernel::{KernelState, TraceState, Transition};
use lttv_state::stats::{Counts, LeafKey, Statistics, StatisticsAnalysis, TraceStatistics};

use crate::support;

fn collected(traceset: &Traceset) -> (Statistics, u64) {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let statistics = attach(&mut context, kernel, .., StatisticsAnalysis::new());
    let read = context.read(&Bounds::all()).expect("bounds without a position");
    (statistics.take(context.extensions_mut()), read.events)
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

/// Returns the key of the process and frame that run on a CPU.
fn key_of(state: &TraceState, cpu: u32) -> Option<LeafKey> {
    let process = state.running(cpu)?;
    let top = process.top();
    Some(LeafKey {
        process: process.serial(),
        cpu,
        function: process.function(),
        mode: top.mode(),
        submode: top.submode(),
    })
}

/// Compares statistics with a hook that looks at all CPUs whose state an event may have
/// changed. In the trace with swapped packets CPUs contradict each other.
#[test]
fn events_count_for_the_leaf_after_them() {
    let swapped = support::shared("ctf/gen-mut-k1-packets-swapped");
    let swapped = swapped.map(|path| ("swapped", Traceset::open(path).expect("a trace")));
    let all = support::kernel_traces();
    let all = all.iter().map(|(name, traceset)| (name.as_str(), traceset));
    for (name, traceset) in all.chain(swapped.as_ref().map(|(name, traceset)| (*name, traceset))) {
        let (mut on, mut counted) = (BTreeMap::new(), BTreeMap::new());
        let mut context = TracesetContext::new(traceset);
        let kernel = context.attach(KernelState::new());
        let statistics = attach(&mut context, kernel, .., StatisticsAnalysis::new());
        context.on_event("*", |call| {
            use Transition::{DumpEnd, KernelThread, ProcessState};
            let kernel = &call.extensions[kernel];
            let (Some(state), Some(cpu)) = (kernel.trace(TraceIndex(0)), kernel.cpu_of(call))
            else {
                return;
            };
            let transition = kernel.transition(TraceIndex(0), call.event.type_id());
            match transition {
                _ if !on.contains_key(&cpu) => on.extend(key_of(state, cpu).map(|key| (cpu, key))),
                Some(of)
                    if matches!(of, ProcessState | DumpEnd | KernelThread)
                        || state.effect().left_other_cpu() =>
                {
                    for (cpu, key) in &mut on {
                        *key = key_of(state, *cpu).unwrap_or(*key);
                    }
                }
                Some(_) => on.extend(key_of(state, cpu).map(|key| (cpu, key))),
                None => {}
            }
            if let Some(key) = on.get(&cpu) {
                *counted.entry(*key).or_insert(0u64) += 1;
            }
        });
        _ = context.read(&Bounds::all()).expect("bounds without a position");
        let statistics = statistics.take(context.extensions_mut());
        drop(context);
        let leaves = statistics.traces()[0].leaves();
        let found: BTreeMap<LeafKey, u64> = leaves
            .map(|(key, counts)| (*key, counts.events.total()))
            .filter(|(_, events)| *events > 0)
            .collect();
        assert!(found == counted, "{name}: {} and {} leaves", found.len(), counted.len());
    }
}

/// Compares sums in the attribute tree: each node with its children of one kind.
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
    assert_eq!(tree.to_string(), again.to_string(), "a second export must be equal");
    let count = |path: &str| -> u64 {
        let found = tree.find_path(path).expect("a path").and_then(|found| tree.key::<u64>(found));
        *tree.get(found.unwrap_or_else(|| panic!("no {path}"))).expect("a value")
    };
    assert_eq!(count("events count"), events);
    assert_eq!(count("traces/[0]/events count"), events);
    let cpus: u64 = (0..8).map(|cpu| count(&format!("traces/[0]/cpu/[{cpu}]/events count"))).sum();
    assert_eq!(cpus, events);
}

#[test]
fn statistics_of_several_threads_equal_those_of_one() {
    for (name, traceset) in support::kernel_traces() {
        let (alone, _) = collected(&traceset);
        for threads in [1, 2, 5] {
            let parallel = read(&traceset).threads(threads).run(StatisticsAnalysis::new()).output;
            same(&format!("{name}, {threads} threads"), &parallel, &alone);
        }
    }
}

/// Statistics of a trace end with its last event, regardless of slices.
#[test]
fn traces_may_start_and_end_at_different_times() {
    let traces = ["../examples/traces/kernel", "../examples/traces/legacy"].map(|path| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        Traceset::open(path).expect("a trace").traces()[0].clone()
    });
    for traces in [traces.clone(), [traces[1].clone(), traces[0].clone()]] {
        let traceset = Traceset::from_iter(traces);
        let (alone, _) = collected(&traceset);
        assert!(alone.traces().iter().all(|of| of.leaves().count() > 0));
        for threads in [2, 3] {
            let parallel = read(&traceset).threads(threads).run(StatisticsAnalysis::new()).output;
            same(&format!("{threads} threads"), &parallel, &alone);
        }
    }
}

fn same(name: &str, got: &Statistics, expected: &Statistics) {
    assert_eq!(got.traces().len(), expected.traces().len(), "{name}");
    for (got, expected) in got.traces().iter().zip(expected.traces()) {
        same_of_trace(name, got, expected);
    }
}

fn same_of_trace(name: &str, got: &TraceStatistics, expected: &TraceStatistics) {
    assert_eq!((got.start(), got.end()), (expected.start(), expected.end()), "{name}");
    let leaves = |of: &TraceStatistics| {
        let named = of.leaves().map(|(key, counts)| {
            let submode = of.name(key.submode).to_owned();
            ((key.process, key.cpu, key.function, key.mode, submode), counts.clone())
        });
        // A slice that starts in a leaf may contain no events of that leaf.
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

/// A trace with a damaged packet: its errors are those of a plain read.
#[test]
fn errors_are_returned() {
    let dir = tempfile::tempdir().expect("a directory");
    for entry in std::fs::read_dir(support::bundled().join("kernel")).expect("the bundled trace") {
        let file = entry.expect("a file").path();
        if file.is_file() {
            let copy = dir.path().join(file.file_name().expect("a name"));
            let mut bytes = std::fs::read(&file).expect("its bytes");
            if file.file_name().is_some_and(|name| name != "metadata") && bytes.len() > 8192 {
                let middle = bytes.len() / 2;
                bytes[middle..middle + 64].fill(0xff);
            }
            std::fs::write(copy, bytes).expect("a copy");
        }
    }
    let traceset = Traceset::open(dir.path()).expect("a trace");
    let mut context = TracesetContext::new(&traceset);
    _ = context.read(&Bounds::all()).expect("bounds without a position");
    let texts =
        |errors: &[ltt_read::Error]| errors.iter().map(|e| e.to_string()).collect::<Vec<_>>();
    let expected = texts(context.merge().errors());
    assert!(!expected.is_empty());
    for threads in [1, 3] {
        let computed = read(&traceset).threads(threads).run(StatisticsAnalysis::new());
        assert_eq!(texts(&computed.errors), expected, "{threads} threads");
        assert_eq!(computed.errors_omitted, context.merge().errors_omitted());
    }
}

/// Statistics of a part of the events end at the time that has been read to.
#[test]
fn statistics_may_be_taken_before_the_end() {
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    let mut context = TracesetContext::new(&traceset);
    let kernel = context.attach(KernelState::new());
    let handle = attach(&mut context, kernel, .., StatisticsAnalysis::new());
    assert_eq!(handle.take(context.extensions_mut()).traces().len(), 1);
    _ = context.read(&Bounds::all().events(3000)).expect("bounds without a position");
    let middle = context.position().time().expect("more events");
    let part = handle.take_until(context.extensions_mut(), middle);
    assert_eq!(part.traces()[0].end(), middle);
    assert_eq!(part.traces()[0].total().events.total(), 3000);
}
