//! Hooks that panic, and hooks that submit requests without end.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use ltt_read::Timestamp;
use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, MemoryTrace, presets};
use lttv_context::{
    EventCall, Extension, Handle, Level, ReadCall, Setup, Subscription, Traceset, TracesetContext,
};
use lttv_hooks::Priority;
use lttv_requests::{
    Background, Budget, ChunkReport, ComputationProgress, Condition, Control, EventsRequest,
    FinishReason, Finished, Owner, Scheduler, Status, Urgency,
};

/// Builds a trace of numbered events, one per nanosecond from time 0 on.
fn traceset(events: u64) -> Traceset {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    schema.clocks[0].offset_seconds = 0;
    let number = FieldClass::structure([("number", FieldClass::uint(32, ByteOrder::Little))]);
    let tick = schema.add_event_type(StreamClassId(0), "tick", number);
    let mut trace = MemoryTrace::new(schema);
    for cpu in 0..2 {
        let stream = trace.stream(StreamClassId(0), &format!("channel_{cpu}")).unwrap();
        let mut stream =
            stream.with_stream_id(cpu).with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
        for number in (cpu..events).step_by(2) {
            stream.event(tick, number, FieldValue::fields([("number", number)])).unwrap();
        }
        trace.add(stream).unwrap();
    }
    vec![trace.open().unwrap()].into()
}

fn number(call: &EventCall<'_, '_>) -> u64 {
    call.event.field("number").and_then(|number| number.as_u64()).expect("a number")
}

fn request<'h>() -> EventsRequest<'h> {
    EventsRequest::new(Owner::unique())
}

fn noting<'h>(seen: &'h RefCell<Vec<u64>>) -> EventsRequest<'h> {
    request().on_every_event(|call, _| seen.borrow_mut().push(number(call)))
}

/// Calls the scheduler until it is idle, and catches panics. Returns the reported ends,
/// and the number of panics.
fn drain(scheduler: &mut Scheduler<'_>, budget: Budget) -> (Vec<Finished>, usize) {
    let (mut finished, mut panics) = (Vec::new(), 0);
    for _ in 0..10_000 {
        match catch_unwind(AssertUnwindSafe(|| scheduler.service_chunk(budget))) {
            Ok(chunk) => {
                finished.extend(chunk.finished);
                if chunk.status == Status::Idle {
                    return (finished, panics);
                }
            }
            Err(panic) => {
                assert_eq!(panic.downcast_ref::<&str>(), Some(&"a hook panics"));
                panics += 1;
            }
        }
    }
    panic!("requests do not end: {:?}", scheduler.pending().collect::<Vec<_>>());
}

/// Panics once.
struct Bomb(Cell<bool>);

impl Bomb {
    fn new() -> Self {
        Bomb(Cell::new(true))
    }

    fn explode(&self) {
        if self.0.replace(false) {
            panic!("a hook panics");
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Before,
    BeforeChunk,
    Event,
    Filter,
    AfterChunk,
    After,
}

/// Adds a hook that panics once to a request.
fn armed<'h>(request: EventsRequest<'h>, at: At, bomb: &'h Bomb) -> EventsRequest<'h> {
    let level = |_: &mut ReadCall<'_, 'h>, _: &Control<'h>| bomb.explode();
    match at {
        At::Before => request.before_request(level),
        At::BeforeChunk => request.before_chunk(Level::Trace, level),
        At::AfterChunk => request.after_chunk(Level::Traceset, level),
        At::After => request.after_request(|_, _, _| bomb.explode()),
        At::Event => request.on_every_event(|call, _| {
            if number(call) == 30 {
                bomb.explode();
            }
        }),
        At::Filter => request
            .filter(|call: &EventCall<'_, '_>| {
                if number(call) == 30 {
                    bomb.explode();
                }
                true
            })
            .on_every_event(|_, _| {}),
    }
}

const ALL: [At; 6] =
    [At::Before, At::BeforeChunk, At::Event, At::Filter, At::AfterChunk, At::After];

#[test]
fn after_a_panic_other_requests_receive_each_event_once() {
    let traceset = traceset(100);
    let all: Vec<u64> = (0..100).collect();
    for at in ALL {
        for budget in [7, 1000] {
            let bomb = Bomb::new();
            let [first, last, later] = [(); 3].map(|()| RefCell::default());
            let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
            // Hooks before and after the one that panics.
            scheduler.submit(noting(&first)).unwrap();
            let panicking = scheduler.submit(armed(request(), at, &bomb)).unwrap();
            scheduler.submit(noting(&last)).unwrap();
            scheduler.submit(noting(&later).starting_at(Timestamp::from_ns(60))).unwrap();
            let (finished, panics) = drain(&mut scheduler, Budget::events(budget));
            assert_eq!(panics, 1, "{at:?}");
            assert_eq!((&*first.borrow(), &*last.borrow()), (&all, &all), "{at:?} {budget}");
            assert_eq!(*later.borrow(), all[60..], "{at:?} {budget}");
            assert_eq!(finished.len(), 4, "{at:?} {budget}: each end is reported once");
            for end in finished {
                let expected =
                    if end.request == panicking { "panicked" } else { "end_of_traceset" };
                assert_eq!(end.reason.name(), expected, "{at:?} {budget}");
            }
        }
    }
}

#[test]
fn a_request_that_panics_receives_only_its_last_hooks() {
    let traceset = traceset(100);
    let bomb = Bomb::new();
    let calls = RefCell::new(Vec::new());
    let note = |text: &'static str| {
        let calls = &calls;
        move |_: &mut ReadCall<'_, '_>, _: &Control<'_>| calls.borrow_mut().push(text.to_owned())
    };
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    let watched = request()
        .starting_at(Timestamp::from_ns(28))
        .before_request(note("before request"))
        .before_chunk(Level::Traceset, note("before chunk"));
    let watched = armed(watched, At::Event, &bomb)
        .on_every_event(|call, _| calls.borrow_mut().push(number(call).to_string()))
        .after_chunk(Level::Traceset, note("after chunk"))
        .after_request(|_, _, reason| calls.borrow_mut().push(reason.name().to_owned()));
    scheduler.submit(watched).unwrap();
    let (finished, panics) = drain(&mut scheduler, Budget::events(1000));
    assert_eq!(
        *calls.borrow(),
        ["before request", "before chunk", "28", "29", "after chunk", "panicked"]
    );
    assert_eq!((panics, finished.len(), finished[0].events), (1, 1, 3));
}

#[test]
fn panics_resume_out_of_each_function_that_calls_hooks() {
    let traceset = traceset(100);
    let of = |at, act: &dyn Fn(&mut Scheduler<'_>, Owner)| {
        let (bomb, ended, other) = (Bomb::new(), Cell::new(0), RefCell::default());
        let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
        let owner = Owner::unique();
        let panicking =
            EventsRequest::new(owner).after_request(|_, _, _| ended.set(ended.get() + 1));
        scheduler.submit(armed(panicking, at, &bomb)).unwrap();
        scheduler.submit(noting(&other)).unwrap();
        bomb.0.set(false);
        scheduler.service_chunk(Budget::events(10));
        bomb.0.set(true);
        let panic = catch_unwind(AssertUnwindSafe(|| act(&mut scheduler, owner)));
        assert!(panic.is_err(), "{at:?}");
        assert_eq!(ended.get(), 1, "{at:?}: its other last hook is called");
        let ends = scheduler.service_chunk(Budget::events(1)).finished;
        let end = ends.iter().find(|end| end.owner == owner).expect("its end is not lost");
        assert_eq!((end.reason, end.started), (FinishReason::Panicked, true), "{at:?}");
        let (_, panics) = drain(&mut scheduler, Budget::events(10));
        assert_eq!((panics, &*other.borrow()), (0, &(0..100).collect::<Vec<_>>()), "{at:?}");
    };
    of(At::After, &|scheduler, owner| _ = scheduler.cancel_owner(owner));
    of(At::After, &|scheduler, _| {
        let first = scheduler.pending().next().map(|pending| pending.request);
        scheduler.cancel(first.expect("two requests"));
    });
}

/// An extension whose state is the number of the next event. Panics at a given event.
struct Counter {
    next: u64,
    panics_at: Option<u64>,
}

impl Extension for Counter {
    type Checkpoint = u64;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let all = Subscription::to_every_event().priority(Priority::STATE);
        setup.hooks.on_event(all, move |call| {
            let counter = &mut call.extensions[handle];
            counter.next += 1;
            if counter.panics_at.take_if(|at| *at == counter.next).is_some() {
                panic!("a hook panics");
            }
        });
    }

    fn reset(&mut self) {
        self.next = 0;
    }

    fn save(&self) -> u64 {
        self.next
    }

    fn restore(&mut self, saved: &u64) {
        self.next = *saved;
    }

    fn checkpoint_bytes(_: &u64, _: Option<&u64>) -> usize {
        size_of::<Self::Checkpoint>()
    }
}

/// The events received by running requests are then unknown; waiting requests are not
/// affected.
#[test]
fn a_panic_of_an_extension_ends_running_requests_and_keeps_state_correct() {
    let traceset = traceset(100);
    for panics_at in [10, 50] {
        let (served, waiting) = (RefCell::default(), RefCell::default());
        let mut context = TracesetContext::new(&traceset);
        let counter = context.attach(Counter { next: 0, panics_at: Some(panics_at) });
        let mut scheduler = Scheduler::new(context);
        scheduler.submit(noting(&served).until(Timestamp::from_ns(20))).unwrap();
        let late =
            noting(&waiting).starting_at(Timestamp::from_ns(60)).on_every_event(move |call, _| {
                assert_eq!(call.extensions[counter].next, number(call) + 1);
            });
        scheduler.submit(late).unwrap();
        let (finished, panics) = drain(&mut scheduler, Budget::events(1000));
        assert_eq!((panics, finished.len()), (1, 2));
        assert_eq!(*waiting.borrow(), (60..100).collect::<Vec<_>>());
        match panics_at {
            10 => {
                assert_eq!(*served.borrow(), (0..9).collect::<Vec<_>>());
                assert_eq!(finished[0].reason.name(), "panicked");
            }
            // While state was brought to the start of the other one.
            _ => assert_eq!(*served.borrow(), (0..20).collect::<Vec<_>>()),
        }
    }
}

#[test]
fn a_computation_that_panics_can_be_started_again() {
    let traceset = traceset(100);
    let (bomb, seen) = (Bomb::new(), Cell::new(0));
    let background = Background::new(TracesetContext::new(&traceset));
    let module = background.register("all", |pass| {
        armed(pass, At::Event, &bomb).on_every_event(|_, _| seen.set(seen.get() + 1))
    });
    let owner = Owner::unique();
    background.compute(module, owner);
    background.notify(module, owner, Condition::Done);
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    scheduler.set_background(background);
    assert_eq!(drain(&mut scheduler, Budget::events(10)).1, 1);
    let background = scheduler.background().expect("it was set");
    assert_eq!((background.stage(module), seen.get()), (ComputationProgress::Idle, 30));
    assert!(matches!(background.compute(module, owner), ComputationProgress::InProgress { .. }));
    assert_eq!(drain(&mut scheduler, Budget::events(10)).1, 0);
    assert_eq!(seen.get(), 130);
    assert_eq!(
        scheduler.background().map(|all| all.stage(module)),
        Some(ComputationProgress::Ready)
    );
}

/// The actions of a request without events at its start or end: it submits another one of
/// its kind.
#[derive(Clone, Copy)]
enum Chain {
    AtBegin,
    AtEnd,
    /// Submits a request and cancels it. All ends are reported, even of requests that
    /// never started.
    Cancelled,
}

fn chain<'h>(kind: Chain, links: &'h Cell<u64>, most: u64) -> EventsRequest<'h> {
    let next = move |control: &Control<'h>| {
        links.set(links.get() + 1);
        if links.get() < most {
            let id = control.submit(chain(kind, links, most)).expect("a valid request");
            if let Chain::Cancelled = kind {
                control.cancel(id);
            }
        }
    };
    match kind {
        Chain::AtBegin => request().max_events(0).before_request(move |_, control| next(control)),
        Chain::AtEnd => request().max_events(0).after_request(move |_, control, _| next(control)),
        Chain::Cancelled => request().after_request(move |_, control, _| next(control)),
    }
}

#[test]
fn requests_that_submit_others_without_end_do_not_block_a_call() {
    const MOST: u64 = 1_000_000;
    let traceset = traceset(10);
    let budgets = [Budget::events(100), Budget::time(Duration::ZERO), Budget::events(u64::MAX)];
    for kind in [Chain::AtBegin, Chain::AtEnd, Chain::Cancelled] {
        for budget in budgets {
            let links = Cell::new(0);
            let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
            scheduler.set_report_unstarted(true);
            let id = scheduler.submit(chain(kind, &links, MOST)).unwrap();
            if let Chain::Cancelled = kind {
                let cancelling = request().urgency(Urgency::HIGH).max_events(1);
                let cancelling = cancelling.on_every_event(move |_, control| control.cancel(id));
                scheduler.submit(cancelling).unwrap();
            }
            let chunk: ChunkReport = scheduler.service_chunk(budget);
            assert!(links.get() < MOST / 2, "{} in one call of {budget:?}", links.get());
            assert_eq!(chunk.status, Status::More);
            links.set(MOST); // This ends it.
            drain(&mut scheduler, Budget::events(1000));
        }
    }
}
