//! The state from a history equals that of a full replay, at any time.

use std::ops::ControlFlow;

use crate::support;
use crate::support::same_history;
use ltt_read::{Timestamp, TraceIndex};
use lttv_context::{Bounds, CheckpointPolicy, Traceset, TracesetContext};
use lttv_state::history::{History, HistoryError, Settings};
use lttv_state::kernel::KernelState;
use lttv_state::kernel_history::{HistoryTarget, KernelHistory, Recorded, Snapshot, record};

fn proceed(_: (u64, u64)) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Returns the states of all traces at a time, by replay or from the checkpoints of
/// `context` if it has any.
fn replayed(
    context: &mut TracesetContext<'_>,
    kernel: lttv_context::Handle<KernelState>,
    t: i64,
) -> Vec<Snapshot> {
    // All events before the next ns: those up to and including `t`.
    context.state().seek_time(Timestamp::from_ns(t));
    context.extensions()[kernel].traces().map(Snapshot::from_state).collect()
}

fn read(history: &History, traces: usize, t: i64) -> Vec<Snapshot> {
    let before = Timestamp::from_ns(t).saturating_sub(1);
    (0..traces)
        .map(|trace| Snapshot::from_history(history, TraceIndex(trace), before).unwrap())
        .collect()
}

/// Returns relevant times: those of events and their neighbours, and some in between.
fn times(traceset: &Traceset) -> Vec<i64> {
    let mut all = Vec::new();
    let mut context = TracesetContext::new(traceset);
    let span = context.contexts().time_span();
    context.on_event("*", |call| all.push(call.delivery_time().as_ns()));
    _ = context.read(&Bounds::all()).unwrap();
    drop(context);
    let mut chosen = Vec::new();
    if let Some(span) = span {
        let (begin, end) = (span.start.as_ns(), span.end.as_ns());
        let step = ((end - begin) / 13).max(1);
        chosen.extend((begin..=end).step_by(step as usize));
        chosen.extend([begin - 10, begin - 1, begin, begin + 1, end, end + 1, end + 10]);
    }
    let step = (all.len() / 25).max(1);
    chosen.extend(all.iter().step_by(step).flat_map(|t| [*t, t + 1]));
    chosen.retain(|t| *t > 0);
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

#[test]
fn replay_checkpoints_and_history_yield_equal_states() {
    for (name, traceset) in support::kernel_traces() {
        let recorded = record(&traceset, HistoryTarget::Memory, proceed).unwrap();
        let history = recorded.history;
        let traces = traceset.traces().len();
        let mut replay = TracesetContext::new(&traceset);
        let replay_kernel = replay.attach(KernelState::new());
        let mut checkpoints = TracesetContext::new(&traceset);
        let kernel = checkpoints.attach(KernelState::new());
        checkpoints.state().set_policy(CheckpointPolicy::every(509));
        _ = checkpoints.state().replay(&Bounds::all()).unwrap();
        let (mut threads, mut different) = (0, Vec::new());
        for t in times(&traceset) {
            let expected = replayed(&mut checkpoints, kernel, t);
            assert_eq!(replayed(&mut replay, replay_kernel, t), expected, "{name} at {t}");
            let found = read(&history, traces, t);
            assert!(found == expected, "{name} at {t}: {}", difference(&found, &expected));
            threads += found.iter().map(|of| of.threads.len()).sum::<usize>();
            if different.last() != Some(&found) {
                different.push(found);
            }
        }
        assert!(threads > 0 && different.len() > 5, "{name}: nothing happened");
    }
}

/// Describes the difference between snapshots in a few lines.
fn difference(found: &[Snapshot], expected: &[Snapshot]) -> String {
    let lines = |of: &[Snapshot]| format!("{of:#?}").lines().map(str::to_owned).collect::<Vec<_>>();
    let (found, expected) = (lines(found), lines(expected));
    let at = found.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(0);
    let around = at.saturating_sub(12)..at + 3;
    let part = |of: &[String]| of.get(around.clone()).unwrap_or_default().join("\n");
    format!("found\n{}\nexpected\n{}", part(&found), part(&expected))
}

#[test]
fn seeking_back_while_recording_does_no_harm() {
    let traceset = Traceset::open(support::bundled()).unwrap();
    let expected = record(&traceset, HistoryTarget::Memory, proceed).unwrap().history;
    let mut context = TracesetContext::new(&traceset);
    let kernel = context.attach(KernelState::new());
    let start = KernelHistory::start_of(context.contexts());
    let builder = lttv_state::history::Builder::in_memory(start);
    let writer = context.attach(KernelHistory::new(kernel, builder));
    _ = context.state().replay(&Bounds::all().events(4000)).unwrap();
    context.seek_time(Timestamp::MIN);
    _ = context.state().replay(&Bounds::all().events(1500)).unwrap();
    context.seek_time(Timestamp::MIN);
    _ = context.state().replay(&Bounds::all()).unwrap();
    let history = KernelHistory::finish(&mut context, writer).unwrap();
    same_history(&history, &expected, "gone back");
    assert!(matches!(KernelHistory::finish(&mut context, writer), Err(HistoryError::Closed)));
}

#[test]
fn an_unfinished_file_is_continued() {
    let traceset = Traceset::open(support::bundled()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kernel.history");
    let expected = record(&traceset, HistoryTarget::Memory, proceed).unwrap().history;

    // As if the program were killed: the completed blocks remain.
    let mut context = TracesetContext::new(&traceset);
    let kernel = context.attach(KernelState::new());
    let mut settings = Settings::default();
    settings.identity = Recorded::identity(&traceset);
    settings.block_intervals = Some(500);
    let start = KernelHistory::start_of(context.contexts());
    let builder = lttv_state::history::Builder::create(&path, start, settings).unwrap();
    context.attach(KernelHistory::new(kernel, builder));
    _ = context.state().replay(&Bounds::all().events(6000)).unwrap();
    drop(context);
    let partial = History::recover(&path).unwrap();
    assert!(!partial.is_complete() && partial.blocks() > 1);
    assert!(!path.exists());

    let resumed = record(&traceset, HistoryTarget::File(&path), proceed).unwrap().history;
    same_history(&resumed, &expected, "resumed");
    assert!(resumed.blocks() > partial.blocks());
    History::open_for(&path, &Recorded::identity(&traceset)).unwrap();
}

#[test]
fn breaking_off_leaves_an_unfinished_file() {
    let traceset = Traceset::open(support::bundled()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kernel.history");
    let mut asked = 0;
    let broken = record(&traceset, HistoryTarget::File(&path), |_| {
        asked += 1;
        ControlFlow::Break(())
    });
    // The bundled trace may be too short for a single call.
    match broken {
        Err(HistoryError::Unfinished) => assert!(asked == 1 && !path.exists()),
        other => assert!(asked == 0 && other.is_ok() && path.exists()),
    }
}
