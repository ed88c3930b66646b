//! Requests for traces that arrive in parts: those that wait receive the events that they would
//! receive of the whole traces, others a part of them.

use std::cell::{Cell, RefCell};

use crate::arriving::Arriving;
use crate::support::digest::{Digest, known};
use crate::support::tracesets::Known;
use crate::support::tracesets::config::cases;
use crate::support::tracesets::timeline::{Timeline, timeline, timeline_of};
use ltt_read::selection::EventSelection;
use ltt_read::{ClockTransform, Timestamp, TraceIndex, TracefileIndex};
use lttv_context::{Handle, Traceset, TracesetContext, TracesetPosition};
use lttv_filter::{Expression, Filters};
use lttv_requests::{
    Background, Budget, ComputationProgress, EventsRequest, FinishReason, Owner, Scheduler, Status,
    Urgency,
};
use proptest::prelude::*;

/// A request. Times are those of events, by their index in the whole traceset.
#[derive(Debug, Clone)]
struct Model {
    /// The step before which it is submitted.
    at: usize,
    start: Option<usize>,
    until: Option<usize>,
    most: Option<u64>,
    is_filtered: bool,
    /// The first and the last time of events that pass its filter.
    between: Option<(usize, usize)>,
    waits: bool,
    urgency: u8,
    /// The trace to which it is restricted, modulo their number.
    trace: Option<usize>,
    by_delivery: bool,
    /// The step after which it is cancelled.
    cancelled: Option<usize>,
    /// The position at which it starts or ends, instead of times, among those that were taken
    /// before.
    place: Option<Place>,
}

/// A use of a position, by its number.
#[derive(Debug, Clone, Copy)]
enum Place {
    From(usize),
    To(usize),
}

impl Model {
    /// Returns the position that the request uses, by its number.
    fn position(&self, positions: &[TracesetPosition]) -> Option<usize> {
        let (Place::From(at) | Place::To(at)) = self.place?;
        (!positions.is_empty()).then(|| at % positions.len())
    }

    /// Returns whether the request wants an event, apart from times and positions.
    fn passes(&self, event: &Known, times: &[Timestamp], traces: usize) -> bool {
        let is_in_trace = self.trace.is_none_or(|trace| trace % traces == event.trace);
        // The others are fixed.
        let is_named = matches!(event.number % 6, 0..=3);
        let is_between = self.between.is_none_or(|(from, to)| {
            let [from, to] = [from, to].map(|at| times[at % times.len()]);
            (from..=to).contains(&event.time)
        });
        is_in_trace && is_between && (!self.is_filtered || is_named && event.number > 5)
    }
}

fn models() -> impl Strategy<Value = Vec<Model>> {
    let time = || prop::option::of(0..30usize);
    let ends = (time(), time(), prop::option::weighted(0.2, 0..12_u64));
    let kind = (any::<bool>(), prop::bool::weighted(0.7), 0..3u8, prop::bool::weighted(0.2));
    let place = prop_oneof![(0..8usize).prop_map(Place::From), (0..8usize).prop_map(Place::To)];
    let rest = (
        prop::option::weighted(0.3, 0..3usize),
        prop::option::weighted(0.1, 0..20usize),
        prop::option::weighted(0.3, place),
        prop::option::weighted(0.3, (0..30usize, 0..30usize)),
    );
    let model = (0..20usize, ends, kind, rest);
    let model = model.prop_map(|(at, (start, until, most), kind, rest)| {
        let (is_filtered, waits, urgency, by_delivery) = kind;
        let (trace, cancelled, place, between) = rest;
        Model {
            at,
            start,
            until,
            most,
            is_filtered,
            between,
            waits,
            urgency,
            trace,
            by_delivery,
            cancelled,
            place,
        }
    });
    prop::collection::vec(model, 0..6)
}

#[derive(Debug, Clone)]
enum Step {
    Packets {
        trace: usize,
        tracefile: usize,
        count: usize,
    },
    Metadata {
        trace: usize,
    },
    /// Notes that a tracefile has no event before the next one that it has not got.
    Silence {
        trace: usize,
        tracefile: usize,
    },
    /// Completes a tracefile if all of it has arrived.
    Complete {
        trace: usize,
        tracefile: usize,
    },
    Serve {
        budget: u64,
    },
    /// Keeps the position of the scheduler's context, if it is final.
    Position,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let packets = (0..3usize, 0..8usize, 1..3usize)
        .prop_map(|(trace, tracefile, count)| Step::Packets { trace, tracefile, count });
    let step = prop_oneof![
        4 => packets,
        1 => (0..3usize).prop_map(|trace| Step::Metadata { trace }),
        1 => (0..3usize, 0..8usize).prop_map(|(trace, tracefile)| Step::Silence { trace, tracefile }),
        1 => (0..3usize, 0..8usize)
            .prop_map(|(trace, tracefile)| Step::Complete { trace, tracefile }),
        1 => Just(Step::Position),
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
    positions: &[TracesetPosition],
    state: Option<Handle<Digest>>,
    journal: &'h RefCell<Journal>,
) -> EventsRequest<'h> {
    let position = model.position(positions).map(|at| &positions[at]);
    let time = |at: Option<usize>| {
        (position.is_none()).then(|| Some(*times.get(at? % times.len().max(1))?)).flatten()
    };
    let mut request = EventsRequest::new(Owner::unique()).urgency(Urgency::new(model.urgency));
    if let Some(start) = time(model.start) {
        request = request.starting_at(start);
    }
    if let Some(until) = time(model.until) {
        request = request.until(until);
    }
    if let Some(most) = model.most.filter(|_| position.is_none()) {
        request = request.max_events(most);
    }
    if model.waits {
        request = request.waiting();
    }
    if model.by_delivery {
        request = request.by_delivery();
    }
    if let Some(trace) = model.trace {
        request = request.in_trace(TraceIndex(trace % traceset.traces().len()));
    }
    if let (Some(position), Some(place)) = (position, model.place) {
        request = match place {
            Place::From(_) => request.starting_at(position),
            Place::To(_) => request.until_position(position),
        };
    }
    let names = model.is_filtered.then(|| "event.name != \"fixed\" && number > 5".to_owned());
    let between = model.between.filter(|_| !times.is_empty()).map(|ends| between(times, ends));
    let conditions: Vec<String> = names.into_iter().chain(between).collect();
    if !conditions.is_empty() {
        let expression = Expression::parse(&conditions.join(" && ")).expect("valid");
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
    let request = request(model, times, traceset, &[], state, &journal);
    scheduler.submit(request).expect("a valid request");
    while scheduler.service_chunk(Budget::default()).has_more() {}
    drop(scheduler);
    journal.into_inner()
}

/// Results of requests that were served while traces arrived.
#[derive(Default)]
struct Outcome {
    journals: Vec<Journal>,
    /// The number of events that a computation in the background has counted.
    counted: u64,
    /// The times of the positions that were stored.
    positions: Vec<Option<Timestamp>>,
    traces: usize,
    /// For each request, the number of positions that had been kept when it was submitted.
    known: Vec<usize>,
}

/// Returns the time of the next event of a tracefile that has not arrived; `None` if there is none.
fn next_event(timeline: &Timeline, trace: &Arriving, tracefile: usize) -> Option<Timestamp> {
    let there = timeline.packets(tracefile).count() - trace.left[tracefile].len();
    let mut left = timeline.packets(tracefile).skip(there).flat_map(|packet| &packet.events);
    left.next().map(|event| timeline.time(event))
}

/// Adds the tracefiles of the last trace that have events before all that is still to come of the
/// others, and those before them: later, these events would come late.
fn join_late_ones(timelines: &[Timeline], traces: &mut [Arriving], joined: &mut usize) {
    let last = traces.len() - 1;
    loop {
        let all = (0..traces.len()).flat_map(|trace| {
            (0..traces[trace].names.len()).map(move |tracefile| (trace, tracefile))
        });
        let is_late = |(trace, tracefile): &(usize, usize)| *trace == last && *tracefile >= *joined;
        let next = |(trace, tracefile): (usize, usize)| {
            next_event(&timelines[trace], &traces[trace], tracefile)
        };
        let (late, known): (Vec<_>, Vec<_>) = all.partition(is_late);
        let [late_one, known_one] =
            [&late, &known].map(|of| of.iter().copied().filter_map(next).min());
        let must_wait = known_one.is_some_and(|known| late_one.is_none_or(|late| late >= known));
        if late.is_empty() || must_wait {
            break;
        }
        traces[last].add_tracefile();
        *joined += 1;
    }
}

/// Serves requests while traces arrive. The last `late` tracefiles of the last trace join as late as
/// possible, and so does that trace if there are fewer.
fn arriving(
    timelines: &[Timeline],
    models: &[Model],
    steps: &[Step],
    types: usize,
    times: &[Timestamp],
    (keeps_state, late): (bool, usize),
) -> Outcome {
    let wholes: Vec<_> = timelines.iter().map(|t| t.in_memory(t.data())).collect();
    let mut traces: Vec<_> = wholes.iter().map(|whole| Arriving::new(whole, types)).collect();
    let mut declared = vec![types >= 4; traces.len()];
    let (last, others) = traces.split_last_mut().expect("a trace");
    others.iter_mut().for_each(Arriving::add_tracefiles);
    let mut joined = last.names.len().saturating_sub(late);
    let trace_is_late = last.names.len() < late;
    (0..joined).for_each(|_| last.add_tracefile());
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
    let mut positions = Vec::new();
    let mut ids = vec![None; models.len()];
    let mut known = vec![0; models.len()];
    for at in 0..=steps.len() {
        for (model, id) in models.iter().zip(&ids) {
            if let Some(id) = id.filter(|_| model.cancelled == Some(at)) {
                scheduler.cancel(id);
            }
        }
        let last = traces.len() - 1;
        let has_joined = |trace: usize, tracefile: usize| trace < last || tracefile < joined;
        match steps.get(at) {
            Some(Step::Packets { trace, tracefile, count }) => {
                let trace = trace % traces.len();
                traces[trace].append(*tracefile, *count);
            }
            Some(Step::Metadata { trace }) => {
                let trace = trace % traces.len();
                traces[trace].declare_all();
                declared[trace] = true;
            }
            Some(Step::Silence { trace, tracefile }) => {
                let trace = trace % traces.len();
                let tracefile = tracefile % traces[trace].left.len();
                let next = next_event(&timelines[trace], &traces[trace], tracefile);
                let until = next.unwrap_or(Timestamp::from_ns(i64::MAX / 2));
                if has_joined(trace, tracefile) {
                    traces[trace].growing.silent_until(TracefileIndex(tracefile), until);
                }
            }
            Some(Step::Complete { trace, tracefile }) => {
                let trace = trace % traces.len();
                let tracefile = tracefile % traces[trace].left.len();
                let has_all = declared[trace] && traces[trace].left[tracefile].is_empty();
                if has_all && has_joined(trace, tracefile) {
                    traces[trace].growing.complete(TracefileIndex(tracefile));
                }
            }
            Some(Step::Position) => {
                let position = scheduler.context_mut().position();
                // After seeking a time that is not final, earlier events may follow.
                if position.time() <= scheduler.final_until() {
                    positions.push(position);
                }
            }
            Some(Step::Serve { budget }) => {
                let chunk = scheduler.service_chunk(Budget::events(*budget));
                assert_ne!(chunk.status, Status::Idle, "a computation waits");
                assert!(chunk.final_until.is_some());
                continue;
            }
            None => traces.iter_mut().for_each(Arriving::complete),
        }
        join_late_ones(timelines, &mut traces, &mut joined);
        let there = traces.len() - usize::from(trace_is_late && joined == 0);
        let versions = traces.iter_mut().take(there).map(|of| of.growing.version().clone());
        traceset.continue_with(&versions.collect::<Vec<_>>());
        if at == steps.len() {
            traceset.complete();
        }
        scheduler.continue_with(&traceset).expect("all can grow");
        for (number, model) in models.iter().enumerate() {
            if model.at.min(steps.len()) == at {
                let journal = &journals[number];
                let request = request(model, times, &traceset, &positions, state, journal);
                ids[number] = Some(scheduler.submit(request).expect("a valid request"));
                known[number] = positions.len();
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
    let journals = journals.into_iter().map(RefCell::into_inner).collect();
    let positions = positions.iter().map(TracesetPosition::time).collect();
    Outcome { journals, counted: counted.get(), positions, traces: timelines.len(), known }
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
    (keeps_state, late): (bool, usize),
) {
    let whole: Traceset = timelines.iter().map(|t| t.in_memory(t.data())).collect();
    let mut times: Vec<Timestamp> = Vec::new();
    for timeline in timelines {
        for stream in 0..timeline.streams.len() {
            times.extend(timeline.events(stream).iter().map(|event| timeline.time(event)));
        }
    }
    times.sort_unstable();
    let outcome = arriving(timelines, models, steps, types, &times, (keeps_state, late));
    assert_eq!(outcome.counted, times.len() as u64);
    let all = alone(&all_events(0), &times, &whole, keeps_state).events;
    check_places(models, &outcome, &times, &all);
    for ((model, journal), known) in models.iter().zip(&outcome.journals).zip(&outcome.known) {
        if model.place.is_some() && *known > 0 {
            continue;
        }
        let alone = alone(model, &times, &whole, keeps_state);
        match journal.end {
            None | Some(FinishReason::Cancelled) if model.cancelled.is_some() => {
                let events = &alone.events[..journal.events.len().min(alone.events.len())];
                assert_eq!(&*journal.events, events, "{model:?}");
            }
            Some(FinishReason::Pending) if !model.waits => {
                let events = &alone.events[..journal.events.len().min(alone.events.len())];
                assert_eq!(&*journal.events, events, "{model:?}");
            }
            _ => assert_eq!(journal, &alone, "{model:?}"),
        }
    }
}

/// Asserts that each position that was kept is between the same two events, whatever request uses
/// it, and that those that use it receive all events after it or before it. `all` are the events of
/// the whole traces.
fn check_places(
    models: &[Model],
    outcome: &Outcome,
    times: &[Timestamp],
    all: &[(Known, Option<Digest>)],
) {
    for (number, time) in outcome.positions.iter().enumerate() {
        let is_possible = |at: &usize| {
            let is_before = |(event, _): &(Known, _)| time.is_none_or(|time| event.time <= time);
            let is_after = |(event, _): &(Known, _)| time.is_some_and(|time| event.time >= time);
            all[..*at].iter().all(is_before) && all[*at..].iter().all(is_after)
        };
        let mut places: Vec<usize> = (0..=all.len()).filter(is_possible).collect();
        assert!(!places.is_empty(), "position {number} at {time:?}");
        for ((model, journal), known) in models.iter().zip(&outcome.journals).zip(&outcome.known) {
            let Some(place) = model.place.filter(|_| *known > 0) else { continue };
            let (Place::From(at) | Place::To(at)) = place;
            if at % known != number {
                continue;
            }
            let is_whole = matches!(
                journal.end,
                Some(FinishReason::EndOfTraceset | FinishReason::EndPosition)
            );
            places.retain(|at| {
                let part = match place {
                    Place::From(_) => &all[*at..],
                    Place::To(_) => &all[..*at],
                };
                let passes = |(event, _): &&(Known, _)| model.passes(event, times, outcome.traces);
                let part: Vec<_> = part.iter().filter(passes).collect();
                let seen = journal.events.iter().collect::<Vec<_>>();
                if is_whole { part == seen } else { part.starts_with(&seen) }
            });
            assert!(!places.is_empty(), "{model:?} of position {number} at {time:?}: {journal:?}");
        }
    }
}

/// A request for all events, submitted before a step.
fn all_events(at: usize) -> Model {
    Model {
        at,
        start: None,
        until: None,
        most: None,
        is_filtered: false,
        between: None,
        waits: true,
        urgency: 0,
        trace: None,
        by_delivery: false,
        cancelled: None,
        place: None,
    }
}

fn packets(tracefile: usize, count: usize) -> Step {
    Step::Packets { trace: 0, tracefile, count }
}

#[test]
fn what_was_final_stays_final_for_requests_that_start_later() {
    const T: u64 = 1 << 30;
    let first: &[(u64, u64, &[u64])] = &[(T + 27, T + 27, &[]), (T + 27, T + 27, &[T + 27; 3])];
    let second: &[(u64, u64, &[u64])] = &[(T, T, &[T; 5]), (T, T, &[T])];
    let timeline = timeline_of(&[first, second], true, false);
    // The second packet of the first tracefile declares no begin, and its events are not declared
    // yet. That they are not before T + 27 is only known from the packet before it.
    let serve = || Step::Serve { budget: 1 };
    let steps = [packets(0, 1), packets(1, 1), serve(), packets(0, 1), serve()];
    for keeps_state in [false, true] {
        let timelines = [timeline.clone()];
        check_journals(&timelines, &[all_events(0), all_events(3)], &steps, 1, (keeps_state, 0));
    }
}

#[test]
fn a_request_waits_if_an_event_that_is_not_declared_is_before_its_time() {
    const T: u64 = 1 << 30;
    let serve = || Step::Serve { budget: 1 };
    let none = || packets(0, 0);
    // Events 2 and 8 are of a type that is declared at the end.
    let timeline =
        timeline_of(&[&[(T, T, &[T]), (T, T, &[T]), (T, T + 1, &[T + 1, T + 1])]], false, false);
    let later = |at| Model { start: Some(2), urgency: 2, ..all_events(at) };
    let soon = Model { until: Some(0), waits: false, urgency: 2, ..all_events(9) };
    let first = [packets(0, 1), serve(), packets(0, 1), packets(0, 1), serve()];
    let rest = [none(), serve(), none(), serve(), none(), serve()];
    let models = [later(5), all_events(0), soon];
    check_journals(&[timeline], &models, &[&first[..], &rest].concat(), 3, (true, 0));

    let timeline = timeline_of(&[&[(T, T, &[T; 5]), (T, T + 1, &[T + 1; 5])]], false, false);
    let other = timeline_of(&[&[(T + 9, T + 9, &[T + 9; 3])]], false, false);
    let model = Model { start: Some(5), ..all_events(0) };
    let of = |trace, count| Step::Packets { trace, tracefile: 0, count };
    let steps = [of(1, 2), of(0, 1), serve()];
    check_journals(&[other, timeline], &[model], &steps, 3, (false, 0));
}

#[test]
fn a_tracefile_that_joins_later_repeats_no_event() {
    const T: u64 = 1 << 30;
    let first: &[(u64, u64, &[u64])] = &[(T, T, &[]), (T, T + 1, &[T + 1])];
    let timelines =
        [timeline_of(&[first, &[(T, T, &[T]), (T, T + 1, &[])], &[(T, T, &[])]], false, false)];
    let serve = || Step::Serve { budget: 1 };
    let models = [all_events(0), Model { waits: false, ..all_events(5) }];
    let meta = Step::Metadata { trace: 0 };
    let silence = Step::Silence { trace: 0, tracefile: 0 };
    // The third tracefile joins with the last packet.
    let steps = [meta, packets(1, 2), packets(0, 1), silence, serve(), packets(0, 1), serve()];
    for keeps_state in [true, false] {
        check_journals(&timelines, &models, &steps, 0, (keeps_state, 1));
    }
}

#[test]
fn a_tracefile_that_joins_where_a_request_waits_repeats_no_event() {
    const T: u64 = 1 << 30;
    let first: &[(u64, u64, &[u64])] = &[(T, T + 9, &[]), (T + 9, T + 9, &[T + 9; 4])];
    let second: &[(u64, u64, &[u64])] = &[(T, T, &[]), (T, T, &[T, T]), (T, T, &[T])];
    let timelines = [timeline_of(&[first, second, &[(T, T, &[])]], false, false)];
    // The request waits between two events of one time, the second of which is not declared, when the
    // third tracefile joins.
    let steps = [
        packets(0, 2),
        packets(1, 1),
        Step::Serve { budget: 1 },
        packets(1, 1),
        Step::Serve { budget: 2 },
        packets(1, 1),
        packets(0, 0),
        Step::Serve { budget: 1 },
    ];
    let models = [Model { waits: false, ..all_events(6) }, all_events(0)];
    for keeps_state in [true, false] {
        check_journals(&timelines, &models, &steps, 1, (keeps_state, 1));
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn requests_that_wait_receive_all_events(
        timelines in timelines(), mut models in models(), steps in steps(), types in 0..5usize,
        keeps_state in any::<bool>(), late in prop_oneof![Just(0), 0..4usize, Just(9)],
    ) {
        // A request for one trace is for one that is there.
        if timelines.last().is_some_and(|last| last.streams.len() < late) {
            models.iter_mut().for_each(|model| model.trace = None);
        }
        // A step that serves has no request before it.
        for model in &mut models {
            while matches!(steps.get(model.at), Some(Step::Serve { .. })) {
                model.at += 1;
            }
        }
        check_journals(&timelines, &models, &steps, types, (keeps_state, late));
    }
}

/// Returns the condition that events are between two times.
fn between(times: &[Timestamp], (from, to): (usize, usize)) -> String {
    let time = |at: usize| {
        let ns = times[at % times.len()].as_ns();
        format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
    };
    format!("event.time >= {} && event.time <= {}", time(from), time(to))
}

#[test]
fn a_request_whose_times_are_over_waits_until_its_end_is_final() {
    const T: u64 = 1 << 30;
    let timeline = timeline_of(&[&[(T, T + 9, &[T, T + 4, T + 8, T + 9])]], false, false);
    let times: Vec<_> = timeline.events(0).iter().map(|event| timeline.time(event)).collect();
    let mut trace = Arriving::new(&timeline.in_memory(timeline.data()), 4);
    trace.add_tracefiles();
    trace.append(0, 1);
    let mut traceset = Traceset::growing();
    traceset.continue_with(&[trace.growing.version().clone()]);
    let ends = [
        (None, false, FinishReason::Pending, Status::Idle),
        (Some(2), false, FinishReason::EndTime, Status::Idle),
        (None, true, FinishReason::Pending, Status::Waiting),
        (Some(2), true, FinishReason::EndTime, Status::Idle),
    ];
    for (until, waits, reason, status) in ends {
        let between = Some((0, 1));
        let model = Model { until, waits, between, ..all_events(0) };
        let journal = RefCell::default();
        let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
        let request = request(&model, &times, &traceset, &[], None, &journal);
        scheduler.submit(request).expect("a valid request");
        // There is nothing left to read.
        assert_eq!(scheduler.service_chunk(Budget::events(100)).status, status, "{model:?}");
        assert_eq!(journal.borrow().events.len(), 2);
        let end = (status == Status::Idle).then_some(reason);
        assert_eq!(journal.borrow().end, end, "{model:?}");
    }
}

#[test]
fn a_filter_by_time_loses_no_events_of_other_requests() {
    const T: u64 = 1 << 30;
    // The second event of the first trace is declared at the end, and its packet has no begin.
    let first = timeline_of(&[&[(T, T + 4, &[T + 4, T + 4])]], true, false);
    let other = timeline_of(&[&[(T, T, &[T]), (T, T + 5, &[T, T + 5])]], false, false);
    let of = |trace, count| Step::Packets { trace, tracefile: 0, count };
    let filtered = Model { between: Some((4, 4)), ..all_events(0) };
    let steps = [of(0, 1), Step::Serve { budget: 1 }];
    check_journals(&[first, other], &[all_events(7), filtered], &steps, 3, (false, 0));
}
