//! Wait graphs and critical paths compared with those of an independent model, where its results
//! are available.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, read_to_string};
use std::ops::Range;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::analysis::attach;
use lttv_state::kernel::KernelState;
use lttv_state::waits::{SegmentKind, ThreadState, TimelineId, WaitAnalysis, WaitGraph};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support;
use crate::support::scheduling::{Content, KernelEvent, Machine, trace};

/// The reference of each trace, and the folder of the trace.
const TRACES: [(&str, &str); 7] = [
    ("k1-8cpu", "ctf/k1-8cpu"),
    ("k1-ctx", "ctf/k1-ctx"),
    ("k1-mix", "ctf/k1-mix/kernel"),
    ("k1-multi", "ctf/k1-multi"),
    ("k1-snap-1", "ctf/k1-snap/snapshot-1-20261121-032432-1"),
    ("k1-tfc", "ctf/k1-tfc"),
    ("synctraces", "ctf/tc-synctraces"),
];

/// Returns the path of a file of the references, if it exists.
fn reference(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join("../../shared/expected/analyses-2/critical-path").join(name);
    if path.exists() {
        return Some(path);
    }
    support::report(&format!("skipped: {} is not there", path.display()));
    None
}

fn json(text: impl Read) -> Value {
    serde_json::from_str(&read_to_string(text).expect("text")).expect("JSON")
}

fn graph_of(traceset: &Traceset) -> WaitGraph {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let waits = attach(&mut context, kernel, .., WaitAnalysis::new());
    _ = context.read(&Bounds::all()).expect("bounds without a position");
    waits.take(context.extensions_mut())
}

/// Names the timelines as the references do.
struct Names {
    hosts: Vec<String>,
}

impl Names {
    fn new(traceset: &Traceset) -> Self {
        let host = |trace: &std::sync::Arc<ltt_read::Trace>| {
            trace.schema().env_str("hostname").unwrap_or("").to_owned()
        };
        Names { hosts: traceset.traces().iter().map(host).collect() }
    }

    fn of(&self, graph: &WaitGraph, id: TimelineId) -> String {
        let timeline = graph.timeline(id).expect("a timeline");
        let (trace, tid) = (timeline.trace(), timeline.tid());
        let host = &self.hosts[trace.0];
        if timeline.is_idle() {
            return format!("{host}/idle{}", timeline.cpu());
        }
        // Of several threads with an id, the earlier ones have their start in the name.
        match graph.find_all(trace, tid).last() == Some(id) {
            true => format!("{host}/{tid}"),
            false => format!("{host}/{tid}@{}", timeline.start().as_ns()),
        }
    }
}

fn ns(value: &Value) -> Timestamp {
    Timestamp::from_ns(value.as_i64().expect("a time"))
}

/// Returns the label of a state in the references, which do not tell why a thread waits for a CPU.
fn label(state: ThreadState) -> &'static str {
    if state == ThreadState::Woken { "preempted" } else { state.label() }
}

/// Returns the times of all threads by the labels of their states.
fn times(
    graph: &WaitGraph,
    names: &Names,
    window: Range<Timestamp>,
) -> BTreeMap<String, BTreeMap<&'static str, u64>> {
    let mut all = BTreeMap::new();
    for (id, _) in graph.timelines() {
        let mut of_thread = BTreeMap::new();
        for (state, times) in graph.times(id, window.clone()).all() {
            *of_thread.entry(label(state)).or_default() += times.total();
        }
        if !of_thread.is_empty() {
            all.insert(names.of(graph, id), of_thread);
        }
    }
    all
}

type PathLine = (String, i64, i64, &'static str);

/// The label of the time from the start to the first switch of a CPU, for the thread that ran there.
/// The model does not know that it ran, if a state dump or a wake-up names the thread in that time.
const FIRST: &str = "running since the start";

/// Returns the end of the interval in which a thread ran since the start, if it did.
fn first_end(graph: &WaitGraph, id: TimelineId) -> Option<Timestamp> {
    let first = graph.intervals(id, graph.begin()..graph.end()).next()?;
    let is_first = first.start == graph.begin() && first.state == ThreadState::Running;
    is_first.then_some(first.end)
}

/// Gives the time since the start its own label in the times of a thread, which ran for `first` ns
/// then. `running` is the time for which it ran in all.
fn relabel(times: &mut BTreeMap<&str, u64>, first: u64, running: u64) {
    let label = if times.get("running") == Some(&running) { "running" } else { "unknown" };
    if let Some(time) = times.get_mut(label) {
        *time = time.saturating_sub(first);
    }
    times.retain(|_, time| *time > 0);
    times.insert(FIRST, first);
}

/// Returns the segments of a path, joined where the references do not tell them apart.
fn path(
    graph: &WaitGraph,
    names: &Names,
    id: TimelineId,
    window: Range<Timestamp>,
) -> Vec<PathLine> {
    let mut lines: Vec<PathLine> = Vec::new();
    for segment in graph.critical_path(id, window).segments() {
        let label = match segment.kind {
            SegmentKind::Thread(state) => label(state),
            kind => kind.label(),
        };
        let line =
            (names.of(graph, segment.thread), segment.start.as_ns(), segment.end.as_ns(), label);
        lines.push(line);
    }
    lines
}

/// Compares a graph with a reference; returns the number of figures that were compared.
fn compare(which: &str, graph: &WaitGraph, names: &Names, expected: &Value) -> usize {
    let window = ns(&expected["trace_begin"])..ns(&expected["trace_end"]);
    let times = times(graph, names, window);
    let ids = by_name(graph, names);
    let expected_times = expected["actor_times"].as_object().expect("an object");
    let mut compared = 0;
    for (actor, expected) in expected_times {
        let mut expected: BTreeMap<&str, u64> = expected
            .as_object()
            .expect("an object")
            .iter()
            .filter(|(label, _)| *label != "name")
            .map(|(label, time)| (label.as_str(), time.as_u64().expect("ns")))
            .collect();
        let mut of_actor = times.get(actor).cloned().unwrap_or_default();
        if let Some(first) = ids.get(actor).and_then(|id| first_end(graph, *id)) {
            let first = first.as_ns().abs_diff(graph.begin().as_ns());
            let running = of_actor["running"];
            relabel(&mut of_actor, first, running);
            relabel(&mut expected, first, running);
        }
        assert_eq!(of_actor, expected, "{which}: {actor}");
        compared += expected.len();
    }
    compared
}

fn by_name(graph: &WaitGraph, names: &Names) -> BTreeMap<String, TimelineId> {
    graph.timelines().map(|(id, _)| (names.of(graph, id), id)).collect()
}

#[test]
fn graphs_and_paths_of_recordings_are_those_of_the_model() {
    for (which, folder) in TRACES {
        let expected = reference(&format!("open/{which}.ref.json.gz"));
        let (Some(expected), Some(folder)) = (expected, support::shared(folder)) else { continue };
        let expected = json(GzDecoder::new(File::open(expected).expect("a file")));
        let traceset = Traceset::open(folder).expect("a trace");
        let (graph, names) = (graph_of(&traceset), Names::new(&traceset));
        let compared = compare(which, &graph, &names, &expected);
        let all = by_name(&graph, &names);
        let mut segments = 0;
        for (actor, expected) in expected["paths"].as_object().expect("an object") {
            let window = ns(&expected["from"])..ns(&expected["to"]);
            let found = path(&graph, &names, all[actor], window);
            let expected: Vec<_> = expected["path"].as_array().expect("an array").iter().collect();
            let expected: Vec<(&str, i64, i64, &str)> = expected
                .iter()
                .map(|of| {
                    let text = |at: usize| of[at].as_str().expect("text");
                    (text(0), ns(&of[1]).as_ns(), ns(&of[2]).as_ns(), text(3))
                })
                .collect();
            let found = found.iter().map(|of| (of.0.as_str(), of.1, of.2, of.3));
            let relabelled = |of: (&'_ str, i64, i64, &'_ str)| {
                let first = all.get(of.0).and_then(|id| first_end(&graph, *id));
                let is_first = first.is_some_and(|first| of.2 <= first.as_ns());
                let label = if is_first { FIRST } else { of.3 };
                (of.0.to_owned(), of.1, of.2, label.to_owned())
            };
            let found: Vec<_> = found.map(relabelled).collect();
            let expected: Vec<_> = expected.into_iter().map(relabelled).collect();
            assert_eq!(found, expected, "{which}: {actor}");
            segments += found.len();
        }
        support::report(&format!("{which}: {compared} times and {segments} segments compared"));
    }
}

/// Reads the events of a vector, by host.
fn events_of(vector: &Value) -> BTreeMap<String, Vec<KernelEvent>> {
    let mut hosts: BTreeMap<String, Vec<KernelEvent>> = BTreeMap::new();
    for event in vector["events"].as_array().expect("an array") {
        let fields = event[4].as_object().expect("an object").iter().map(|(name, value)| {
            let content = match value.as_i64() {
                Some(number) => Content::Number(number),
                None => Content::Text(value.as_str().expect("text").to_owned()),
            };
            (name.clone(), content)
        });
        // Events with these fields alone are those of the additional modules.
        let name = match event[3].as_str().expect("text") {
            "net_dev_queue" => "inet_sock_local_out",
            "net_if_receive_skb" => "inet_sock_local_in",
            name => name,
        };
        let event_of = KernelEvent {
            time: event[0].as_i64().expect("a time"),
            cpu: event[1].as_u64().expect("a CPU") as u32,
            name: name.to_owned(),
            fields: fields.collect(),
        };
        hosts.entry(event[2].as_str().expect("a host").to_owned()).or_default().push(event_of);
    }
    hosts
}

#[test]
fn paths_of_vectors_are_the_expected_ones() {
    let Some(folder) = reference("vectors") else { return };
    let mut compared = 0;
    for file in std::fs::read_dir(folder).expect("a folder") {
        let file = file.expect("an entry").path();
        let vector = json(File::open(&file).expect("a file"));
        let is_old = vector["legacy_prev_state"].as_bool() == Some(true);
        let release = if is_old { "4.4.0" } else { "6.1.0" };
        let hosts = events_of(&vector);
        let mut traceset = Traceset::new();
        for (host, events) in &hosts {
            traceset.add(trace(Machine { host, release, ..Machine::default() }, events));
        }
        let (graph, names) = (graph_of(&traceset), Names::new(&traceset));
        for query in vector["paths"].as_array().expect("an array") {
            let host = query["host"].as_str().expect("a host");
            let index = hosts.keys().position(|of| of == host).expect("a host");
            let tid = query["tid"].as_i64().expect("a thread") as i32;
            let window = ns(&query["from"])..ns(&query["to"]);
            let id = graph.find_all(TraceIndex(index), tid).last().expect("a thread");
            let found = path(&graph, &names, id, window);
            let expected = query["expect"].as_array().expect("an array").iter().map(|of| {
                let text = |at: usize| of[at].as_str().expect("text");
                (text(0).to_owned(), ns(&of[1]).as_ns(), ns(&of[2]).as_ns(), text(3))
            });
            assert_eq!(found, expected.collect::<Vec<_>>(), "{} {tid}", file.display());
            compared += 1;
        }
    }
    assert!(compared >= 28, "{compared}");
}

/// The recording of 5 million events is large, so that it is read only where it is unpacked.
#[test]
fn paths_of_the_large_recording_are_those_of_the_model() {
    let Some(folder) = std::env::var_os("LTTV_LARGE_KERNEL_TRACE") else {
        return support::report("skipped: LTTV_LARGE_KERNEL_TRACE is not set");
    };
    let Some(expected) = reference("kbig/ref-summary.json") else { return };
    let expected = json(File::open(expected).expect("a file"));
    let traceset = Traceset::open(folder).expect("a trace");
    let (graph, names) = (graph_of(&traceset), Names::new(&traceset));
    let compared = compare("large", &graph, &names, &expected);
    let all = by_name(&graph, &names);
    let count = |name: &str| expected[name].as_u64().expect("a number") as usize;
    assert_eq!((graph.interval_count(), graph.link_count()), (count("intervals"), count("links")));
    assert!(graph.memory() <= 64 << 20, "{} bytes", graph.memory());
    for (actor, expected) in expected["paths"].as_object().expect("an object") {
        let window = ns(&expected["from"])..ns(&expected["to"]);
        let started = std::time::Instant::now();
        let found = graph.critical_path(all[actor], window.clone());
        let elapsed = started.elapsed();
        support::report(&format!("{actor}: {} segments in {elapsed:?}", found.segments().len()));
        let lines = path(&graph, &names, all[actor], window);
        let text = lines.iter().map(|of| format!("{} {} {} {}", of.0, of.1, of.2, of.3));
        let text = text.collect::<Vec<_>>().join("\n");
        let digest = Sha256::digest(text.as_bytes());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, expected["path_sha256"], "{actor}");
    }
    support::report(&format!("{compared} times compared; {} bytes", graph.memory()));
}
