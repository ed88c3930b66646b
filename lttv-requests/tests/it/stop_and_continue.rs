//! Models of viewers whose requests are stopped and continued, and whose traceset changes.

use std::rc::Rc;

use crate::support;
use crate::support::digest::known;
use crate::support::sieve::sieve_model;
use crate::support::tracesets::config::cases;
use crate::support::tracesets::{Known, Sample, sample};
use lttv_context::{Traceset, TracesetContext, TracesetPosition};
use lttv_requests::views::{EventTable, Histogram, SharedView, TimeWindow};
use lttv_requests::{
    Background, Budget, Condition, EventsRequest, FinishReason, NotificationOutcome, Owner,
    Scheduler, Start,
};
use proptest::prelude::*;
use proptest::sample::Index;

fn drain(scheduler: &mut Scheduler<'_>) {
    while scheduler.service_chunk(Budget::events(1000)).has_more() {}
}

fn all(traceset: &Traceset) -> Option<TimeWindow> {
    TracesetContext::new(traceset).contexts().time_span().map(TimeWindow::covering)
}

#[test]
fn a_stopped_histogram_continues_where_it_was() {
    const EVENTS: u64 = 6087;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let traceset = Traceset::open(path).expect("a bundled trace");
    let histogram = Histogram::new(all(&traceset).expect("some events"), 100);
    let owner = Owner::unique();
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    let (mut read, mut stops) = (0, 0);
    while !histogram.missing().is_empty() {
        for missing in histogram.missing() {
            scheduler.submit(histogram.request(owner, missing)).expect("a valid request");
        }
        read += scheduler.service_chunk(Budget::events(500 + 100 * stops)).read;
        scheduler.cancel_owner(owner);
        assert_eq!(scheduler.pending().len(), 0);
        stops += 1;
    }
    let counts = histogram.counts();
    assert_eq!(counts.iter().sum::<u64>(), EVENTS);
    // At each stop, the events of one column are lost.
    let most = counts.iter().copied().max().expect("columns");
    assert!(read <= EVENTS + stops * most, "{read} read with {stops} stops");
    assert!(stops > 2);
}

/// Returns the events of a sample that pass, in order.
fn passing(sample: &Sample, sieve: Option<&support::sieve::Sieve>) -> Vec<Known> {
    let numbers = 0..sample.events.len();
    let passes = |number: &usize| sieve.is_none_or(|sieve| sieve.passes_known(sample, *number));
    numbers.filter(passes).map(|number| sample.events[number]).collect()
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn stopped_models_become_complete_when_continued(
        sample in sample(),
        filter in prop::option::of(sieve_model()),
        columns in 1..20usize,
        page in 1..12usize,
        by in -12..12i64,
        budgets in prop::collection::vec(1..40u64, 1..12),
    ) {
        let Some(window) = all(&sample.traceset) else { return Ok(()) };
        let sieve = filter.map(|model| model.sieve(&sample.traceset, &sample.times()));
        let events = passing(&sample, sieve.as_ref());
        let mut scheduler = Scheduler::new(TracesetContext::new(&sample.traceset));
        let owner = Owner::unique();
        let histogram = Histogram::new(window, columns);
        let table = EventTable::new(owner, page, known);
        if let Some(sieve) = &sieve {
            table.set_filter(sieve.clone());
        }
        scheduler.submit(table.show(Start::Begin)).expect("a valid request");
        let mut expected = events[..page.min(events.len())].to_vec();
        for scrolls in [false, true] {
            if scrolls {
                let Some(request) = table.scroll(by) else { break };
                scheduler.submit(request).expect("a valid request");
                let last = events.len().saturating_sub(page);
                let first = 0usize.saturating_add_signed(by as isize).min(last);
                expected = events[first..(first + page).min(events.len())].to_vec();
            }
            for budget in &budgets {
                for missing in histogram.missing() {
                    let request = histogram.request(owner, missing);
                    let request = match &sieve {
                        Some(sieve) => request.filter(sieve.clone()),
                        None => request,
                    };
                    scheduler.submit(request).expect("a valid request");
                }
                scheduler.service_chunk(Budget::events(*budget));
                scheduler.stop_all();
                prop_assert!(!table.is_busy());
                if let Some(request) = table.resume() {
                    scheduler.submit(request).expect("a valid request");
                }
            }
            for missing in histogram.missing() {
                let request = histogram.request(owner, missing);
                let request = match &sieve {
                    Some(sieve) => request.filter(sieve.clone()),
                    None => request,
                };
                scheduler.submit(request).expect("a valid request");
            }
            drain(&mut scheduler);
            prop_assert!(table.resume().is_none() && !table.is_busy());
            let rows: Vec<Known> = table.rows().iter().map(|row| row.content).collect();
            prop_assert_eq!(rows, expected.clone());
        }
        prop_assert!(histogram.missing().is_empty());
        let inside = |number: &usize| {
            let time = sample.own_times[*number];
            let end = histogram.column_start(columns);
            window.start() <= time && time < end
                && sieve.as_ref().is_none_or(|sieve| sieve.passes_known(&sample, *number))
        };
        let wanted = (0..sample.events.len()).filter(inside).count();
        prop_assert_eq!(histogram.counts().iter().sum::<u64>(), wanted as u64);
    }

    /// A trace is added to an open view, and another one is removed, while requests, models
    /// and a background exist.
    #[test]
    fn traces_are_added_and_removed_in_an_open_view(
        sample in sample(),
        first in any::<Index>(),
        at in any::<Index>(),
        budget in 0..60u64,
    ) {
        let traces = sample.traceset.traces();
        prop_assume!(traces.len() > 1 && !sample.events.is_empty());
        // The view first shows all traces but one.
        let left_out = first.index(traces.len());
        let mut old = sample.traceset.clone();
        old.remove(ltt_read::TraceIndex(left_out));
        let mut context = TracesetContext::new(&old);
        let span = context.contexts().time_span();
        let mut view: SharedView<()> = SharedView::new(old.revision(), span);
        let viewer = view.add_viewer();
        let owner = Owner::unique();
        let table = EventTable::new(owner, 5, known);
        // Choose an event of the old traceset.
        let events: Vec<Known> = sample.events.iter().copied()
            .filter(|event| event.trace != left_out).collect();
        prop_assume!(!events.is_empty());
        let chosen = at.index(events.len());
        for _ in 0..chosen {
            let one = lttv_context::Bounds::all().events(1);
            prop_assert!(context.read(&one).is_ok());
        }
        let position = context.position();
        view.set_position(&position, None).expect("a position of the traceset");
        view.take_changes(viewer);
        let background = Background::new(TracesetContext::new(&old));
        let count = background.register("count", |pass| pass.on_every_event(|_, _| ()));
        background.compute(count, owner);
        background.notify(count, owner, Condition::Done);
        let mut scheduler = Scheduler::new(context);
        scheduler.set_background(background);
        scheduler.submit(table.show(&position)).expect("a valid request");
        let seen = Rc::new(std::cell::Cell::new(0));
        let counter = seen.clone();
        let waiting = EventsRequest::new(owner).urgency(lttv_requests::Urgency::LOW);
        let waiting = waiting.on_every_event(move |_, _| counter.set(counter.get() + 1));
        let waiting = scheduler.submit(waiting).expect("a valid request");
        let started = (budget > 0).then(|| scheduler.service_chunk(Budget::events(budget)));
        let pending = scheduler.pending().any(|pending| pending.request == waiting && !pending.started);
        let told = started.is_some_and(|chunk| !chunk.notifications.is_empty());

        // The trace is added.
        let new = &sample.traceset;
        let context = TracesetContext::new(new);
        let span = context.contexts().time_span();
        let (_, ended) = scheduler.replace_context(context);
        prop_assert!(ended.iter().all(|end| end.reason == FinishReason::TracesetChanged));
        view.set_traceset(new.revision(), span);
        prop_assert!(view.take_changes(viewer).traceset && view.position().is_none());
        prop_assert!(view.set_position(&position, None).is_err());
        prop_assert!(scheduler.submit(table.show(&position)).is_err());
        let there = position.in_traceset(&old, new).expect("its trace is still there");
        view.set_position(&there, None).expect("a position of the new traceset");
        scheduler.submit(table.show(&there)).expect("a valid request");
        let histogram = Histogram::new(TimeWindow::covering(span.expect("some events")), 7);
        for missing in histogram.missing() {
            scheduler.submit(histogram.request(owner, missing)).expect("a valid request");
        }
        let before = seen.get();
        let chunk = scheduler.service_chunk(Budget::events(1));
        let cancelled: Vec<_> = chunk.notifications.iter().map(|news| news.outcome).collect();
        let wanted = if told { vec![] } else { vec![NotificationOutcome::Cancelled] };
        prop_assert_eq!(cancelled, wanted);
        drain(&mut scheduler);
        if pending {
            // It had not started, and is served from the new traceset.
            prop_assert_eq!(seen.get() - before, sample.events.len());
        }
        let same = sample.events.iter().position(|event| *event == events[chosen]).expect("it is there");
        let rows: Vec<Known> = table.rows().iter().map(|row| row.content).collect();
        prop_assert_eq!(&rows[..], &sample.events[same..(same + 5).min(sample.events.len())]);
        prop_assert_eq!(table.rows()[0].position.clone(), there.clone());

        // A trace is removed again: positions in it have no place any more.
        let mut smaller = new.clone();
        smaller.remove(ltt_read::TraceIndex(events[chosen].trace));
        prop_assert!(there.in_traceset(new, &smaller).is_none());
        prop_assert!(TracesetPosition::end(new).in_traceset(new, &smaller).is_none());
        scheduler.replace_context(TracesetContext::new(&smaller));
        scheduler.submit(table.show(Start::Begin)).expect("a valid request");
        drain(&mut scheduler);
        let rest = sample.events.iter().filter(|event| event.trace != events[chosen].trace);
        prop_assert_eq!(table.rows().len(), rest.count().min(5));
    }
}
