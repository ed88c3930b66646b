//! Time ranges in a context, compared with the times of all events.

use std::cell::RefCell;

use crate::count::Count;
use crate::support::config::cases;
use crate::support::timeline::{Timeline, deceptive};
use ltt_read::selection::EventSelection;
use ltt_read::{Event, TimeSpan, Timestamp};
use lttv_context::{Bounds, EndReason, ParallelReader, Subscription, Traceset, TracesetContext};
use proptest::prelude::*;
use proptest::sample::Index;

/// An event: its own time, and its number in its trace.
type Known = (Timestamp, usize, u64);

fn known(event: &Event<'_>) -> Known {
    let number = event.field("number").and_then(|value| value.as_u64()).expect("a number");
    (event.timestamp().unwrap_or(Timestamp::MIN), event.trace_index().0, number)
}

/// A choice of the events of a time span.
struct Between(TimeSpan);

impl EventSelection for Between {
    fn matches(&self, event: &Event<'_>) -> bool {
        self.0.contains(event.timestamp().unwrap_or(Timestamp::MIN))
    }

    fn spans(&self) -> Vec<TimeSpan> {
        vec![self.0]
    }
}

/// Reads to the end of `bounds` in chunks, so that the hooks receive all events in them.
fn read(context: &mut TracesetContext<'_>, bounds: &Bounds) -> EndReason {
    loop {
        let read = context.read(bounds).expect("bounds have no position");
        if !matches!(read.reason, EndReason::EventCount | EndReason::ExaminedCount) {
            return read.reason;
        }
    }
}

fn check(
    traceset: &Traceset,
    windows: &[(Index, Index)],
    with_state: bool,
    chunk: u64,
) -> Result<(), TestCaseError> {
    let seen = RefCell::new(Vec::new());
    let mut context = TracesetContext::new(traceset);
    let counter = with_state.then(|| context.attach(Count::default()));
    context.on_event(Subscription::to_every_event(), |call| {
        seen.borrow_mut().push(known(&call.event));
    });
    _ = context.read(&Bounds::all()).expect("bounds have no position");
    let full = seen.take();
    let mut times: Vec<Timestamp> = vec![Timestamp::from_ns(0), Timestamp::MAX];
    for event in &full {
        times.extend([-1, 0, 1].map(|by| Timestamp::from_ns(event.0.as_ns() + by)));
    }
    let part = |begin: Timestamp, end: Timestamp| -> Vec<Known> {
        full.iter().filter(|event| begin <= event.0 && event.0 < end).copied().collect()
    };
    for (begin, end) in windows {
        let (begin, end) = (*begin.get(&times), *end.get(&times));
        let expected = part(begin, end);
        let window = Bounds::all().since(begin).until(end);

        // From the start of the traceset, from the start time, and in chunks.
        for (seeks, bounds) in [
            (false, window.clone()),
            (true, window.clone()),
            (true, window.clone().max_examined(chunk)),
        ] {
            match seeks {
                true => context.seek_time(begin),
                false => context.seek_time(Timestamp::MIN),
            }
            read(&mut context, &bounds);
            prop_assert_eq!(&seen.take(), &expected, "{} from {} to {}", seeks, begin, end);
        }
        context.seek_time(begin);
        read(&mut context, &window.clone().events(chunk));
        prop_assert_eq!(&seen.take(), &expected, "by {} from {} to {}", chunk, begin, end);

        // With the state at the start, and then at the end.
        if let Some(counter) = counter {
            context.state().seek_time(begin);
            read(&mut context, &window);
            prop_assert_eq!(&seen.take(), &expected, "state from {} to {}", begin, end);
            let here = context.extensions()[counter].events;
            prop_assert!(context.is_state_current());
            context.state().seek_time(end.max(begin));
            prop_assert_eq!(context.extensions()[counter].events, here, "at {}", end);
        }

        // In consecutive ranges, each event is delivered once.
        let half = Timestamp::from_ns(begin.as_ns() / 2 + end.as_ns() / 2);
        context.seek_time(Timestamp::MIN);
        let mut parts = Vec::new();
        let mut last = Timestamp::MIN;
        for end in [begin, half, end, Timestamp::MAX] {
            read(&mut context, &Bounds::all().until(end));
            let found = seen.take();
            prop_assert_eq!(&found, &part(last, end), "after {} to {}", last, end);
            parts.extend(found);
            last = last.max(end);
        }
        let reason = read(&mut context, &Bounds::all());
        prop_assert_eq!(reason, EndReason::EndOfTraceset);
        prop_assert_eq!(parts.len() + seen.take().len(), full.len());

        // In slices whose results are combined.
        for slices in [1, 3] {
            let all = ParallelReader::new(traceset).threads(1).slices(slices).within(begin..end);
            let all = all.run(|slice| {
                let seen = RefCell::new(Vec::new());
                let mut context = slice.context();
                context.on_event(Subscription::to_every_event(), |call| {
                    seen.borrow_mut().push(known(&call.event));
                });
                let read = slice.read(&mut context);
                assert!(read.is_ok(), "no extension keeps state");
                drop(context);
                seen.into_inner()
            });
            prop_assert_eq!(all.events, expected.len() as u64);
            prop_assert_eq!(&all.results.concat(), &expected, "{} to {}", begin, end);
        }
        let all = ParallelReader::new(traceset).threads(1).slices(5).run(|slice| {
            let mut context = slice.context();
            slice.read(&mut context).expect("no extension keeps state")
        });
        prop_assert_eq!(all.events, full.len() as u64);

        // With a check whose times are known in advance.
        if let Some(last) = end.as_ns().checked_sub(1).map(Timestamp::from_ns) {
            let seen = RefCell::new(Vec::new());
            let mut chosen = TracesetContext::new(traceset);
            if with_state {
                chosen.attach(Count::default());
            }
            chosen.set_filter(Between(TimeSpan { start: begin, end: last }));
            chosen.on_event(Subscription::to_every_event(), |call| {
                seen.borrow_mut().push(known(&call.event));
            });
            read(&mut chosen, &Bounds::all().max_examined(chunk));
            drop(chosen);
            prop_assert_eq!(&seen.into_inner(), &expected, "chosen {} to {}", begin, end);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(2500))]

    #[test]
    fn time_ranges_are_parts_of_the_full_read(
        timelines in prop::collection::vec(deceptive(), 1..3),
        windows in prop::collection::vec(any::<(Index, Index)>(), 2..5),
        with_state in any::<bool>(),
        chunk in 1..9u64,
    ) {
        let open = |timeline: &Timeline| timeline.in_memory(timeline.data());
        let traceset: Traceset = timelines.iter().map(open).collect();
        check(&traceset, &windows, with_state, chunk)?;
    }
}
