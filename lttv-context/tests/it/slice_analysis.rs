//! Analyses in slices, on any number of threads, find the same as one read.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::support::config::cases;
use crate::support::{Known, sample};
use ltt_read::{Event, Timestamp, TracefileNumber};
use lttv_context::testing::check_slices;
use lttv_context::{Bounds, EndReason, Joining, SliceAnalysis, SliceThreads, TracesetContext};
use lttv_filter::{Expression, Filters};
use lttv_hooks::Flow;
use proptest::prelude::*;

/// A list of all events, each with the sum of the numbers of those before it.
#[derive(Default)]
struct Listing {
    /// The stage that panics at an event with this number.
    panics: Option<(Stage, u32)>,
    /// Sums are joined in any order, and no list is made.
    joins: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Resolve,
    Compute,
    Add,
}

#[derive(Default)]
struct Slice {
    events: Vec<Known>,
    sum_before: u64,
    sums: Vec<u64>,
}

#[derive(Debug, Default, PartialEq)]
struct Found {
    list: Vec<(Known, u64)>,
    sum: u64,
}

impl Listing {
    fn panics_in(&self, stage: Stage, slice: &Slice) {
        if let Some((of, number)) = self.panics
            && of == stage
        {
            assert!(slice.events.iter().all(|event| event.number != number), "as requested");
        }
    }
}

impl SliceAnalysis for Listing {
    type Slice = Slice;
    type State = u64;
    type Part = Found;

    fn record(
        &self,
        slice: &mut Slice,
        (_, time): (TracefileNumber, Timestamp),
        event: &Event<'_>,
    ) {
        slice.events.push(known(time, event));
    }

    fn resolve(&self, sum: &mut u64, slice: &mut Slice) {
        self.panics_in(Stage::Resolve, slice);
        slice.sum_before = *sum;
        *sum += slice.events.iter().map(|event| u64::from(event.number)).sum::<u64>();
    }

    fn compute(&self, slice: &mut Slice) {
        self.panics_in(Stage::Compute, slice);
        let mut sum = slice.sum_before;
        for event in &slice.events {
            slice.sums.push(sum);
            sum += u64::from(event.number);
        }
    }

    fn add(&self, found: &mut Found, slice: &mut Slice) {
        self.panics_in(Stage::Add, slice);
        if !self.joins {
            let events = slice.events.drain(..);
            found.list.extend(events.zip(slice.sums.drain(..)));
        }
        found.sum += slice.sums.iter().sum::<u64>();
    }

    fn joining(&self) -> Option<Joining<Found>> {
        let join = |found: &mut Found, other: Found| found.sum += other.sum;
        self.joins.then_some(Joining { empty: Found::default, join })
    }
}

fn known(time: Timestamp, event: &Event<'_>) -> Known {
    let number = event.field("number").and_then(|v| v.as_u64()).expect("a number") as u32;
    let (trace, tracefile) = (event.trace_index().0, event.tracefile_index().0);
    Known { time, trace, tracefile, number }
}

/// Reads with a hook for every event.
fn heard(context: &mut TracesetContext<'_>, bounds: &Bounds) -> Vec<Known> {
    let events = context.attach_data(Vec::new());
    context.on_event("*", move |call| {
        let event = known(call.delivery_time(), &call.event);
        call.extensions[events].push(event);
    });
    assert!(context.read(bounds).is_ok());
    std::mem::take(&mut context.extensions_mut()[events])
}

/// Reads on several threads. `most` is the number of slices after which `passed` stops the read.
fn read<A: SliceAnalysis<Slice = Slice, State = u64, Part = Found>>(
    context: &mut TracesetContext<'_>,
    analysis: &A,
    bounds: &Bounds,
    threads: SliceThreads,
    most: usize,
) -> (Found, EndReason, u64) {
    let (mut sum, mut found, mut slices) = (0, Found::default(), 0);
    let passed = |_: &mut TracesetContext<'_>| {
        slices += 1;
        if slices >= most { Flow::Break(()) } else { Flow::Continue(()) }
    };
    let result = (&mut sum, &mut found);
    let read = context.read_analysis(analysis, result, bounds, threads, passed);
    let read = read.expect("bounds without a position");
    (found, read.reason, read.events)
}

fn listed(events: &[Known]) -> Vec<(Known, u64)> {
    let mut sum = 0;
    let each = events.iter().map(|event| {
        let before = sum;
        sum += u64::from(event.number);
        (*event, before)
    });
    each.collect()
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn slices_on_threads_are_one_read(
        sample in sample(),
        threads in 1..5_usize,
        events in 1..40_u64,
        most in 1..20_usize,
        seed: u64,
    ) {
        let with = SliceThreads::new(threads).slice_events(events);
        let context = || TracesetContext::new(&sample.traceset);
        let listing = Listing::default();
        let mut reading = context();
        let (found, reason, count) =
            read(&mut reading, &listing, &Bounds::all(), with, usize::MAX);
        prop_assert_eq!(&found.list, &listed(&sample.events));
        prop_assert_eq!((reason, count), (EndReason::EndOfTraceset, sample.events.len() as u64));
        let mut alone = context();
        prop_assert!(alone.read(&Bounds::all()).is_ok());
        prop_assert_eq!(reading.take_notices(), alone.take_notices());

        let joined = Listing { joins: true, ..Listing::default() };
        let (sums, _, _) = read(&mut context(), &joined, &Bounds::all(), with, usize::MAX);
        let sum: u64 = found.list.iter().map(|(_, sum)| sum).sum();
        prop_assert_eq!(sums.sum, sum);

        // A stop after some slices, a number of events, and a time.
        let (found, reason, count) = read(&mut context(), &listing, &Bounds::all(), with, most);
        let expected = (most as u64 * events).min(sample.events.len() as u64);
        prop_assert_eq!(count, expected);
        prop_assert_eq!(&found.list, &listed(&sample.events[..count as usize]));
        prop_assert_eq!(reason == EndReason::Stopped, most as u64 * events <= sample.events.len() as u64);
        let bounds = Bounds::all().events(expected);
        let (found, reason, count) = read(&mut context(), &listing, &bounds, with, usize::MAX);
        prop_assert_eq!((&found.list, count), (&listed(&sample.events[..count as usize]), expected));
        prop_assert_eq!(reason, EndReason::EventCount);
        if let Some(event) = sample.events.get(sample.events.len() / 2) {
            let bounds = Bounds::all().until_start_of(event.time);
            let (found, _, _) = read(&mut context(), &listing, &bounds, with, usize::MAX);
            prop_assert_eq!(&found.list, &listed(&sample.events[..sample.at(event.time)]));
        }

        // All, a window of time, and what a filter lets pass.
        let windows = sample.events.get(sample.events.len() / 3).map(|first| {
            let last = sample.events.last().expect("an event").time;
            Bounds::all().since(first.time).until(last)
        });
        for bounds in std::iter::once(Bounds::all()).chain(windows) {
            for is_filtered in [false, true] {
                let context = || {
                    let mut context = context();
                    if is_filtered {
                        let expression = Expression::parse("number > 7").expect("a filter");
                        let traces = sample.traceset.traces();
                        context.set_filter(Filters::new(&expression, traces).expect("filters"));
                    }
                    context
                };
                let expected = listed(&heard(&mut context(), &bounds));
                let (found, _, _) = read(&mut context(), &listing, &bounds, with, usize::MAX);
                prop_assert_eq!(found.list, expected, "filtered: {}", is_filtered);
            }
        }

        let start = || (context(), 0, Found::default());
        check_slices(&listing, start, |sum, found| (sum, found), seed, 3);
        check_slices(&joined, start, |sum, found| (sum, found), seed, 3);
    }

    /// A panic in any stage ends all threads, and reaches the caller.
    #[test]
    fn panics_end_the_read(sample in sample(), threads in 1..4_usize, at: prop::sample::Index) {
        prop_assume!(!sample.events.is_empty());
        let number = sample.events[at.index(sample.events.len())].number;
        for stage in [Stage::Resolve, Stage::Compute, Stage::Add] {
            for joins in [false, true] {
                let analysis = Listing { panics: Some((stage, number)), joins };
                let with = SliceThreads::new(threads).slice_events(5);
                let mut context = TracesetContext::new(&sample.traceset);
                let all = Bounds::all();
                let run = || read(&mut context, &analysis, &all, with, usize::MAX);
                prop_assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "{stage:?}");
            }
        }
    }
}

/// An analysis that forgets at the start of a slice what was before it is found out.
#[test]
fn forgetting_is_found() {
    struct Forgets;
    impl SliceAnalysis for Forgets {
        type Slice = Vec<Timestamp>;
        type State = ();
        type Part = u64;

        fn record(
            &self,
            times: &mut Vec<Timestamp>,
            (_, time): (TracefileNumber, Timestamp),
            _: &Event<'_>,
        ) {
            times.push(time);
        }

        fn resolve(&self, (): &mut (), _: &mut Vec<Timestamp>) {}

        fn add(&self, sum: &mut u64, times: &mut Vec<Timestamp>) {
            *sum += times.windows(2).map(|pair| pair[1].since(pair[0])).sum::<u64>();
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let traceset = lttv_context::Traceset::open(path).expect("the bundled trace");
    let start = || (TracesetContext::new(&traceset), (), 0);
    let check = || check_slices(&Forgets, start, |(), sum| sum, 7, 5);
    assert!(catch_unwind(AssertUnwindSafe(check)).is_err());
}
