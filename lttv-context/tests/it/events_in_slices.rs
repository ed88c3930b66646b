//! Events that one thread puts in order are read again, slice by slice, by other threads: the same ones
//! in the same order.

use std::cell::RefCell;

use crate::support::config::cases;
use crate::support::sample;
use ltt_read::tuning::EventSequence;
use ltt_read::{Event, Notice, Timestamp, TracefileNumber};
use lttv_context::testing::check_slices;
use lttv_context::{Bounds, SliceAnalysis, SliceThreads, TracesetContext};
use lttv_filter::{Expression, Filters};
use lttv_hooks::Flow;
use proptest::prelude::*;

/// Returns the number of an event, the only field of all samples.
fn number_of(event: &Event<'_>) -> u32 {
    event.field("number").and_then(|v| v.as_u64()).expect("a number") as u32
}

/// A list of events, which are read again in each slice.
struct Again;

impl SliceAnalysis for Again {
    type Slice = (EventSequence, Vec<(usize, u32)>);
    type State = ();
    type Part = Vec<(usize, u32)>;

    fn record(&self, slice: &mut Self::Slice, at: (TracefileNumber, Timestamp), event: &Event<'_>) {
        slice.0.push(at.0, event);
    }

    fn resolve(&self, (): &mut (), _: &mut Self::Slice) {}

    fn compute(&self, (events, list): &mut Self::Slice) {
        let events_before = events.len();
        events.replay(|tracefile, event| {
            list.push((tracefile.0, number_of(event)));
        });
        assert!(events.is_empty() && list.len() == events_before);
    }

    fn add(&self, all: &mut Self::Part, (_, list): &mut Self::Slice) {
        all.append(list);
    }
}

proptest! {
    #![proptest_config(cases(128))]

    /// Clocks go back, streams have no clock, some events are filtered, and the window ends anywhere.
    #[test]
    fn events_of_slices_are_read_again(
        sample in sample(),
        threads in 1..4usize,
        size in 1..40u64,
        (from, to, modulus) in any::<(prop::sample::Index, prop::sample::Index, Option<u8>)>(),
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
        let filters = modulus.map(|modulus| {
            let least = u32::from(modulus) * 3 % 256;
            let expression: Expression = format!("number >= {least}").parse().expect("sound");
            Filters::new(&expression, sample.traceset.traces()).expect("known fields")
        });
        let expected = RefCell::new(Vec::new());
        let contexts = || {
            let mut context = TracesetContext::new(&sample.traceset);
            if has_window[0] {
                context.seek_time(from);
            }
            if let Some(filters) = &filters {
                context.set_filter(filters);
            }
            context
        };
        let (mut alone, mut ahead) = (contexts(), contexts());
        let hook = alone.on_event("*", |call| expected.borrow_mut().push({
            let tracefile = call.contexts.tracefiles().iter().position(|tracefile| {
                let (here, there) = (tracefile.trace_context().index(), tracefile.index());
                (here, there) == (call.trace.index(), call.tracefile.index())
            });
            (tracefile.expect("one of them"), number_of(&call.event))
        }));
        let read = alone.read(&bounds).expect("no position");
        alone.remove(hook);
        let mut seen = Vec::new();
        let size = SliceThreads::new(threads).slice_events(size);
        let parts = (&mut (), &mut seen);
        let end = ahead
            .read_analysis(&Again, parts, &bounds, size, |_| Flow::Continue(()))
            .expect("no position");
        prop_assert_eq!((end.events, end.reason), (read.events, read.reason));
        prop_assert_eq!(ahead.position(), alone.position());
        let texts = |notices: Vec<Notice>| -> Vec<_> {
            notices.iter().map(Notice::to_string).collect()
        };
        prop_assert_eq!(texts(ahead.take_notices()), texts(alone.take_notices()));
        prop_assert_eq!(&seen, &*expected.borrow());
    }

    #[test]
    fn events_of_random_slices_are_read_again(sample in sample(), seed in any::<u64>()) {
        let start = || (TracesetContext::new(&sample.traceset), (), Vec::new());
        check_slices(&Again, start, |(), list| list, seed, 4);
    }
}
