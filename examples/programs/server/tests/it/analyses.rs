//! Analyses that are served, compared with those of the crates.

use std::collections::BTreeMap;

use crate::support::calls::write_calls;
use crate::support::figures::{figures, served_figures};
use crate::support::{Running, entries, ids, label, random, span, traces};
use ltt_read::Timestamp;
use lttv_common::clocks::Corrections;
use lttv_common::definitions::DefineArgs;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_filter::Environment;
use lttv_server::dataset::DatasetOptions;
use lttv_server::http::guard::Guard;
use lttv_state::analysis::{attach, read};
use lttv_state::kernel::KernelState;
use lttv_state::latency::{Family, LatencyAnalysis, Settings};
use lttv_state::stats::StatisticsAnalysis;
use lttv_state::waits::{CriticalPath, ThreadState, TimelineId, WaitAnalysis, WaitGraph};
use serde_json::{Value, json};

const USAGE: &str = "/outputs/XY/org.lttv.cpuusage.threads";
const STATISTICS: &str = "/outputs/data/org.eclipse.tracecompass.analysis.timing.core.segmentstore\
                          .SegmentStoreStatisticsDataProvider:";
const SCATTER: &str = "/outputs/XY/org.eclipse.tracecompass.internal.analysis.timing.core\
                       .segmentstore.scatter.dataprovider:";
const TABLE: &str = "/outputs/table/org.eclipse.tracecompass.analysis.timing.core.segmentstore\
                     .SegmentStoreTableDataProvider:";
const DISTRIBUTION: &str = "/outputs/genericXY/org.lttv.latency.distribution:";
const CALLS: &str = "/outputs/timeGraph/org.eclipse.tracecompass.internal.analysis.profiling\
                     .callstack.provider.CallStackDataProvider";
const PATHS: &str = "/outputs/timeGraph/org.eclipse.tracecompass.analysis.graph.core.dataprovider\
                     .CriticalPathDataProvider";

fn wait_graph(traceset: &Traceset) -> WaitGraph {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let waits = attach(&mut context, kernel, .., WaitAnalysis::new());
    assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
    waits.take(context.extensions_mut())
}

#[test]
fn cpu_times_of_threads_are_those_of_the_statistics() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, model) = server.experiment("threads", &[&path]);
    let (start, end) = span(&model);
    let tree = server.complete(&format!("{experiment}{USAGE}/tree"), json!({}));
    let computed = read(&Traceset::open(&path).unwrap()).threads(1).run(StatisticsAnalysis::new());
    let of = &computed.output.traces()[0];
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
        let tree = server.complete(
            &format!("{experiment}{USAGE}/tree"),
            json!({ "requested_timerange": range }),
        );
        let parameters = json!({ "requested_timerange": range, "requested_items": ids(&tree) });
        let model = server.complete(&format!("{experiment}{USAGE}/xy"), parameters);
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
    let running = |id| graph.times(id, window.clone()).of(ThreadState::Running).total();
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
        let times: BTreeMap<i64, u64> = times.map(|(id, of)| (id.0.into(), of.total())).collect();
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

/// The analyses of latencies with their families.
const ANALYSES: [(&str, &[Family]); 4] = [
    ("org.eclipse.tracecompass.analysis.os.linux.latency.syscall", &[Family::Syscall]),
    ("org.lttv.latency.scheduler", &[Family::WakeUp, Family::Preemption]),
    (
        "lttng.analysis.irq",
        &[Family::HardIrq, Family::Vector, Family::Softirq, Family::SoftirqRaise],
    ),
    ("org.lttv.latency.disk", &[Family::DiskQueue, Family::DiskDevice]),
];

#[test]
fn latencies_are_those_of_the_crate() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, model) = server.experiment("latencies", &[&path]);
    let (start, end) = span(&model);
    let traceset = Traceset::open(&path).unwrap();
    let whole = read(&traceset).run(LatencyAnalysis::new(Settings::new().top(1_000_000))).output;
    let mut durations = 0;
    for (id, families) in ANALYSES {
        let tree = server.complete(&format!("{experiment}{STATISTICS}{id}/tree"), json!({}));
        assert_eq!(served_figures(&tree), figures(&whole, families), "{id}");
        // The bounds of the longest duration.
        for entry in entries(&tree).iter().filter(|entry| !label(entry, 11).is_empty()) {
            let range: Vec<i64> = serde_json::from_str(label(entry, 11)).unwrap();
            assert_eq!((range[1] - range[0]).to_string(), label(entry, 2));
        }

        let tree = server.complete(&format!("{experiment}{SCATTER}{id}/tree"), json!({}));
        let range = json!({ "start": start, "end": end, "nbTimes": 500, "nbSamples": 500 });
        let parameters = json!({ "requested_timerange": range, "requested_items": ids(&tree) });
        let model = server.complete(&format!("{experiment}{SCATTER}{id}/xy"), parameters.clone());
        let bars = server.complete(&format!("{experiment}{DISTRIBUTION}{id}/xy"), parameters);
        let series = model["series"].as_array().unwrap();
        assert_eq!(series.len(), ids(&tree).len());
        for (series, bars) in series.iter().zip(bars["series"].as_array().unwrap()) {
            let of = &whole.traces()[0];
            let name = series["seriesName"].as_str().unwrap();
            let family = families.iter().find(|family| family.title() == name).unwrap();
            let samples = of.top(*family).iter().map(|of| (of.end.as_ns(), of.duration()));
            let samples: Vec<(i64, u64)> = samples.collect();
            let points = series["xValues"].as_array().unwrap().iter();
            let points = points.zip(series["yValues"].as_array().unwrap());
            let points: Vec<(i64, u64)> =
                points.map(|(x, y)| (x.as_i64().unwrap(), y.as_u64().unwrap())).collect();
            assert!(points.iter().all(|point| samples.contains(point)), "{name}");
            assert!(points.is_sorted(), "{name}");
            let longest = |of: &[(i64, u64)]| of.iter().map(|of| of.1).max();
            assert_eq!(longest(&points), longest(&samples), "{name}");
            let ranges = bars["xRanges"].as_array().unwrap().iter().map(span);
            let counts = bars["yValues"].as_array().unwrap().iter();
            for ((from, to), count) in ranges.zip(counts) {
                let inside = |of: &&(i64, u64)| (from..to).contains(&(of.1 as i64));
                let expected = samples.iter().filter(inside).count();
                assert_eq!(count.as_u64(), Some(expected as u64), "{name} {from}");
            }
            durations += samples.len();
        }
    }
    assert!(durations > 1000, "{durations} durations");
    // Random windows.
    for (from, to) in random(4, start, end).zip(random(8, start, end).skip(4)) {
        let (from, to) = (from.min(to), from.max(to));
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        let analysis = LatencyAnalysis::new(Settings::new());
        let handle = attach(&mut context, kernel, Timestamp::from_ns(from).., analysis);
        context.state().seek_time(Timestamp::from_ns(from));
        let bounds = Bounds::all().until(Timestamp::from_ns(to));
        assert_eq!(context.read(&bounds).unwrap().errors, 0);
        let expected = handle.take_until(context.extensions_mut(), Timestamp::from_ns(to));
        for (id, families) in ANALYSES {
            let range =
                json!({ "requested_timerange": { "start": from, "end": to, "nbTimes": 2 } });
            let tree = server.complete(&format!("{experiment}{STATISTICS}{id}/tree"), range);
            assert_eq!(served_figures(&tree), figures(&expected, families), "{id} {from} {to}");
        }
    }
}

#[test]
fn tables_of_durations_are_those_of_the_crate() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, _) = server.experiment("durations", &[&path]);
    let traceset = Traceset::open(&path).unwrap();
    let whole = read(&traceset).run(LatencyAnalysis::new(Settings::new().top(1_000_000))).output;
    let of = &whole.traces()[0];
    let mut durations = 0;
    for (id, families) in ANALYSES {
        let samples = families.iter().flat_map(|family| of.top(*family));
        let mut expected: Vec<[String; 5]> = samples
            .map(|sample| {
                let (begin, end) = (sample.begin.as_ns(), sample.end.as_ns());
                let title = sample.family.title().to_owned();
                let duration = sample.duration().to_string();
                [begin.to_string(), end.to_string(), duration, title, of.subject_of(sample)]
            })
            .collect();
        expected.sort_unstable();
        let lines = |parameters: Value| {
            let model = server.complete(&format!("{experiment}{TABLE}{id}/lines"), parameters);
            assert_eq!(model["size"], expected.len(), "{id}");
            model["lines"].as_array().unwrap().clone()
        };
        let cells = |line: &Value| {
            [0, 1, 2, 3, 4].map(|at| line["cells"][at]["content"].as_str().unwrap().to_owned())
        };
        let all = lines(json!({ "requested_table_index": 0, "requested_table_count": 10_000 }));
        let mut found: Vec<_> = all.iter().map(cells).collect();
        assert!(found.is_sorted_by_key(|line| (line[0].clone(), line[1].clone())), "{id}");
        found.sort_unstable();
        assert_eq!(found, expected, "{id}");
        durations += found.len();
        for index in random(10, 0, all.len().max(1) as i64) {
            let Some(line) = all.get(index as usize) else { continue };
            let part = lines(json!({
                "requested_table_index": index,
                "requested_table_count": 5,
                "requested_table_column_ids": [2],
            }));
            let durations = all[index as usize..].iter().take(5).map(|of| of["cells"][2].clone());
            let served = part.iter().map(|of| of["cells"][0].clone());
            assert!(durations.eq(served), "{id} from {index}");
            // The first line that begins at this time or later.
            let begin: i64 = cells(line)[0].parse().unwrap();
            let at = lines(json!({ "requested_times": [begin], "requested_table_count": 1 }));
            let first = all.iter().position(|of| cells(of)[0] == cells(line)[0]);
            assert_eq!(at[0]["index"].as_u64(), first.map(|at| at as u64), "{id} at {begin}");
            // The next and the previous line with this duration.
            let has = |at: &usize| cells(&all[*at])[2] == cells(line)[2];
            for (direction, expected) in [
                ("NEXT", (index as usize..all.len()).find(has)),
                ("PREVIOUS", (0..=index as usize).rev().find(has)),
            ] {
                let hit = lines(json!({
                    "requested_table_index": index,
                    "requested_table_count": 1,
                    "table_search_expressions": { "2": format!("^{}$", cells(line)[2]) },
                    "table_search_direction": direction,
                }));
                assert_eq!(hit[0]["index"].as_u64(), expected.map(|at| at as u64), "{id}");
                assert_eq!(hit[0]["tags"], 8);
            }
        }
        let before = lines(json!({ "requested_table_index": -3, "requested_table_count": 1 }));
        assert_eq!(before.first(), all.first(), "{id}");
        let none = lines(json!({
            "requested_table_index": 0,
            "requested_table_count": 1,
            "table_search_expressions": { "3": "no such kind" },
            "table_search_direction": "NEXT",
        }));
        assert!(none.is_empty());
    }
    assert!(durations > 1000, "{durations} durations");
}

#[test]
fn calls_are_those_that_were_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("calls");
    // More events than the server reads in one step.
    let stacks = write_calls(&path, random(300_000, 0, 1 << 40));
    let server = Running::start(dir.path(), Guard::default());
    let (experiment, model) = server.experiment("calls", &[&path]);
    let (start, end) = span(&model);
    let tree = server.complete(&format!("{experiment}{CALLS}/tree"), json!({}));
    let rows = entries(&tree).iter().filter(|entry| entry["hasData"] == true);
    let rows: BTreeMap<i64, (u64, usize)> = rows
        .map(|row| {
            let place = (label(row, 1).parse().unwrap(), label(row, 0).parse().unwrap());
            (row["id"].as_i64().unwrap(), place)
        })
        .collect();
    assert_eq!(rows.len(), 3 * 9);
    for time in random(150, start, end) {
        let states = server.complete(
            &format!("{experiment}{CALLS}/states"),
            json!({
                "requested_timerange": { "start": time, "end": time, "nbTimes": 1 },
                "requested_items": ids(&tree),
            }),
        );
        let mut found: BTreeMap<(u64, usize), String> = BTreeMap::new();
        for row in states["rows"].as_array().unwrap() {
            for state in row["states"].as_array().unwrap() {
                let (from, to) = span(state);
                assert!(from <= time && time < to, "{state}");
                let place = rows[&row["entryId"].as_i64().unwrap()];
                found.insert(place, state["label"].as_str().unwrap().to_owned());
            }
        }
        let mut expected = BTreeMap::new();
        for (thread, of) in &stacks {
            let at = of.partition_point(|(from, _)| *from <= time);
            let Some((_, stack)) = at.checked_sub(1).map(|at| &of[at]) else { continue };
            let calls = stack.iter().enumerate();
            expected.extend(calls.map(|(depth, of)| ((*thread, depth), format!("{of:#x}"))));
        }
        assert_eq!(found, expected, "at {time}");
    }
}

#[test]
fn periods_of_definitions_are_a_family_of_latencies_and_of_spans() {
    let path = traces().join("kernel");
    let define = traces().join("../definitions/writes.toml").display().to_string();
    let definitions = DefineArgs { define: vec![define] }.read().unwrap();
    let traceset = Traceset::open(&path).unwrap();
    let environment = Environment::new();
    let all = definitions.with_served(traceset.traces(), &environment).unwrap();
    let settings = Settings::new().top(1_000_000);
    let settings = settings.periods(all.periods, traceset.traces(), &environment).unwrap();
    let whole = read(&traceset).run(LatencyAnalysis::new(settings)).output;
    let options = DatasetOptions { definitions, ..DatasetOptions::default() };
    let server = Running::with(&traces(), Guard::default(), Corrections::default(), options);
    let (experiment, _) = server.experiment("periods", &[&path]);
    let of = format!("{experiment}{STATISTICS}org.lttv.latency.period/tree");
    let tree = server.complete(&of, json!({}));
    let expected = figures(&whole, &[Family::Period]);
    assert!(expected.len() > 5, "{expected:?}");
    assert_eq!(served_figures(&tree), expected);
    let of = format!("/lttv{experiment}/spans");
    let body = json!({ "parameters": { "family": "period", "limit": 2000 } }).to_string();
    let spans = server.send("POST", &of, "Content-Type: application/json\r\n", &body).json();
    let spans = spans["spans"].as_array().unwrap().iter();
    let ended = spans.filter(|span| span["completeness"] != "no-end");
    let written: Vec<i64> = ended
        .map(|span| {
            assert_eq!(span["end_event"]["fields"]["ret"], span["values"]["written"], "{span}");
            span["values"]["written"].as_i64().unwrap()
        })
        .collect();
    let count = whole.traces()[0].total(Family::Period).durations().count();
    assert_eq!(written.len() as u64, count);
    // A trace of a program without the events of any definition has no such family.
    let server = Running::start(&traces(), Guard::default());
    let (experiment, _) = server.experiment("none", &[&traces().join("ust")]);
    let outputs = server.get(&format!("{experiment}/outputs")).json();
    let ids = outputs.as_array().unwrap().iter().map(|of| of["id"].as_str().unwrap());
    assert!(!ids.into_iter().any(|id| id.contains("org.lttv.latency.period")), "{outputs}");
}
