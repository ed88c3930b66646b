//! Reading with a check, compared with a sorted list of all events.

use std::cell::RefCell;
use std::sync::Arc;

use crate::count::Count;
use crate::support::config::cases;
use crate::support::timeline::timeline;
use crate::support::{Known, Sample};
use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::selection::{EventSelection, Shortcut, Verdict};
use ltt_read::tuning::RangeTests;
use ltt_read::{Event, TimeSpan, Timestamp, Trace, TraceIndex, TracefileIndex};
use lttv_context::{Bounds, EndReason, Subscription, Traceset, TracesetContext, TracesetPosition};
use proptest::prelude::*;

/// A choice of some events of a sample.
#[derive(Debug, Clone)]
struct Sieve {
    /// Chooses every n-th event.
    every: u32,
    /// Excludes events with smaller numbers.
    from: u32,
    /// Restricts the choice to one tracefile of each trace.
    tracefile: Option<usize>,
    spans: Vec<TimeSpan>,
    /// `true` if the choice declares in advance all that is known.
    talkative: bool,
    /// The shortcuts for the smallest number, by trace and event type.
    shortcuts: Vec<Vec<Option<Shortcut>>>,
}

impl Sieve {
    fn with_shortcuts(self, traceset: &Traceset) -> Self {
        let shortcut = |trace: &Trace, event_type| {
            let number = trace.field(event_type, Scope::Payload, "number")?;
            let mut tests = RangeTests::default();
            tests
                .add(&number, self.from.into(), u32::MAX.into())
                .then(|| Shortcut::new(tests, false, Verdict::Depends))
        };
        let of_trace = |trace: &Arc<Trace>| {
            let types = 0..trace.schema().event_types.len() as u32;
            types.map(|at| shortcut(trace, EventTypeId(at))).collect()
        };
        Sieve { shortcuts: traceset.traces().iter().map(of_trace).collect(), ..self }
    }

    fn has(&self, event: &Known) -> bool {
        event.number.is_multiple_of(self.every)
            && event.number >= self.from
            && self.tracefile.is_none_or(|only| only == event.tracefile)
            && self.spans.iter().any(|w| w.start <= event.time && event.time <= w.end)
    }
}

fn number(event: &Event<'_>) -> u32 {
    event.field("number").and_then(|value| value.as_u64()).expect("a number") as u32
}

impl EventSelection for Sieve {
    fn matches(&self, event: &Event<'_>) -> bool {
        let is_declared = self.shortcut(event.trace_index(), event.type_id()).is_some();
        assert!(!is_declared || number(event) >= self.from, "that was decided by the shortcut");
        self.has(&Known {
            time: event.timestamp().unwrap_or(Timestamp::MIN),
            trace: event.trace_index().0,
            tracefile: event.tracefile_index().0,
            number: number(event),
        })
    }

    fn verdict(&self, _: TraceIndex, _: EventTypeId) -> Verdict {
        let all = self.every == 1 && self.from == 0 && self.tracefile.is_none();
        match (self.talkative, &*self.spans) {
            (true, []) => Verdict::Never,
            (true, [TimeSpan::ALL]) if all => Verdict::Always,
            _ => Verdict::Depends,
        }
    }

    fn shortcut(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Shortcut> {
        self.shortcuts.get(trace.0)?.get(event_type.index())?.as_ref()
    }

    fn may_match(&self, _: TraceIndex, tracefile: TracefileIndex) -> bool {
        !self.talkative || self.tracefile.is_none_or(|only| only == tracefile.0)
    }

    fn spans(&self) -> Vec<TimeSpan> {
        if self.talkative { self.spans.clone() } else { vec![TimeSpan::ALL] }
    }
}

fn known(call: &lttv_context::EventCall<'_, '_>) -> Known {
    Known {
        time: call.delivery_time(),
        trace: call.trace.index().0,
        tracefile: call.tracefile.index().0,
        number: number(&call.event),
    }
}

/// A step of a test: a bound, and whether to query the position first.
#[derive(Debug, Clone)]
enum Step {
    Events(u64),
    Looks(u64),
    Until(usize),
    UntilPosition(usize),
    Seek(usize),
    ToSaved(usize),
    ChooseAgain,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..6u64).prop_map(Step::Events),
        2 => (1..30u64).prop_map(Step::Looks),
        2 => any::<usize>().prop_map(Step::Until),
        1 => any::<usize>().prop_map(Step::UntilPosition),
        1 => any::<usize>().prop_map(Step::Seek),
        1 => any::<usize>().prop_map(Step::ToSaved),
        1 => Just(Step::ChooseAgain),
    ]
}

/// Returns the index of the event after a position, by reading from there.
fn place(sample: &Sample, position: &TracesetPosition) -> usize {
    let found = RefCell::new(None);
    let mut context = TracesetContext::new(&sample.traceset);
    context.on_event(Subscription::to_every_event(), |call| {
        let event = known(call);
        *found.borrow_mut() = sample.events.iter().position(|e| *e == event);
    });
    context.seek_position(position).expect("position is of this traceset");
    _ = context.read(&Bounds::all().events(1)).expect("bounds have no position");
    drop(context);
    found.into_inner().unwrap_or(sample.events.len())
}

fn run(
    sample: &Sample,
    some: &Sieve,
    with_state: bool,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let seen = RefCell::new(Vec::new());
    let mut saved: Vec<(TracesetPosition, usize)> = Vec::new();
    let mut context = TracesetContext::new(&sample.traceset);
    let counter = with_state.then(|| context.attach(Count::default()));
    context.set_filter(some.clone());
    context.on_event(Subscription::to_every_event(), |call| {
        seen.borrow_mut().push((known(call), call.position()));
    });
    let times = sample.times();
    // All events before this index have been read or skipped.
    let mut at = 0;
    let passing = |from: usize, to: usize| -> Vec<Known> {
        let range = sample.events.get(from..to.max(from)).unwrap_or_default();
        range.iter().filter(|event| some.has(event)).copied().collect()
    };
    let end = sample.events.len();
    for step in steps {
        let (bounds, to) = match step {
            Step::Events(events) => {
                let mut to = at;
                while to < end && passing(at, to).len() < *events as usize {
                    to += 1;
                }
                (Bounds::all().events(*events), to)
            }
            Step::Looks(looks) => (Bounds::all().max_examined(*looks), usize::MAX),
            Step::Until(time) if !times.is_empty() => {
                let time = times[time % times.len()];
                (Bounds::all().until(time), sample.at(time).max(at))
            }
            Step::UntilPosition(position) if !saved.is_empty() => {
                let (position, number) = &saved[position % saved.len()];
                (Bounds::all().until_position(position), at.max(*number))
            }
            Step::Seek(time) if !times.is_empty() => {
                let time = times[time % times.len()];
                context.seek_time(time);
                at = sample.at(time);
                continue;
            }
            Step::ToSaved(position) if !saved.is_empty() => {
                let (position, number) = &saved[position % saved.len()];
                context.seek_position(position).expect("position is of this traceset");
                at = *number;
                continue;
            }
            Step::ChooseAgain => {
                context.clear_filter();
                context.set_filter(some.clone());
                continue;
            }
            _ => continue,
        };
        seen.borrow_mut().clear();
        let before = counter.map(|counter| context.extensions()[counter].events);
        let read = context.read(&bounds).expect("position is of this traceset");
        let here = context.position();
        let now = place(sample, &here);
        let got: Vec<Known> = seen.borrow().iter().map(|(event, _)| *event).collect();
        prop_assert_eq!(read.events, got.len() as u64);
        if to == usize::MAX {
            // The events looked at are those before the new position.
            prop_assert_eq!(&got, &passing(at, now));
            let ends = [EndReason::ExaminedCount, EndReason::EndOfTraceset];
            prop_assert!(ends.contains(&read.reason), "{:?}", read.reason);
        } else {
            prop_assert_eq!(&got, &passing(at, to), "{:?}", step);
            // The position is between the last event that passed and the next one.
            let between = passing(now.min(to), now.max(to));
            prop_assert!(between.is_empty(), "{step:?} from {at} to {to}, is at {now}: {read:?}");
        }
        for (event, position) in seen.borrow().iter() {
            let number = sample.events.iter().position(|e| e == event);
            prop_assert_eq!(Some(place(sample, position)), number);
            prop_assert!(*position < here);
        }
        if let (Some(counter), Some(before)) = (counter, before) {
            let counted = context.extensions()[counter].events - before;
            prop_assert_eq!(counted, now.saturating_sub(at) as u64);
        }
        saved.push((here, now));
        at = now;
    }
    Ok(())
}

fn some(times: Vec<Timestamp>) -> impl Strategy<Value = Sieve> {
    let spans = match times.len() {
        0 => Just(vec![TimeSpan::ALL]).boxed(),
        _ => prop_oneof![
            Just(vec![TimeSpan::ALL]),
            prop::collection::vec(prop::sample::select(times), 0..5).prop_map(|mut times| {
                times.sort_unstable();
                times.dedup();
                // Spans have gaps between them.
                times.chunks_exact(2).map(|t| TimeSpan { start: t[0], end: t[1] }).collect()
            }),
        ]
        .boxed(),
    };
    let tracefile = prop::option::of(0..3usize);
    let every = prop::sample::select(vec![1, 2, 3, 7, 50]);
    let from = prop_oneof![Just(0), 0..20u32];
    (every, from, tracefile, spans, any::<bool>()).prop_map(
        |(every, from, tracefile, spans, talkative)| Sieve {
            every,
            from,
            tracefile,
            spans,
            talkative,
            shortcuts: Vec::new(),
        },
    )
}

fn input() -> impl Strategy<Value = (Sample, Sieve, bool, Vec<Step>)> {
    let samples = prop::collection::vec(timeline(true), 0..4).prop_map(Sample::new);
    samples.prop_flat_map(|sample| {
        let some = (some(sample.times()), Just(sample.traceset.clone()));
        let some = some.prop_map(|(some, traceset)| match some.talkative {
            true => some.with_shortcuts(&traceset),
            false => some,
        });
        let steps = prop::collection::vec(step(), 1..12);
        (Just(sample), some, any::<bool>(), steps)
    })
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn reads_match_a_sorted_list((sample, some, with_state, steps) in input()) {
        run(&sample, &some, with_state, &steps)?;
    }
}

/// Checks a choice before anything has been delivered.
#[test]
fn a_read_without_events_keeps_the_position() {
    let traceset =
        Traceset::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel"))
            .expect("a bundled trace");
    let mut context = TracesetContext::new(&traceset);
    let span = context.contexts().time_span().expect("some events");
    let quarter = (span.end.as_ns() - span.start.as_ns()) / 4;
    let at = |quarters: i64| Timestamp::from_ns(span.start.as_ns() + quarters * quarter);
    context.set_filter(Nothing(TimeSpan { start: at(1), end: at(3) }));
    let middle = |context: &mut TracesetContext<'_>, bounds: Bounds| {
        let read = context.read(&bounds).expect("position is of this traceset");
        assert_eq!(read.events, 0);
        read.reason
    };

    assert_eq!(middle(&mut context, Bounds::all().max_examined(100)), EndReason::ExaminedCount);
    let here = context.position();
    assert!(here.time().is_some_and(|time| time > at(1)));
    assert_eq!(middle(&mut context, Bounds::all().events(0)), EndReason::EventCount);
    assert_eq!(context.position(), here);

    assert_eq!(middle(&mut context, Bounds::all()), EndReason::EndOfTraceset);
    let behind = context.position();
    assert_eq!(middle(&mut context, Bounds::all()), EndReason::EndOfTraceset);
    assert_eq!(context.position(), behind);

    context.seek_time(at(2));
    let here = context.position();
    assert_eq!(middle(&mut context, Bounds::all().events(0)), EndReason::EventCount);
    assert_eq!(context.position(), here);
}

/// A choice that excludes all events of a time span.
struct Nothing(TimeSpan);

impl EventSelection for Nothing {
    fn matches(&self, _: &Event<'_>) -> bool {
        false
    }

    fn spans(&self) -> Vec<TimeSpan> {
        vec![self.0]
    }
}
