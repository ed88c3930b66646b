//! Compares `lttv stats` with other programs: with a plain model of the text of babeltrace2, for
//! small recorded traces and for windows of them; and with lttng-analyses, for a large one.

use crate::support;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(300);

/// Traces recorded by LTTng 2.x on kernels 3.13 to 6.1, in CTF 1.8 and in CTF 2.
const RECORDED: &[&str] = &[
    "k1-multi",
    "k1-8cpu",
    "k1-ctx",
    "k1-tfc",
    "k2-multi",
    "k2-8cpu",
    "k2-ctx",
    "k2-tfc",
    "tc-bug446190",
    "tc-uneven-streams",
];

/// The values of each process that add up.
const SUMS: &[&str] = &[
    "cpu_ns",
    "times_scheduled",
    "migrations",
    "bytes_read",
    "bytes_written",
    "blocks_read",
    "blocks_written",
];

#[test]
fn figures_are_those_of_a_plain_model() {
    let Some(shared) = support::shared() else {
        return support::print_note("statistics: skipped, there is no ../shared");
    };
    let mut compared = 0;
    for name in RECORDED {
        let text = shared.join(format!("expected/ctf/{name}.txt.gz"));
        let Some(model) = model(&text) else { return };
        compare(name, &model, &statistics(&shared.join("traces/ctf").join(name)));
        compared += 1;
    }
    support::print_note(&format!("statistics: {compared} traces compared with a model"));
}

/// Returns the result of the model for a compressed text; `None` if there is no Python.
fn model(text: &Path) -> Option<Value> {
    model_of(&mut GzDecoder::new(File::open(text).expect("a reference text")), &[])
}

/// Returns the result of the model for a text: a list if there are windows. `None` if there is no
/// Python.
fn model_of(text: &mut impl Read, windows: &[(i64, i64)]) -> Option<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support/kernel_model.py");
    let mut python = Command::new("python3");
    python.arg(script).args(windows.iter().flat_map(|of| [of.0.to_string(), of.1.to_string()]));
    python.stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut python) = python.spawn() else {
        support::print_note("statistics: skipped, there is no python3");
        return None;
    };
    let mut input = python.stdin.take().expect("a pipe");
    std::io::copy(text, &mut input).expect("it reads all");
    drop(input);
    let output = python.wait_with_output().expect("it ends");
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

fn statistics(trace: &Path) -> Value {
    statistics_with(&[], trace)
}

fn statistics_with(args: &[&str], trace: &Path) -> Value {
    let args = [&["stats", "--format", "json"], args].concat();
    let run = support::run(&support::lttv(), &args, Some(trace), LIMIT);
    assert_eq!(run.status, Some(0), "{}: {}", trace.display(), run.stderr);
    serde_json::from_slice(&run.stdout).expect("JSON")
}

/// The number of random windows of each trace.
const WINDOWS: usize = 50;

/// Compares random windows of a trace with the model. `text` is the text of its events.
fn compare_windows(name: &str, trace: &Path, text: &[u8], count: usize) -> bool {
    let whole = statistics(trace);
    let at = |part: &str| whole[part].as_i64().expect("a time");
    let (first, last) = (at("begin_ns"), at("end_ns"));
    let span = last.abs_diff(first);
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Some windows reach over the ends of the trace.
        (i128::from(seed >> 32) * i128::from(span) * 11 / 10 / (1 << 32)) as i64 - span as i64 / 20
    };
    let mut windows = vec![(first, last), (first - 1, last + 1), (first, first), (last, last)];
    while windows.len() < count {
        let (a, b) = (first + random(), first + random());
        if a.max(b) >= first && a.min(b) <= last {
            windows.push((a.min(b), a.max(b)));
        }
    }
    let Some(models) = model_of(&mut &*text, &windows) else { return false };
    for ((from, to), model) in windows.iter().zip(models.as_array().expect("a list")) {
        let time = |ns: i64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
        let range = format!("{}..{}", time(*from), time(*to));
        let found = statistics_with(&["--timerange", &range], trace);
        compare(&format!("{name} {range}"), model, &found);
    }
    true
}

#[test]
fn random_windows_are_those_of_a_plain_model() {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/kernel");
    let dump = ["dump", "--format", "babeltrace", "--clock-seconds", "--no-delta"];
    let text = support::run(&support::lttv(), &dump, Some(&bundled), LIMIT).stdout;
    if !compare_windows("bundled", &bundled, &text, WINDOWS) {
        return;
    }
    let Some(shared) = support::shared() else {
        return support::print_note("statistics: no windows of other traces without ../shared");
    };
    for name in ["k1-multi", "k2-8cpu", "tc-bug446190"] {
        let mut text = Vec::new();
        let packed = File::open(shared.join(format!("expected/ctf/{name}.txt.gz")));
        GzDecoder::new(packed.expect("a reference text")).read_to_end(&mut text).expect("text");
        compare_windows(name, &shared.join("traces/ctf").join(name), &text, WINDOWS);
    }
}

/// Returns the processes by thread id; those of one id are added up.
fn by_tid(statistics: &Value) -> BTreeMap<String, Value> {
    let mut threads: BTreeMap<String, Value> = BTreeMap::new();
    for process in statistics["processes"].as_array().expect("a list") {
        match threads.entry(process["tid"].to_string()) {
            std::collections::btree_map::Entry::Vacant(place) => _ = place.insert(process.clone()),
            std::collections::btree_map::Entry::Occupied(mut thread) => {
                let thread = thread.get_mut();
                for sum in SUMS {
                    thread[*sum] = json!(whole(&thread[*sum]) + whole(&process[*sum]));
                }
                let devices = process["devices"].as_array().expect("a list").iter().cloned();
                thread["devices"].as_array_mut().expect("a list").extend(devices);
                let other = &process["wakeup_latency"];
                thread["wakeup_latency"] = together(&thread["wakeup_latency"], other);
                for (name, other) in process["syscalls"].as_object().expect("an object") {
                    thread["syscalls"][name] = together(&thread["syscalls"][name], other);
                }
            }
        }
    }
    threads
}

fn whole(number: &Value) -> u64 {
    number.as_u64().unwrap_or_else(|| panic!("{number} is no whole number"))
}

/// Merges two summaries of durations.
fn together(a: &Value, b: &Value) -> Value {
    let of = |name: &str| [a, b].map(|durations| durations[name].as_u64()).into_iter().flatten();
    json!({
        "count": of("count").sum::<u64>(),
        "total_ns": of("total_ns").sum::<u64>(),
        "min_ns": of("min_ns").min(),
        "max_ns": of("max_ns").max(),
    })
}

/// The steps of requests.
const STEPS: [&str; 4] = ["inserted", "merged", "issued", "completed"];

/// Returns the numbers of steps of requests by device, of a CPU or a process.
fn requests(of: &Value) -> BTreeMap<u64, [u64; 4]> {
    let mut sums: BTreeMap<u64, [u64; 4]> = BTreeMap::new();
    for device in of["devices"].as_array().expect("a list") {
        let number = whole(&device["major"]) << 20 | whole(&device["minor"]);
        let counts = sums.entry(number).or_default();
        STEPS.iter().zip(counts).for_each(|(step, count)| *count += whole(&device[*step]));
    }
    sums
}

fn requests_of_model(of: &Value) -> BTreeMap<u64, [u64; 4]> {
    let disks = of["disks"].as_object().expect("an object").iter();
    let counts = |disk: &Value| STEPS.map(|step| whole(&disk[step]));
    disks.map(|(number, disk)| (number.parse().expect("a number"), counts(disk))).collect()
}

fn compare(name: &str, model: &Value, statistics: &Value) {
    for part in ["begin_ns", "end_ns", "events"] {
        assert_eq!(statistics[part], model[part], "{name}: {part}");
    }
    let wall = whole(&model["end_ns"]) - whole(&model["begin_ns"]);
    for cpu in model["cpus"].as_array().expect("a list") {
        let ours = statistics["cpus"].as_array().expect("a list").iter();
        let ours = ours.clone().find(|ours| ours["cpu"] == cpu["cpu"]).expect("the same CPUs");
        assert_eq!(ours["busy_ns"], cpu["busy_ns"], "{name}: {cpu}");
        assert_eq!(ours["idle_ns"], cpu["idle_ns"], "{name}: {cpu}");
        assert_eq!(whole(&ours["busy_ns"]) + whole(&ours["idle_ns"]), wall, "{name}: {cpu}");
        assert_eq!(ours["bytes_read"], cpu["bytes_read"], "{name}: {cpu}");
        assert_eq!(ours["bytes_written"], cpu["bytes_written"], "{name}: {cpu}");
        assert_eq!(requests(ours), requests_of_model(cpu), "{name}: {cpu}");
        let of = |part: &str| whole(&ours["times"][part]);
        let parts = ["user_ns", "system_ns", "idle_ns", "interrupt_ns", "unknown_ns"];
        assert_eq!(parts.into_iter().map(of).sum::<u64>(), wall, "{name}: {cpu}");
        assert_eq!(of("interrupt_ns"), whole(&ours["interrupt_ns"]), "{name}: {cpu}");
    }
    assert_eq!(whole(&statistics["duration_ns"]), wall, "{name}");
    for (number, disk) in model["disks"].as_object().expect("an object") {
        let number: u64 = number.parse().expect("a device number");
        let (major, minor) = (number >> 20, number & 0xf_ffff);
        let devices = statistics["devices"].as_array().expect("a list");
        let ours = devices.iter().find(|d| d["major"] == major && d["minor"] == minor);
        // A device without requests in a window is not listed.
        let Some(ours) = ours else {
            assert_eq!(whole(&disk["requests"]), 0, "{name}: {number}");
            continue;
        };
        assert_eq!(whole(&ours["reads"]) + whole(&ours["writes"]), whole(&disk["requests"]));
        let bytes = whole(&ours["bytes_read"]) + whole(&ours["bytes_written"]);
        assert_eq!(bytes, whole(&disk["bytes"]), "{name}: {number}");
    }
    let ours = by_tid(statistics);
    for (tid, thread) in model["threads"].as_object().expect("an object") {
        let Some(ours) = ours.get(tid) else {
            // Threads that never ran are not listed.
            assert_eq!(thread["cpu_ns"], 0, "{name}: thread {tid}");
            continue;
        };
        for sum in SUMS {
            assert_eq!(ours[*sum], thread[*sum], "{name}: thread {tid}: {sum}");
        }
        assert_eq!(requests(ours), requests_of_model(thread), "{name}: thread {tid}");
        if tid != "0" {
            assert_eq!(ours["wakeup_latency"], thread["wakeup_latency"], "{name}: thread {tid}");
        }
        let mut calls = ours["syscalls"].clone();
        // The rest of a call that started before the trace or the process.
        let by_name = calls.as_object_mut().expect("an object");
        by_name.remove("NONE");
        // Calls that are still open have no duration.
        by_name.retain(|_, of| of["count"] != 0);
        for of in by_name.values_mut() {
            of.as_object_mut().expect("an object").remove("elapsed_ns");
        }
        let mut of_model = thread["syscalls"].clone();
        if name == "tc-uneven-streams" {
            // The model ends two of them by exits of `futex`.
            for calls in [&mut calls, &mut of_model] {
                calls.as_object_mut().expect("an object").remove("poll");
            }
        }
        assert_eq!(calls, of_model, "{name}: thread {tid}");
    }
}

/// Unpacks the large recording; `None` if it or a program to unpack it is missing.
fn large(shared: &Path, into: &Path) -> Option<PathBuf> {
    let archive = shared.join("traces/perf/kbig-ctf1.8.tar.zst");
    if !archive.is_file() {
        support::print_note("statistics: skipped, there is no large recording");
        return None;
    }
    let mut tar = Command::new("tar");
    let tar = tar.args(["--zstd", "-C"]).arg(into).arg("-xf").arg(&archive).output();
    if !tar.is_ok_and(|tar| tar.status.success()) {
        support::print_note("statistics: skipped, cannot unpack with `tar --zstd`");
        return None;
    }
    Some(into.join("kbig-ctf1.8"))
}

/// Returns the rows of a table in a report of lttng-analyses.
fn rows(report: &Value) -> &[Value] {
    report["data"].as_array().expect("rows")
}

#[test]
fn figures_are_those_of_lttng_analyses() {
    let Some(shared) = support::shared() else {
        return support::print_note("statistics: skipped, there is no ../shared");
    };
    let folder = tempfile::tempdir().expect("a folder");
    let Some(trace) = large(&shared, folder.path()) else { return };
    let ours = statistics(&trace);
    let report = |name: &str| -> Value {
        let path = shared.join(format!("expected/analyses/kbig-ctf1.8.{name}.json"));
        serde_json::from_reader(File::open(path).expect("a report")).expect("JSON")
    };
    let threads = by_tid(&ours);
    let thread = |row: &Value| &threads[&row[0]["tid"].to_string()];
    let wall = (whole(&ours["end_ns"]) - whole(&ours["begin_ns"])) as f64;

    let cputop = report("cputop");
    for row in rows(&cputop["results"][0]) {
        let cpu = thread(row)["cpu_ns"].as_f64().expect("a number");
        let theirs = row[3]["value"].as_f64().expect("a number") * wall;
        assert!((cpu - theirs).abs() < 1.0, "{row}: {cpu} ns");
        assert_eq!(thread(row)["migrations"], row[1]["value"], "{row}");
    }
    // lttng-analyses counts idle time before the first switch of a CPU as busy.
    let idle_before = [20_001_833.0, 4_678_188.0, 7_993_502.0, 0.0];
    for (row, before) in rows(&cputop["results"][1]).iter().zip(idle_before) {
        let cpu = row[0]["id"].as_u64().expect("a number") as usize;
        let busy = ours["cpus"][cpu]["busy_ns"].as_f64().expect("a number");
        let theirs = row[1]["value"].as_f64().expect("a number") * wall;
        assert!((busy + before - theirs).abs() < 1.0, "{row}: {busy} ns");
    }

    let schedstats = report("schedstats");
    let mut compared = 0;
    for row in rows(&schedstats["results"][0]) {
        let latency = &thread(row)["wakeup_latency"];
        durations(latency, &row[1], &row[2], &row[3], &row[4], row);
        compared += 1;
    }
    assert!(compared > 1000, "{compared} threads");

    let syscallstats = report("syscallstats");
    let mut compared = 0;
    for table in syscallstats["results"].as_array().expect("tables") {
        let Some(title) = table["class"]["title"].as_str() else { continue };
        let tid = title.rsplit("TID: ").next().and_then(|rest| rest.split(')').next());
        let calls = &threads[tid.expect("a title with a thread")]["syscalls"];
        for row in rows(table) {
            let call = &calls[row[0]["name"].as_str().expect("a name")];
            durations(call, &row[1], &row[2], &row[3], &row[4], row);
            compared += 1;
        }
    }
    assert!(compared > 10_000, "{compared} system calls");

    let usage = report("iousagetop");
    let parts =
        [(0, "bytes_read"), (1, "bytes_written"), (4, "blocks_read"), (5, "blocks_written")];
    for (table, name) in parts {
        for row in rows(&usage["results"][table]) {
            assert_eq!(thread(row)[name], row[1]["value"], "{row}: {name}");
        }
    }
    let of = |name: &str| {
        ours["devices"].as_array().expect("a list").iter().map(|d| whole(&d[name])).sum::<u64>()
    };
    let sectors = &usage["results"][6]["data"][0][1]["value"];
    assert_eq!((of("bytes_read") + of("bytes_written")) / 512, whole(sectors));
    let requests = &usage["results"][7]["data"][0][1]["value"];
    assert_eq!(of("reads") + of("writes"), whole(requests));
    support::print_note("statistics: compared with lttng-analyses");
}

fn durations(ours: &Value, count: &Value, min: &Value, mean: &Value, max: &Value, at: &Value) {
    assert_eq!(ours["count"], count["value"], "{at}");
    assert_eq!(ours["min_ns"], min["value"], "{at}");
    assert_eq!(ours["max_ns"], max["value"], "{at}");
    let (total, count) = (ours["total_ns"].as_f64(), ours["count"].as_f64());
    let ours = total.expect("a number") / count.expect("a number");
    let theirs = mean["value"].as_f64().expect("a number");
    assert!((ours - theirs).abs() < 1e-6 * theirs.max(1.0), "{at}: {ours}");
}
