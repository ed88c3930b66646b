//! Contexts of traces that arrive in parts: hooks, filters and extensions get the events of the
//! whole traces, in their order.

use std::cell::RefCell;

use crate::arriving::Arriving;
use crate::support::config::cases;
use crate::support::timeline::{Timeline, timeline};
use crate::support::{Known, Sample};
use ltt_read::{ClockTransform, GrowingTrace, Timestamp};
use lttv_context::{
    Bounds, EndReason, Extension, Growth, GrowthError, Handle, Setup, Traceset, TracesetContext,
    TracesetPosition,
};
use lttv_filter::{Expression, Filters};
use proptest::prelude::*;

/// A step of delivery. Numbers of traces are taken modulo their number.
#[derive(Debug, Clone)]
enum Step {
    Join,
    Tracefile {
        trace: usize,
    },
    Packets {
        trace: usize,
        stream: usize,
        count: usize,
    },
    Metadata {
        trace: usize,
    },
    /// Reads all that is final, or at most a number of events.
    Read {
        events: Option<u64>,
    },
    /// Reads up to a time between two events, and then seeks it.
    Until {
        event: usize,
    },
    /// Returns to the position of an earlier step, and reads from there again.
    Back {
        step: usize,
    },
    Release,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let of = || 0..3usize;
    let packets = (of(), 0..8usize, 1..3usize).prop_map(|(trace, stream, count)| Step::Packets {
        trace,
        stream,
        count,
    });
    let step = prop_oneof![
        8 => packets,
        1 => Just(Step::Join),
        2 => of().prop_map(|trace| Step::Tracefile { trace }),
        1 => of().prop_map(|trace| Step::Metadata { trace }),
        4 => prop::option::of(0..5u64).prop_map(|events| Step::Read { events }),
        2 => (0..100usize).prop_map(|event| Step::Until { event }),
        1 => (0..8usize).prop_map(|step| Step::Back { step }),
        1 => Just(Step::Release),
    ];
    prop::collection::vec(step, 0..60)
}

/// The number of events so far, of each trace.
#[derive(Debug, Default, Clone, PartialEq)]
struct Count(Vec<u64>);

impl Extension for Count {
    type Checkpoint = Vec<u64>;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        setup.extensions[handle].0.resize(setup.contexts.traces().len(), 0);
        setup.hooks.on_event("*", move |call| {
            call.extensions[handle].0[call.trace.index().0] += 1;
        });
    }

    fn growth(&self) -> Option<Growth<Self>> {
        Some(|handle, setup| {
            setup.extensions[handle].0.resize(setup.contexts.traces().len(), 0);
        })
    }

    fn reset(&mut self) {
        self.0.fill(0);
    }

    fn save(&self) -> Vec<u64> {
        self.0.clone()
    }

    fn restore(&mut self, saved: &Vec<u64>) {
        self.0.fill(0);
        self.0[..saved.len()].clone_from_slice(saved);
    }

    fn checkpoint_bytes(saved: &Vec<u64>, _: Option<&Vec<u64>>) -> usize {
        size_of::<Self::Checkpoint>() + saved.len() * size_of::<u64>()
    }
}

/// The events that contexts delivered: all, those of one name, and those that pass a filter.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    all: Vec<Known>,
    named: Vec<Known>,
    passing: Vec<Known>,
}

fn known(call: &lttv_context::EventCall<'_, '_>) -> Known {
    let number = call.event.field("number").and_then(|v| v.as_u64()).expect("a number");
    Known {
        time: call.delivery_time(),
        trace: call.trace.index().0,
        tracefile: call.tracefile.index().0,
        number: number as u32,
    }
}

/// The events that `passing` contains.
const FILTER: &str = "event.name != \"fixed\" && number > 5";

/// Creates a context that reads all events, and one with a filter.
fn contexts<'h>(
    traceset: &Traceset,
    seen: &'h RefCell<Seen>,
    counts: bool,
) -> (TracesetContext<'h>, TracesetContext<'h>, Option<Handle<Count>>) {
    let mut all = TracesetContext::new(traceset);
    all.on_event("*", |call| seen.borrow_mut().all.push(known(call)));
    all.on_event("dyn*", |call| seen.borrow_mut().named.push(known(call)));
    let count = counts.then(|| all.attach(Count::default()));
    let mut filtered = TracesetContext::new(traceset);
    let expression = Expression::parse(FILTER).expect("valid");
    let filters = Filters::new(&expression, traceset.traces()).expect("no traces");
    filtered.set_filter(filters);
    filtered.on_event("*", |call| seen.borrow_mut().passing.push(known(call)));
    (all, filtered, count)
}

/// Delivers traces in steps to two contexts. With `at_once`, all traces and tracefiles are there
/// at the start, so that no event comes late.
fn deliver(
    timelines: &[Timeline],
    steps: &[Step],
    types: usize,
    at_once: bool,
) -> (Seen, Vec<u64>) {
    let seen = RefCell::default();
    let mut arriving: Vec<Arriving> = Vec::new();
    let mut traceset = Traceset::growing();
    let (mut all, mut filtered, count) = contexts(&traceset, &seen, true);
    let count = count.expect("attached");
    let mut positions: Vec<TracesetPosition> = Vec::new();
    let mut is_released = false;
    let join = std::iter::repeat_n(&Step::Join, if at_once { timelines.len() } else { 0 });
    let steps: Vec<&Step> = join.chain(steps).collect();
    for step in steps {
        match *step {
            Step::Join => {
                if let Some(timeline) = timelines.get(arriving.len()) {
                    let mut trace = Arriving::new(&timeline.in_memory(timeline.data()), types);
                    if at_once {
                        trace.add_tracefiles();
                    }
                    arriving.push(trace);
                }
            }
            _ if arriving.is_empty() => continue,
            Step::Tracefile { trace } => {
                let at = trace % arriving.len();
                arriving[at].add_tracefile();
            }
            Step::Packets { trace, stream, count } => {
                let at = trace % arriving.len();
                arriving[at].append(stream, count);
            }
            Step::Metadata { trace } => {
                let at = trace % arriving.len();
                arriving[at].declare_all();
            }
            Step::Read { events } => {
                let bounds = events.map_or(Bounds::all(), |events| Bounds::all().events(events));
                let read = all.read(&bounds).expect("no position");
                match events {
                    Some(events) if read.events == events => {
                        assert_eq!(read.reason, EndReason::EventCount);
                    }
                    _ => assert_eq!(read.reason, EndReason::Pending),
                }
                let read = filtered.read(&bounds).expect("no position");
                assert!(matches!(read.reason, EndReason::Pending | EndReason::EventCount));
                positions.push(all.position());
                positions.push(filtered.position());
            }
            Step::Until { event } => {
                let events = Sample::new(timelines.to_vec()).events;
                let Some(event) = events.get(event % events.len().max(1)) else { continue };
                for context in [&mut all, &mut filtered] {
                    let read = context.read(&Bounds::all().until(event.time)).expect("no position");
                    let reached = context.watermark() >= Some(event.time);
                    // Without late events, the end of what is final decides.
                    if at_once && read.reason == EndReason::Pending {
                        assert!(!reached, "{read:?} {:?}", context.watermark());
                    }
                    assert_ne!(read.reason, EndReason::EndOfTraceset);
                }
            }
            Step::Back { step } if !is_released && !positions.is_empty() => {
                let here = all.position();
                let (state, before) = (all.extensions()[count].clone(), seen.borrow().all.len());
                let to = &positions[step % positions.len()];
                if at_once && *to <= here {
                    all.seek_position(to).expect("a position of this traceset");
                    let again = all.read(&Bounds::all().until_position(&here)).expect("its own");
                    assert_eq!(again.reason, EndReason::EndPosition);
                    assert_eq!(all.position(), here);
                    let mut seen = seen.borrow_mut();
                    let read = seen.all.split_off(before);
                    // The same events once more, in the same order.
                    let tail = &seen.all[before - read.len()..];
                    assert_eq!(read, tail);
                    let named = read.iter().filter(|event| is_dynamic(event)).count();
                    let left = seen.named.len() - named;
                    seen.named.truncate(left);
                    all.extensions_mut()[count] = state;
                }
                continue;
            }
            Step::Back { .. } => continue,
            Step::Release => {
                // The contexts are at different places, so that only one can release.
                if filtered.position() >= all.position() {
                    is_released = true;
                    for (at, trace) in arriving.iter_mut().enumerate() {
                        trace.growing.release(all.merge(), at);
                    }
                }
                continue;
            }
        }
        let versions: Vec<_> = arriving.iter_mut().map(|of| of.growing.version().clone()).collect();
        traceset.continue_with(&versions);
        all.continue_with(&traceset).expect("all can grow");
        filtered.continue_with(&traceset).expect("all can grow");
    }
    for timeline in &timelines[arriving.len()..] {
        arriving.push(Arriving::new(&timeline.in_memory(timeline.data()), types));
    }
    arriving.iter_mut().for_each(Arriving::complete);
    let versions: Vec<_> = arriving.iter_mut().map(|of| of.growing.version().clone()).collect();
    traceset.continue_with(&versions);
    traceset.complete();
    for context in [&mut all, &mut filtered] {
        context.continue_with(&traceset).expect("all can grow");
        let read = context.read(&Bounds::all()).expect("no position");
        assert_eq!((read.reason, read.errors), (EndReason::EndOfTraceset, 0));
    }
    assert!(all.position().is_end() && filtered.position().is_end());
    let counts = all.extensions()[count].0.clone();
    drop((all, filtered));
    (seen.into_inner(), counts)
}

fn is_dynamic(event: &Known) -> bool {
    event.number.is_multiple_of(3)
}

/// Reads whole traces at once.
fn whole(timelines: &[Timeline]) -> (Seen, Vec<u64>) {
    let traceset: Traceset = timelines.iter().map(|t| t.in_memory(t.data())).collect();
    let seen = RefCell::default();
    let (mut all, mut filtered, count) = contexts(&traceset, &seen, true);
    for context in [&mut all, &mut filtered] {
        let read = context.read(&Bounds::all()).expect("no position");
        assert_eq!((read.reason, read.errors), (EndReason::EndOfTraceset, 0));
    }
    let counts = all.extensions()[count.expect("attached")].0.clone();
    drop((all, filtered));
    (seen.into_inner(), counts)
}

/// Generates one to three traces whose clocks do not go back and are not transformed.
fn timelines() -> impl Strategy<Value = Vec<Timeline>> {
    let plain = timeline(true).prop_map(|mut timeline| {
        timeline.transform = ClockTransform::IDENTITY;
        timeline
    });
    prop::collection::vec(plain, 1..4)
}

proptest! {
    #![proptest_config(cases(300))]

    /// Any schedule of delivery leads to the events of the whole traces, in the same order.
    #[test]
    fn parts_are_delivered_like_the_whole(
        timelines in timelines(), steps in steps(), types in 0..5usize,
    ) {
        prop_assert_eq!(deliver(&timelines, &steps, types, true), whole(&timelines));
    }

    /// Traces and tracefiles that join later are delivered as well, each event once.
    #[test]
    fn what_joins_later_is_delivered_once(
        timelines in timelines(), steps in steps(), types in 0..5usize,
    ) {
        let (seen, counts) = deliver(&timelines, &steps, types, false);
        let (expected, expected_counts) = whole(&timelines);
        prop_assert_eq!(counts, expected_counts);
        let sorted = |mut events: Vec<Known>| {
            // Late events are delivered at a later time.
            events.iter_mut().for_each(|event| event.time = Timestamp::MIN);
            events.sort_by_key(|event| (event.trace, event.tracefile));
            events
        };
        prop_assert_eq!(sorted(seen.all), sorted(expected.all));
        prop_assert_eq!(sorted(seen.named), sorted(expected.named));
        prop_assert_eq!(sorted(seen.passing), sorted(expected.passing));
    }
}

/// An extension that cannot grow.
#[derive(Debug)]
struct Fixed;

impl Extension for Fixed {
    type Checkpoint = ();

    fn install(_: Handle<Self>, _: &mut Setup<'_, '_>) {}

    fn reset(&mut self) {}

    fn save(&self) {}

    fn restore(&mut self, (): &()) {}

    fn checkpoint_bytes(_: &(), _: Option<&()>) -> usize {
        size_of::<Self::Checkpoint>()
    }
}

#[test]
fn what_cannot_grow_is_refused() {
    let text = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
        event { name = \"tick\"; fields := struct { integer { size = 8; } n; }; };";
    let trace = GrowingTrace::new("ticks", text.as_bytes()).expect("valid").version().clone();
    let mut traceset = Traceset::growing();
    let mut context = TracesetContext::new(&traceset);
    context.attach(Fixed);
    traceset.continue_with(&[trace]);
    let refused = context.continue_with(&traceset).expect_err("it cannot grow");
    assert!(matches!(&refused, GrowthError::Extensions(types) if types[0].ends_with("::Fixed")));
    assert_eq!(context.traceset().traces().len(), 0);

    let mut context = TracesetContext::new(Traceset::growing());
    let refused = context.continue_with(&traceset).expect_err("another traceset");
    assert!(matches!(refused, GrowthError::OtherTraceset(_)), "{refused}");

    let none = Traceset::growing();
    let filters = Filters::new(&Expression::parse("event.name = \"tick\"").unwrap(), &[]).unwrap();
    let mut traceset = none.clone();
    let mut context = TracesetContext::new(&none);
    context.set_filter(&filters); // borrowed, so that it cannot change
    traceset
        .continue_with(&[GrowingTrace::new("ticks", text.as_bytes()).unwrap().version().clone()]);
    assert_eq!(context.continue_with(&traceset), Err(GrowthError::Filter));
    context.clear_filter();
    assert_eq!(context.continue_with(&traceset), Ok(()));
}
