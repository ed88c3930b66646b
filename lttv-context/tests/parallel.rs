//! Reads on several threads return the same as a read on one.

#[allow(dead_code, reason = "other tests need all of it")]
mod support;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ltt_read::{Notice, NoticeKind, Timestamp};
use lttv_context::{
    Bounds, EventCall, ParallelReader, ReadEnd, TimeSlice, Traceset, TracesetContext,
};
use proptest::prelude::*;
use support::config::cases;
use support::{Known, Sample, sample};

fn known(call: &EventCall<'_, '_>) -> Known {
    let number = call.event.field("number").and_then(|v| v.as_u64()).expect("a number");
    Known {
        time: call.time(),
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
    let (seen, _, _, _) = events(&parallel.clone().between(begin, end), None);
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

/// Reads events in slices along with a context. Returns them with the result of the context.
fn along(
    context: &mut TracesetContext<'_>,
    bounds: &Bounds,
    threads: usize,
    size: u64,
) -> (Vec<Known>, ReadEnd) {
    let work = |slice: &mut TimeSlice<'_>| {
        let mut seen = Vec::new();
        let mut context = slice.context();
        context.on_event("*", |call| seen.push(known(call)));
        slice.read(&mut context).expect("no extension");
        drop(context);
        (slice.number(), seen)
    };
    let mut all: Vec<Vec<Known>> = Vec::new();
    let take = |(number, seen)| {
        assert_eq!(number, all.len());
        all.push(seen);
        true
    };
    let end = context.read_slices(bounds, threads, size, |_| (), work, take).expect("no position");
    (all.concat(), end)
}

proptest! {
    #![proptest_config(cases(128))]

    /// Clocks go back, streams have no clock, and the window ends anywhere.
    #[test]
    fn slices_along_a_context_are_what_it_reads(
        sample in sample(),
        threads in 1..4usize,
        size in 1..40u64,
        (from, to, first) in any::<(prop::sample::Index, prop::sample::Index, u8)>(),
        has_window in any::<[bool; 2]>(),
    ) {
        let times = sample.times();
        prop_assume!(!times.is_empty());
        let (from, to) = (times[from.index(times.len())], times[to.index(times.len())]);
        let mut bounds = Bounds::all();
        if has_window[0] {
            bounds = bounds.since(from);
        }
        if has_window[1] {
            bounds = bounds.until(to);
        }
        let expected = RefCell::new(Vec::new());
        let contexts = || {
            let mut context = TracesetContext::new(&sample.traceset);
            if has_window[0] {
                context.seek_time(from);
            }
            // Slices begin where the context is. Events that an end time has brought forward would be
            // delivered again.
            if !has_window[1] {
                _ = context.read(&bounds.clone().events(u64::from(first % 8)));
            }
            context
        };
        let (mut alone, mut ahead) = (contexts(), contexts());
        let hook = alone.on_event("*", |call| expected.borrow_mut().push(known(call)));
        let read = alone.read(&bounds).expect("no position");
        alone.remove(hook);
        let (seen, end) = along(&mut ahead, &bounds, threads, size);
        prop_assert_eq!((end.events, end.reason), (read.events, read.reason));
        prop_assert_eq!(ahead.position(), alone.position());
        let texts = |notices: Vec<Notice>| -> Vec<_> {
            notices.iter().map(Notice::to_string).collect()
        };
        prop_assert_eq!(texts(ahead.take_notices()), texts(alone.take_notices()));
        prop_assert_eq!(&seen, &*expected.borrow());
    }
}

#[test]
fn slices_along_a_context_end_early() {
    let mut context = TracesetContext::new(bundled());
    let mut taken = 0;
    let work = |slice: &mut TimeSlice<'_>| slice.read(&mut slice.context()).expect("no extension");
    let passed = |ahead: &mut TracesetContext<'_>| assert!(ahead.progress().done > 0);
    let read = context.read_slices(&Bounds::all(), 2, 100, passed, work, |events| {
        taken += events;
        taken < 1000
    });
    let read = read.expect("no position");
    assert_eq!(taken, 1000);
    // Only a few slices are found before they are needed.
    assert!((1000..2000).contains(&read.events), "{}", read.events);
    let foreign = TracesetContext::new(Traceset::default()).position();
    let bounds = Bounds::all().until_position(&foreign);
    let refused = context.read_slices(&bounds, 2, 100, passed, work, |_| panic!("nothing is read"));
    assert!(refused.is_err());
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
