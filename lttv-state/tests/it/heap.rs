//! Heaps are those of recorded references and of a naive model.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::support;
use crate::support::ust;
use crate::support::ust::{UstEvent, ust_trace};
use ltt_read::Timestamp;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::call_stacks::{CallRules, CallStackState, CallStacks};
use lttv_state::heap::PROCESSES;
use lttv_state::heap::{Heap, HeapState, ProcessHeap};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn heap(traceset: &Traceset) -> (Heap, CallStacks) {
    let mut context = TracesetContext::new(traceset);
    let stacks = context.attach(CallStackState::new(CallRules::default()));
    let state = context.attach(HeapState::new(stacks));
    let (calls, heap) =
        (CallStacks::attach(&mut context, stacks), Heap::attach(&mut context, state));
    assert_eq!(context.read(&Bounds::all()).expect("no position").errors, 0);
    (heap.take(context.extensions()), calls.take(context.extensions()))
}

/// Returns the figures of a process in the form of the references, which leave out zeros.
fn figures(of: &ProcessHeap) -> Value {
    let always = [
        ("allocated", of.allocated_bytes),
        ("allocs", of.allocations),
        ("live", of.live_bytes),
        ("live_blocks", of.live_blocks),
        ("peak", of.peak_bytes),
    ];
    let frees = [("freed", of.freed_bytes), ("frees", of.frees), ("free(NULL)", of.null_frees)];
    let frees = frees.into_iter().filter(|(_, count)| *count > 0);
    let all = always.into_iter().chain(frees);
    all.map(|(name, count)| (name.to_owned(), Value::from(count))).collect::<Map<_, _>>().into()
}

fn anomalies<'p>(all: impl Iterator<Item = &'p ProcessHeap>) -> Value {
    let sums =
        all.fold([0, 0], |[over, unknown], of| [over + of.overwritten, unknown + of.unknown_frees]);
    let names = ["allocation over live block", "free of unknown block"];
    let found = names.into_iter().zip(sums).filter(|(_, count)| *count > 0);
    found.map(|(name, count)| (name.to_owned(), Value::from(count))).collect::<Map<_, _>>().into()
}

fn references() -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("../../shared/expected/analyses-2/reference");
    if !path.is_dir() {
        support::report(&format!("skipped: {} is not there", path.display()));
    }
    path.is_dir().then_some(path)
}

fn read(path: PathBuf) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("a reference")).expect("JSON")
}

#[test]
fn recorded_heaps_are_those_of_the_model() {
    let Some(references) = references() else { return };
    for (name, has_processes) in [("tc-memory", false), ("tc-exp20", true)] {
        let expected = read(references.join(format!("open/{name}.json")));
        let Some(path) = support::shared(&format!("ctf/{name}")) else { continue };
        let traceset = Traceset::open(path).expect("a trace");
        let (heap, _) = heap(&traceset);
        let mut found = Map::new();
        for (trace, of) in traceset.traces().iter().zip(heap.traces()) {
            let missing = if has_processes { vec![] } else { vec![PROCESSES] };
            assert_eq!(of.missing(), missing, "{name}");
            for process in of.processes() {
                let env = |name| trace.schema().env_str(name).unwrap_or_default();
                let key = match process.process {
                    Some(pid) => format!("{}:{}:({pid})", env("hostname"), env("procname")),
                    None => env("hostname").to_owned(),
                };
                assert!(found.insert(key, figures(process)).is_none(), "{name}");
            }
        }
        assert_eq!(Value::from(found), expected["heap"], "{name}");
        let processes = heap.traces().iter().flat_map(|of| of.processes());
        assert_eq!(anomalies(processes), expected["heap_anomalies"], "{name}");
    }
}

#[test]
fn a_vector_of_hard_cases_is_that_of_the_model() {
    let Some(references) = references() else { return };
    let vector = read(references.join("vectors/heap.json"));
    let lines: Vec<String> = serde_json::from_value(vector["events"].clone()).expect("lines");
    let (heap, _) = heap(&ust_trace(&ust::parse_events(&lines), 4096));
    let [trace] = heap.traces() else { panic!("one trace") };
    let found = trace.processes().iter();
    let found: Map<_, _> =
        found.map(|of| (of.process.expect("a process").to_string(), figures(of))).collect();
    assert_eq!(Value::from(found), vector["expect"]["heap"]);
    assert_eq!(anomalies(trace.processes().iter()), vector["expect"]["heap_anomalies"]);
    let failed: u64 = trace.processes().iter().map(|of| of.failed).sum();
    assert_eq!(failed, 1, "the realloc that failed");
    let blocks: Vec<_> = trace.blocks().iter().map(|block| (block.address, block.size)).collect();
    assert_eq!(blocks, [(0x1000, 50), (0x3000, 64), (0x4000, 128)]);
}

const ENTRY: &str = "lttng_ust_cyg_profile:func_entry";
const EXIT: &str = "lttng_ust_cyg_profile:func_exit";
const MALLOC: &str = "lttng_ust_libc:malloc";
const FREE: &str = "lttng_ust_libc:free";

#[test]
fn blocks_belong_to_the_call_paths_that_allocated_them() {
    let thread = (0, 1, 1);
    let event = |time, name, fields: &[_]| UstEvent::new(time, thread, name, fields);
    let events = [
        event(10, MALLOC, &[("size", 8), ("ptr", 0x10)]),
        event(20, ENTRY, &[("addr", 1)]),
        event(30, MALLOC, &[("size", 100), ("ptr", 0x20)]),
        event(40, ENTRY, &[("addr", 2)]),
        event(50, MALLOC, &[("size", 200), ("ptr", 0x30)]),
        event(60, MALLOC, &[("size", 300), ("ptr", 0x40)]),
        event(70, EXIT, &[("addr", 2)]),
        event(80, FREE, &[("ptr", 0x40)]),
        event(90, EXIT, &[("addr", 1)]),
    ];
    let (heap, calls) = heap(&ust_trace(&events, 4096));
    let [trace] = heap.traces() else { panic!("one trace") };
    let sites: Vec<_> = (trace.sites().into_iter())
        .map(|site| {
            let path = site.path.map(|path| calls.traces()[0].path_functions(path).len());
            (path, site.allocations, site.bytes, site.live_blocks, site.live_bytes)
        })
        .collect();
    let expected = [(Some(2), 2, 500, 1, 200), (Some(1), 1, 100, 1, 100), (None, 1, 8, 1, 8)];
    assert_eq!(sites, expected);
    let process = &trace.processes()[0];
    assert_eq!((process.peak_bytes, process.peak_time), (608, Some(Timestamp::from_ns(60))));
    let curve: Vec<_> = process.curve().iter().map(|at| (at.time.as_ns(), at.bytes)).collect();
    assert_eq!(curve, [(10, 8), (30, 108), (50, 308), (60, 608), (80, 308)]);
    let classes = process.classes().iter().filter(|class| class.allocations > 0);
    let classes: Vec<_> = classes.map(|class| (class.allocations, class.bytes)).collect();
    assert_eq!(classes, [(1, 8), (1, 100), (1, 200), (1, 300)]);
}

/// The model: one list of blocks, searched from the start.
fn model(events: &[UstEvent]) -> Value {
    let mut blocks: Vec<(i64, i64, i64)> = Vec::new();
    let mut processes: BTreeMap<i64, BTreeMap<&str, i64>> = BTreeMap::new();
    for event in events {
        let field = |name: &str| {
            event.fields.iter().find(|(of, _)| *of == name).map_or(0, |(_, value)| *value)
        };
        let (vpid, mut changes) = (event.vpid, Vec::new());
        match event.name {
            MALLOC => changes.push((true, field("ptr"), field("size"))),
            FREE => changes.push((false, field("ptr"), 0)),
            _ => {
                let (old, new, size) = (field("in_ptr"), field("ptr"), field("size"));
                if old != 0 && (new != 0 || size == 0) {
                    changes.push((false, old, 0));
                }
                changes.push((true, new, size));
            }
        }
        let of = processes.entry(vpid).or_default();
        for (is_new, ptr, size) in changes {
            if ptr == 0 {
                *of.entry("nulls").or_default() += i64::from(!is_new);
                continue;
            }
            let at = blocks.iter().position(|block| (block.0, block.1) == (vpid, ptr));
            let before = at.map(|at| blocks.remove(at));
            if is_new {
                blocks.push((vpid, ptr, size));
                *of.entry("allocs").or_default() += 1;
                *of.entry("over").or_default() += i64::from(before.is_some());
            } else {
                *of.entry("frees").or_default() += 1;
                *of.entry("unknown").or_default() += i64::from(before.is_none());
            }
        }
        let live = blocks.iter().filter(|block| block.0 == vpid).map(|block| block.2).sum();
        let peak = of.entry("peak").or_default();
        *peak = (*peak).max(live);
        of.insert("live", live);
        for count in ["nulls", "allocs", "over", "frees", "unknown"] {
            of.entry(count).or_default();
        }
    }
    json!(processes)
}

fn events() -> impl Strategy<Value = Vec<UstEvent>> {
    let event = (0..2_u64, 0..2_i64, 0..3_u32, 0..6_i64, 0..6_i64, 0..50_i64);
    proptest::collection::vec(event, 0..150).prop_map(|events| {
        let event = |(at, (cpu, vpid, kind, old, new, size)): (usize, _)| {
            let (name, fields) = match kind {
                0 => (MALLOC, vec![("size", size), ("ptr", new)]),
                1 => (FREE, vec![("ptr", old)]),
                _ => {
                    let fields = vec![("in_ptr", old), ("size", size), ("ptr", new)];
                    ("lttng_ust_libc:realloc", fields)
                }
            };
            UstEvent::new(10 * at as u64, (cpu, vpid, vpid), name, &fields)
        };
        events.into_iter().enumerate().map(event).collect()
    })
}

proptest! {
    #[test]
    fn heaps_are_those_of_a_naive_model(events in events()) {
        let (heap, _) = heap(&ust_trace(&events, 300));
        let found = heap.traces()[0].processes().iter().map(|of| {
            let figures = json!({
                "allocs": of.allocations, "frees": of.frees, "live": of.live_bytes,
                "nulls": of.null_frees, "over": of.overwritten, "peak": of.peak_bytes,
                "unknown": of.unknown_frees,
            });
            (of.process.expect("a process").to_string(), figures)
        });
        prop_assert_eq!(Value::from(found.collect::<Map<_, _>>()), model(&events));
    }

    /// A window has the live blocks of before it, and the counts within it.
    #[test]
    fn windows_continue_with_live_blocks(events in events(), at in 0..1_600_i64) {
        let traceset = ust_trace(&events, 300);
        let (whole, _) = heap(&traceset);
        let window = |start: i64, end: i64| {
            let mut context = TracesetContext::new(&traceset);
            let stacks = context.attach(CallStackState::new(CallRules::default()));
            let state = context.attach(HeapState::new(stacks));
            let (start, end) = (Timestamp::from_ns(start), Timestamp::from_ns(end));
            context.state().seek_time(start);
            let heap = Heap::attach_window(&mut context, state, start..end);
            assert_eq!(context.read(&Bounds::all()).expect("no position").errors, 0);
            heap.take(context.extensions())
        };
        let (first, second) = (window(0, at), window(at, 10_000));
        let of = |heap: &Heap, process| {
            heap.traces()[0].processes().iter().find(|of| of.process == process).cloned()
                .unwrap_or_default()
        };
        for process in whole.traces()[0].processes() {
            let (a, b) = (of(&first, process.process), of(&second, process.process));
            prop_assert_eq!(a.allocations + b.allocations, process.allocations);
            prop_assert_eq!(a.frees + b.frees, process.frees);
            prop_assert_eq!(a.peak_bytes.max(b.peak_bytes), process.peak_bytes);
            prop_assert_eq!((b.live_blocks, b.live_bytes), (process.live_blocks, process.live_bytes));
        }
    }
}
