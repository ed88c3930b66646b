//! Served data, compared with what the crates compute by other ways.

use std::collections::BTreeMap;

use crate::support::{Running, ids, random, shared, span, traces};
use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Merge, Timestamp, Trace, TraceIndex};
use lttv_common::clocks::Corrections;
use lttv_common::paint::Paint;
use lttv_common::report::Report;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_server::dataset::DatasetOptions;
use lttv_server::http::guard::Guard;
use lttv_state::analysis::{attach, read};
use lttv_state::kernel::KernelState;
use lttv_state::kernel_history::Snapshot;
use lttv_state::stats::StatisticsAnalysis;
use serde_json::{Value, json};

const HISTOGRAM: &str =
    "/outputs/XY/org.eclipse.tracecompass.internal.tmf.core.histogram.HistogramDataProvider";
const THREADS: &str = "/outputs/timeGraph/org.eclipse.tracecompass.internal.analysis.os.linux.core\
                       .threadstatus.ThreadStatusDataProvider";
const EVENTS: &str = "/outputs/table/org.eclipse.tracecompass.internal.provisional.tmf.core.model\
                      .events.TmfEventTableDataProvider";
const CPUS: &str = "/outputs/XY/org.eclipse.tracecompass.analysis.os.linux.core.cpuusage\
                    .CpuUsageDataProvider";

#[test]
fn states_are_those_of_the_kernel_state_at_random_times() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, model) = server.experiment("states", &[&path]);
    let tree = server.complete(&format!("{experiment}{THREADS}/tree"), json!({}));
    let (start, end) = span(&model);
    let traceset = Traceset::open(&path).unwrap();
    let mut context = TracesetContext::new(&traceset);
    let kernel = context.attach(KernelState::new());
    let mut compared = 0;
    for time in random(40, start, end) {
        // The state after all events up to and including the time.
        context.state().seek_time(Timestamp::from_ns(time + 1));
        let state = context.extensions()[kernel].trace(TraceIndex(0)).unwrap();
        let expected: BTreeMap<String, String> = Snapshot::from_state(state)
            .threads
            .iter()
            .filter(|thread| thread.tid != 0)
            .map(|thread| {
                let paint = Paint::of_process(thread.status, thread.mode);
                (thread.tid.to_string(), paint.label().to_owned())
            })
            .collect();
        let parameters = json!({
            "requested_timerange": { "start": time, "end": time, "nbTimes": 1 },
            "requested_items": ids(&tree),
        });
        let states = server.complete(&format!("{experiment}{THREADS}/states"), parameters);
        let mut found = BTreeMap::new();
        for row in states["rows"].as_array().unwrap() {
            let [state] = &row["states"].as_array().unwrap()[..] else { continue };
            let (from, to) = span(state);
            assert!(from <= time && time < to, "{state} at {time}");
            let entries = tree["entries"].as_array().unwrap().iter();
            let entry = entries.clone().find(|entry| entry["id"] == row["entryId"]).unwrap();
            let text = |at: usize| entry["labels"][at].as_str().unwrap().to_owned();
            let style = state["style"]["parentKey"].as_str().unwrap().to_owned();
            if text(1) != "0" {
                assert!(found.insert(text(1), style).is_none(), "{} twice", text(1));
            }
        }
        assert_eq!(found, expected, "at {time}");
        compared += found.len();
    }
    assert!(compared > 1000, "{compared} states compared");
}

#[test]
fn statistics_are_those_of_the_crate() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, _) = server.experiment("statistics", &[&path]);
    let tree =
        server.complete(&format!("{experiment}/outputs/data/org.lttv.statistics/tree"), json!({}));
    let computed = read(&Traceset::open(&path).unwrap()).threads(1).run(StatisticsAnalysis::new());
    let of = &computed.output.traces()[0];
    let labels: Vec<Vec<String>> = tree["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| serde_json::from_value(entry["labels"].clone()).unwrap())
        .collect();
    for (name, count) in of.events() {
        let row = labels.iter().find(|of| of[0] == name && of[2].is_empty());
        assert_eq!(row.unwrap()[1], count.to_string(), "{name}");
    }
    for cpu in of.cpus() {
        let row = labels.iter().find(|of| of[0] == format!("CPU {}", cpu.number)).unwrap();
        assert_eq!(row[2], cpu.busy_time.to_string());
    }
    let busy: u64 = of.processes().iter().map(|process| process.cpu_time).sum();
    let processes = labels.iter().filter(|of| of[0].ends_with(')'));
    let served = processes.map(|of| of[2].parse::<u64>().unwrap()).sum::<u64>();
    assert_eq!(served, busy);
}

#[test]
fn statistics_of_random_windows_are_those_of_the_crate() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, model) = server.experiment("windows", &[&path]);
    let (start, end) = span(&model);
    let traceset = Traceset::open(&path).unwrap();
    for (from, to) in random(12, start, end).zip(random(24, start, end).skip(12)) {
        let (from, to) = (from.min(to), from.max(to));
        let window = Timestamp::from_ns(from)..=Timestamp::from_ns(to);
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        context.state().seek_time(*window.start());
        let handle = attach(&mut context, kernel, window.clone(), StatisticsAnalysis::new());
        let end = context.read(&Bounds::all().until(*window.end())).unwrap();
        assert_eq!(end.errors, 0);
        let statistics = handle.take(context.extensions_mut());
        let of = &statistics.traces()[0];
        let mut expected: Vec<Vec<String>> = Vec::new();
        let row = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect();
        for cpu in of.cpus() {
            let times = [cpu.times.user, cpu.times.system, cpu.interrupt_time];
            expected.push(row(&[&[cpu.events, cpu.busy_time], &times[..]].concat()));
        }
        for of in of.processes() {
            let times = [of.cpu_time, of.user_time, of.system_time, of.interrupt_time];
            expected.push(row(&[&[of.events], &times[..]].concat()));
        }
        let range = json!({ "start": from, "end": to, "nbTimes": 2 });
        let tree = server.complete(
            &format!("{experiment}/outputs/data/org.lttv.statistics/tree"),
            json!({ "requested_timerange": range }),
        );
        let labels = tree["entries"].as_array().unwrap().iter().map(|entry| &entry["labels"]);
        let labels: Vec<Vec<String>> =
            labels.map(|of| serde_json::from_value(of.clone()).unwrap()).collect();
        for (name, count) in of.events() {
            let row = labels.iter().find(|of| of[0] == name && of[2].is_empty());
            assert_eq!(row.unwrap()[1], count.to_string(), "{name} {from} {to}");
        }
        let served = labels.into_iter().filter(|of| !of[2].is_empty());
        let served: Vec<Vec<String>> = served.map(|of| of[1..].to_vec()).collect();
        assert_eq!(served, expected, "{from} {to}");
    }
}

#[test]
fn clocks_of_several_machines_are_corrected() {
    let Some(folder) = shared("ctf/tc-synctraces") else { return };
    let paths = ["scp_src", "scp_dest"].map(|name| folder.join(name));
    let paths = paths.each_ref().map(|path| path.as_path());
    let corrections = Corrections { sync: true, ..Corrections::default() };
    let traces = paths.iter().map(|path| Trace::open(path).unwrap());
    let traces = Traceset::from(traces.collect::<Vec<_>>());
    let corrected = corrections.corrected(traces, &Report::new("test")).unwrap();
    assert!(!corrected.times.is_empty(), "nothing was corrected");
    let mut merge = Merge::new(corrected.traceset.traces());
    let mut expected = Vec::new();
    while let Some(event) = merge.next() {
        expected.extend(event.timestamp().map(|time| time.as_ns().to_string()));
    }
    let options = DatasetOptions::default();
    let server = Running::with(&folder, Guard::default(), corrections, options);
    let (experiment, model) = server.experiment("machines", &paths);
    assert_eq!(model["nbEvents"], expected.len());
    let (start, end) = span(&model);
    let ends: [i64; 2] =
        [expected.first(), expected.last()].map(|time| time.unwrap().parse().unwrap());
    assert_eq!([start, end], ends);
    for index in random(20, 0, expected.len() as i64) {
        let parameters = json!({ "requested_table_index": index, "requested_table_count": 40 });
        let lines = server.complete(&format!("{experiment}{EVENTS}/lines"), parameters);
        for (line, time) in
            lines["lines"].as_array().unwrap().iter().zip(&expected[index as usize..])
        {
            assert_eq!(line["cells"][0]["content"], time.as_str());
        }
    }
    // What is computed in the background has the same times.
    let tree = server.complete(&format!("{experiment}{HISTOGRAM}/tree"), json!({}));
    let (step, mut counted) = ((end - start) / 99, 0);
    let range = json!({ "start": start, "end": end, "nbTimes": 100 });
    let parameters = json!({ "requested_timerange": range, "requested_items": ids(&tree) });
    let bars = server.complete(&format!("{experiment}{HISTOGRAM}/xy"), parameters);
    let (mut bar_sums, mut sums) = (vec![0; 100], vec![0; 100]);
    for series in bars["series"].as_array().unwrap() {
        let is_total = series["seriesName"].as_str().unwrap().starts_with("Total");
        for (at, count) in series["yValues"].as_array().unwrap().iter().enumerate() {
            bar_sums[at.min(99)] += if is_total { count.as_u64().unwrap() } else { 0 };
        }
    }
    for time in &expected {
        let at = (time.parse::<i64>().unwrap() - start) / step;
        sums[at.min(99) as usize] += 1;
        counted += 1;
    }
    assert_eq!(bar_sums.iter().sum::<u64>(), counted);
    assert_eq!(bar_sums[..90], sums[..90]);
}

#[test]
fn usage_of_cpus_is_that_of_the_statistics() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, model) = server.experiment("usage", &[&path]);
    let (start, end) = span(&model);
    let tree = server.complete(&format!("{experiment}{CPUS}/tree"), json!({}));
    let parameters = json!({
        "requested_timerange": { "start": start, "end": end, "nbTimes": 300 },
        "requested_items": ids(&tree),
    });
    let model = server.complete(&format!("{experiment}{CPUS}/xy"), parameters);
    let computed = read(&Traceset::open(&path).unwrap()).threads(1).run(StatisticsAnalysis::new());
    for cpu in computed.output.traces()[0].cpus() {
        let series = model["series"].as_array().unwrap().iter();
        let name = format!("CPU {}", cpu.number);
        let series = series.clone().find(|of| of["seriesName"] == name.as_str()).unwrap();
        let numbers =
            |name: &str| -> Vec<f64> { serde_json::from_value(series[name].clone()).unwrap() };
        let (x, y) = (numbers("xValues"), numbers("yValues"));
        let busy: f64 = x.windows(2).zip(&y).map(|(x, y)| (x[1] - x[0]) * y / 100.0).sum();
        let expected = cpu.busy_time as f64;
        let tolerance = (end - start) as f64 * 0.001;
        assert!((busy - expected).abs() < tolerance, "{name}: {busy}, expected {expected}");
    }
}

#[test]
fn bars_count_the_events_of_their_times() {
    for name in ["kernel", "ust", "legacy"] {
        let path = traces().join(name);
        let server = Running::start(&traces(), Guard::default());
        let (experiment, model) = server.experiment("bars", &[&path]);
        let traceset = Traceset::open(&path).unwrap();
        let mut merge = Merge::new(traceset.traces());
        let mut times = Vec::new();
        while let Some(event) = merge.next() {
            times.extend(event.timestamp().map(|time| time.as_ns()));
        }
        let tree = server.complete(&format!("{experiment}{HISTOGRAM}/tree"), json!({}));
        let item = ids(&tree)[0].clone();
        let (first, last) = span(&model);
        for (from, to) in random(10, first, last).zip(random(20, first, last).skip(10)) {
            let (from, to) = (from.min(to), from.max(to));
            let parameters = json!({
                "requested_timerange": { "start": from, "end": to, "nbTimes": 50 },
                "requested_items": [item],
            });
            let model = server.complete(&format!("{experiment}{HISTOGRAM}/xy"), parameters);
            let series = &model["series"][0];
            let x: Vec<i64> = serde_json::from_value(series["xValues"].clone()).unwrap();
            let y: Vec<u64> = serde_json::from_value(series["yValues"].clone()).unwrap();
            for (at, count) in y.iter().enumerate() {
                let end = x.get(at + 1).copied().unwrap_or(x[at] + 1);
                let expected = times.iter().filter(|time| (x[at]..end).contains(time)).count();
                assert_eq!(*count, expected as u64, "{name} at {}", x[at]);
            }
        }
    }
}

#[test]
fn lines_and_searches_are_those_of_a_plain_list() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, _) = server.experiment("lines", &[&path]);
    let traceset = Traceset::open(&path).unwrap();
    let mut merge = Merge::new(traceset.traces());
    let mut events = Vec::new();
    while let Some(event) = merge.next() {
        let time = event.timestamp().unwrap().as_ns();
        events.push((time, event.event_type().name().to_owned()));
    }
    let lines =
        |parameters: Value| server.complete(&format!("{experiment}{EVENTS}/lines"), parameters);
    for index in random(20, 0, events.len() as i64) {
        let model = lines(json!({ "requested_table_index": index, "requested_table_count": 7 }));
        assert_eq!(model["size"], events.len());
        for (line, at) in model["lines"].as_array().unwrap().iter().zip(index as usize..) {
            let cell = |column: usize| line["cells"][column]["content"].as_str().unwrap();
            assert_eq!((cell(0), cell(4)), (&*events[at].0.to_string(), &*events[at].1));
            assert_eq!(line["index"], at);
        }
        let name = &events[(index as usize * 31 + 17) % events.len()].1;
        for (direction, expected) in [
            ("NEXT", (index as usize..events.len()).find(|at| events[*at].1 == *name)),
            ("PREVIOUS", (0..=index as usize).rev().find(|at| events[*at].1 == *name)),
        ] {
            let model = lines(json!({
                "requested_table_index": index,
                "requested_table_count": 1,
                "table_search_expressions": { "4": format!("^{name}$") },
                "table_search_direction": direction,
            }));
            assert_eq!(model["lines"][0]["index"].as_u64(), expected.map(|at| at as u64));
        }
    }
}

#[test]
fn every_output_answers_for_every_kind_of_trace() {
    let server = Running::start(&traces(), Guard::default());
    for (name, outputs) in [("kernel", 24), ("ust", 4), ("legacy", 16), ("", 24)] {
        let path = traces().join(name);
        let (experiment, model) = server.experiment(&format!("of {name}"), &[&path]);
        let (start, end) = span(&model);
        let all = server.get(&format!("{experiment}/outputs")).json();
        assert!(all.as_array().unwrap().len() >= outputs, "{name}: {all}");
        for output in all.as_array().unwrap() {
            let id = output["id"].as_str().unwrap();
            let range = json!({ "start": start, "end": end, "nbTimes": 100, "nbSamples": 9 });
            let kind = match output["type"].as_str().unwrap() {
                "TABLE" => continue,
                "DATA_TREE" => "data",
                "TREE_TIME_XY" => "XY",
                "TREE_GENERIC_XY" => "genericXY",
                _ => "timeGraph",
            };
            let at = |path: &str| format!("{experiment}/outputs/{kind}/{id}/{path}");
            let tree = server.complete(&at("tree"), json!({}));
            let parameters = json!({ "requested_timerange": range, "requested_items": ids(&tree) });
            match kind {
                "XY" | "genericXY" => _ = server.complete(&at("xy"), parameters),
                "timeGraph" => {
                    server.complete(&at("states"), parameters.clone());
                    server.complete(&at("arrows"), parameters);
                }
                _ => {}
            }
        }
    }
}

/// Writes a kernel trace with one event type, and returns the names of its outputs.
fn outputs_with(event: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("one");
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    schema.stream_classes[0].common_context = None;
    let fields = FieldClass::structure([("irq", FieldClass::uint(32, ByteOrder::Little))]);
    let event = schema.add_event_type(StreamClassId(0), event, fields);
    let trace = TraceWriter::create(&path, schema).unwrap();
    let stream = trace.stream(StreamClassId(0), "channel0_0").unwrap();
    let mut stream = stream.with_packet_context(FieldValue::fields([("cpu_id", 0_u64)]));
    for now in 1..100 {
        stream.event(event, now * 1000, FieldValue::fields([("irq", now % 3)])).unwrap();
    }
    stream.finish().unwrap();
    let server = Running::start(dir.path(), Guard::default());
    let (experiment, _) = server.experiment("one", &[&path]);
    let outputs = server.get(&format!("{experiment}/outputs")).json();
    let outputs = outputs.as_array().unwrap();
    outputs.iter().map(|output| output["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn only_outputs_with_recorded_events_are_offered() {
    // A kernel trace of which no event changes a state.
    let names = outputs_with("my_own_event");
    for none in
        ["Thread Status", "Resources Status", "CPU Usage", "Disk I/O Activity", "Critical Path"]
    {
        assert!(!names.iter().any(|name| name == none), "{none} in {names:?}");
    }
    assert!(names.iter().any(|name| name == "Histogram"), "{names:?}");
    // One that tells nothing of threads.
    let names = outputs_with("irq_handler_entry");
    assert!(names.iter().any(|name| name == "Resources Status"), "{names:?}");
    for none in ["CPU Usage", "Disk I/O Activity", "Critical Path"] {
        assert!(!names.iter().any(|name| name == none), "{none} in {names:?}");
    }
}

#[test]
fn equal_requests_have_equal_answers_until_the_traces_are_others() {
    let server = Running::start(&traces(), Guard::default());
    let open = |path: &str| {
        let (experiment, model) = server.experiment("again", &[&traces().join(path)]);
        let tree = server.complete(&format!("{experiment}{THREADS}/tree"), json!({}));
        (experiment, span(&model), ids(&tree))
    };
    let (experiment, (start, end), items) = open("kernel");
    let states = format!("{experiment}{THREADS}/states");
    let of = |count: i64| {
        let range = json!({ "start": start, "end": end, "nbTimes": count });
        let parameters = json!({ "requested_timerange": range, "requested_items": items });
        server.complete(&states, parameters)
    };
    // The first two answers are computed, the others are kept ones.
    let first = of(100);
    assert!(first["rows"].as_array().unwrap().iter().any(|row| row["states"] != json!([])));
    assert_eq!(of(100), first);
    assert_eq!(of(100), first);
    assert_ne!(of(200), first);
    assert_eq!(of(100), first);
    // Another experiment of the same name has the same path, and answers of its own.
    assert_eq!(server.send("DELETE", &format!("/tsp/api{experiment}"), "", "").status, 200);
    let (other, ..) = open("legacy");
    assert_eq!(other, experiment);
    assert_ne!(of(100), first);
}
