//! The history of a trace that was read while it grew equals that of the whole trace.

use std::cell::RefCell;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::support;
use crate::support::same_history;
use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Timestamp, TracefileIndex};
use lttv_context::{Fingerprint, Traceset};
use lttv_state::history::{Builder, History, HistoryError, Settings};
use lttv_state::kernel_history::{HistoryTarget, Recorded, record};
use proptest::prelude::*;

fn proceed(_: (u64, u64)) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The size of each tracefile at a stage of growth.
type Stage<'s> = &'s dyn Fn(usize, &[u64]) -> u64;

/// Writes to `to` an earlier stage of a trace. `size` returns the size of a tracefile,
/// given its number and the ends of its packets.
fn earlier(trace: &ltt_read::Trace, to: &Path, size: Stage<'_>) -> Traceset {
    _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    let from = trace.tracefiles()[0].files().next().unwrap().parent().unwrap();
    fs::copy(from.join("metadata"), to.join("metadata")).unwrap();
    for (number, tracefile) in trace.tracefiles().iter().enumerate() {
        let index = trace.packet_index(TracefileIndex(number));
        let ends: Vec<u64> = index.entries().iter().map(|p| p.offset + p.size).collect();
        for file in tracefile.files() {
            let bytes = fs::read(file).unwrap();
            let size = (size(number, &ends) as usize).min(bytes.len());
            fs::write(to.join(file.file_name().unwrap()), &bytes[..size]).unwrap();
        }
    }
    Traceset::open(to).unwrap()
}

/// Returns the end of a tracefile with a number of 16ths of its packets, at least one
/// packet.
fn part(ends: &[u64], of_16: usize) -> u64 {
    let packets = (ends.len() * of_16 / 16).clamp(1, ends.len().max(1));
    ends.get(packets - 1).copied().unwrap_or(0)
}

/// Returns real traces with one file for each tracefile.
fn traces() -> Vec<(String, Traceset)> {
    let mut traces = support::kernel_traces();
    traces.retain(|(_, traceset)| {
        let mut all = traceset.traces().iter().flat_map(|trace| trace.tracefiles());
        traceset.traces().len() == 1 && all.all(|tracefile| tracefile.files().count() == 1)
    });
    traces
}

#[test]
fn the_history_of_a_growing_trace_is_extended() {
    let stages: [(&str, Stage<'_>); 6] = [
        ("a quarter", &|_, ends| part(ends, 4)),
        ("more, by CPU", &|number, ends| part(ends, 5 + 3 * (number % 3))),
        ("the slowest as before", &|number, ends| part(ends, 5 + 9 * (number % 3).min(1))),
        ("in the midst of packets", &|_, ends| part(ends, 14) + 333),
        ("all", &|_, _| u64::MAX),
        ("nothing new: made anew", &|_, _| u64::MAX),
    ];
    let (mut extended, mut all) = (0, 0);
    for (name, traceset) in traces() {
        all += 1;
        let dir = tempfile::tempdir().unwrap();
        let (trace, path) = (dir.path().join("trace"), dir.path().join("kernel.history"));
        for (stage, size) in &stages {
            let now = earlier(&traceset.traces()[0], &trace, size);
            let whole = record(&now, HistoryTarget::Memory, proceed).unwrap();
            let grown = record(&now, HistoryTarget::File(&path), proceed).unwrap();
            same_history(&grown.history, &whole.history, &format!("{name}, {stage}"));
            grown.history.verify().unwrap();
            // The history read from the file must be equal, too.
            let file = History::open_for(&path, &Recorded::identity(&now)).unwrap();
            same_history(&file, &whole.history, &format!("{name}, {stage}, from the file"));
            extended += u32::from(grown.kept.is_some());
            assert!(grown.kept.is_some() || grown.events == whole.events);
        }
    }
    // Some traces have so few packets that nothing is settled at most stages.
    assert!(extended >= all, "{extended} times, {all} traces");
}

/// A step of an imaginary machine: CPU, delay in ns, event type and process.
type Step = (u8, u16, u8, u8);

/// Writes a kernel trace of 3 CPUs, in packets of a few events, from arbitrary steps. If
/// `odd` is true, its files are taken for those of one CPU.
fn write(dir: &Path, steps: &[Step], odd: bool) {
    let int = || FieldClass::sint(32, ByteOrder::Little);
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let mut add = |name: &str, fields: &[&str]| {
        let fields = fields.iter().map(|field| (*field, int()));
        schema.add_event_type(StreamClassId(0), name, FieldClass::structure(fields))
    };
    let types = [
        add("sched_switch", &["prev_tid", "next_tid", "prev_state"]),
        add("sched_wakeup", &["tid", "target_cpu"]),
        add("sched_process_fork", &["child_tid", "parent_tid", "child_pid"]),
        add("sched_process_exit", &["tid"]),
        add("sched_process_free", &["tid"]),
        add("syscall_entry_read", &["fd"]),
        add("syscall_exit_read", &["ret"]),
        add("irq_handler_entry", &["irq"]),
        add("irq_handler_exit", &["irq"]),
        add("irq_softirq_raise", &["vec"]),
    ];
    let trace = TraceWriter::create(dir, schema).unwrap();
    let mut streams: Vec<_> = (0..3)
        .map(|cpu| {
            let stream = trace.stream(StreamClassId(0), &format!("channel0_{cpu}")).unwrap();
            let stream = if odd { stream } else { stream.with_stream_id(cpu) };
            stream.with_packet_context(FieldValue::fields([("cpu_id", cpu)]))
        })
        .collect();
    let mut now = 1_000;
    for (cpu, later, what, whom) in steps {
        now += u64::from(*later);
        let (cpu, what, whom) = (usize::from(cpu % 3), usize::from(*what), i64::from(whom % 8));
        match what % 16 {
            12.. => {
                streams[cpu].end_packet(now).unwrap();
                streams[cpu].begin_packet(now).unwrap();
            }
            11 => streams[cpu].set_discarded(now),
            kind => {
                let kind = kind % types.len();
                // As many values as the event has fields; further fields are zero.
                let fields = [i64::from(*later) % 8, whom, whom / 3].map(FieldValue::from);
                let count = [3, 2, 3, 1, 1, 1, 1, 1, 1, 1][kind];
                let body = FieldValue::structure(fields.into_iter().skip(3 - count));
                streams[cpu].event(types[kind], now, body).unwrap();
            }
        }
    }
    for stream in streams {
        stream.finish().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// For arbitrary events and any growth of tracefiles.
    #[test]
    fn histories_of_random_machines_are_extended(
        steps in prop::collection::vec(any::<Step>(), 20..400),
        stages in prop::collection::vec((0..=16usize, 0..=16usize, 0..=16usize, 0..300u64), 1..6),
        odd in prop::bool::weighted(0.2),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (trace, path) = (dir.path().join("trace"), dir.path().join("kernel.history"));
        write(&dir.path().join("whole"), &steps, odd);
        let whole = Traceset::open(dir.path().join("whole")).unwrap();
        let mut far = [0; 3];
        for (a, b, c, torn) in stages {
            far = [far[0].max(a), far[1].max(b), far[2].max(c)];
            let size = |number: usize, ends: &[u64]| part(ends, far[number % 3]) + torn;
            let now = earlier(&whole.traces()[0], &trace, &size);
            let expected = record(&now, HistoryTarget::Memory, proceed).unwrap();
            let grown = record(&now, HistoryTarget::File(&path), proceed).unwrap();
            same_history(&grown.history, &expected.history, &format!("{far:?}, {torn}"));
        }
    }
}

/// Returns the steps of a machine, which are always the same.
fn some_steps(count: usize) -> Vec<Step> {
    let mut random = 1u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        random >> 33
    };
    (0..count).map(|_| (next() as u8, next() as u16, next() as u8, next() as u8)).collect()
}

/// A trace in a temporary directory, with the paths of its copy and history.
struct Growing {
    dir: tempfile::TempDir,
    whole: Traceset,
}

impl Growing {
    fn new() -> Growing {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join("whole"), &some_steps(4000), false);
        let whole = Traceset::open(dir.path().join("whole")).unwrap();
        Growing { dir, whole }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("kernel.history")
    }

    fn earlier(&self, size: Stage<'_>) -> Traceset {
        earlier(&self.whole.traces()[0], &self.dir.path().join("trace"), size)
    }

    /// Records the current stage and compares it with the expected history.
    fn record(&self, now: &Traceset) -> Recorded {
        let recorded = record(now, HistoryTarget::File(&self.path()), proceed).unwrap();
        let whole = record(now, HistoryTarget::Memory, proceed).unwrap();
        same_history(&recorded.history, &whole.history, "");
        recorded
    }
}

#[test]
fn extending_reads_new_events_only() {
    let growing = Growing::new();
    let most = growing.record(&growing.earlier(&|_, ends| part(ends, 15)));
    let all = growing.record(&growing.earlier(&|_, _| u64::MAX));
    let (start, end) = (most.history.start(), most.history.end());
    assert!(all.kept.unwrap().since(start) > end.since(start) / 2);
    if cfg!(feature = "checkpoint-files") {
        assert!(all.events * 4 < most.events, "{} after {}", all.events, most.events);
        assert!(all.history.resume_note().unwrap().time > most.history.resume_note().unwrap().time);
    }
}

#[test]
fn histories_of_other_traces_are_replaced() {
    let growing = Growing::new();
    let why = RefCell::new(None);
    let is_replaced = |now: &Traceset| {
        let recorded = growing.record(now);
        *why.borrow_mut() = recorded.rebuilt;
        recorded.kept.is_none()
    };
    let is_stale = || matches!(*why.borrow(), Some(HistoryError::Stale { .. }));
    let half = growing.earlier(&|_, ends| part(ends, 8));
    assert!(is_replaced(&half) && why.borrow().is_none(), "there was nothing");
    let less = growing.earlier(&|_, ends| part(ends, 4));
    assert!(is_replaced(&less) && is_stale(), "it shrank");
    // A tracefile that was empty may get events of any time.
    let empty = growing.earlier(&|number, ends| if number == 0 { 0 } else { part(ends, 8) });
    is_replaced(&empty);
    let all = growing.earlier(&|_, _| u64::MAX);
    assert!(is_replaced(&all), "one was empty");

    is_replaced(&half);
    assert!(!is_replaced(&all) && why.borrow().is_none());
    is_replaced(&half);
    let mut bytes = fs::read(growing.path()).unwrap();
    let in_first_block = bytes.len() / 8;
    bytes[in_first_block] ^= 4;
    fs::write(growing.path(), bytes).unwrap();
    assert!(is_replaced(&all), "damaged");
    assert!(matches!(*why.borrow(), Some(HistoryError::Damaged { .. })));
    is_replaced(&half);
    fs::write(growing.path(), "nothing of the kind").unwrap();
    assert!(is_replaced(&all), "no history");
    assert!(matches!(*why.borrow(), Some(HistoryError::NotAHistory)));
    // An unfinished history of an earlier stage.
    let mut settings = Settings::default();
    settings.identity = Recorded::identity(&half);
    fs::remove_file(growing.path()).unwrap();
    drop(Builder::create(growing.path(), Timestamp::default(), settings).unwrap());
    assert!(is_replaced(&all) && is_stale(), "unfinished");
    // The caller requests a new history.
    is_replaced(&half);
    let anew = record(&all, HistoryTarget::Replace(&growing.path()), proceed).unwrap();
    assert!(anew.kept.is_none() && anew.rebuilt.is_none());
    same_history(
        &anew.history,
        &record(&all, HistoryTarget::Memory, proceed).unwrap().history,
        "anew",
    );
}

/// If a mark is invalid, the trace is read from the start, with an equal result.
#[test]
fn an_invalid_mark_does_no_harm() {
    let growing = Growing::new();
    let half = growing.earlier(&|_, ends| part(ends, 8));
    let mut settings = Settings::default();
    settings.identity = Recorded::identity(&half);
    let recorded = growing.record(&half);
    let end = recorded.history.end();
    assert_eq!(recorded.history.resume_note().is_some(), cfg!(feature = "checkpoint-files"));
    let all = growing.earlier(&|_, _| u64::MAX);
    for note in [&b""[..], b"none", &[0xff; 100]] {
        _ = growing.record(&half);
        let mut builder =
            Builder::extend(growing.path(), settings.clone(), Timestamp::MAX).unwrap();
        builder.set_resume_note(Timestamp::MIN, note).unwrap();
        builder.close(end).unwrap();
        let grown = growing.record(&all);
        assert!(grown.kept.is_some());
        assert_eq!(grown.events, record(&all, HistoryTarget::Memory, proceed).unwrap().events);
    }
}

/// If recording is stopped, the finished file remains. An unfinished file next to it is
/// continued if it is of the current stage.
#[test]
fn stopping_keeps_the_finished_file() {
    let growing = Growing::new();
    let half = growing.earlier(&|_, ends| part(ends, 8));
    _ = growing.record(&half);
    let before = fs::read(growing.path()).unwrap();

    let most = growing.earlier(&|_, ends| part(ends, 12));
    let mut settings = Settings::default();
    settings.identity = Recorded::identity(&most);
    let settled =
        Fingerprint::from_bytes(&Recorded::identity(&half).source).unchanged_before(&most).unwrap();
    let builder = Builder::extend(growing.path(), settings, settled).unwrap();
    assert!(builder.tree().len() > 1);
    drop(builder);
    assert_eq!(fs::read(growing.path()).unwrap(), before);

    // The unfinished history is continued.
    let grown = growing.record(&most);
    assert!(grown.kept.is_some());
    // An unfinished history of another stage.
    let mut settings = Settings::default();
    settings.identity = Recorded::identity(&most);
    drop(Builder::extend(growing.path(), settings, Timestamp::MAX).unwrap());
    _ = growing.record(&growing.earlier(&|_, _| u64::MAX));
}
