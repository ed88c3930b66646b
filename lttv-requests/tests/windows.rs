//! Requests for windows of time receive the events of these times, even where clocks go
//! back.

#[path = "../../ltt-read/tests/support/config.rs"]
mod config;
#[path = "../../ltt-read/tests/support/timeline.rs"]
#[allow(dead_code, reason = "other tests need all of it")]
mod timeline;

use std::cell::RefCell;

use config::cases;
use ltt_read::{Event, Merge, Timestamp, TraceIndex};
use lttv_context::{Traceset, TracesetContext};
use lttv_requests::{Budget, EventsRequest, FinishReason, Owner, Scheduler, Urgency};
use proptest::prelude::*;
use proptest::sample::Index;
use timeline::{Timeline, deceptive};

type Known = (Timestamp, usize, u64);

fn known(event: &Event<'_>) -> Known {
    let number = event.field("number").and_then(|value| value.as_u64()).expect("a number");
    (event.timestamp().unwrap_or(Timestamp::MIN), event.trace_index().0, number)
}

/// A window, with the limit on events and the trace of the request.
type Asked = ((Index, Index), Option<u64>, Option<Index>);

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn requests_get_parts_of_the_full_read(
        timelines in prop::collection::vec(deceptive(), 1..3),
        asked in prop::collection::vec(
            (any::<(Index, Index)>(), prop::option::weighted(0.3, 1..20u64),
                prop::option::weighted(0.2, any::<Index>())),
            1..6,
        ),
        budget in 1..200u64,
    ) {
        let open = |timeline: &Timeline| timeline.in_memory(timeline.data());
        let traceset: Traceset = timelines.iter().map(open).collect();
        let asked: Vec<Asked> = asked;
        let mut merge = Merge::new(traceset.traces());
        let full: Vec<Known> =
            std::iter::from_fn(|| merge.next().map(|event| known(&event))).collect();
        let mut times = vec![Timestamp::MIN, Timestamp::MAX];
        times.extend(full.iter().map(|event| event.0));

        let seen = RefCell::new(vec![Vec::new(); asked.len()]);
        let counts = RefCell::new(vec![None; asked.len()]);
        let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
        let mut expected = Vec::new();
        for (number, ((begin, end), most, trace)) in asked.iter().enumerate() {
            let (begin, end) = (*begin.get(&times), *end.get(&times));
            let trace = trace.map(|trace| trace.index(timelines.len()));
            let is_in = |event: &&Known| {
                begin <= event.0 && event.0 < end && trace.is_none_or(|trace| event.1 == trace)
            };
            let all: Vec<Known> = full.iter().filter(is_in).copied().collect();
            let most = most.map_or(usize::MAX, |most| most as usize);
            expected.push(all.into_iter().take(most).collect::<Vec<_>>());
            let (seen, counts) = (&seen, &counts);
            let mut request = EventsRequest::new(Owner::unique())
                .urgency(Urgency::new(number as u8 % 2))
                .starting_at(begin)
                .until(end)
                .on_every_event(move |call, _| seen.borrow_mut()[number].push(known(&call.event)))
                .after_request(move |_, _, reason| counts.borrow_mut()[number] = Some(reason));
            if most < usize::MAX {
                request = request.max_events(most as u64);
            }
            if let Some(trace) = trace {
                request = request.in_trace(TraceIndex(trace));
            }
            scheduler.submit(request).expect("a valid request");
        }
        let mut finished = Vec::new();
        loop {
            let chunk = scheduler.service_chunk(Budget::events(budget));
            finished.extend(chunk.finished.iter().map(|finished| finished.events));
            if !chunk.has_more() {
                break;
            }
        }
        drop(scheduler);
        prop_assert_eq!(finished.len(), asked.len());
        let total: u64 = expected.iter().map(|events| events.len() as u64).sum();
        prop_assert_eq!(finished.iter().sum::<u64>(), total);
        prop_assert_eq!(seen.into_inner(), expected);
        let ended = |reason: &Option<FinishReason>| reason.is_some();
        prop_assert!(counts.into_inner().iter().all(ended));
    }
}
