//! Requests with filters that know events in advance read less, and receive the same events.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{Bounds, EventCall, Subscription, Traceset, TracesetContext};
use lttv_filter::{Expression, Filters};
use lttv_requests::{Budget, EventsRequest, Owner, Scheduler};

type Events = Vec<(Timestamp, String)>;
type Seen = RefCell<Events>;

fn traceset() -> Traceset {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    Traceset::open(path).expect("a bundled trace")
}

fn filters(traceset: &Traceset, text: &str) -> Rc<Filters> {
    let expression = Expression::parse(text).expect("an expression");
    Rc::new(Filters::new(&expression, traceset.traces()).expect("filters"))
}

fn noting(seen: &Seen) -> EventsRequest<'_> {
    EventsRequest::new(Owner::unique()).on_every_event(|call, _| {
        let name = call.event.event_type().name().to_owned();
        seen.borrow_mut().push((call.delivery_time(), name));
    })
}

/// Serves all requests. Returns the number of events read.
fn drain(scheduler: &mut Scheduler<'_>) -> u64 {
    let mut read = 0;
    loop {
        let chunk = scheduler.service_chunk(Budget::events(100));
        read += chunk.read;
        if !chunk.has_more() {
            return read;
        }
    }
}

/// Returns the events that pass a filter, and the number of events read, with a filter
/// that knows nothing in advance and with one that does.
fn both(traceset: &Traceset, text: &str) -> [(Events, u64, u64); 2] {
    [false, true].map(|knows| {
        let seen = Seen::default();
        let mut scheduler = Scheduler::new(TracesetContext::new(traceset));
        let filters = filters(traceset, text);
        let request = match knows {
            true => noting(&seen).filter(filters),
            false => {
                noting(&seen).filter(move |call: &EventCall<'_, '_>| filters.matches(&call.event))
            }
        };
        scheduler.submit(request).expect("a valid request");
        let read = drain(&mut scheduler);
        let packets = scheduler.context().merge().packets_entered();
        drop(scheduler);
        (seen.into_inner(), read, packets)
    })
}

#[test]
fn a_filter_on_time_reads_only_the_needed_part() {
    let traceset = traceset();
    let mut context = TracesetContext::new(&traceset);
    assert!(context.read(&Bounds::all().events(6000)).is_ok());
    let late = context.position().time().expect("more events").as_ns();
    let (seconds, ns) = (late / 1_000_000_000, late % 1_000_000_000);
    let [all, some] = both(&traceset, &format!("event.time >= {seconds}.{ns:09}"));
    assert_eq!(all.0, some.0);
    assert!(!all.0.is_empty() && all.1 == 6087);
    assert!(some.1 < 2 * some.0.len() as u64 + 20, "{} read for {}", some.1, some.0.len());
}

#[test]
fn a_filter_on_a_cpu_does_not_enter_packets_of_others() {
    let [all, some] = both(&traceset(), "tracefile.cpu == 1");
    assert_eq!(all.0, some.0);
    assert!(!all.0.is_empty() && all.1 == 6087);
    assert_eq!(some.1, some.0.len() as u64);
    assert!(some.2 < all.2, "{} of {} packets", some.2, all.2);
}

#[test]
fn hooks_of_the_context_receive_all_events_despite_filters_of_requests() {
    let traceset = traceset();
    let (seen, added) = (Seen::default(), Cell::new(0));
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    let first = Cell::new(None);
    let request = noting(&seen).filter(filters(&traceset, "event.name == sched_switch"));
    // The first hook of the request adds a hook to the context.
    scheduler
        .submit(request.on_event("sched_switch", |call, _| {
            if first.replace(Some(call.delivery_time())).is_none() {
                let count = Subscription::to_every_event();
                call.commands.on_event(count, |_| added.set(added.get() + 1));
            }
        }))
        .expect("a valid request");
    drain(&mut scheduler);
    drop(scheduler);
    assert_eq!(seen.borrow().len(), 497);
    let all = Cell::new(0);
    let position = Cell::new(None);
    let mut context = TracesetContext::new(&traceset);
    context.on_event(Subscription::to_every_event(), |call| {
        all.set(all.get() + 1);
        if call.event.event_type().name() == "sched_switch" && position.get().is_none() {
            position.set(Some(all.get()));
        }
    });
    assert_eq!(context.read(&Default::default()).expect("no position").errors, 0);
    drop(context);
    assert_eq!(added.get(), all.get() - position.get().expect("a switch"));
}

/// Requests do not end by the error of a hook that belongs to none of them, and it is not lost.
#[test]
fn the_error_of_a_hook_of_the_context_is_kept() {
    let traceset = traceset();
    let mut context = TracesetContext::new(&traceset);
    let mut switches = 0;
    context.on_event("sched_switch", move |_| {
        switches += 1;
        if switches == 7 { Err("the seventh switch") } else { Ok(()) }
    });
    let seen = Cell::new(0);
    let mut scheduler = Scheduler::new(context);
    let request = EventsRequest::new(Owner::unique());
    scheduler
        .submit(request.on_every_event(|_, _| seen.set(seen.get() + 1)))
        .expect("a valid request");
    drain(&mut scheduler);
    let error = scheduler.take_hook_error().expect("the error of the hook");
    assert_eq!(error.error.to_string(), "the seventh switch");
    assert!(scheduler.take_hook_error().is_none());
    drop(scheduler);
    assert_eq!(seen.get(), 6087);
}

#[test]
fn a_filter_is_dropped_with_its_request() {
    let traceset = traceset();
    let filters = filters(&traceset, "event.name == sched_switch");
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    let request = EventsRequest::new(Owner::unique()).filter(filters.clone());
    let id = scheduler.submit(request.on_every_event(|_, _| ())).expect("a valid request");
    assert!(scheduler.service_chunk(Budget::events(100)).has_more());
    assert!(scheduler.cancel(id).is_some());
    assert_eq!(Rc::strong_count(&filters), 1);
}
