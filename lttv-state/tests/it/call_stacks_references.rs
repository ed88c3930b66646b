//! Call stacks of recorded traces are those of an independent model.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lttv_context::Traceset;
use lttv_state::call_stacks::{
    CallRules, CallTarget, ENTRIES, EXITS, FunctionId, PROCESSES, ThreadId, TraceCalls, call_stacks,
};
use serde_json::{Map, Value};

use crate::support;
use crate::support::ust;

/// Returns the folder of references, if it exists.
fn references() -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("../../shared/expected/analyses-2/reference");
    if !path.is_dir() {
        support::report(&format!("skipped: {} is not there", path.display()));
    }
    path.is_dir().then_some(path)
}

fn read(path: PathBuf) -> Value {
    let text = std::fs::read_to_string(path).expect("a reference");
    serde_json::from_str(&text).expect("JSON")
}

fn hex(calls: &TraceCalls, id: FunctionId) -> String {
    match calls.functions()[id.index()].code {
        CallTarget::Address(address) => format!("{address:x}"),
        other => panic!("no address: {other:?}"),
    }
}

/// Returns the figures in the form of the references.
fn figures(calls: &TraceCalls) -> Value {
    let mut functions: BTreeMap<String, [u64; 5]> = BTreeMap::new();
    for of in calls.function_figures() {
        let calls_of = of.calls;
        let (Some(min), Some(max)) = (calls_of.shortest(), calls_of.longest()) else { continue };
        let sums = functions.entry(hex(calls, of.id)).or_insert([0, 0, u64::MAX, 0, 0]);
        sums[0] += calls_of.count();
        sums[1] += calls_of.total();
        (sums[2], sums[3]) = (sums[2].min(min), sums[3].max(max));
        sums[4] += of.self_time;
    }
    let mut folded: BTreeMap<String, u64> = BTreeMap::new();
    for path in calls.paths() {
        if path.figures.self_time > 0 {
            let names: Vec<_> =
                calls.path_functions(path.id).into_iter().map(|id| hex(calls, id)).collect();
            *folded.entry(names.join(";")).or_default() += path.figures.self_time;
        }
    }
    let threads = calls.threads();
    let depths: Map<String, Value> = (threads.iter())
        .map(|thread| {
            let process = thread.key.process.map_or("None".to_owned(), |pid| pid.to_string());
            let ThreadId::Tid(tid) = thread.key.thread else { panic!("{:?}", thread.key) };
            (format!("({process}, {tid})"), thread.max_depth.into())
        })
        .collect();
    let anomalies = calls.anomalies();
    let anomalies = [
        ("exit of a function not on the stack", anomalies.exits_not_on_stack),
        ("exit on empty stack", anomalies.exits_at_empty_stack),
        ("frames closed by an outer exit", anomalies.ended_by_callers),
    ];
    let anomalies = anomalies.into_iter().filter(|(_, count)| *count > 0);
    serde_json::json!({
        "threads": threads.len(),
        "depth_max": depths,
        "functions": functions,
        "folded": folded,
        "open_frames": threads.iter().map(|thread| thread.open.len()).sum::<usize>(),
        "anomalies": anomalies.map(|(name, n)| (name.to_owned(), n.into())).collect::<Map<_, _>>(),
    })
}

/// Panics unless the figures are those of a reference, which contains the first ones of long tables.
fn compare(found: &Value, expected: &Value, which: &str) {
    for (name, expected) in expected.as_object().expect("an object") {
        let found = &found[name];
        match (name.as_str(), expected.as_object().map(Map::len)) {
            ("functions" | "folded", Some(len)) => {
                for (key, value) in expected.as_object().expect("a table") {
                    assert_eq!(&found[key], value, "{which}: {name} {key}");
                }
                let all = found.as_object().expect("a table").len();
                assert!(all == len || len >= 60, "{which}: {name}: {all} instead of {len}");
            }
            _ => assert_eq!(found, expected, "{which}: {name}"),
        }
    }
}

#[test]
fn recorded_call_stacks_are_those_of_the_model() {
    let Some(references) = references() else { return };
    for name in ["tc-glxgears-cyg-profile-fast", "tc-context-switches-ust"] {
        let expected = read(references.join(format!("open/{name}.json")));
        let Some(path) = support::shared(&format!("ctf/{name}")) else { continue };
        let traceset = Traceset::open(path).expect("a trace");
        for threads in 1..=3 {
            let computed = call_stacks(&traceset, &CallRules::default(), threads);
            assert!(computed.errors.is_empty());
            let [calls] = computed.calls.traces() else { panic!("one trace") };
            compare(&figures(calls), &expected["calls"], &format!("{name}, {threads} threads"));
            let missing = calls.missing();
            assert_eq!(missing, [PROCESSES], "{name}");
        }
    }
}

#[test]
fn a_vector_of_hard_cases_is_that_of_the_model() {
    let Some(references) = references() else { return };
    let vector = read(references.join("vectors/calls.json"));
    let lines: Vec<String> = serde_json::from_value(vector["events"].clone()).expect("lines");
    let traceset = ust::ust_trace(&ust::parse_events(&lines), 4096);
    for threads in 1..=2 {
        let computed = call_stacks(&traceset, &CallRules::default(), threads);
        compare(&figures(&computed.calls.traces()[0]), &vector["expect"]["calls"], "vector");
    }
}

#[test]
fn traces_without_functions_say_so() {
    let traceset = Traceset::open(support::bundled()).expect("a trace");
    let computed = call_stacks(&traceset, &CallRules::default(), 1);
    let [calls] = computed.calls.traces() else { panic!("one trace") };
    assert_eq!(calls.missing(), [ENTRIES, EXITS]);
    assert!(!calls.has_calls());
    assert!(calls.threads().is_empty() && calls.function_figures().is_empty());
}
