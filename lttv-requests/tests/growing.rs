//! Requests for traces that arrive in parts: those that wait receive the events that they would
//! receive of the whole traces, others a part of them.

#[path = "../../ltt-read/tests/support/arriving.rs"]
mod arriving;
#[allow(dead_code, reason = "other tests use the rest")]
mod support;

use std::cell::{Cell, RefCell};

use arriving::Arriving;
use ltt_read::selection::EventSelection;
use ltt_read::{ClockTransform, Timestamp};
use lttv_context::{Handle, Traceset, TracesetContext};
use lttv_filter::{Expression, Filters};
use lttv_requests::{
    Background, Budget, ComputationProgress, EventsRequest, FinishReason, Owner, Scheduler, Status,
    Urgency,
};
use proptest::prelude::*;
use support::digest::{Digest, known};
use support::tracesets::Known;
use support::tracesets::config::cases;
use support::tracesets::timeline::{Timeline, timeline, timeline_of};

/// A request. Times are those of events, by their index in the whole traceset.
#[derive(Debug, Clone)]
struct Model {
    /// The step before which it is submitted.
    at: usize,
    start: Option<usize>,
    until: Option<usize>,
    most: Option<u64>,
    is_filtered: bool,
    waits: bool,
    urgency: u8,
}

fn models() -> impl Strategy<Value = Vec<Model>> {
    let time = || prop::option::of(0..30usize);
    let ends = (time(), time(), prop::option::weighted(0.2, 0..12_u64));
    let model = (0..20usize, ends, any::<bool>(), prop::bool::weighted(0.7), 0..3u8);
    let model = model.prop_map(|(at, (start, until, most), is_filtered, waits, urgency)| Model {
        at,
        start,
        until,
        most,
        is_filtered,
        waits,
        urgency,
    });
    prop::collection::vec(model, 0..6)
}

#[derive(Debug, Clone)]
enum Step {
    Packets { trace: usize, tracefile: usize, count: usize },
    Metadata { trace: usize },
    Serve { budget: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let packets = (0..3usize, 0..8usize, 1..3usize)
        .prop_map(|(trace, tracefile, count)| Step::Packets { trace, tracefile, count });
    let step = prop_oneof![
        4 => packets,
        1 => (0..3usize).prop_map(|trace| Step::Metadata { trace }),
        3 => (1..20u64).prop_map(|budget| Step::Serve { budget }),
    ];
    prop::collection::vec(step, 0..40)
}

/// The events that a request received, each with the state at it, and the reason of its end.
#[derive(Debug, Default, Clone, PartialEq)]
struct Journal {
    events: Vec<(Known, Option<Digest>)>,
    end: Option<FinishReason>,
}

fn request<'h>(
    model: &Model,
    times: &[Timestamp],
    traceset: &Traceset,
    state: Option<Handle<Digest>>,
    journal: &'h RefCell<Journal>,
) -> EventsRequest<'h> {
    let time = |at: Option<usize>| Some(*times.get(at? % times.len().max(1))?);
    let mut request = EventsRequest::new(Owner::unique()).urgency(Urgency::new(model.urgency));
    if let Some(start) = time(model.start) {
        request = request.starting_at(start);
    }
    if let Some(until) = time(model.until) {
        request = request.until(until);
    }
    if let Some(most) = model.most {
        request = request.max_events(most);
    }
    if model.waits {
        request = request.waiting();
    }
    if model.is_filtered {
        let expression = Expression::parse("event.name != \"fixed\" && number > 5").unwrap();
        let mut filters = Filters::new(&expression, &[]).expect("no traces");
        assert!(filters.grow(traceset.traces()));
        request = request.filter(filters);
    }
    let request = request.on_every_event(move |call, _| {
        let digest = state.map(|state| call.extensions[state].clone());
        journal.borrow_mut().events.push((known(call), digest));
    });
    request.after_request(|_, _, reason| journal.borrow_mut().end = Some(reason))
}

/// Serves one request alone on whole traces.
fn alone(model: &Model, times: &[Timestamp], traceset: &Traceset, keeps_state: bool) -> Journal {
    let journal = RefCell::default();
    let mut context = TracesetContext::new(traceset);
    let state = keeps_state.then(|| context.attach(Digest::default()));
    let mut scheduler = Scheduler::new(context);
    let request = request(model, times, traceset, state, &journal);
    scheduler.submit(request).expect("a valid request");
    while scheduler.service_chunk(Budget::default()).has_more() {}
    drop(scheduler);
    journal.into_inner()
}

/// Serves requests while traces arrive. Returns their journals, and the number of events that a
/// computation in the background has counted.
fn arriving(
    timelines: &[Timeline],
    models: &[Model],
    steps: &[Step],
    types: usize,
    times: &[Timestamp],
    keeps_state: bool,
) -> (Vec<Journal>, u64) {
    let wholes: Vec<_> = timelines.iter().map(|t| t.in_memory(t.data())).collect();
    let mut traces: Vec<_> = wholes.iter().map(|whole| Arriving::new(whole, types)).collect();
    traces.iter_mut().for_each(Arriving::add_tracefiles);
    let mut traceset = Traceset::growing();
    let journals: Vec<RefCell<Journal>> = models.iter().map(|_| RefCell::default()).collect();
    let counted = Cell::new(0);
    let mut context = TracesetContext::new(&traceset);
    let state = keeps_state.then(|| context.attach(Digest::default()));
    let mut scheduler = Scheduler::new(context);
    let background = Background::new(TracesetContext::new(&traceset));
    let count = background
        .register("count", |pass| pass.on_every_event(|_, _| counted.set(counted.get() + 1)));
    background.compute(count, Owner::unique());
    scheduler.set_background(background);
    for at in 0..=steps.len() {
        match steps.get(at) {
            Some(Step::Packets { trace, tracefile, count }) => {
                let trace = trace % traces.len();
                traces[trace].append(*tracefile, *count);
            }
            Some(Step::Metadata { trace }) => {
                let trace = trace % traces.len();
                traces[trace].declare_all();
            }
            Some(Step::Serve { budget }) => {
                let chunk = scheduler.service_chunk(Budget::events(*budget));
                assert_ne!(chunk.status, Status::Idle, "a computation waits");
                assert!(chunk.final_until.is_some());
                continue;
            }
            None => traces.iter_mut().for_each(Arriving::complete),
        }
        let versions: Vec<_> = traces.iter_mut().map(|of| of.growing.version().clone()).collect();
        traceset.continue_with(&versions);
        if at == steps.len() {
            traceset.complete();
        }
        scheduler.continue_with(&traceset).expect("all can grow");
        for (model, journal) in models.iter().zip(&journals) {
            if model.at.min(steps.len()) == at {
                let request = request(model, times, &traceset, state, journal);
                scheduler.submit(request).expect("a valid request");
            }
        }
    }
    let mut chunk = scheduler.service_chunk(Budget::default());
    while chunk.has_more() {
        chunk = scheduler.service_chunk(Budget::default());
    }
    assert_eq!((chunk.status, chunk.final_until), (Status::Idle, None));
    let background = scheduler.background().expect("one is set");
    assert_eq!(background.stage(count), ComputationProgress::Ready);
    drop(scheduler);
    (journals.into_iter().map(RefCell::into_inner).collect(), counted.get())
}

fn timelines() -> impl Strategy<Value = Vec<Timeline>> {
    let plain = timeline(true).prop_map(|mut timeline| {
        timeline.transform = ClockTransform::IDENTITY;
        timeline
    });
    prop::collection::vec(plain, 1..4)
}

/// Asserts that requests that wait receive of arriving traces what they receive alone of the whole
/// traces, and others the first of it.
fn check_journals(
    timelines: &[Timeline],
    models: &[Model],
    steps: &[Step],
    types: usize,
    keeps_state: bool,
) {
    let whole: Traceset = timelines.iter().map(|t| t.in_memory(t.data())).collect();
    let mut times: Vec<Timestamp> = Vec::new();
    for timeline in timelines {
        for stream in 0..timeline.streams.len() {
            times.extend(timeline.events(stream).iter().map(|event| timeline.time(event)));
        }
    }
    times.sort_unstable();
    let (journals, counted) = arriving(timelines, models, steps, types, &times, keeps_state);
    assert_eq!(counted, times.len() as u64);
    for (model, journal) in models.iter().zip(&journals) {
        let alone = alone(model, &times, &whole, keeps_state);
        match journal.end {
            Some(FinishReason::Pending) if !model.waits => {
                let events = &alone.events[..journal.events.len().min(alone.events.len())];
                assert_eq!(&*journal.events, events, "{model:?}");
            }
            _ => assert_eq!(journal, &alone, "{model:?}"),
        }
    }
}

/// A request for all events, submitted before a step.
fn all_events(at: usize) -> Model {
    let (start, until, most) = (None, None, None);
    Model { at, start, until, most, is_filtered: false, waits: true, urgency: 0 }
}

fn packets(tracefile: usize, count: usize) -> Step {
    Step::Packets { trace: 0, tracefile, count }
}

#[test]
fn what_was_final_stays_final_for_requests_that_start_later() {
    const T: u64 = 1 << 30;
    let first: &[(u64, u64, &[u64])] = &[(T + 27, T + 27, &[]), (T + 27, T + 27, &[T + 27; 3])];
    let second: &[(u64, u64, &[u64])] = &[(T, T, &[T; 5]), (T, T, &[T])];
    let timeline = timeline_of(&[first, second], true);
    // The second packet of the first tracefile declares no begin, and its events are not declared
    // yet. That they are not before T + 27 is only known from the packet before it.
    let serve = || Step::Serve { budget: 1 };
    let steps = [packets(0, 1), packets(1, 1), serve(), packets(0, 1), serve()];
    for keeps_state in [false, true] {
        let timelines = [timeline.clone()];
        check_journals(&timelines, &[all_events(0), all_events(3)], &steps, 1, keeps_state);
    }
}

#[test]
fn a_request_waits_if_an_event_that_is_not_declared_is_before_its_time() {
    const T: u64 = 1 << 30;
    let serve = || Step::Serve { budget: 1 };
    let none = || packets(0, 0);
    // Events 2 and 8 are of a type that is declared at the end.
    let timeline =
        timeline_of(&[&[(T, T, &[T]), (T, T, &[T]), (T, T + 1, &[T + 1, T + 1])]], false);
    let later = |at| Model { start: Some(2), urgency: 2, ..all_events(at) };
    let soon = Model { until: Some(0), waits: false, urgency: 2, ..all_events(9) };
    let first = [packets(0, 1), serve(), packets(0, 1), packets(0, 1), serve()];
    let rest = [none(), serve(), none(), serve(), none(), serve()];
    let models = [later(5), all_events(0), soon];
    check_journals(&[timeline], &models, &[&first[..], &rest].concat(), 3, true);

    let timeline = timeline_of(&[&[(T, T, &[T; 5]), (T, T + 1, &[T + 1; 5])]], false);
    let other = timeline_of(&[&[(T + 9, T + 9, &[T + 9; 3])]], false);
    let model = Model { start: Some(5), ..all_events(0) };
    let of = |trace, count| Step::Packets { trace, tracefile: 0, count };
    let steps = [of(1, 2), of(0, 1), serve()];
    check_journals(&[other, timeline], &[model], &steps, 3, false);
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn requests_that_wait_receive_all_events(
        timelines in timelines(), mut models in models(), steps in steps(), types in 0..5usize,
        keeps_state in any::<bool>(),
    ) {
        // A step that serves has no request before it.
        for model in &mut models {
            while matches!(steps.get(model.at), Some(Step::Serve { .. })) {
                model.at += 1;
            }
        }
        check_journals(&timelines, &models, &steps, types, keeps_state);
    }
}
