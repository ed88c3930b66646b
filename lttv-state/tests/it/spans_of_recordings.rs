//! Spans of recordings of perf, against the figures of perf.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ltt_read::Trace;
use lttv_context::Traceset;
use lttv_state::spans::Family;

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
