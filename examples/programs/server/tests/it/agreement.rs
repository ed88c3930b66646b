//! Compares what the server serves of recordings of all kinds with the results of the crates, which the commands print.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use crate::support::figures::{figures, served_figures};
use crate::support::{Running, entries, ids, label, random, shared, span, traces};
use ltt_read::{Merge, Timestamp, TraceIndex};
use lttv_common::paint::Paint;
use lttv_context::{Traceset, TracesetContext};
use lttv_server::http::guard::Guard;
use lttv_state::analysis::read;
use lttv_state::kernel::KernelState;
use lttv_state::kernel_history::Snapshot;
use lttv_state::latency::{Family, LatencyAnalysis, Settings};
use lttv_state::stats::StatisticsAnalysis;
use serde_json::{Value, json};

/// The recordings beside the repository that are compared.
const SHARED: [&str; 16] = [
    "ctf/k1-8cpu",
    "ctf/k1-ctx",
    "ctf/k1-rot",
    "ctf/k1-snap",
    "ctf/k1-tfc",
    "ctf/gen-perf-cs",
    "ctf/gen-perf-sched",
    "ctf/gen-perf-sys",
    "ftrace/syscalls",
    "ftrace/block-net",
    "ftrace/subbuf16",
    "ftrace/flight",
    "ftrace/v7-zlib",
    "perf-data/threads",
    "perf-data/lpd-sleep",
    "perf-data/lpd-sleep.compressed",
];

/// Compares an output of an experiment.
type Compare = fn(&Experiment<'_>, &str);

/// The outputs by the end of their ids. Those that `analyses`, `outputs` and `columns` compare in detail on one
/// recording have no function here.
const OUTPUTS: &[(&str, Option<Compare>)] = &[
    ("org.lttv.statistics", Some(statistics)),
    ("cpuusage.CpuUsageDataProvider", Some(usage_of_cpus)),
    ("org.lttv.cpuusage.threads", Some(usage_of_threads)),
    ("histogram.HistogramDataProvider", Some(histogram)),
    ("inputoutput.DisksIODataProvider", Some(disks)),
    ("threadstatus.ThreadStatusDataProvider", Some(states)),
    ("SegmentStoreStatisticsDataProvider:org.lttv.latency.period", None),
    ("SegmentStoreStatisticsDataProvider:*", Some(latencies)),
    ("SegmentStoreTableDataProvider:*", None),
    ("scatter.dataprovider:*", None),
    ("org.lttv.latency.distribution:*", None),
    ("threadstatus.ResourcesStatusDataProvider", None),
    ("CriticalPathDataProvider", None),
    ("StateSystemDataProvider", None),
    ("events.TmfEventTableDataProvider", None),
    ("callstack.provider.CallStackDataProvider", None),
    ("org.lttv.recording", None),
];

/// The outputs that are known to disagree, by recording. This list may only shrink: an entry that agrees fails.
const KNOWN: &[(&str, &str)] = &[];

/// A trace that is served, and what the crates tell of it.
struct Experiment<'s> {
    server: &'s Running,
    path: String,
    name: String,
    traceset: Traceset,
    span: (i64, i64),
    statistics: lttv_state::stats::Statistics,
}

impl Experiment<'_> {
    fn ask(&self, path: &str, parameters: Value) -> Value {
        self.server.complete(&format!("{}/outputs/{path}", self.path), parameters)
    }

    /// Returns the labels of the entries of a tree.
    fn labels(&self, path: &str) -> Vec<Vec<String>> {
        let tree = self.ask(&format!("{path}/tree"), json!({}));
        let entries = entries(&tree).iter();
        entries.map(|entry| serde_json::from_value(entry["labels"].clone()).unwrap()).collect()
    }

    /// Returns the integral over time of each series of a chart, by its name.
    fn integrals(&self, id: &str) -> BTreeMap<String, f64> {
        let tree = self.ask(&format!("XY/{id}/tree"), json!({}));
        let (start, end) = self.span;
        let range = json!({ "start": start, "end": end + 1, "nbTimes": 500 });
        let parameters = json!({ "requested_timerange": range, "requested_items": ids(&tree) });
        let model = self.ask(&format!("XY/{id}/xy"), parameters);
        let series = model["series"].as_array().unwrap().iter();
        let sum = |series: &Value| {
            let x: Vec<i64> = serde_json::from_value(series["xValues"].clone()).unwrap();
            let y: Vec<f64> = serde_json::from_value(series["yValues"].clone()).unwrap();
            let sum = x.windows(2).zip(&y).map(|(x, y)| (x[1] - x[0]) as f64 * y).sum();
            (series["seriesName"].as_str().unwrap().to_owned(), sum)
        };
        series.map(sum).collect()
    }

    /// Returns the CPU time of each thread but idle ones, in ns.
    fn cpu_times(&self) -> BTreeMap<String, u64> {
        let mut times = BTreeMap::new();
        for of in self.statistics.traces() {
            for process in of.processes().iter().filter(|process| process.cpu_time > 0) {
                let facts = &of.process_facts()[process.process.index()];
                if let Some(tid) = facts.tid.filter(|tid| *tid > 0) {
                    *times.entry(tid.to_string()).or_default() += process.cpu_time;
                }
            }
        }
        times
    }
}

fn statistics(of: &Experiment<'_>, id: &str) {
    let rows = of.labels(&format!("data/{id}"));
    let number = |row: &[String], at: usize| row[at].parse::<u64>().unwrap_or(0);
    let mut events = BTreeMap::new();
    let mut cpus = BTreeMap::new();
    let mut threads = BTreeMap::new();
    let mut section = "";
    for row in &rows {
        match &*row[0] {
            "Event types" | "CPUs" | "Processes" => section = &row[0],
            name => match section {
                "Event types" => _ = events.insert(name.to_owned(), number(row, 1)),
                "CPUs" => _ = cpus.insert(name.to_owned(), (number(row, 1), number(row, 2))),
                _ => {
                    let tid =
                        name.rsplit_once('(').map_or("", |(_, tid)| tid.trim_end_matches(')'));
                    if tid.parse::<i32>().is_ok_and(|tid| tid > 0) && number(row, 2) > 0 {
                        *threads.entry(tid.to_owned()).or_default() += number(row, 2);
                    }
                }
            },
        }
    }
    let [trace] = of.statistics.traces() else { panic!("one trace: {}", of.name) };
    let expected = trace.events().into_iter().map(|(name, count)| (name.to_owned(), count));
    assert_eq!(events, expected.collect(), "{}", of.name);
    if !cpus.is_empty() {
        let expected = trace.cpus().into_iter();
        let expected =
            expected.map(|cpu| (format!("CPU {}", cpu.number), (cpu.events, cpu.busy_time)));
        assert_eq!(cpus, expected.collect(), "{}", of.name);
    }
    assert_eq!(
        threads,
        if cpus.is_empty() { BTreeMap::new() } else { of.cpu_times() },
        "{}",
        of.name
    );
}

fn usage_of_cpus(of: &Experiment<'_>, id: &str) {
    let found = of.integrals(id);
    for cpu in of.statistics.traces()[0].cpus() {
        let Some(percent) = found.get(&format!("CPU {}", cpu.number)) else { continue };
        let (busy, expected) = (percent / 100.0, cpu.busy_time as f64);
        let tolerance = (of.span.1 - of.span.0) as f64 * 0.001 + 1000.0;
        assert!((busy - expected).abs() < tolerance, "{}: {cpu:?} is served as {busy}", of.name);
    }
}

fn usage_of_threads(of: &Experiment<'_>, id: &str) {
    let rows = of.labels(&format!("XY/{id}"));
    let rows = rows.iter().filter(|row| !row[1].is_empty() && row[1] != "0");
    let found = rows.map(|row| (row[1].clone(), row[3].parse().unwrap()));
    assert_eq!(found.collect::<BTreeMap<String, u64>>(), of.cpu_times(), "{}", of.name);
}

fn histogram(of: &Experiment<'_>, id: &str) {
    let tree = of.ask(&format!("XY/{id}/tree"), json!({}));
    let (start, end) = of.span;
    let range = json!({ "start": start, "end": end + 1, "nbTimes": 100 });
    let parameters = json!({ "requested_timerange": range, "requested_items": ids(&tree) });
    let model = of.ask(&format!("XY/{id}/xy"), parameters);
    let series = model["series"].as_array().unwrap().iter();
    let counts = series.flat_map(|series| series["yValues"].as_array().unwrap());
    let found: f64 = counts.map(|count| count.as_f64().unwrap()).sum();
    let mut events = Merge::new(of.traceset.traces());
    let mut timed = 0_u64;
    while let Some(event) = events.next() {
        timed += u64::from(event.timestamp().is_some());
    }
    // Totals and parts are series of their own, so that each event counts for all of them.
    let times = found / timed.max(1) as f64;
    assert!(timed == 0 || times >= 1.0 && times.fract() == 0.0, "{}: {found} of {timed}", of.name);
}

fn disks(of: &Experiment<'_>, id: &str) {
    let found: f64 = of.integrals(id).values().sum::<f64>() / 1e9;
    let devices = of.statistics.traces()[0].devices().iter();
    let expected: u64 = devices.map(|device| device.bytes_read + device.bytes_written).sum();
    let tolerance = expected as f64 * 0.001 + 1.0;
    assert!((found - expected as f64).abs() <= tolerance, "{}: {found}, not {expected}", of.name);
}

fn states(of: &Experiment<'_>, id: &str) {
    let at = |path: &str| format!("timeGraph/{id}/{path}");
    let tree = of.ask(&at("tree"), json!({}));
    let tids: BTreeMap<i64, &str> = entries(&tree)
        .iter()
        .map(|entry| (entry["id"].as_i64().unwrap(), label(entry, 1)))
        .collect();
    let mut context = TracesetContext::new(&of.traceset);
    let kernel = context.attach(KernelState::new());
    for time in random(4, of.span.0, of.span.1.max(of.span.0 + 1)) {
        context.state().seek_time(Timestamp::from_ns(time + 1));
        let state = context.extensions()[kernel].trace(TraceIndex(0)).unwrap();
        let threads = Snapshot::from_state(state).threads;
        let threads = threads.iter().filter(|thread| thread.tid != 0);
        let expected: BTreeMap<String, String> = threads
            .map(|thread| {
                let paint = Paint::of_process(thread.status, thread.mode);
                (thread.tid.to_string(), paint.label().to_owned())
            })
            .collect();
        let parameters = json!({
            "requested_timerange": { "start": time, "end": time, "nbTimes": 1 },
            "requested_items": ids(&tree),
        });
        let mut found = BTreeMap::new();
        for row in of.ask(&at("states"), parameters)["rows"].as_array().unwrap() {
            let tid = tids[&row["entryId"].as_i64().unwrap()];
            for state in row["states"].as_array().unwrap() {
                let key = &state["style"]["parentKey"];
                if let Some(key) = key.as_str().filter(|_| !tid.is_empty() && tid != "0") {
                    found.insert(tid.to_owned(), key.to_owned());
                }
            }
        }
        assert_eq!(found, expected, "{} at {time}", of.name);
    }
}

fn latencies(of: &Experiment<'_>, id: &str) {
    let families: &[Family] = match id.rsplit_once(':').unwrap().1 {
        "org.eclipse.tracecompass.analysis.os.linux.latency.syscall" => &[Family::Syscall],
        "org.lttv.latency.scheduler" => &[Family::WakeUp, Family::Preemption],
        "lttng.analysis.irq" => {
            &[Family::HardIrq, Family::Vector, Family::Softirq, Family::SoftirqRaise]
        }
        "org.lttv.latency.disk" => &[Family::DiskQueue, Family::DiskDevice],
        "org.lttv.latency.file" => {
            &[Family::FileOpen, Family::FileRead, Family::FileWrite, Family::FileSync]
        }
        "lttng.analysis.futex" => &[Family::Futex],
        other => panic!("an analysis without a comparison: {other}"),
    };
    let whole = read(&of.traceset).run(LatencyAnalysis::new(Settings::new())).output;
    let tree = of.ask(&format!("data/{id}/tree"), json!({}));
    assert_eq!(served_figures(&tree), figures(&whole, families), "{}: {id}", of.name);
}

/// Returns the number of an output in [`OUTPUTS`].
fn place(id: &str) -> Option<usize> {
    OUTPUTS.iter().position(|(known, _)| match known.strip_suffix('*') {
        Some(known) => id.contains(known),
        None => id.ends_with(known),
    })
}

/// Fails for an output that is neither compared here nor by another test.
#[test]
fn every_output_tells_what_the_crates_tell() {
    let bundled = ["kernel", "ftrace", "perf", "legacy", "ust"];
    let bundled = bundled.into_iter().map(|name| (name.to_owned(), traces().join(name)));
    let beside = shared("")
        .into_iter()
        .flat_map(|root| SHARED.into_iter().map(move |name| (name.to_owned(), root.join(name))));
    let recordings: Vec<(String, PathBuf)> = bundled.chain(beside).collect();
    let mut offered = BTreeSet::new();
    let mut wrong = Vec::new();
    for (name, path) in &recordings {
        let server = Running::start(path.parent().unwrap(), Guard::default());
        let (experiment, model) = server.experiment("agreement", &[path]);
        let traceset = Traceset::open(path).unwrap();
        let of = Experiment {
            statistics: read(&traceset).run(StatisticsAnalysis::new()).output,
            server: &server,
            path: experiment,
            name: name.clone(),
            span: span(&model),
            traceset,
        };
        let outputs = server.get(&format!("{}/outputs", of.path)).json();
        for output in outputs.as_array().unwrap() {
            let id = output["id"].as_str().unwrap();
            let at = place(id).unwrap_or_else(|| panic!("no test compares {id} of {name}"));
            offered.insert(at);
            let Some(compare) = OUTPUTS[at].1 else { continue };
            let agrees = catch_unwind(AssertUnwindSafe(|| compare(&of, id))).is_ok();
            if agrees == KNOWN.contains(&(OUTPUTS[at].0, name.as_str())) {
                wrong.push(format!(
                    "{} of {name}: {}",
                    OUTPUTS[at].0,
                    if agrees { "agrees" } else { "differs" }
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "other than KNOWN says, with the differences above: {wrong:#?}");
    let gone: Vec<_> = (0..OUTPUTS.len()).filter(|at| !offered.contains(at)).collect();
    assert!(
        gone.is_empty(),
        "outputs that no recording has: {:?}",
        gone.iter().map(|at| OUTPUTS[*at].0).collect::<Vec<_>>()
    );
}
