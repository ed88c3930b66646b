//! Analyses that are served, compared with those of the crates.

#[allow(dead_code, reason = "each test uses a part of it")]
mod support;

use std::collections::BTreeMap;

use ltt_read::Timestamp;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_server::http::guard::Guard;
use lttv_state::kernel::KernelState;
use lttv_state::stats::statistics;
use lttv_state::waits::{CriticalPath, ThreadState, TimelineId, WaitGraph};
use serde_json::{Value, json};
use support::{Running, ids, random, span, traces};

const CPUS: &str = "/outputs/XY/org.eclipse.tracecompass.analysis.os.linux.core.cpuusage\
                    .CpuUsageDataProvider";
const PATHS: &str = "/outputs/timeGraph/org.eclipse.tracecompass.analysis.graph.core.dataprovider\
                     .CriticalPathDataProvider";

fn label(entry: &Value, at: usize) -> &str {
    entry["labels"][at].as_str().unwrap()
}

fn entries(tree: &Value) -> &[Value] {
    tree["entries"].as_array().unwrap()
}

fn wait_graph(traceset: &Traceset) -> WaitGraph {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let waits = WaitGraph::attach(&mut context, kernel);
    assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
    waits.take(context.extensions())
}

#[test]
fn cpu_times_of_threads_are_those_of_the_statistics() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, model) = server.experiment("threads", &[&path]);
    let (start, end) = span(&model);
    let tree = server.complete(&format!("{experiment}{CPUS}/tree"), json!({}));
    let computed = statistics(&Traceset::open(&path).unwrap(), 1);
    let of = &computed.statistics.traces()[0];
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for process in of.processes() {
        let tid = of.process_facts()[process.process.index()].tid.unwrap_or(0);
        if tid > 0 && process.cpu_time > 0 {
            *expected.entry(tid.to_string()).or_default() += process.cpu_time;
        }
    }
    let threads: Vec<&Value> =
        entries(&tree).iter().filter(|entry| !label(entry, 1).is_empty()).collect();
    let served = threads.iter().map(|entry| (label(entry, 1), label(entry, 3).parse().unwrap()));
    let served: BTreeMap<String, u64> = served.map(|(tid, time)| (tid.to_owned(), time)).collect();
    assert!(expected.len() > 20, "{}", expected.len());
    assert_eq!(served, expected);

    // The series of a thread add up to its time in the window.
    for (at, (from, to)) in random(8, start, end).zip(random(16, start, end).skip(8)).enumerate() {
        let (from, to) = (from.min(to), from.max(to) + 1);
        let range = json!({ "start": from, "end": to, "nbTimes": 60 });
        let tree = server
            .complete(&format!("{experiment}{CPUS}/tree"), json!({ "requested_timerange": range }));
        let parameters = json!({ "requested_timerange": range, "requested_items": ids(&tree) });
        let model = server.complete(&format!("{experiment}{CPUS}/xy"), parameters);
        let series = model["series"].as_array().unwrap();
        assert_eq!(series.len(), entries(&tree).len(), "window {at}");
        for series in series {
            let numbers = |name: &str| series[name].as_array().unwrap();
            let x = numbers("xValues").iter().map(|x| x.as_i64().unwrap());
            let x: Vec<i64> = x.collect();
            let y = numbers("yValues").iter().map(|y| y.as_f64().unwrap());
            let time: f64 =
                x.windows(2).zip(y).map(|(x, y)| (x[1] - x[0]) as f64 * y / 100.0).sum();
            let entry = entries(&tree).iter().find(|entry| entry["id"] == series["seriesId"]);
            let expected: f64 = label(entry.unwrap(), 3).parse().unwrap();
            let tolerance = (to - from) as f64 * 0.0001 + 60.0;
            assert!((time - expected).abs() <= tolerance, "{time}, not {expected}: {entry:?}");
        }
    }
}

/// Returns the label of the segment of a path at a time, with its thread.
fn segment(path: &CriticalPath, time: i64) -> (TimelineId, &'static str) {
    let time = Timestamp::from_ns(time);
    let segment = path.segments().iter().find(|of| of.start <= time && time < of.end).unwrap();
    (segment.thread, segment.kind.label())
}

#[test]
fn critical_paths_are_those_of_the_wait_graph() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, model) = server.experiment("paths", &[&path]);
    let (start, end) = span(&model);
    let graph = wait_graph(&Traceset::open(&path).unwrap());
    let window = graph.begin()..graph.end();
    let running = |id| graph.times(id, window.clone()).of(ThreadState::Running).total;
    let mut threads: Vec<_> = graph.timelines().filter(|(_, of)| !of.is_idle()).collect();
    threads.sort_by_key(|(id, _)| std::cmp::Reverse(running(*id)));
    let at = |path: &str| format!("{experiment}{PATHS}/{path}");
    // The thread that runs longest is the default.
    let choices = threads.iter().step_by(7).take(6).map(|(id, of)| (*id, Some(of.tid())));
    let choices: Vec<_> = [(threads[0].0, None)].into_iter().chain(choices).collect();
    let mut hand_overs = 0;
    for (thread, tid) in choices {
        let with = |mut parameters: Value| {
            if let Some(tid) = tid {
                parameters["lttv_thread"] = tid.into();
            }
            parameters
        };
        let expected = graph.critical_path(thread, window.clone());
        let tree = server.complete(&at("tree"), with(json!({})));
        let rows: Vec<&Value> =
            entries(&tree).iter().filter(|entry| entry["hasData"] == true).collect();
        let times = expected.by_thread().into_iter();
        let times: BTreeMap<i64, u64> = times.map(|(id, of)| (id.0.into(), of.total)).collect();
        for row in &rows {
            let time = times.get(&row["id"].as_i64().unwrap()).copied().unwrap_or(0);
            assert_eq!(label(row, 2), time.to_string(), "{row}");
        }
        assert_eq!(rows[0]["id"], thread.0);
        for time in random(40, start, end) {
            let parameters = with(json!({
                "requested_timerange": { "start": time, "end": time, "nbTimes": 1 },
                "requested_items": ids(&tree),
            }));
            let states = server.complete(&at("states"), parameters);
            let states = states["rows"].as_array().unwrap().iter().flat_map(|row| {
                let states = row["states"].as_array().unwrap().iter();
                states.map(|state| (row["entryId"].clone(), state["label"].clone()))
            });
            let (on, kind) = segment(&expected, time);
            assert_eq!(states.collect::<Vec<_>>(), [(on.0.into(), kind.into())], "at {time}");
        }
        // Each change of the thread is an arrow, if there are as many samples.
        let parameters = with(json!({
            "requested_timerange": { "start": start, "end": start + 65_000, "nbTimes": 65_536 },
        }));
        let arrows = server.complete(&at("arrows"), parameters);
        let segments = expected.segments().windows(2);
        let changes = segments.filter(|pair| pair[0].thread != pair[1].thread);
        let changes = changes.map(|pair| pair[1].start.as_ns());
        let changes: Vec<i64> =
            changes.filter(|at| (start..=start + 65_000).contains(at)).collect();
        let found = arrows.as_array().unwrap().iter().map(|arrow| arrow["start"].as_i64().unwrap());
        assert_eq!(found.collect::<Vec<_>>(), changes);
        let parameters = with(json!({
            "requested_timerange": { "start": start, "end": end, "nbTimes": 1400 },
        }));
        hand_overs += server.complete(&at("arrows"), parameters).as_array().unwrap().len();
    }
    assert!(hand_overs > 10, "{hand_overs} arrows");
    let wrong = server.post(&at("tree"), json!({ "lttv_thread": 1_000_000_007 }));
    assert_eq!(wrong.status, 400, "{}", wrong.text);
}
