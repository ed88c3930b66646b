//! Scenarios of viewers.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use crate::count::Count;
use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, StreamWriter, metadata_text, presets};
use ltt_read::{Timestamp, Trace, TraceIndex};
use lttv_context::{Bounds, CheckpointPolicy, Level, Traceset, TracesetContext, TracesetPosition};
use lttv_requests::{
    Background, Budget, ComputationProgress, Condition, EventsRequest, FinishReason, Notification,
    NotificationOutcome, Owner, RequestId, Scheduler, Start, Status, SubmitError, Urgency,
};

/// The time of the first event, and the time between events, in ns.
const BEGIN: i64 = 1_000;
const STEP: i64 = 10;

fn time_of(event: i64) -> Timestamp {
    Timestamp::from_ns(BEGIN + STEP * event)
}

/// Builds a traceset of events that alternate between two tracefiles.
fn traceset(events: u64) -> Traceset {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    schema.clocks[0].offset_seconds = 0;
    let number = FieldClass::structure([("number", FieldClass::uint(32, ByteOrder::Little))]);
    let kind = schema.add_event_type(StreamClassId(0), "tick", number);
    let schema = Arc::new(schema);
    let file = |cpu: u64| {
        let name = format!("channel_{cpu}");
        let mut writer = StreamWriter::new(schema.clone(), StreamClassId(0), &name, Vec::new())
            .expect("a writer")
            .with_stream_id(cpu);
        for event in (cpu..events).step_by(2) {
            let time = time_of(event as i64).as_ns() as u64;
            let fields = FieldValue::structure([FieldValue::from(event as u32)]);
            writer.event(kind, time, fields).expect("an event");
        }
        (name, writer.finish().expect("bytes"))
    };
    let metadata = metadata_text(&schema).expect("metadata");
    let trace = Trace::from_memory(metadata.as_bytes(), vec![file(0), file(1)]).expect("a trace");
    Traceset::from(vec![trace])
}

fn position(traceset: &Traceset, event: u64) -> TracesetPosition {
    let mut context = TracesetContext::new(traceset);
    _ = context.read(&Bounds::all().events(event)).expect("bounds without a position");
    context.position()
}

type Seen = RefCell<Vec<i64>>;

/// Creates a request that records the numbers of its events.
fn noting<'h>(seen: &'h Seen) -> EventsRequest<'h> {
    EventsRequest::new(Owner::unique()).on_every_event(move |call, _| {
        seen.borrow_mut().push((call.delivery_time().as_ns() - BEGIN) / STEP);
    })
}

fn range(begin: i64, end: i64) -> Vec<i64> {
    (begin..end).collect()
}

/// Serves all requests. Returns the numbers of events read and replayed, and of seeks.
fn drain(scheduler: &mut Scheduler<'_>, events: u64) -> (u64, u64, u64) {
    let (mut read, mut replayed, mut seeks) = (0, 0, 0);
    for _ in 0..100_000 {
        let chunk = scheduler.service_chunk(Budget::events(events));
        (read, replayed, seeks) =
            (read + chunk.read, replayed + chunk.replayed, seeks + chunk.seeks);
        if chunk.status == Status::Idle {
            return (read, replayed, seeks);
        }
    }
    panic!("requests do not end");
}

#[test]
fn event_list_and_control_flow_at_different_intervals() {
    let (list, flow) = (Seen::default(), Seen::default());
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset(1000)));
    let window = (time_of(100), time_of(500));
    scheduler.submit(noting(&flow).starting_at(window.0).until(window.1)).unwrap();
    scheduler.submit(noting(&list).starting_at(time_of(450)).max_events(100)).unwrap();
    let (read, _, seeks) = drain(&mut scheduler, 64);
    assert_eq!(flow.take(), range(100, 500));
    assert_eq!(list.take(), range(450, 550));
    assert_eq!((read, seeks), (450, 1));
}

#[test]
fn ten_staggered_intervals_read_each_event_once() {
    let seen: Vec<Seen> = (0..10).map(|_| Seen::default()).collect();
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset(1000)));
    for (i, seen) in (0..10).rev().zip(seen.iter().rev()) {
        scheduler
            .submit(noting(seen).starting_at(time_of(50 * i)).until(time_of(50 * i + 200)))
            .unwrap();
    }
    let (read, _, seeks) = drain(&mut scheduler, 100);
    for (i, seen) in (0..).zip(&seen) {
        assert_eq!(seen.take(), range(50 * i, 50 * i + 200));
    }
    assert_eq!((read, seeks), (650, 0));
}

/// A request of low urgency is interrupted by one of middle urgency, and that by one of
/// high urgency. All continue where they were; with fewer states than interruptions, more
/// events are replayed.
#[test]
fn an_interruption_is_interrupted() {
    // Replays from the ends of the previous requests: 400 to 650, and 800 to 1150.
    for (states, replayed) in [(2, 0), (1, 350), (0, 250 + 350)] {
        let (low, middle, high) = (Seen::default(), Seen::default(), Seen::default());
        let mut context = TracesetContext::new(traceset(2000));
        let counter = context.attach(Count::default());
        let mut scheduler = Scheduler::new(context);
        scheduler.set_resume_states(states);
        let request = |seen, urgency, from| {
            let request = noting(seen).urgency(urgency).starting_at(time_of(from)).max_events(300);
            request.on_event("tick", move |call, _| {
                let number = (call.delivery_time().as_ns() - BEGIN) / STEP;
                assert_eq!(call.extensions[counter].events as i64, number + 1);
            })
        };
        scheduler.submit(request(&low, Urgency::LOW, 1000)).unwrap();
        while low.borrow().len() < 150 {
            scheduler.service_chunk(Budget::events(50));
        }
        scheduler.submit(request(&middle, Urgency::NORMAL, 500)).unwrap();
        while middle.borrow().len() < 150 {
            scheduler.service_chunk(Budget::events(50));
        }
        scheduler.submit(request(&high, Urgency::HIGH, 100)).unwrap();
        let (read, again, _) = drain(&mut scheduler, 50);
        assert_eq!(high.take(), range(100, 400));
        assert_eq!(middle.take(), range(500, 800));
        assert_eq!(low.take(), range(1000, 1300));
        // The state for the most urgent request has to be replayed from the start.
        assert_eq!((read, again), (300 + 150 + 150, 100 + replayed), "with {states} states");
    }
}

#[test]
fn equal_start_time_and_position_are_one_place() {
    let traceset = traceset(100);
    for urgent_position in [false, true] {
        let (by_time, by_position, between) = (Seen::default(), Seen::default(), Seen::default());
        let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
        let tenth = position(&traceset, 10);
        let urgency = if urgent_position { Urgency::HIGH } else { Urgency::NORMAL };
        scheduler.submit(noting(&by_position).starting_at(tenth).urgency(urgency)).unwrap();
        scheduler.submit(noting(&by_time).starting_at(time_of(10))).unwrap();
        // There is no event at this time; the next one is the tenth.
        let just_before = Timestamp::from_ns(time_of(10).as_ns() - 5);
        scheduler.submit(noting(&between).starting_at(just_before)).unwrap();
        let (read, _, seeks) = drain(&mut scheduler, 7);
        for seen in [&by_time, &by_position, &between] {
            assert_eq!(seen.take(), range(10, 100));
        }
        assert_eq!((read, seeks), (90, 1));
    }
}

#[test]
fn stopping_in_a_hook_does_not_affect_others() {
    let (seen, reason) = (Seen::default(), Cell::new(None));
    let other = Seen::default();
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset(50)));
    let stopping = EventsRequest::new(Owner::unique())
        .on_every_event(|call, request| {
            let event = (call.delivery_time().as_ns() - BEGIN) / STEP;
            seen.borrow_mut().push(event);
            if event == 7 {
                request.stop();
            }
        })
        .after_request(|_, _, why| reason.set(Some(why)));
    scheduler.submit(stopping).unwrap();
    scheduler.submit(noting(&other)).unwrap();
    drain(&mut scheduler, 100);
    assert_eq!(seen.take(), range(0, 8));
    assert_eq!(other.take(), range(0, 50));
    assert_eq!(reason.get(), Some(FinishReason::Stopped));
}

#[test]
fn yielding_ends_the_chunk_and_loses_no_event() {
    let seen = Seen::default();
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset(20)));
    scheduler.submit(noting(&seen)).unwrap();
    let request = EventsRequest::new(Owner::unique());
    scheduler.submit(request.on_every_event(|_, _| ControlFlow::Break(()))).unwrap();
    for call in 1..=20 {
        assert_eq!(scheduler.service_chunk(Budget::events(100)).read, 1);
        assert_eq!(seen.borrow().len(), call);
    }
    assert_eq!(scheduler.pending().len(), 0);
}

#[test]
fn intervals_without_events_start_and_end_once() {
    let calls = RefCell::new(Vec::new());
    let traceset = traceset(20);
    let end = TracesetPosition::end(&traceset);
    let request = || {
        EventsRequest::new(Owner::unique())
            .before_request(|_, _| calls.borrow_mut().push("before request"))
            .before_chunk(Level::Traceset, |_, _| calls.borrow_mut().push("before chunk"))
            .on_every_event(|_, _| calls.borrow_mut().push("event"))
            .after_chunk(Level::Traceset, |_, _| calls.borrow_mut().push("after chunk"))
            .after_request(|_, _, _| calls.borrow_mut().push("after request"))
    };
    let (early, late) = (time_of(5), time_of(10));
    let cases = [
        (request().starting_at(late).until(early), FinishReason::EndTime),
        (request().starting_at(late).until(late), FinishReason::EndTime),
        (request().max_events(0), FinishReason::EventCount),
        (request().max_matches(0), FinishReason::MatchCount),
        (request().starting_at(&end).until(early), FinishReason::EndOfTraceset),
        (request().starting_at(Timestamp::MAX), FinishReason::EndOfTraceset),
        (
            request().starting_at(late).until_position(&position(&traceset, 3)),
            FinishReason::EndPosition,
        ),
    ];
    for (request, reason) in cases {
        let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
        scheduler.submit(request).unwrap();
        let chunk = scheduler.service_chunk(Budget::events(1));
        assert_eq!((chunk.read, chunk.finished[0].reason), (0, reason));
        assert_eq!(
            calls.take(),
            ["before request", "before chunk", "after chunk", "after request"],
            "{reason:?}"
        );
    }
}

#[test]
fn without_traces_all_requests_end_immediately() {
    let ended = Cell::new(0);
    let mut scheduler = Scheduler::new(TracesetContext::new(Traceset::new()));
    for start in [Start::Begin, Start::Time(Timestamp::from_ns(5))] {
        let request = EventsRequest::new(Owner::unique()).starting_at(start);
        let request = request.after_request(|_, _, why| {
            assert_eq!(why, FinishReason::EndOfTraceset);
            ended.set(ended.get() + 1);
        });
        scheduler.submit(request).unwrap();
    }
    drain(&mut scheduler, 10);
    assert_eq!(ended.get(), 2);
}

#[test]
fn cancelling_calls_last_hooks_only_of_started_requests() {
    let ended = RefCell::new(Vec::new());
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset(100)));
    let owner = Owner::unique();
    let request = |name: &'static str| {
        let ended = &ended;
        EventsRequest::new(owner)
            .after_request(move |_, _, reason| ended.borrow_mut().push((name, reason)))
    };
    scheduler.submit(request("started")).unwrap();
    scheduler.submit(request("waiting").starting_at(time_of(50))).unwrap();
    scheduler.service_chunk(Budget::events(10));
    let cancelled = scheduler.cancel_owner(owner);
    assert!(cancelled.iter().all(|end| end.owner == owner));
    let done: Vec<_> = cancelled.iter().map(|end| (end.started, end.events, end.reason)).collect();
    assert_eq!(done, [(true, 10, FinishReason::Cancelled), (false, 0, FinishReason::Cancelled)]);
    assert_eq!(scheduler.cancel(cancelled[0].request), None);
    assert_eq!(*ended.borrow(), [("started", FinishReason::Cancelled)]);
    assert_eq!(scheduler.service_chunk(Budget::default()).status, Status::Idle);
}

#[test]
fn ends_of_requests_that_did_not_start_are_reported_on_demand() {
    let (begun, ended) = (Cell::new(false), RefCell::new(Vec::new()));
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset(100)));
    scheduler.set_report_unstarted(true);
    let (table, list) = (Owner::unique(), Owner::unique());
    let waiting = |owner, name: &'static str| {
        let (begun, ended) = (&begun, &ended);
        EventsRequest::new(owner)
            .starting_at(time_of(50))
            .before_request(move |_, _| begun.set(true))
            .after_request(move |_, _, reason| ended.borrow_mut().push((name, reason)))
    };
    let first = scheduler.submit(waiting(table, "first")).unwrap();
    assert!(scheduler.cancel(first).is_some());
    let second = scheduler.submit(waiting(table, "second")).unwrap();
    let third = scheduler.submit(waiting(list, "third")).unwrap();
    let canceller = EventsRequest::new(Owner::unique()).before_request(move |_, control| {
        control.cancel(third);
    });
    scheduler.submit(canceller).unwrap();
    let chunk = scheduler.service_chunk(Budget::events(10));
    assert_eq!(chunk.finished[0].request, third);
    assert_eq!(scheduler.cancel_owner(table).len(), 1);
    let told = ["first", "third", "second"].map(|name| (name, FinishReason::Cancelled));
    assert_eq!(*ended.borrow(), told);
    assert!(scheduler.pending().all(|pending| pending.request != second));
    assert!(!begun.get());
}

#[test]
fn pauses_nest() {
    let seen = Seen::default();
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset(10)));
    scheduler.submit(noting(&seen)).unwrap();
    scheduler.pause();
    scheduler.pause();
    assert!(!scheduler.resume());
    assert_eq!(scheduler.service_chunk(Budget::default()).status, Status::Paused);
    assert!(seen.borrow().is_empty());
    assert!(scheduler.resume() && scheduler.resume());
    drain(&mut scheduler, 10);
    assert_eq!(seen.take(), range(0, 10));
}

#[test]
fn invalid_requests_are_refused() {
    let (one, other) = (traceset(10), traceset(10));
    let mut scheduler = Scheduler::new(TracesetContext::new(&one));
    let request = || EventsRequest::new(Owner::unique());
    let stale = position(&other, 3);
    assert!(matches!(
        scheduler.submit(request().starting_at(&stale)),
        Err(SubmitError::Stale { .. })
    ));
    let until = request().until_position(&stale);
    assert!(matches!(scheduler.submit(until), Err(SubmitError::Stale { .. })));
    let refused = scheduler.submit(request().in_trace(TraceIndex(1)));
    assert_eq!(refused, Err(SubmitError::NoSuchTrace { trace: TraceIndex(1), traces: 1 }));
    assert_eq!(scheduler.pending().len(), 0);
}

#[test]
fn another_traceset_ends_requests_with_positions() {
    let (old, mut new) = (traceset(10), traceset(30));
    new.add(traceset(5).traces()[0].clone());
    let ended: RefCell<Vec<(&str, FinishReason)>> = RefCell::default();
    let waiting = Seen::default();
    let mut scheduler = Scheduler::new(TracesetContext::new(&old));
    let request = |name: &'static str| {
        let ended = &ended;
        EventsRequest::new(Owner::unique())
            .after_request(move |_, _, reason| ended.borrow_mut().push((name, reason)))
    };
    scheduler.submit(request("started")).unwrap();
    scheduler.service_chunk(Budget::events(3));
    scheduler.submit(noting(&waiting).starting_at(time_of(20)).urgency(Urgency::LOW)).unwrap();
    scheduler.submit(request("by position").starting_at(position(&old, 7))).unwrap();
    let (_, finished) = scheduler.replace_context(TracesetContext::new(&new));
    assert_eq!(*ended.borrow(), [("started", FinishReason::TracesetChanged)]);
    assert_eq!((finished.len(), finished[0].events), (1, 3));
    drain(&mut scheduler, 100);
    assert_eq!(waiting.take(), range(20, 30));
}

/// A seek in a large packet takes as many calls as it needs.
#[test]
fn a_seek_is_interrupted_when_time_is_up() {
    const EVENTS: i64 = 100_000;
    let traceset = traceset(EVENTS as u64);
    let no_time = Budget::time(Duration::from_nanos(1));
    let (near, far) = (Seen::default(), Seen::default());
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    let from = time_of(EVENTS - 10);
    scheduler.submit(noting(&far).starting_at(from)).expect("a valid request");
    let mut calls = 0;
    let mut seeks = 0;
    while far.borrow().is_empty() {
        let chunk = scheduler.service_chunk(no_time);
        assert!(chunk.has_more() && chunk.read <= 8 && chunk.passed_over < 10_000);
        calls += 1;
        seeks += chunk.seeks;
        if calls == 10 {
            // Another request comes first, and the seek starts again.
            let at_once =
                noting(&near).urgency(Urgency::HIGH).starting_at(time_of(7)).max_events(1);
            scheduler.submit(at_once).expect("a valid request");
        }
    }
    assert!(calls > 20, "{calls} calls");
    assert_eq!(seeks, 2);
    drain(&mut scheduler, 1000);
    assert_eq!(*near.borrow(), [7]);
    assert_eq!(*far.borrow(), range(EVENTS - 10, EVENTS));
}

#[test]
fn the_number_of_calls_does_not_grow_with_the_requests_however_short_each_call_is() {
    let traceset = traceset(100);
    let calls = |requests: u64| {
        let received = Cell::new(0);
        let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
        for _ in 0..requests {
            let request = EventsRequest::new(Owner::unique())
                .max_events(20)
                .on_every_event(|_, _| received.set(received.get() + 1));
            scheduler.submit(request).unwrap();
        }
        let mut calls = 0;
        while scheduler.service_chunk(Budget::time(Duration::ZERO)).has_more() {
            calls += 1;
        }
        assert_eq!(received.get(), requests * 20);
        calls
    };
    let (few, many) = (calls(10), calls(1000));
    assert!(many < few + 100, "{few} calls for 10 requests, {many} for 1000");
}

#[test]
fn replay_is_bounded_and_reported() {
    let seen = Seen::default();
    let mut context = TracesetContext::new(traceset(1000));
    let counter = context.attach(Count::default());
    let mut scheduler = Scheduler::new(context);
    let request = noting(&seen).starting_at(time_of(700)).until(time_of(710));
    let request =
        request.before_request(move |call, _| assert_eq!(call.extensions[counter].events, 700));
    scheduler.submit(request).unwrap();
    for call in 1..=7 {
        let chunk = scheduler.service_chunk(Budget::events(100));
        assert_eq!((chunk.read, chunk.replayed), (0, 100));
        let replay = chunk.replay.filter(|_| call < 7);
        assert_eq!(replay.map(|replay| replay.at), (call < 7).then(|| time_of(100 * call)));
        assert_eq!(replay.map(|replay| replay.to), (call < 7).then(|| Some(time_of(700))));
    }
    let chunk = scheduler.service_chunk(Budget::events(100));
    assert_eq!((chunk.read, chunk.replayed), (10, 0));
    assert_eq!(seen.take(), range(700, 710));
}

#[test]
fn background_waits_for_requests_and_late_modules_join() {
    let traceset = traceset(1000);
    let (early, late, seen) = (Seen::default(), Seen::default(), Seen::default());
    let background = Background::new(TracesetContext::new(&traceset));
    let first = background.register("first", |pass| {
        pass.on_every_event(|call, _| {
            early.borrow_mut().push((call.delivery_time().as_ns() - BEGIN) / STEP)
        })
    });
    let second = background.register("second", |pass| {
        pass.on_every_event(|call, _| {
            late.borrow_mut().push((call.delivery_time().as_ns() - BEGIN) / STEP)
        })
    });
    assert_eq!(background.find("second"), Some(second));
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    scheduler.set_background(background);
    let (one, two) = (Owner::unique(), Owner::unique());
    let background = scheduler.background().unwrap();
    assert_eq!(background.stage(first), ComputationProgress::Idle);
    background.compute(first, one);
    background.compute(first, two);
    background.notify(first, one, Condition::Time(time_of(150)));
    background.notify(first, two, Condition::Position(position(&traceset, 500)));
    background.notify(second, one, Condition::Done);
    background.notify(second, two, Condition::Done);
    background.cancel_owner(one); // the other owner still wants "first"
    background.notify(first, one, Condition::Time(time_of(150)));

    let mut computed = 0;
    let mut told = Vec::new();
    for call in 0..4 {
        let chunk = scheduler.service_chunk(Budget::events(100));
        computed += chunk.computed;
        let reached = |news: &&Notification| news.outcome == NotificationOutcome::Reached;
        told.extend(chunk.notifications.iter().filter(reached).map(|news| (call, news.owner)));
        let cancelled = chunk.notifications.iter().filter(|news| !reached(news));
        // The owner that was removed had asked about both computations.
        let wanted = if call == 0 { vec![one, one] } else { Vec::new() };
        assert_eq!(cancelled.map(|news| news.owner).collect::<Vec<_>>(), wanted);
    }
    assert_eq!((computed, told.as_slice()), (400, [(1, one)].as_slice()));
    assert_eq!(early.borrow().len(), 400); // partial results are accessible
    let stage = scheduler.background().unwrap().stage(first);
    assert_eq!(stage, ComputationProgress::InProgress { to: time_of(400) });

    // Requests take precedence over computations.
    scheduler.submit(noting(&seen).starting_at(time_of(900))).unwrap();
    let chunk = scheduler.service_chunk(Budget::events(50));
    assert_eq!((chunk.read, chunk.computed), (50, 0));
    scheduler.background().unwrap().compute(second, one);
    let mut done = Vec::new();
    loop {
        let chunk = scheduler.service_chunk(Budget::events(60));
        computed += chunk.computed;
        done.extend(chunk.notifications);
        if chunk.status == Status::Idle {
            break;
        }
    }
    assert_eq!(seen.take(), range(900, 1000));
    assert_eq!((early.take(), late.take()), (range(0, 1000), range(0, 1000)));
    assert_eq!(computed, 1000 + 400);
    let owners: Vec<Owner> = done.iter().map(|news| news.owner).collect();
    assert_eq!(owners, [two, two]);
    assert_eq!((done[0].computation, done[1].computation), (first, second));
    assert_eq!(scheduler.background().unwrap().stage(second), ComputationProgress::Ready);
}

#[test]
fn checkpoints_of_the_background_shorten_replays() {
    let traceset = traceset(1000);
    let seen = Seen::default();
    let mut own = TracesetContext::new(&traceset);
    own.attach(Count::default());
    own.state().set_policy(CheckpointPolicy::every(100));
    let background = Background::new(own);
    let state = background.register("state", |pass| pass);
    background.lend_checkpoints();
    background.compute(state, Owner::unique());
    let mut context = TracesetContext::new(&traceset);
    let counter = context.attach(Count::default());
    let mut scheduler = Scheduler::new(context);
    scheduler.set_background(background);
    drain(&mut scheduler, 333);
    let request = noting(&seen).starting_at(time_of(750)).until(time_of(760));
    let request =
        request.before_request(move |call, _| assert_eq!(call.extensions[counter].events, 750));
    let id: RequestId = scheduler.submit(request).unwrap();
    assert_eq!(scheduler.pending().next().map(|pending| pending.request), Some(id));
    assert_eq!(drain(&mut scheduler, 100).1, 50);
    assert_eq!(seen.take(), range(750, 760));
}

#[test]
fn without_sharing_less_urgent_requests_wait() {
    let (urgent, other) = (Seen::default(), Seen::default());
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset(100)));
    scheduler.set_sharing(false);
    scheduler.submit(noting(&other).urgency(Urgency::LOW)).unwrap();
    scheduler.service_chunk(Budget::events(10));
    // A request for the same events as the other one, from the same position.
    let from_there = noting(&urgent).starting_at(time_of(10)).urgency(Urgency::HIGH);
    scheduler.submit(from_there).unwrap();
    let chunk = scheduler.service_chunk(Budget::events(50));
    assert_eq!((chunk.interrupted.len(), chunk.seeks), (1, 0));
    assert_eq!((urgent.borrow().len(), other.borrow().len()), (50, 10));
    let (read, ..) = drain(&mut scheduler, 1000);
    assert_eq!(read, 40 + 90);
    assert_eq!((urgent.take(), other.take()), (range(10, 100), range(0, 100)));
}

#[cfg(feature = "views")]
#[test]
fn changes_during_delivery_are_ignored() {
    use lttv_requests::views::SharedView;

    let context = TracesetContext::new(traceset(100));
    let span = context.contexts().time_span();
    let mut tab: SharedView<String> = SharedView::new(context.traceset().revision(), span);
    let (list, chart) = (tab.add_viewer(), tab.add_viewer());
    tab.set_time(time_of(30), Some(list));
    tab.redraw(None);
    let mut told = Vec::new();
    tab.deliver(|tab, viewer, changes| {
        told.push((viewer, changes.time, changes.redraw));
        // Each viewer would set a time of its own, and they would notify each other
        // forever.
        tab.set_time(time_of(if viewer == list { 40 } else { 50 }), Some(viewer));
        tab.set_filter(Some("x".into()), Some(viewer));
        tab.deliver(|_, _, _| panic!("nested delivery"));
    });
    assert_eq!(told, [(list, false, true), (chart, true, true)]);
    assert_eq!((tab.time(), tab.filter()), (time_of(30), None));
    tab.deliver(|_, _, _| panic!("no changes to deliver"));
    tab.set_time(time_of(40), Some(list));
    assert!(tab.take_changes(chart).time && tab.take_changes(list).is_none());
}
