//! Requests for windows of time receive the events of these times, even where clocks go
//! back.

use std::cell::RefCell;

use crate::support::tracesets::config::cases;
use crate::support::tracesets::timeline::{Timeline, deceptive};
use ltt_read::selection::EventSelection;
use ltt_read::{Event, Merge, TimeSpan, Timestamp, TraceIndex};
use lttv_context::{EventCall, Traceset, TracesetContext};
use lttv_requests::{Budget, EventFilter, EventsRequest, FinishReason, Owner, Scheduler, Urgency};
use proptest::prelude::*;
use proptest::sample::Index;

type Known = (Timestamp, usize, u64);

fn known(event: &Event<'_>) -> Known {
    let number = event.field("number").and_then(|value| value.as_u64()).expect("a number");
    (event.timestamp().unwrap_or(Timestamp::MIN), event.trace_index().0, number)
}

/// A window, with the limit on events, the trace and the filter of the request.
type Asked = ((Index, Index), Option<u64>, Option<Index>, Option<(Index, Index, bool)>);

/// A filter for the events of a span of time with even or any numbers.
#[derive(Clone, Copy)]
struct Between {
    span: TimeSpan,
    even: bool,
}

impl Between {
    fn has(&self, (time, _, number): &Known) -> bool {
        let is_inside = self.span.start <= *time && *time <= self.span.end;
        is_inside && (!self.even || number.is_multiple_of(2))
    }
}

impl EventSelection for Between {
    fn matches(&self, event: &Event<'_>) -> bool {
        self.has(&known(event))
    }

    fn spans(&self) -> Vec<TimeSpan> {
        vec![self.span]
    }
}

impl EventFilter for Between {
    fn passes(&mut self, call: &EventCall<'_, '_>) -> bool {
        self.has(&known(&call.event))
    }

    fn selection(&self) -> Option<&dyn EventSelection> {
        Some(self)
    }

    fn is_selection_exact(&self) -> bool {
        true
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn requests_get_parts_of_the_full_read(
        timelines in prop::collection::vec(deceptive(), 1..3),
        asked in prop::collection::vec(
            (any::<(Index, Index)>(), prop::option::weighted(0.3, 1..20u64),
                prop::option::weighted(0.2, any::<Index>()),
                prop::option::weighted(0.5, any::<(Index, Index, bool)>())),
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
        let (mut expected, mut total) = (Vec::new(), 0);
        for (number, ((begin, end), most, trace, filter)) in asked.iter().enumerate() {
            let (begin, end) = (*begin.get(&times), *end.get(&times));
            let trace = trace.map(|trace| trace.index(timelines.len()));
            let is_in = |event: &&Known| {
                begin <= event.0 && event.0 < end && trace.is_none_or(|trace| event.1 == trace)
            };
            let filter = filter.map(|(a, b, even)| {
                let (a, b) = (*a.get(&times), *b.get(&times));
                Between { span: TimeSpan { start: a.min(b), end: a.max(b) }, even }
            });
            let all: Vec<Known> = full.iter().filter(is_in).copied().collect();
            let most = most.map_or(usize::MAX, |most| most as usize);
            let gone_through = all.len().min(most);
            let all: Vec<Known> = all.into_iter().take(most).collect();
            let passes = |event: &Known| filter.is_none_or(|filter| filter.has(event));
            let all: Vec<Known> = all.into_iter().filter(passes).collect();
            total += if filter.is_some() && most == usize::MAX { all.len() } else { gone_through };
            expected.push(all);
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
            if let Some(filter) = filter {
                request = request.filter(filter);
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
        prop_assert_eq!(seen.borrow().clone(), expected.clone(), "{:?}", finished);
        prop_assert_eq!(finished.iter().sum::<u64>(), total as u64);
        prop_assert_eq!(seen.into_inner(), expected);
        let ended = |reason: &Option<FinishReason>| reason.is_some();
        prop_assert!(counts.into_inner().iter().all(ended));
    }
}
