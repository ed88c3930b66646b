//! Computations on threads of their own: nothing waits for them, and nothing of them is lost.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::Duration;

use NotificationOutcome::{Cancelled, Reached};
use ltt_read::Timestamp;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_context::{Handle, Joining, SliceAnalysis, SliceThreads};
use lttv_hooks::Flow;
use lttv_requests::{
    Background, Budget, ComputationId, ComputationProgress, Condition, EventsRequest,
    NotificationOutcome, Owner, Scheduler, Status, ThreadControl,
};

/// A time within which a thread notices what it is told.
const SOON: Duration = Duration::from_secs(20);

fn traceset() -> Traceset {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    Traceset::open(path).expect("a bundled trace")
}

/// A waker that counts, and tells a channel.
struct Bell {
    rings: AtomicUsize,
    send: Mutex<Sender<()>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rings.fetch_add(1, Ordering::Relaxed);
        _ = self.send.lock().unwrap().send(());
    }
}

fn bell() -> (Arc<Bell>, Receiver<()>) {
    let (send, rung) = channel();
    (Arc::new(Bell { rings: AtomicUsize::new(0), send: Mutex::new(send) }), rung)
}

/// Registers a computation that does what it is told by a channel, and tells when it ends.
fn obedient(background: &Background<'_>) -> (ComputationId, Sender<Order>, Receiver<bool>) {
    let (orders, receiver) = channel();
    let (send, ends) = channel();
    let receiver = Arc::new(Mutex::new(receiver));
    let id = background.register_on_thread("obedient", move || {
        let (receiver, send) = (Arc::clone(&receiver), send.clone());
        move |control: &ThreadControl| {
            loop {
                let order = receiver.lock().unwrap().recv_timeout(Duration::from_millis(2));
                match order {
                    // Its end is noticed below.
                    Ok(Order::Pass(time)) => _ = control.passed(time),
                    Ok(Order::End) => {
                        _ = send.send(true);
                        return Flow::Continue(());
                    }
                    Ok(Order::Panic) => panic!("as ordered"),
                    Err(_) if control.is_given_up() => {
                        _ = send.send(false);
                        return Flow::Break(());
                    }
                    Err(_) => {}
                }
            }
        }
    });
    (id, orders, ends)
}

enum Order {
    Pass(Timestamp),
    End,
    Panic,
}

/// Serves until nothing but threads remains. Returns the notifications.
fn serve(scheduler: &mut Scheduler<'_>) -> (Status, Vec<(Owner, NotificationOutcome)>) {
    let mut told = Vec::new();
    loop {
        let chunk = scheduler.service_chunk(Budget::events(500));
        told.extend(chunk.notifications.iter().map(|news| (news.owner, news.outcome)));
        if !chunk.has_more() {
            return (chunk.status, told);
        }
    }
}

/// Serves until a computation is complete, asleep between the calls.
fn serve_asleep(scheduler: &mut Scheduler<'_>, computation: ComputationId) {
    let (bell, rung) = bell();
    let waker = Waker::from(bell);
    loop {
        scheduler.background().unwrap().wake(&waker);
        let (status, _) = serve(scheduler);
        if scheduler.background().unwrap().stage(computation) == ComputationProgress::Ready {
            assert_eq!(status, Status::Idle);
            return;
        }
        assert_eq!(status, Status::Waiting);
        rung.recv_timeout(SOON).expect("a thread wakes the scheduler");
    }
}

#[test]
fn requests_are_served_while_a_thread_computes() {
    let mut count = 0;
    let traceset = traceset();
    let background = Background::new(TracesetContext::new(&traceset));
    let (id, orders, ends) = obedient(&background);
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    let owner = Owner::unique();
    assert_eq!(background.stage(id), ComputationProgress::Idle);
    background.compute(id, owner);
    background.notify(id, owner, Condition::Done);
    scheduler.set_background(background);
    let request = EventsRequest::new(Owner::unique()).on_every_event(|_, _| count += 1);
    scheduler.submit(request).expect("a request");
    assert!(scheduler.needs_service());
    assert_eq!(serve(&mut scheduler), (Status::Waiting, Vec::new()));
    assert!(!scheduler.needs_service());
    // It is asked once, whoever wants it.
    let background = scheduler.background().expect("a background");
    background.compute(id, Owner::unique());
    assert!(!background.is_idle());
    let (bell, rung) = bell();
    background.wake(&Waker::from(Arc::clone(&bell)));
    background.wake(&Waker::from(Arc::clone(&bell)));
    orders.send(Order::End).unwrap();
    assert_eq!(ends.recv_timeout(SOON), Ok(true));
    rung.recv_timeout(SOON).expect("the end of the thread wakes");
    assert_eq!(bell.rings.load(Ordering::Relaxed), 1);
    assert!(scheduler.needs_service());
    assert_eq!(serve(&mut scheduler), (Status::Idle, vec![(owner, Reached)]));
    let background = scheduler.background().expect("a background");
    assert_eq!(background.compute(id, owner), ComputationProgress::Ready);
    assert!(background.is_idle());
    drop(scheduler);
    assert_eq!(count, 6087);
}

#[test]
fn notifications_follow_the_progress() {
    let traceset = traceset();
    let background = Background::new(TracesetContext::new(&traceset));
    let (id, orders, ends) = obedient(&background);
    let mut context = TracesetContext::new(&traceset);
    assert!(context.read(&Bounds::all().max_examined(1000)).is_ok());
    let (position, time) = (context.position(), context.position().time().expect("an event"));
    let [first, second, third] = [(); 3].map(|()| Owner::unique());
    background.compute(id, first);
    background.notify(id, first, Condition::Time(time));
    background.notify(id, second, Condition::Position(position));
    background.notify(id, third, Condition::Done);
    let mut scheduler = Scheduler::new(context);
    scheduler.set_background(background);
    let (bell, rung) = bell();
    let waker = Waker::from(bell);
    let mut pass = |ns| {
        scheduler.background().unwrap().wake(&waker);
        orders.send(Order::Pass(Timestamp::from_ns(time.as_ns() + ns))).unwrap();
        rung.recv_timeout(SOON).expect("progress wakes");
        serve(&mut scheduler)
    };
    assert_eq!(pass(-1), (Status::Waiting, vec![]));
    assert_eq!(pass(0), (Status::Waiting, vec![(first, Reached)]));
    assert_eq!(pass(1), (Status::Waiting, vec![(second, Reached)]));
    let to = Timestamp::from_ns(time.as_ns() + 1);
    let stage = scheduler.background().unwrap().stage(id);
    assert_eq!(stage, ComputationProgress::InProgress { to });
    // Work that wants no more is not complete.
    scheduler.background().unwrap().cancel_owner(first);
    assert_eq!(ends.recv_timeout(SOON), Ok(false));
    assert_eq!(serve(&mut scheduler), (Status::Idle, vec![(third, Cancelled)]));
    assert_eq!(scheduler.background().unwrap().stage(id), ComputationProgress::Idle);
}

#[test]
fn computations_that_nobody_wants_end() {
    let traceset = traceset();
    let background = Background::new(TracesetContext::new(&traceset));
    let (id, orders, ends) = obedient(&background);
    let (one, two) = (Owner::unique(), Owner::unique());
    for owner in [one, two] {
        background.compute(id, owner);
    }
    background.cancel_owner(one);
    assert!(!background.is_idle());
    background.cancel_owner(two);
    assert!(background.is_idle());
    assert_eq!(ends.recv_timeout(SOON), Ok(false));
    // Another one can start meanwhile.
    assert!(matches!(background.compute(id, one), ComputationProgress::InProgress { .. }));
    orders.send(Order::End).unwrap();
    assert_eq!(ends.recv_timeout(SOON), Ok(true));
    let (id, _orders, ends) = obedient(&background);
    background.compute(id, one);
    drop(background);
    assert_eq!(ends.recv_timeout(SOON), Ok(false));
}

#[test]
fn panics_of_threads_continue_in_the_scheduler() {
    let traceset = traceset();
    let background = Background::new(TracesetContext::new(&traceset));
    let (id, orders, ends) = obedient(&background);
    let owner = Owner::unique();
    background.compute(id, owner);
    background.notify(id, owner, Condition::Done);
    let (bell, rung) = bell();
    background.wake(&Waker::from(bell));
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    scheduler.set_background(background);
    orders.send(Order::Panic).unwrap();
    rung.recv_timeout(SOON).expect("the end of the thread wakes");
    assert!(scheduler.needs_service());
    let call = catch_unwind(AssertUnwindSafe(|| scheduler.service_chunk(Budget::default())));
    let panic = call.expect_err("a panic");
    assert_eq!(panic.downcast_ref(), Some(&"as ordered"));
    assert_eq!(serve(&mut scheduler), (Status::Idle, vec![(owner, Cancelled)]));
    let background = scheduler.background().expect("a background");
    assert_eq!(background.stage(id), ComputationProgress::Idle);
    background.compute(id, owner);
    orders.send(Order::End).unwrap();
    assert_eq!(ends.recv_timeout(SOON), Ok(true));
    serve_asleep(&mut scheduler, id);
}

/// The number of events of each type.
struct CountTypes;

impl SliceAnalysis for CountTypes {
    type Slice = Vec<u64>;
    type State = ();
    type Part = Vec<u64>;

    fn attach(&self, context: &mut TracesetContext<'_>) -> Handle<Vec<u64>> {
        let slice = context.attach_data(Vec::new());
        context.on_event(lttv_context::Subscription::to_every_event(), move |call| {
            add(&mut call.extensions[slice], call.event.type_id().index(), 1);
        });
        slice
    }

    fn resolve(&self, (): &mut (), _: &mut Vec<u64>) {}

    fn add(&self, part: &mut Vec<u64>, slice: &mut Vec<u64>) {
        slice.iter().enumerate().for_each(|(at, count)| add(part, at, *count));
    }

    fn joining(&self) -> Option<Joining<Vec<u64>>> {
        let join = |part: &mut Vec<u64>, other: Vec<u64>| {
            other.into_iter().enumerate().for_each(|(at, count)| add(part, at, count));
        };
        Some(Joining { empty: Vec::new, join })
    }
}

fn add(counts: &mut Vec<u64>, at: usize, count: u64) {
    if counts.len() <= at {
        counts.resize(at + 1, 0);
    }
    counts[at] += count;
}

#[test]
fn slices_on_several_threads_have_the_result_of_hooks() {
    let mut expected = Vec::new();
    let traceset = traceset();
    let counts = Arc::new(Mutex::new(Vec::new()));
    let background = Background::new(TracesetContext::new(&traceset));
    let (result, of_work) = (Arc::clone(&counts), traceset.clone());
    let id = background.register_on_thread("types", move || {
        let (result, traceset) = (Arc::clone(&result), of_work.clone());
        move |control: &ThreadControl| {
            let mut context = TracesetContext::new(&traceset);
            let slice = CountTypes.attach(&mut context);
            let mut part = Vec::new();
            let read = context.read_analysis(
                &CountTypes,
                slice,
                (&mut (), &mut part),
                &Bounds::all(),
                SliceThreads::new(3).slice_events(200),
                |context| {
                    context.position().time().map_or(Flow::Continue(()), |at| control.passed(at))
                },
            );
            assert!(read.is_ok());
            *result.lock().unwrap() = part;
            Flow::Continue(())
        }
    });
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    background.compute(id, Owner::unique());
    scheduler.set_background(background);
    serve_asleep(&mut scheduler, id);
    let request = EventsRequest::new(Owner::unique())
        .on_every_event(|call, _| add(&mut expected, call.event.type_id().index(), 1));
    scheduler.submit(request).expect("a request");
    serve(&mut scheduler);
    drop(scheduler);
    assert_eq!(*counts.lock().unwrap(), expected);
    assert!(expected.len() > 10);
}
