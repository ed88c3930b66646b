//! Spans of recordings of perf, against the figures of perf.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ltt_read::{Event, Trace};
use lttv_context::Traceset;
use lttv_state::spans::{Completeness, EventReader, Family, call_of_number, write_arguments};

use crate::kernel_recordings::recording;
use crate::packed::unpacked;
use crate::spans::{Named, spans};
use crate::support;

fn spans_of(trace: &Arc<Trace>) -> Vec<Named> {
    spans(&Traceset::from(vec![trace.clone()]), 2, None)
}

/// The delays of `perf sched latency` are the waits for CPUs: wake-ups, and threads that were switched out while they
/// were runnable.
#[test]
fn delays_of_perf_sched_are_waits_for_cpus() {
    let Some(folder) = support::shared("perf-data/sched-record") else { return };
    let (trace, _) = recording("perf-data", &folder).expect("the recording");
    let texts = folder.ancestors().nth(3).unwrap_or(Path::new("")).join("expected/perf-data");
    let text = unpacked(&texts.join("sched-record.latency.txt.gz"));
    let text = String::from_utf8_lossy(&text).into_owned();
    // The number, the sum and the greatest one of each thread, in ns.
    let mut delays: BTreeMap<i32, (u64, u64, u64)> = BTreeMap::new();
    for of in spans_of(&trace) {
        let span = &of.span;
        let is_wait = matches!(span.family, Family::WakeUp | Family::Preemption);
        let duration = span.duration().filter(|_| is_wait);
        if let Some((duration, tid)) = duration.zip(span.thread.tid) {
            let sum = delays.entry(tid).or_default();
            *sum = (sum.0 + 1, sum.1 + duration, sum.2.max(duration));
        }
    }
    let mut compared = 0;
    for line in text.lines() {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        // Rows of several threads have their number in parentheses.
        let [task, _, count, mean, most, ..] = columns[..] else { continue };
        let Some(tid) = task.rsplit_once(':').and_then(|(_, tid)| tid.parse::<i32>().ok()) else {
            continue;
        };
        let ms = |text: &str| -> f64 {
            let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
            digits.trim_end_matches(" ms").parse().expect("a number")
        };
        let expected = (count.parse::<u64>().expect("a number"), ms(mean), ms(most));
        let (count, sum, greatest) = delays.get(&tid).copied().unwrap_or_default();
        let found = (count, sum as f64 / 1e6 / count.max(1) as f64, greatest as f64 / 1e6);
        let is_near = |a: f64, b: f64| (a - b).abs() <= 0.0011;
        assert!(
            found.0 == expected.0 && is_near(found.1, expected.1) && is_near(found.2, expected.2),
            "{task}: found {found:?}, expected {expected:?}"
        );
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

/// Waits for futexes are found where system calls are recorded as numbers with registers, and their time, thread and
/// futex are those of the events.
#[test]
fn registers_tell_the_waits_for_futexes() {
    let stories = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/stories");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.dat");
    std::fs::write(&path, unpacked(&stories.join("log-lock/trace.dat.zst"))).expect("a file");
    let traces = ltt_read::open_all(&path).expect("a recording");
    let [trace] = &traces[..] else { panic!("{traces:?}") };
    // The number of `futex` on x86-64, and the operations that wait.
    const FUTEX: u64 = 202;
    const WAITS: [u64; 5] = [0, 6, 9, 11, 13];
    let (mut open, mut expected) = (BTreeMap::new(), Vec::new());
    let mut events = ltt_read::Merge::new(&traces);
    while let Some(event) = events.next() {
        let number = |name: &str| event.field(name).and_then(|value| value.as_i64());
        let Some(tid) = number("common_pid").map(|tid| tid as i32) else { continue };
        let time = event.timestamp().expect("a time").as_ns();
        match event.event_type().name() {
            "raw_syscalls:sys_enter" if number("id") == Some(FUTEX as i64) => {
                let Some(ltt_read::Value::Array(words)) = event.field("args") else {
                    panic!("{event:?}")
                };
                let word = |at| words.get(at).and_then(|word| word.as_u64()).expect("a number");
                if WAITS.contains(&(word(1) & 127)) {
                    open.insert(tid, (time, word(0)));
                }
            }
            "raw_syscalls:sys_exit" => {
                expected.extend(open.remove(&tid).map(|(begin, futex)| {
                    (begin, Some((time - begin) as u64), Some(tid), format!("{futex:#x}"))
                }));
            }
            _ => {}
        }
    }
    expected.sort();
    let all = spans_of(trace);
    let traceset = Traceset::from(vec![trace.clone()]);
    let mut reader = EventReader::new(&traceset);
    let mut texts = |of: &Named| {
        let first = of.span.first.expect("an entry");
        let text = |event: &Event<'_>| {
            let mut text = String::new();
            write_arguments(event, "", "", &mut text);
            (call_of_number(event), text)
        };
        reader.read(of.span.trace, first, text).expect("an event")
    };
    for of in all.iter().filter(|of| of.span.family == Family::Futex) {
        let (call, text) = texts(of);
        assert_eq!(call, Some("futex"));
        assert!(text.starts_with("uaddr: ") && text.contains(", op: FUTEX_WAIT_BITSET"), "{text}");
    }
    let synced = all.iter().find(|of| of.label == "fdatasync").expect("a flush");
    assert_eq!(texts(synced), (Some("fdatasync"), "fd: 3".to_owned()));
    let futexes = all.iter().filter(|of| of.span.family == Family::Futex);
    let futexes = futexes.filter(|of| of.span.completeness == Completeness::Whole).map(|of| {
        let address = of.label.rsplit(' ').next().unwrap_or_default().to_owned();
        (of.span.begin.as_ns(), of.span.duration(), of.span.thread.tid, address)
    });
    let mut found: Vec<_> = futexes.collect();
    found.sort();
    assert!(expected.len() > 5, "{expected:?}");
    assert_eq!(found, expected);
}
