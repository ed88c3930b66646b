//! Columns and activity in windows, compared with brute force over the intervals of the state history.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use crate::support::{Running, traces};
use lttv_common::paint::Paint;
use lttv_context::Traceset;
use lttv_server::http::guard::Guard;
use lttv_state::history::History;
use lttv_state::kernel::{CpuMode, ExecutionMode, ProcessStatus};
use lttv_state::kernel_history::{HistoryTarget, record_live};
use lttv_state::tree::Quark;
use serde_json::{Value, json};

const THREADS: &str = "/outputs/timeGraph/org.eclipse.tracecompass.internal.analysis.os.linux.core\
                       .threadstatus.ThreadStatusDataProvider";
const RESOURCES: &str = "/outputs/timeGraph/org.eclipse.tracecompass.internal.analysis.os.linux.core\
                         .threadstatus.ResourcesStatusDataProvider";
/// The number of random windows.
const WINDOWS: u64 = 1000;

/// A part of a row: its start, its end and its state, which is `None` in a gap.
type Part = (i64, i64, Option<String>);

fn history(path: &Path) -> History {
    let traceset = Traceset::open(path).unwrap();
    let goes_on = |_| ControlFlow::Continue(());
    record_live(&traceset, HistoryTarget::Memory, |_| {}, goes_on).unwrap().history
}

/// Returns the intervals of an attribute: start, end and text.
fn intervals(history: &History, quark: Option<Quark>) -> Vec<(i64, i64, String)> {
    let Some(quark) = quark else { return Vec::new() };
    let whole = history.start()..history.end();
    let all = history.intervals(quark, whole).unwrap().map(Result::unwrap);
    let text = |value: lttv_state::value::StateValue<'_>| match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.as_i64().map_or(String::new(), |number| number.to_string()),
    };
    all.map(|of| (of.start.as_ns(), of.end.as_ns(), text(of.value))).collect()
}

fn at(intervals: &[(i64, i64, String)], time: i64) -> &str {
    let after = intervals.partition_point(|(start, ..)| *start <= time);
    let of = after.checked_sub(1).map(|place| &intervals[place]);
    of.filter(|(_, end, _)| time < *end).map_or("", |(.., text)| text)
}

/// Returns the parts of a row between the borders of the intervals of its attributes.
fn parts(
    all: &[&[(i64, i64, String)]],
    (start, end): (i64, i64),
    state: impl Fn(i64) -> Option<String>,
) -> Vec<Part> {
    let inside = all.iter().flat_map(|of| of.iter().flat_map(|of| [of.0, of.1]));
    let mut borders: Vec<i64> = inside.filter(|time| (start..end).contains(time)).collect();
    borders.extend([start, end]);
    borders.sort_unstable();
    borders.dedup();
    borders.windows(2).map(|pair| (pair[0], pair[1], state(pair[0]))).collect()
}

/// Returns the parts of the row of a thread with an id and a life.
fn thread_parts(history: &History, tid: i64, life: (i64, i64)) -> Vec<Part> {
    let threads =
        ["0", "Threads"].iter().try_fold(Quark::ROOT, |of, name| history.tree().child(of, name));
    let of = threads.and_then(|of| history.tree().child(of, &tid.to_string())).unwrap();
    let child = |name: &str| history.tree().child(of, name);
    let status = intervals(history, Some(of));
    let mode = intervals(history, child("Mode"));
    parts(&[&status, &mode], life, |time| {
        let status = at(&status, time);
        if status.is_empty() {
            return None;
        }
        let status: ProcessStatus = status.parse().unwrap();
        let mode: ExecutionMode = at(&mode, time).parse().unwrap_or_default();
        Some(Paint::of_process(status, mode).label().to_owned())
    })
}

/// Returns the parts of the row of a CPU, whose states while a thread runs have its id.
fn cpu_parts(history: &History, number: &str) -> Vec<Part> {
    let of = ["0", "CPUs", number]
        .iter()
        .try_fold(Quark::ROOT, |of, name| history.tree().child(of, name));
    let mode = intervals(history, of);
    let thread = intervals(history, of.and_then(|of| history.tree().child(of, "Thread")));
    let life = (history.start().as_ns(), history.end().as_ns());
    parts(&[&mode, &thread], life, |time| {
        let paint = Paint::of_cpu(at(&mode, time).parse::<CpuMode>().ok()?)?;
        let tid = at(&thread, time);
        let is_thread = paint == Paint::Busy && !tid.is_empty() && tid != "0";
        Some(if is_thread { format!("busy {tid}") } else { paint.label().to_owned() })
    })
}

/// Returns the time of each state in a range, by brute force.
fn shares(parts: &[Part], from: i64, to: i64) -> BTreeMap<String, u64> {
    let mut shares = BTreeMap::new();
    for (start, end, state) in parts {
        let ns = (*end.min(&to) - *start.max(&from)).max(0) as u64;
        if let Some(state) = state.as_ref().filter(|_| ns > 0) {
            *shares.entry(state.clone()).or_default() += ns;
        }
    }
    shares
}

/// Returns a state as brute force names it: that of a CPU without the name of its thread.
fn name(style: &str, label: &str) -> String {
    match label.rsplit(' ').next().filter(|_| style == "busy" && !label.is_empty()) {
        Some(tid) => format!("busy {tid}"),
        None => style.to_owned(),
    }
}

/// Returns the time of each state in each column between borders, as an answer has them.
fn served(
    row: &Value,
    styles: &Value,
    borders: &[i64],
    is_cpu: bool,
) -> Vec<BTreeMap<String, u64>> {
    let label = |text: &Value| text.as_str().filter(|_| is_cpu).unwrap_or("").to_owned();
    let mut all = vec![BTreeMap::new(); borders.len() - 1];
    for state in row["states"].as_array().unwrap() {
        let (start, end) = (state["start"].as_i64().unwrap(), state["end"].as_i64().unwrap());
        let style = state["style"]["parentKey"].as_str().unwrap();
        for (column, pair) in borders.windows(2).enumerate() {
            if start <= pair[0] && pair[1] <= end {
                let of = name(style, &label(&state["label"]));
                all[column].insert(of, (pair[1] - pair[0]) as u64);
            }
        }
    }
    for column in row["columns"].as_array().unwrap() {
        let column = column.as_array().unwrap();
        let number = column[0].as_u64().unwrap() as usize;
        assert!(all[number].is_empty(), "column {number} has one state, and several");
        for share in column[1..].chunks(2) {
            let style = &styles[share[0].as_u64().unwrap() as usize];
            let of = name(style[0].as_str().unwrap(), &label(&style[1]));
            let sum: &mut u64 = all[number].entry(of).or_default();
            *sum += share[1].as_u64().unwrap();
        }
    }
    all
}

/// Returns numbers that look random.
fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below.max(1)
    }
}

#[test]
fn columns_of_random_windows_are_those_of_brute_force() {
    let path = traces().join("kernel");
    let history = history(&path);
    let server = Running::start(&traces(), Guard::default());
    let (experiment, _) = server.experiment("columns", &[&path]);
    let entries = |output: &str| {
        let tree = server.complete(&format!("{experiment}{output}/tree"), json!({}));
        tree["entries"].as_array().unwrap().clone()
    };
    let mut rows: Vec<(&str, i64, Vec<Part>)> = Vec::new();
    for entry in entries(THREADS) {
        let Some(tid) = entry["metadata"]["tid"][0].as_i64().filter(|tid| *tid > 0) else {
            continue;
        };
        let life = (entry["start"].as_i64().unwrap(), entry["end"].as_i64().unwrap());
        let id = entry["id"].as_i64().unwrap();
        rows.push((THREADS, id, thread_parts(&history, tid, life)));
    }
    for entry in entries(RESOURCES) {
        if let Some(number) = entry["labels"][0].as_str().unwrap().strip_prefix("CPU ") {
            let id = entry["id"].as_i64().unwrap();
            rows.push((RESOURCES, id, cpu_parts(&history, number)));
        }
    }
    // Rows with several states are worth a comparison.
    rows.retain(|(.., parts)| parts.len() > 3);
    assert!(rows.iter().filter(|(output, ..)| *output == RESOURCES).count() > 2);
    assert!(rows.len() > 20);
    let (first, last) = (history.start().as_ns(), history.end().as_ns());
    let span = (last - first) as u64;
    let mut random = numbers(53);
    let (mut several, mut single) = (0, 0);
    for window in 0..WINDOWS {
        let (output, id, parts) = &rows[random(rows.len() as u64) as usize];
        let width = (span >> random(28)).max(2);
        // Some windows reach out of the recording.
        let start = first - 1000 + random(span + 2000) as i64;
        let count = 2 + random(60) as i64;
        let end = start + width as i64;
        let parameters = json!({
            "requested_timerange": { "start": start, "end": end, "nbTimes": count },
            "requested_items": [id], "lttv_columns": true,
        });
        let answer = server.complete(&format!("{experiment}{output}/states"), parameters);
        let step = ((end - start) / (count - 1)).max(1);
        let mut borders: Vec<i64> =
            (0..).map(|at| start + at * step).take_while(|at| *at < end).collect();
        borders.push(end);
        let found = served(&answer["rows"][0], &answer["styles"], &borders, *output == RESOURCES);
        for (pair, found) in borders.windows(2).zip(&found) {
            let expected = shares(parts, pair[0], pair[1]);
            assert_eq!(*found, expected, "window {window}: {output} {id} {pair:?}");
            *(if found.len() > 1 { &mut several } else { &mut single }) += 1;
        }
    }
    assert!(several > 200 && single > 2000, "{several} {single}");
}

#[test]
fn activity_in_windows_is_the_time_of_threads_on_cpus() {
    let path = traces().join("kernel");
    let history = history(&path);
    let server = Running::start(&traces(), Guard::default());
    let (experiment, _) = server.experiment("activity", &[&path]);
    let tree = server.complete(&format!("{experiment}{THREADS}/tree"), json!({}));
    let tids: BTreeMap<i64, i64> = tree["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|of| Some((of["id"].as_i64()?, of["metadata"]["tid"][0].as_i64()?)))
        .collect();
    let cpus = history.tree().matching(Quark::ROOT, "0/CPUs/*/Thread").unwrap();
    let running: Vec<_> = cpus.iter().map(|cpu| intervals(&history, Some(*cpu))).collect();
    let (first, last) = (history.start().as_ns(), history.end().as_ns());
    let mut random = numbers(7);
    for _ in 0..60 {
        let start = first + random((last - first) as u64) as i64;
        let end = (start + (((last - first) as u64) >> random(20)) as i64).min(last);
        let parameters = json!({ "parameters": { "begin": start, "end": end } }).to_string();
        let answer = server
            .send(
                "POST",
                &format!("/lttv{experiment}/activity"),
                "Content-Type: application/json\r\n",
                &parameters,
            )
            .json();
        let mut expected: BTreeMap<i64, u64> = BTreeMap::new();
        for (from, to, tid) in running.iter().flatten() {
            let ns = (*to.min(&end) - *from.max(&start)).max(0) as u64;
            if let Some(tid) = tid.parse().ok().filter(|tid| *tid > 0 && ns > 0) {
                *expected.entry(tid).or_default() += ns;
            }
        }
        let mut found: BTreeMap<i64, u64> = BTreeMap::new();
        for (id, ns) in answer["threads"].as_object().unwrap() {
            *found.entry(tids[&id.parse().unwrap()]).or_default() += ns.as_u64().unwrap();
        }
        assert_eq!(found, expected, "{start} {end}");
        // No resource is busier than the window is long, but for handlers that run on several CPUs.
        for time in answer["resources"].as_object().unwrap().values() {
            assert!(time.as_u64().unwrap() <= 8 * (end - start) as u64);
        }
    }
}

#[test]
fn a_thread_has_one_row_with_its_last_name() {
    let path = traces().join("kernel");
    let history = history(&path);
    let server = Running::start(&traces(), Guard::default());
    let (experiment, _) = server.experiment("names", &[&path]);
    let tree = server.complete(&format!("{experiment}{THREADS}/tree"), json!({}));
    let (mut lives, mut renamed): (BTreeMap<i64, Vec<(i64, i64)>>, _) = (BTreeMap::new(), 0);
    for entry in tree["entries"].as_array().unwrap() {
        let Some(tid) = entry["metadata"]["tid"][0].as_i64().filter(|tid| *tid > 0) else {
            continue;
        };
        let life = (entry["start"].as_i64().unwrap(), entry["end"].as_i64().unwrap());
        let names = history.tree().matching(Quark::ROOT, &format!("0/Threads/{tid}/Name")).unwrap();
        let names = intervals(&history, names.first().copied());
        let inside =
            |of: &&(i64, i64, String)| (life.0..life.1).contains(&of.0) && !of.2.is_empty();
        let names: Vec<_> = names.iter().filter(inside).collect();
        if let Some((.., last)) = names.last() {
            assert_eq!(entry["labels"][0], *last, "{tid}");
        }
        renamed += usize::from(names.len() > 1);
        lives.entry(tid).or_default().push(life);
    }
    assert!(renamed > 5, "{renamed}");
    // Several rows are several threads with the same number, one after the other.
    for (tid, lives) in &mut lives {
        lives.sort_unstable();
        assert!(lives.windows(2).all(|pair| pair[0].1 < pair[1].0), "{tid}: {lives:?}");
    }
}
