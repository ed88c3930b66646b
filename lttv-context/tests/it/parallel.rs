//! Reads on several threads return the same as a read on one.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::support::config::cases;
use crate::support::{Known, Sample, sample};
use ltt_read::{Notice, NoticeKind, Timestamp};
use lttv_context::{Bounds, EventCall, ParallelReader, Traceset, TracesetContext};
use proptest::prelude::*;

fn known(call: &EventCall<'_, '_>) -> Known {
    let number = call.event.field("number").and_then(|v| v.as_u64()).expect("a number");
    Known {
        time: call.delivery_time(),
        trace: call.trace.index().0,
        tracefile: call.tracefile.index().0,
        number: number as u32,
    }
}

/// Reads all events, up to one that stops the read.
fn events(parallel: &ParallelReader, stop: Option<u32>) -> (Vec<Known>, u64, Vec<Notice>, bool) {
    let read = parallel.run(|slice| {
        let mut seen = Vec::new();
        let mut context = slice.context();
        context.on_event("*", |call| {
            seen.push(known(call));
            match call.event.field("number").and_then(|v| v.as_u64()).map(|n| n as u32) {
                number if number == stop && stop.is_some() => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        slice.read(&mut context).expect("no extension");
        drop(context);
        seen
    });
    assert!(read.errors.is_empty());
    (read.results.concat(), read.events, read.notices, read.stopped)
}

/// Sorts notices and removes duplicates, and those that only seeks can cause.
fn sorted(mut notices: Vec<Notice>) -> Vec<String> {
    notices.retain(|notice| !matches!(notice.kind, NoticeKind::PacketTimesIgnored { .. }));
    let mut texts: Vec<_> = notices.iter().map(Notice::to_string).collect();
    texts.sort();
    texts.dedup();
    texts
}

fn check(sample: &Sample, threads: usize, slices: usize) -> Result<(), TestCaseError> {
    let parallel = ParallelReader::new(&sample.traceset).threads(threads).slices(slices);
    let (seen, count, notices, _) = events(&parallel, None);
    prop_assert_eq!(&seen, &sample.events);
    prop_assert_eq!(count, sample.events.len() as u64);
    let mut alone = TracesetContext::new(&sample.traceset);
    prop_assert!(alone.read(&Bounds::all()).is_ok());
    prop_assert_eq!(sorted(notices), sorted(alone.take_notices()));

    let times = sample.times();
    let (Some(from), Some(to)) = (times.get(times.len() / 4), times.get(times.len() / 2)) else {
        return Ok(());
    };
    let (begin, end) = (*from.min(to), *from.max(to));
    let (seen, _, _, _) = events(&parallel.clone().within(begin..end), None);
    let all = sample.events.iter().zip(&sample.own_times);
    let between = all.filter(|(_, time)| begin <= **time && **time < end);
    prop_assert_eq!(seen, between.map(|(event, _)| *event).collect::<Vec<_>>());

    if let Some(event) = sample.events.get(sample.events.len() / 2) {
        let (seen, count, _, stopped) = events(&parallel, Some(event.number));
        let first = sample.events.iter().position(|e| e.number == event.number);
        let expected = &sample.events[..=first.expect("it is one of them")];
        prop_assert_eq!(&seen, &expected);
        prop_assert_eq!((count, stopped), (expected.len() as u64, true));
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn results_do_not_depend_on_threads_and_slices(
        sample in sample(),
        threads in 1..4usize,
        slices in 1..12usize,
    ) {
        check(&sample, threads, slices)?;
    }
}

fn bundled() -> Traceset {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/kernel");
    Traceset::open(traces).expect("a bundled trace")
}

#[test]
fn results_are_taken_in_order() {
    let mut numbers = Vec::new();
    let parallel = ParallelReader::new(bundled()).threads(4).slices(40);
    let read = parallel.run_in_order(
        |slice| {
            let mut context = slice.context();
            (slice.number(), slice.start(), slice.read(&mut context).expect("no extension"))
        },
        |result| numbers.push(result),
    );
    assert!(numbers.len() > 10 && !read.stopped);
    assert!(numbers.iter().enumerate().all(|(i, result)| i == result.0));
    assert!(numbers.is_sorted_by(|a, b| a.1 < b.1) && numbers[0].1 == Timestamp::MIN);
    assert_eq!(numbers.iter().map(|result| result.2).sum::<u64>(), read.events);
    assert_eq!(read.events, 6087);
}

#[test]
fn a_panic_is_propagated_without_deadlock() {
    for threads in [1, 3] {
        let parallel = ParallelReader::new(bundled()).threads(threads).slices(20);
        let in_work = catch_unwind(AssertUnwindSafe(|| {
            parallel.run(|slice| assert_ne!(slice.number(), 2, "on purpose"))
        }));
        assert!(in_work.is_err());
        let in_order = catch_unwind(AssertUnwindSafe(|| {
            let mut taken = 0;
            parallel.run_in_order(
                |_| (),
                |()| {
                    taken += 1;
                    assert_ne!(taken, 2, "on purpose");
                },
            )
        }));
        assert!(in_order.is_err());
    }
}
