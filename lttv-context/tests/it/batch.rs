//! Batches over the bundled trace, compared with reading it by a bare merge.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use crate::count::Count;
use ltt_read::{Merge, Timestamp, Trace, TracefileIndex, open_all};
use lttv_context::framework::{Batch, BatchOutcome};
use lttv_context::{Level, Subscription, Traceset};

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
const ALL: u64 = 6087;

fn traceset() -> Traceset {
    Traceset::open(TRACE).unwrap()
}

/// Lists the times of all events in order.
fn times() -> Vec<i64> {
    let mut merge = Merge::new(&open_all(TRACE).unwrap());
    let mut times = Vec::new();
    while let Some(event) = merge.next() {
        times.push(event.timestamp().unwrap().as_ns());
    }
    assert_eq!(times.len() as u64, ALL);
    times
}

#[test]
fn time_ranges_are_exact() {
    let times = times();
    let points = [0, 1, 1000, 3000, 6086].map(|event| times[event]);
    let points = points.into_iter().flat_map(|time| [time - 1, time, time + 1]);
    let points: Vec<i64> = [i64::MIN, i64::MAX].into_iter().chain(points).collect();
    for from in &points {
        for until in &points {
            let seen = RefCell::new(Vec::new());
            let (from, until) = (Timestamp::from_ns(*from), Timestamp::from_ns(*until));
            let mut batch = Batch::new(traceset()).since(from).until(until);
            batch.hooks.on_event("*", |call| seen.borrow_mut().push(call.delivery_time().as_ns()));
            let end = batch.run(|_| ());
            drop(batch);
            let within = times.iter().filter(|t| (from.as_ns()..until.as_ns()).contains(t));
            assert!(seen.into_inner().iter().eq(within), "{from} to {until}");
            assert_eq!(end.outcome, BatchOutcome::Complete);
            assert!(end.errors.is_empty());
        }
    }
}

#[test]
fn reports_reach_the_total() {
    let times = times();
    let stretches = [(None, None), (Some(times[1000]), Some(times[5000]))];
    for (from, until) in stretches {
        for every in [1, 7, 1000, ALL, ALL + 1] {
            let mut batch = Batch::new(traceset()).report_every(every);
            if let (Some(from), Some(until)) = (from, until) {
                batch = batch.since(Timestamp::from_ns(from)).until(Timestamp::from_ns(until));
            }
            let mut reports = Vec::new();
            let end = batch.run(|report| reports.push((report.events, report.done, report.total)));
            let expected = if from.is_some() { 4000 } else { ALL };
            assert_eq!(end.events, expected);
            assert_eq!(reports.len() as u64, expected / every + 1);
            let total = reports[0].2;
            assert!(total > 0 && reports.iter().all(|report| report.2 == total));
            assert!(reports.is_sorted());
            let (events, done, _) = *reports.last().unwrap();
            assert_eq!(events, expected);
            // The end of a time range is known to within an event of each tracefile.
            let missing = total - done;
            assert!(if from.is_some() { missing < 16 * 4096 } else { missing == 0 }, "{missing}");
        }
    }
}

#[test]
fn hooks_after_reading_are_always_called() {
    for (stop_at, cancel_at, expected) in [
        (None, None, (BatchOutcome::Complete, ALL)),
        (Some(1), None, (BatchOutcome::Stopped, 1)),
        (Some(250), None, (BatchOutcome::Stopped, 250)),
        (None, Some(300), (BatchOutcome::Cancelled, 300)),
        (Some(300), Some(300), (BatchOutcome::Stopped, 300)),
    ] {
        let (before, after, events) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let mut batch = Batch::new(traceset()).report_every(100);
        for (level, weight) in [(Level::Traceset, 1), (Level::Trace, 10), (Level::Tracefile, 100)] {
            let (before, after) = (&before, &after);
            batch.hooks.before(level, move |_| before.set(before.get() + weight));
            batch.hooks.after(level, move |_| after.set(after.get() + weight));
        }
        batch.hooks.on_event("*", |_| {
            events.set(events.get() + 1);
            match Some(events.get()) == stop_at {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        for run in 1..=2 {
            events.set(0);
            let end = batch.run(|report| match Some(report.events) == cancel_at {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            });
            assert_eq!((end.outcome, end.events), expected);
            assert_eq!(events.get(), expected.1);
            let tracefiles = 16;
            assert_eq!(before.get(), run * (1 + 10 + 100 * tracefiles));
            assert_eq!(after.get(), before.get());
        }
    }
}

#[test]
fn state_is_right_at_the_first_delivered_event() {
    let times = times();
    let first = (1000..).find(|&n| times[n] > times[n - 1]).unwrap();
    let seen = RefCell::new(Vec::new());
    let mut batch = Batch::new(traceset()).since(Timestamp::from_ns(times[first])).report_every(64);
    // Only hooks for delivered events can stop a batch, not those of extensions.
    let count = batch.context.attach(Count { breaks_at: Some(500), ..Count::default() });
    batch.hooks.on_event(Subscription::to_every_event(), |call| {
        seen.borrow_mut().push(call.extensions[count].events);
    });
    for _ in 0..2 {
        let mut reports = 0;
        let end = batch.run(|_| reports += 1);
        assert_eq!((end.outcome, end.events), (BatchOutcome::Complete, ALL - first as u64));
        assert!(seen.borrow().iter().copied().eq(first as u64 + 1..=ALL));
        assert!(reports > (ALL - first as u64) / 64 + 1, "replaying is reported too");
        seen.borrow_mut().clear();
    }
    // A batch can also be cancelled during the replay.
    let end = batch.run(|_| ControlFlow::Break(()));
    assert_eq!((end.outcome, end.events), (BatchOutcome::Cancelled, 0));
    drop(batch);
    assert!(seen.into_inner().is_empty());
}

#[test]
fn without_state_earlier_events_are_not_read() {
    let trace = open_all(TRACE).unwrap();
    let index = |trace: &std::sync::Arc<Trace>| -> usize {
        (0..trace.tracefiles().len())
            .map(|n| trace.packet_index(TracefileIndex(n)).entries().len())
            .sum()
    };
    let packets = index(&trace[0]) as u64;
    let last = *times().last().unwrap();
    let mut batch = Batch::new(trace).since(Timestamp::from_ns(last));
    batch.context.attach_data(0_u64);
    let end = batch.run(|_| ());
    assert_eq!(end.events, 1);
    assert!(batch.context.merge().packets_entered() <= 16 && packets > 16, "of {packets}");
}
