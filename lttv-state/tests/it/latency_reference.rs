//! Latencies, compared with the figures of an independent model: of real traces, and of event
//! lists made by hand.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use ltt_read::{Merge, Timestamp};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::analysis::attach;
use lttv_state::durations::Spread;
use lttv_state::kernel::KernelState;
use lttv_state::latency::{
    Family, GroupBy, Latency, LatencyAnalysis, LatencyFigures, Open, Settings, TraceLatency,
};
use lttv_state::spans::{Completeness, Span, SpanAnalysis, SpanNames, SpanSettings, SpanVisitor};
use serde_json::{Value, json};

use crate::support;

/// Returns the folder of the references, if it exists.
fn references() -> Option<PathBuf> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/expected/analyses-2/reference");
    if path.is_dir() {
        return Some(path);
    }
    support::report(&format!("skipped: {} is not there", path.display()));
    None
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

fn latency(traceset: &Traceset) -> Latency {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let latency = attach(&mut context, kernel, .., LatencyAnalysis::new(Settings::new()));
    _ = context.read(&Bounds::all()).expect("bounds without a position");
    latency.take(context.extensions_mut())
}

/// Returns count, sum, minimum and maximum.
fn durations(spread: &Spread) -> Value {
    if spread.count() == 0 {
        return json!([0, 0, null, null]);
    }
    json!([spread.count(), spread.total(), spread.least().value, spread.greatest().value])
}

/// Sums rows under keys of text.
fn by_key(rows: impl Iterator<Item = (String, LatencyFigures)>) -> BTreeMap<String, Spread> {
    let mut sums: BTreeMap<String, Spread> = BTreeMap::new();
    for (key, figures) in rows {
        sums.entry(key).or_default().add_all(figures.durations().spread());
    }
    sums
}

fn as_json(sums: BTreeMap<String, Spread>) -> Value {
    sums.into_iter().map(|(key, sum)| (key, durations(&sum))).collect()
}

/// The number of system calls without an end, by trace.
#[derive(Default)]
struct Unfinished(Vec<u64>);

impl SpanVisitor for Unfinished {
    fn span(&mut self, span: &Span, _: &SpanNames<'_>) {
        if self.0.len() <= span.trace.0 {
            self.0.resize(span.trace.0 + 1, 0);
        }
        self.0[span.trace.0] += u64::from(span.completeness == Completeness::NoEnd);
    }
}

/// Returns the number of system calls that did not return before the end of a trace: those that are open there,
/// and those of threads that have exited, which the model lists as well.
fn unfinished(traceset: &Traceset, trace: usize, of: &TraceLatency) -> u64 {
    let settings = SpanSettings::new().families([Family::Syscall]);
    let analysis = SpanAnalysis::new(settings, Unfinished::default());
    let found = lttv_state::analysis::read(traceset).run(analysis).output.visitor.0;
    let open = of.open().iter().filter(|of| of.family == Family::Syscall).count() as u64;
    let unmatched = of.unmatched();
    let lost = unmatched.entries_over_entry + unmatched.exits_of_another_call;
    let all = found.get(trace).copied().unwrap_or(0) - lost;
    assert!(open <= all);
    all
}

/// Returns the figures of a trace in the form of the references. Threads are named by their id.
fn figures(of: &TraceLatency, unfinished: u64) -> Value {
    let tid = |row: &lttv_state::latency::Row| {
        row.thread.and_then(|id| of.thread(id)).map_or(-1, |thread| thread.tid)
    };
    let subject = |row: &lttv_state::latency::Row| of.subject(row.subject.expect("by subject"));
    let by_thread = |family| {
        let rows = of.rows(family, GroupBy::Thread).into_iter();
        as_json(by_key(rows.map(|row| (tid(&row).to_string(), row.figures))))
    };
    let by_subject = |family| {
        let rows = of.rows(family, GroupBy::Subject).into_iter();
        as_json(by_key(rows.map(|row| (subject(&row), row.figures))))
    };
    let by_number = |family| {
        let rows = of.rows(family, GroupBy::Subject).into_iter();
        let number = |text: String| text.split(' ').next().unwrap_or("").to_owned();
        as_json(by_key(rows.map(|row| (number(subject(&row)), row.figures))))
    };
    let errors: BTreeMap<_, _> = of
        .rows(Family::Syscall, GroupBy::Subject)
        .iter()
        .filter(|row| row.figures.failures() > 0)
        .map(|row| (subject(row), row.figures.failures()))
        .collect();
    let by_call = of.rows(Family::Syscall, GroupBy::ThreadAndSubject).into_iter();
    let by_call =
        by_key(by_call.map(|row| (format!("{} {}", tid(&row), subject(&row)), row.figures)));
    let unmatched = of.unmatched();
    json!({
        "wakeup_latency": {
            "all": durations(of.total(Family::WakeUp).durations().spread()),
            "threads": by_thread(Family::WakeUp),
        },
        "preemption_wait": by_thread(Family::Preemption),
        "syscalls": {
            "by_name": by_subject(Family::Syscall),
            "errors": errors,
            "by_thread": as_json(by_call),
            "unfinished": unfinished,
        },
        "irq": by_subject(Family::HardIrq),
        "softirq": by_number(Family::Softirq),
        "softirq_raise_latency": by_number(Family::SoftirqRaise),
        "block": disks(of),
        "futex": futexes(of),
        "unmatched": {
            "entry without thread": unmatched.entries_without_thread,
            "exit without entry": unmatched.exits_without_entry,
            "exit of another call": unmatched.exits_of_another_call,
            "entry over entry": unmatched.entries_over_entry,
            "interrupt exit without entry": unmatched.interrupt_exits_without_entry,
            "irq nesting": unmatched.interrupts_without_exit,
            "complete without issue": unmatched.completions_without_issue,
        },
        "lost": unmatched.lost,
    })
}

fn disks(of: &TraceLatency) -> Value {
    let mut disks = serde_json::Map::new();
    for disk in of.disks() {
        let mut sums = [Spread::default(); 2];
        let (mut ops, mut sectors) = (BTreeMap::new(), BTreeMap::new());
        for (family, sum) in [Family::DiskQueue, Family::DiskDevice].into_iter().zip(&mut sums) {
            for row in of.rows(family, GroupBy::Subject) {
                let (number, operation) = of.disk_of(row.subject.unwrap()).expect("a disk");
                if number != disk.number {
                    continue;
                }
                sum.add_all(row.figures.durations().spread());
                if family == Family::DiskDevice {
                    let label = match operation.label() {
                        "flush" => "flush/other",
                        label => label,
                    };
                    let count = row.figures.durations().count();
                    if count > 0 {
                        *ops.entry(label).or_insert(0) += count;
                    }
                    *sectors.entry(label).or_insert(0) += row.figures.sectors();
                }
            }
        }
        let [queue, device] = sums;
        let figures = json!({
            "insert_issue": durations(&queue),
            "issue_complete": durations(&device),
            "ops": ops,
            "sectors": sectors,
            "depth_max": disk.most,
            "depth_area_ns": u64::try_from(disk.depth_time).unwrap(),
        });
        disks.insert(disk.number.to_string(), figures);
    }
    Value::Object(disks)
}

/// The model's figures of a disk.
#[derive(Default)]
struct Disk {
    queue: Spread,
    device: Spread,
    ops: BTreeMap<&'static str, u64>,
    sectors: BTreeMap<&'static str, u64>,
    depth: u64,
    depth_max: u64,
    depth_area: u64,
    changed: i64,
    flushes: VecDeque<i64>,
}

impl Disk {
    fn change_depth(&mut self, time: i64, up: bool) {
        self.depth_area += self.depth * time.abs_diff(self.changed);
        self.changed = time;
        self.depth = if up { self.depth + 1 } else { self.depth - 1 };
        self.depth_max = self.depth_max.max(self.depth);
    }

    fn finish(&mut self, begin: i64, end: i64, kind: &'static str) {
        self.change_depth(end, false);
        self.device.add(end.abs_diff(begin), end);
        *self.ops.entry(kind).or_default() += 1;
    }
}

/// Returns the figures of all disks, and the number of completions without an issue, by the rule of
/// the references. They pair the issue of a flush at sector 0 with any completion there, and its
/// completion at sector 2⁶⁴−1 with no issue, so that disks seem to be busy for ever. With
/// `flushes_apart` they are paired with each other.
fn requests(traceset: &Traceset, begin: i64, flushes_apart: bool) -> (Value, u64) {
    let trace = traceset.traces().iter().find(|trace| {
        let mut merge = Merge::new(std::slice::from_ref(trace));
        merge.next().and_then(|event| event.timestamp()) == Some(Timestamp::from_ns(begin))
    });
    let trace = trace.expect("the trace of the reference");
    let mut disks: BTreeMap<u64, Disk> = BTreeMap::new();
    let (mut queued, mut issued, mut unmatched) = (BTreeMap::new(), BTreeMap::new(), 0);
    let mut merge = Merge::new(std::slice::from_ref(trace));
    while let Some(event) = merge.next() {
        let step = match event.event_type().name() {
            name @ ("block_rq_insert" | "block_rq_issue" | "block_rq_complete") => &name[9..],
            _ => continue,
        };
        let number = |field: &str| event.field(field).and_then(|value| value.as_u64());
        let (device, sector) = (number("dev").unwrap(), number("sector").unwrap());
        let (sectors, rwbs) = (number("nr_sector").unwrap(), number("rwbs").unwrap_or(0));
        let time = event.timestamp().expect("a time").as_ns();
        let key = (device, sector);
        let disk = disks.entry(device).or_default();
        let is_empty = flushes_apart && sectors == 0;
        match step {
            "insert" => _ = queued.entry(key).or_insert(time),
            "issue" => {
                if let Some(begin) = queued.remove(&key) {
                    disk.queue.add(time.abs_diff(begin), time);
                }
                if is_empty && rwbs & 7 == 0 {
                    disk.flushes.push_back(time);
                    disk.change_depth(time, true);
                } else if issued.insert(key, (time, sectors, rwbs)).is_none() {
                    disk.change_depth(time, true);
                }
            }
            _ if is_empty && rwbs & 7 == 0 => match disk.flushes.pop_front() {
                Some(begin) => {
                    *disk.sectors.entry("flush/other").or_default() += 0;
                    disk.finish(begin, time, "flush/other");
                }
                None => unmatched += 1,
            },
            // A write that flushes is completed a second time.
            _ if is_empty && rwbs & 2 == 0 => {}
            _ => {
                let Some((begin, of, rwbs)) = issued.remove(&key) else {
                    unmatched += 1;
                    continue;
                };
                let kind = match rwbs {
                    _ if rwbs & 1 != 0 => "write",
                    _ if rwbs & 2 != 0 => "discard",
                    _ if rwbs & 4 != 0 => "read",
                    _ => "flush/other",
                };
                *disk.sectors.entry(kind).or_default() += sectors;
                if 0 < sectors && sectors < of {
                    issued.insert((device, sector + sectors), (begin, of - sectors, rwbs));
                } else {
                    disk.finish(begin, time, kind);
                }
            }
        }
    }
    let figures = disks.into_iter().map(|(device, disk)| {
        let figures = json!({
            "insert_issue": durations(&disk.queue),
            "issue_complete": durations(&disk.device),
            "ops": disk.ops,
            "sectors": disk.sectors,
            "depth_max": disk.depth_max,
            "depth_area_ns": disk.depth_area,
        });
        (format!("{},{}", device >> 20, device & 0xf_ffff), figures)
    });
    (Value::Object(figures.collect()), unmatched)
}

/// Replaces a reference's figures of disks by those of the model that pairs flushes. Without flushes
/// both are the same.
fn pair_flushes(expected: &mut Value, traceset: &Traceset) {
    let begin = expected["begin"].as_i64().expect("a time");
    let (by_rule, unmatched) = requests(traceset, begin, false);
    const UNMATCHED: &str = "complete without issue";
    if let Some(disks) = expected.get("block") {
        assert_eq!(*disks, by_rule, "the model follows the rule of the references");
        assert_eq!(expected["unmatched"][UNMATCHED].as_u64().unwrap_or(0), unmatched);
        let (paired, unmatched) = requests(traceset, begin, true);
        (expected["block"], expected["unmatched"][UNMATCHED]) = (paired, unmatched.into());
    }
}

fn futexes(of: &TraceLatency) -> Value {
    let key = |pid: Option<i32>, address: u64| {
        format!("{} {address:#x}", pid.map_or("None".to_owned(), |pid| pid.to_string()))
    };
    let (mut wakes, mut waits, mut errors) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for row in of.rows(Family::Futex, GroupBy::ThreadAndSubject) {
        let thread = of.thread(row.thread.unwrap()).expect("a thread");
        let label = of.subject(row.subject.unwrap());
        let address = label.split(' ').next_back().unwrap();
        let address = u64::from_str_radix(&address[2..], 16).unwrap();
        let key = key(thread.pid, address);
        waits
            .entry(key.clone())
            .or_insert(Spread::default())
            .add_all(row.figures.durations().spread());
        for (error, count) in row.figures.errors() {
            *errors.entry(format!("{key} ret -{error}")).or_insert(0) += count;
        }
    }
    for futex in of.futexes().filter(|futex| futex.wakes > 0) {
        let (calls, woken) =
            wakes.entry(key(futex.pid, futex.address.expect("one futex"))).or_insert((0, 0));
        (*calls, *woken) = (*calls + futex.wakes, *woken + futex.woken);
    }
    json!({ "wait": as_json(waits), "wait_errors": errors, "wake": wakes })
}

/// Returns the key of a reference as ours: threads by their id.
fn our_key(path: &str, key: &str) -> String {
    let first = key.split(' ').next().unwrap_or_default();
    match path {
        "/wakeup_latency/threads" | "/preemption_wait" => first.to_owned(),
        "/syscalls/by_thread" => {
            format!("{first} {}", key.split(' ').next_back().unwrap_or_default())
        }
        "/unmatched" if key.ends_with("irq exit without entry") => {
            "interrupt exit without entry".to_owned()
        }
        _ => key.to_owned(),
    }
}

/// Compares all members of a reference with our figures, and returns the differences.
fn differences(path: &str, expected: &Value, found: &Value, all: &mut Vec<String>) -> usize {
    match expected {
        Value::Object(members) => {
            let mut compared = 0;
            for (key, expected) in members {
                let found = found.get(our_key(path, key)).unwrap_or(&Value::Null);
                compared += differences(&format!("{path}/{key}"), expected, found, all);
            }
            compared
        }
        _ => {
            if expected != found {
                all.push(format!("{path}: expected {expected}, found {found}"));
            }
            1
        }
    }
}

/// Compares the parts of a reference that are about latencies.
fn compare(name: &str, expected: &Value, traceset: &Traceset, trace: usize) -> usize {
    let latency = latency(traceset);
    let of = &latency.traces()[trace];
    let mut found = figures(of, unfinished(traceset, trace, of));
    let (mut all, mut compared) = (Vec::new(), 0);
    let parts = [
        "wakeup_latency",
        "preemption_wait",
        "syscalls",
        "irq",
        "softirq",
        "softirq_raise_latency",
        "block",
        "futex",
        "unmatched",
    ];
    // The model stops with the last change of the number of requests: requests that are open at the
    // end are in use up to it.
    let is_request = |open: &&Open| open.family == Family::DiskDevice;
    let open = of.open().iter().filter(is_request).count() as u64;
    for (number, disk) in expected["block"].as_object().into_iter().flatten() {
        let area = |of: &Value| of["depth_area_ns"].as_u64().expect("a number");
        let most = open * of.span().end.since(of.span().start);
        let rest = area(&found["block"][number]) - area(disk);
        assert!(rest <= most, "{name}: {rest}");
        found["block"][number]["depth_area_ns"] = (area(&found["block"][number]) - rest).into();
    }
    for part in parts {
        let Some(mut expected) = expected.get(part).cloned() else { continue };
        if let ("unmatched", Some(members)) = (part, expected.as_object_mut()) {
            let is_ours = |key: &str| {
                !key.contains("page") && !key.contains("alloc") && !key.contains("free")
            };
            members.retain(|key, _| is_ours(key));
        }
        compared += differences(&format!("/{part}"), &expected, &found[part], &mut all);
    }
    assert!(
        all.is_empty(),
        "{name}: {} of {compared} differ, lost {}:\n{}",
        all.len(),
        found["lost"],
        all.join("\n")
    );
    compared
}

/// The path of a trace of the references below the shared folder, and the trace's number.
const TRACES: [(&str, &str); 7] = [
    ("k1-8cpu", "ctf/k1-8cpu"),
    ("k1-ctx", "ctf/k1-ctx"),
    ("k1-mix", "ctf/k1-mix"),
    ("k1-multi", "ctf/k1-multi"),
    ("k1-snap-1", "ctf/k1-snap/snapshot-1-20261121-032432-1"),
    ("k1-tfc", "ctf/k1-tfc"),
    ("uneven-streams", "ctf/tc-uneven-streams"),
];

#[test]
fn figures_of_real_traces_are_those_of_the_model() {
    let Some(references) = references() else { return };
    let mut compared = 0;
    let recording = std::env::var_os("LTTV_LARGE_KERNEL_TRACE").map(PathBuf::from);
    let shared = TRACES.iter().filter_map(|(name, path)| Some((*name, support::shared(path)?)));
    for (name, path) in shared.chain(recording.map(|path| ("kbig", path))) {
        let mut expected = read(&references.join(format!("open/{name}.json")));
        let traceset = Traceset::open(&path).expect("a trace");
        pair_flushes(&mut expected, &traceset);
        let begin = expected["begin"].as_i64().expect("a time");
        // A folder may contain several traces: user-space ones, and other snapshots.
        let latency = latency(&traceset);
        let mut traces = latency.traces().iter();
        let of_reference = traces.position(|of| of.span().start.as_ns() == begin);
        let trace = of_reference.unwrap_or_else(|| panic!("no trace of {name} starts at {begin}"));
        let figures = compare(name, &expected, &traceset, trace);
        support::report(&format!("{name}: {figures} figures"));
        compared += figures;
    }
    assert!(compared > 900, "only {compared} figures were compared");
}

#[test]
fn figures_of_event_lists_are_those_checked_by_hand() {
    let Some(references) = references() else { return };
    let names = ["block", "cpu-begin-end", "futex", "irq-nesting", "sched-latency", "syscalls"];
    for name in names {
        let vector = read(&references.join(format!("vectors/{name}.json")));
        let lines: Vec<&str> =
            vector["events"].as_array().expect("events").iter().filter_map(Value::as_str).collect();
        let trace = support::event_text::trace_of(lines);
        let compared = compare(name, &vector["expect"], &Traceset::from(vec![trace]), 0);
        support::report(&format!("{name}: {compared} figures"));
    }
}
