//! The page: its files, filters, and a browser that is driven as a user does it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use crate::support::calls::write_calls;
use crate::support::{Running, random, traces};
use ltt_read::schema::{ByteOrder, FieldClass, Format, Integer, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_server::dataset::compile;
use lttv_server::http::guard::Guard;
use lttv_server::http::page::FILES;
use lttv_state::kernel::KernelState;
use serde_json::{Value, json};

const HISTOGRAM: &str =
    "/outputs/XY/org.eclipse.tracecompass.internal.tmf.core.histogram.HistogramDataProvider/xy";
const EVENTS: &str = "/outputs/table/org.eclipse.tracecompass.internal.provisional.tmf.core.model\
                      .events.TmfEventTableDataProvider/lines";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Returns the paths of all files below a directory, relative to it.
fn files_below(dir: &Path, at: &str, files: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir.join(at)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{at}{}", entry.file_name().to_str().unwrap());
        match entry.file_type().unwrap().is_dir() {
            true => files_below(dir, &format!("{path}/"), files),
            false => assert!(files.insert(path)),
        }
    }
}

#[test]
fn all_files_of_the_folder_are_served() {
    let mut files = BTreeSet::new();
    files_below(&folder().join("page"), "", &mut files);
    let served: BTreeSet<String> = FILES.iter().map(|file| file.path.to_owned()).collect();
    assert_eq!(served, files);
}

#[test]
fn no_text_of_a_trace_can_become_markup() {
    for file in FILES {
        let text = std::str::from_utf8(file.content).unwrap();
        let markup = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "DOMParser",
            "srcdoc",
            "eval(",
            "new Function",
            "createContextualFragment",
            "javascript:",
        ];
        for part in markup {
            assert!(!text.contains(part), "{}: {part}", file.path);
        }
        if file.path.ends_with(".html") {
            for part in ["style=", "<style", " on", "http:", "https:"] {
                assert!(!text.contains(part), "{}: {part}", file.path);
            }
        }
    }
}

#[test]
fn filters_are_checked_with_the_token_only() {
    let guard = Guard { token: Some("secret".to_owned()), ..Guard::default() };
    let server = Running::start(&traces(), guard);
    let check = |headers| server.send("POST", "/lttv/experiments/x/filter", headers, "{}").status;
    assert_eq!(check(""), 401);
    assert_eq!(check("Authorization: Bearer secret\r\n"), 404);
}

/// Returns the numbers and times of the events that pass a filter, found by reading all.
fn passing(path: &Path, filter: &str) -> Vec<(u64, i64)> {
    let traceset = Traceset::open(path).unwrap();
    let mut context = TracesetContext::new(&traceset);
    let kernel = context.attach(KernelState::new());
    let filters = compile(filter, &traceset).unwrap().with_state(kernel);
    let found = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let (of_hook, mut number) = (std::rc::Rc::clone(&found), 0);
    context.on_event("*", move |call| {
        if filters.matches(call) {
            of_hook.borrow_mut().push((number, call.event_time().as_ns()));
        }
        number += 1;
    });
    assert_eq!(context.read(&Bounds::all()).unwrap().errors, 0);
    found.take()
}

#[test]
fn filtered_lines_and_histograms_are_those_of_the_events_that_pass() {
    let path = traces().join("kernel");
    let server = Running::start(&traces(), Guard::default());
    let (experiment, model) = server.experiment("filters", &[&path]);
    let (start, end) = (model["start"].as_i64().unwrap(), model["end"].as_i64().unwrap());
    let lines = |filter: &str, more: Value| {
        let mut parameters = json!({
            "requested_table_count": 40, "requested_table_column_ids": [], "lttv_filter": filter,
        });
        parameters.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.complete(&format!("{experiment}{EVENTS}"), parameters)
    };
    let contents = |line: &Value| line["cells"].clone();
    let filters = [
        "sched_switch",
        "next_tid == 0",
        "state.execution_mode == irq",
        "cpu == 3",
        "tid == 0",
        "lttng_statedump_start",
        "name == \"no such\"",
        "event.time >= 0",
    ];
    for filter in filters {
        let expected = passing(&path, filter);
        let first = lines(filter, json!({ "requested_table_index": 0 }));
        assert_eq!(first["size"], expected.len(), "{filter}");
        for at in [0, expected.len() / 2, expected.len().saturating_sub(3)] {
            let found = lines(filter, json!({ "requested_table_index": at }));
            let found = found["lines"].as_array().unwrap();
            assert_eq!(found.len(), expected.len().saturating_sub(at).min(40), "{filter}");
            for (line, (number, _)) in found.iter().zip(&expected[at..]).step_by(13) {
                let plain = lines("", json!({ "requested_table_index": number }));
                assert_eq!(contents(line), contents(&plain["lines"][0]), "{filter} {number}");
            }
        }
        // The first one at a time, and the last one before another that the search finds.
        if let Some((_, time)) = expected.get(expected.len() / 3) {
            let at = expected.partition_point(|(_, other)| other < time);
            let found = lines(filter, json!({ "requested_times": [time] }));
            assert_eq!(found["lowIndex"], at, "{filter}");
            for direction in ["NEXT", "PREVIOUS"] {
                let search = json!({
                    "requested_table_index": at, "table_search_direction": direction,
                    "table_search_expressions": { "0": format!("^{time}$") },
                });
                assert_eq!(lines(filter, search)["lowIndex"], at, "{filter} {direction}");
            }
        }
        let step = (end - start) / 99;
        let parameters = json!({
            "requested_timerange": { "start": start, "end": end, "nbTimes": 100 },
            "requested_items": [1], "lttv_filter": filter,
        });
        let found = server.complete(&format!("{experiment}{HISTOGRAM}"), parameters);
        let counts: Vec<u64> = found["series"][0]["yValues"]
            .as_array()
            .unwrap()
            .iter()
            .map(|count| count.as_u64().unwrap())
            .collect();
        assert_eq!(counts.iter().sum::<u64>(), expected.len() as u64, "{filter}");
        let inside = |time: i64| time >= start + 70 * step && time < start + 80 * step;
        let in_part = expected.iter().filter(|(_, time)| inside(*time)).count() as u64;
        assert_eq!(counts[70..80].iter().sum::<u64>(), in_part, "{filter}");
    }
    let wrong = server.post(
        &format!("{experiment}{EVENTS}"),
        json!({ "requested_table_index": 0, "requested_table_count": 1, "lttv_filter": "nxt == 1" }),
    );
    assert_eq!(wrong.status, 400);
    assert!(wrong.text.contains("nxt"), "{}", wrong.text);
}

/// Prints a line even if the test passes.
fn report(line: &str) {
    use std::io::Write;
    _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Keeps tests from starting a second browser, which would share its processors.
static BROWSER: Mutex<()> = Mutex::new(());

/// Runs tests of node, those with a browser one at a time. Returns `None` if there is no node.
fn node(arguments: &[&str], variables: &[(&str, &str)]) -> Option<Output> {
    let _browser = BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new("node");
    command.args(["--test", "--test-concurrency=1"]).args(arguments);
    command.current_dir(folder().join("tests/page")).envs(variables.iter().copied());
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            report(&format!("skipped: node cannot be started: {error}"));
            None
        }
    }
}

/// Panics if tests have failed, and tells which were skipped.
fn assert_passed(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines().filter(|line| line.contains("# SKIP") || line.contains(" frames of "))
    {
        report(line);
    }
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn modules_that_draw_nothing_pass_their_tests() {
    let files = ["events", "json", "latencies", "layout", "range", "rows", "time", "window"]
        .map(|of| format!("unit/{of}.test.mjs"));
    if let Some(output) = node(&files.each_ref().map(String::as_str), &[]) {
        assert_passed(&output);
    }
}

#[test]
fn a_user_can_work_with_the_page() {
    let server = Running::start(&traces(), Guard::default());
    server.experiment("kernel", &[&traces().join("kernel")]);
    let url = format!("http://{}/", server.address);
    let files = ["answers", "use", "analyses", "access"].map(|of| format!("browser/{of}.test.mjs"));
    if let Some(output) = node(&files.each_ref().map(String::as_str), &[("LTTV_URL", &url)]) {
        assert_passed(&output);
    }
}

#[test]
fn a_user_sees_the_calls_of_functions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("calls");
    write_calls(&path, random(3_000, 0, 1 << 40));
    let server = Running::start(dir.path(), Guard::default());
    server.experiment("calls", &[&path]);
    let url = format!("http://{}/", server.address);
    if let Some(output) = node(&["browser/flames.test.mjs"], &[("LTTV_URL", &url)]) {
        assert_passed(&output);
    }
}

/// The number of threads of a trace for the time of frames.
const THREADS: u64 = 500;

/// Writes a trace in which threads with hostile names run on 4 CPUs in turn.
fn write_threads(dir: &Path) {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    schema.stream_classes[0].common_context = None;
    let number = || FieldClass::integer(32, ByteOrder::Little, Integer::default());
    let fields = FieldClass::structure([
        ("prev_comm", presets::text_array(16)),
        ("prev_tid", number()),
        ("prev_prio", number()),
        ("prev_state", number()),
        ("next_comm", presets::text_array(16)),
        ("next_tid", number()),
        ("next_prio", number()),
    ]);
    let switch = schema.add_event_type(StreamClassId(0), "sched_switch", fields);
    let trace = TraceWriter::create(dir, schema).unwrap();
    let name = |tid: u64| match tid % 7 {
        0 => FieldValue::Str("<img src=x>".to_owned()),
        _ => FieldValue::Str(format!("worker{tid}")),
    };
    for cpu in 0..4_u64 {
        let stream = trace.stream(StreamClassId(0), &format!("channel0_{cpu}")).unwrap();
        let mut stream = stream.with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
        let (mut now, mut tid) = (1_000_000 + cpu, 1 + cpu);
        for turn in 0..15_000_u64 {
            let next = 1 + cpu + 4 * ((turn * 7919) % (THREADS / 4));
            let fields = [
                ("prev_comm", name(tid)),
                ("prev_tid", FieldValue::Uint(tid)),
                ("prev_prio", FieldValue::Uint(20)),
                ("prev_state", FieldValue::Uint(turn % 2)),
                ("next_comm", name(next)),
                ("next_tid", FieldValue::Uint(next)),
                ("next_prio", FieldValue::Uint(20)),
            ];
            stream.event(switch, now, FieldValue::fields(fields)).unwrap();
            (now, tid) = (now + 20_000 + (turn * 104_729) % 90_000, next);
        }
        stream.finish().unwrap();
    }
}

#[test]
fn frames_with_500_threads_are_short() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("threads");
    write_threads(&path);
    let server = Running::start(dir.path(), Guard::default());
    server.experiment("threads", &[&path]);
    let url = format!("http://{}/", server.address);
    let rows = THREADS.to_string();
    let variables = [("LTTV_URL", &url[..]), ("LTTV_FRAMES", &rows)];
    if let Some(output) = node(&["browser/frames.test.mjs"], &variables) {
        assert_passed(&output);
    }
}
