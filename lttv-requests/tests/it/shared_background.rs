//! Schedulers that share the computations of one background.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use NotificationOutcome::{Cancelled, Reached};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_context::{CheckpointPolicy, EventCall, Extension, Handle, Setup, Subscription};
use lttv_requests::{
    Background, Budget, ChunkReport, ComputationId, ComputationProgress, Condition, EventsRequest,
    NotificationOutcome, Owner, Scheduler,
};
use proptest::prelude::*;

fn traceset() -> Traceset {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    Traceset::open(path).expect("a bundled trace")
}

/// The events of the bundled trace.
const EVENTS: u64 = 6087;

fn scheduler<'h>(traceset: &Traceset, background: Background<'h>) -> Scheduler<'h> {
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset));
    scheduler.set_background(background);
    scheduler
}

/// Creates a background with a computation that counts events.
fn counting<'h>(traceset: &Traceset, count: &'h Cell<u64>) -> (Background<'h>, ComputationId) {
    let background = Background::new(TracesetContext::new(traceset));
    let id = background.register("count", move |pass| {
        count.set(0);
        pass.on_every_event(move |_, _| count.set(count.get() + 1))
    });
    (background, id)
}

fn drain(scheduler: &mut Scheduler<'_>) -> (u64, Vec<(Owner, NotificationOutcome)>) {
    let (mut computed, mut told) = (0, Vec::new());
    loop {
        let chunk = scheduler.service_chunk(Budget::events(500));
        computed += chunk.computed;
        told.extend(news(&chunk));
        if !chunk.has_more() {
            return (computed, told);
        }
    }
}

fn news(chunk: &ChunkReport) -> Vec<(Owner, NotificationOutcome)> {
    chunk.notifications.iter().map(|news| (news.owner, news.outcome)).collect()
}

#[test]
fn a_computation_runs_once_for_all_schedulers_and_each_gets_its_notifications() {
    let (traceset, count) = (traceset(), Cell::new(0));
    let (background, id) = counting(&traceset, &count);
    let (one, two) = (Owner::unique(), Owner::unique());
    let mut first = scheduler(&traceset, background.share());
    let mut second = scheduler(&traceset, background.share());
    for (scheduler, owner) in [(&first, one), (&second, two)] {
        let shared = scheduler.background().expect("it was set");
        shared.compute(id, owner);
        shared.notify(id, owner, Condition::Done);
    }
    // Both drive it in turns.
    let (mut computed, mut turn) = (0, false);
    while background.stage(id) != ComputationProgress::Ready {
        turn = !turn;
        let next = if turn { &mut first } else { &mut second };
        let chunk = next.service_chunk(Budget::events(100));
        computed += chunk.computed;
        let expected = if background.stage(id) == ComputationProgress::Ready {
            vec![(if turn { one } else { two }, Reached)]
        } else {
            vec![]
        };
        assert_eq!(news(&chunk), expected);
    }
    let (other, owner) = if turn { (&mut second, two) } else { (&mut first, one) };
    assert!(other.needs_service());
    assert_eq!(drain(other), (0, vec![(owner, Reached)]));
    assert!(!other.needs_service());
    assert_eq!((count.get(), computed), (EVENTS, EVENTS));
}

#[test]
fn the_background_survives_a_new_context_of_the_same_traceset() {
    let (traceset, count) = (traceset(), Cell::new(0));
    let (background, id) = counting(&traceset, &count);
    let owner = Owner::unique();
    background.compute(id, owner);
    background.notify(id, owner, Condition::Done);
    let mut scheduler = scheduler(&traceset, background);
    assert_eq!(scheduler.service_chunk(Budget::events(1000)).computed, 1000);
    scheduler.replace_context(TracesetContext::new(&traceset));
    assert_eq!(drain(&mut scheduler), (EVENTS - 1000, vec![(owner, Reached)]));
    assert_eq!(count.get(), EVENTS);
}

#[test]
fn another_traceset_cancels_notifications_of_this_scheduler_only() {
    let (traceset, count) = (traceset(), Cell::new(0));
    let (background, id) = counting(&traceset, &count);
    let (one, two) = (Owner::unique(), Owner::unique());
    let mut first = scheduler(&traceset, background.share());
    let mut second = scheduler(&traceset, background);
    for (scheduler, owner) in [(&first, one), (&second, two)] {
        let shared = scheduler.background().expect("it was set");
        shared.compute(id, owner);
        shared.notify(id, owner, Condition::Done);
    }
    let mut twice = traceset.clone();
    twice.add(traceset.traces()[0].clone());
    first.replace_context(TracesetContext::new(&twice));
    assert!(first.background().is_none() && first.needs_service());
    assert_eq!(drain(&mut first), (0, vec![(one, Cancelled)]));
    assert_eq!(drain(&mut second), (EVENTS, vec![(two, Reached)]));
}

#[test]
fn notifications_of_a_removed_owner_and_of_a_given_up_computation_are_cancelled() {
    let (traceset, count) = (traceset(), Cell::new(0));
    let (background, id) = counting(&traceset, &count);
    let (one, two) = (Owner::unique(), Owner::unique());
    background.compute(id, one);
    background.notify(id, one, Condition::Done);
    // This owner only waits; it has not requested the computation.
    background.notify(id, two, Condition::Done);
    let mut scheduler = scheduler(&traceset, background);
    scheduler.service_chunk(Budget::events(100));
    scheduler.background().expect("it was set").cancel_owner(one);
    assert_eq!(drain(&mut scheduler), (0, vec![(one, Cancelled), (two, Cancelled)]));
    let background = scheduler.background().expect("it was set");
    assert_eq!(background.stage(id), ComputationProgress::Idle);
    // It can be requested again.
    background.compute(id, two);
    background.notify(id, two, Condition::Done);
    assert_eq!(drain(&mut scheduler), (EVENTS, vec![(two, Reached)]));
}

#[test]
fn a_panic_cancels_the_notifications_about_its_computation() {
    let (traceset, bad) = (traceset(), Cell::new(true));
    let background = Background::new(TracesetContext::new(&traceset));
    let owner = Owner::unique();
    let sound = background.register("sound", |pass| pass.on_every_event(|_, _| ()));
    let id = background.register("unsound", |pass| {
        pass.on_every_event(|_, _| assert!(!bad.get(), "a hook panics"))
    });
    for id in [sound, id] {
        background.compute(id, owner);
        background.notify(id, owner, Condition::Done);
    }
    let mut scheduler = scheduler(&traceset, background.share());
    let mut other = self::scheduler(&traceset, background);
    let call = AssertUnwindSafe(|| scheduler.service_chunk(Budget::events(100)));
    assert!(catch_unwind(call).is_err());
    // The notifications were registered with the other scheduler's handle.
    assert_eq!(drain(&mut scheduler).1, vec![]);
    assert_eq!(drain(&mut other).1, vec![(owner, Cancelled), (owner, Reached)]);
    let background = other.background().expect("it was set");
    assert_eq!(background.stage(id), ComputationProgress::Idle);
    bad.set(false);
    background.compute(id, owner);
    assert_eq!(background.stage(sound), ComputationProgress::Ready);
    drain(&mut other);
    assert_eq!(other.background().map(|it| it.stage(id)), Some(ComputationProgress::Ready));
}

#[test]
fn a_closed_tab_gives_up_what_no_other_tab_wants() {
    let (traceset, count) = (traceset(), Cell::new(0));
    let (background, shared) = counting(&traceset, &count);
    let own = background.register("own", |pass| pass.on_every_event(|_, _| ()));
    let first = scheduler(&traceset, background.share());
    let mut second = scheduler(&traceset, background);
    for (scheduler, ids) in [(&first, vec![shared, own]), (&second, vec![shared])] {
        let background = scheduler.background().expect("it was set");
        ids.into_iter().for_each(|id| _ = background.compute(id, Owner::unique()));
    }
    drop(first);
    assert_eq!(drain(&mut second).0, EVENTS);
    let background = second.background().expect("it was set");
    assert_eq!(background.stage(shared), ComputationProgress::Ready);
    assert_eq!(background.stage(own), ComputationProgress::Idle);
}

#[test]
fn hooks_of_a_computation_can_use_a_handle() {
    let traceset = traceset();
    let seen = Cell::new(0);
    let background = Background::new(TracesetContext::new(&traceset));
    let handle: Rc<RefCell<Option<Background<'_>>>> = Rc::default();
    let owner = Owner::unique();
    let later =
        background.register("later", |pass| pass.on_every_event(|_, _| seen.set(seen.get() + 1)));
    let by_hook = handle.clone();
    let first = background.register("first", move |pass| {
        let by_hook = by_hook.clone();
        pass.max_events(10).after_request(move |_, _, _| {
            let handle = by_hook.borrow();
            let handle = handle.as_ref().expect("it was stored");
            assert!(handle.context().is_none());
            assert!(!handle.is_idle());
            let stage = handle.compute(later, owner);
            assert!(matches!(stage, ComputationProgress::InProgress { .. }));
        })
    });
    *handle.borrow_mut() = Some(background.share());
    background.compute(first, owner);
    let mut scheduler = scheduler(&traceset, background);
    drain(&mut scheduler);
    drop(scheduler);
    handle.take();
    assert_eq!(seen.get(), EVENTS);
}

/// An extension that counts events.
#[derive(Default)]
struct Count(u64);

impl Extension for Count {
    type Checkpoint = u64;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let all = Subscription::to_every_event();
        setup.hooks.on_event(all, move |call: &mut EventCall<'_, '_>| {
            call.extensions[handle].0 += 1;
        });
    }

    fn reset(&mut self) {
        self.0 = 0;
    }

    fn save(&self) -> u64 {
        self.0
    }

    fn restore(&mut self, saved: &u64) {
        self.0 = *saved;
    }

    fn checkpoint_bytes(_: &u64, _: Option<&u64>) -> usize {
        size_of::<Self::Checkpoint>()
    }
}

#[test]
fn checkpoints_are_lent_to_every_scheduler() {
    let traceset = traceset();
    let context = || {
        let mut context = TracesetContext::new(&traceset);
        context.attach(Count::default());
        context
    };
    let mut own = context();
    own.state().set_policy(CheckpointPolicy::every(1000));
    let background = Background::new(own);
    let id = background.register("state", |pass| pass);
    background.lend_checkpoints();
    background.compute(id, Owner::unique());
    let mut first = Scheduler::new(context());
    first.set_background(background.share());
    let mut second = Scheduler::new(context());
    second.set_background(background);
    drain(&mut first);
    // The second scheduler has not been served so far.
    let mut place = TracesetContext::new(&traceset);
    assert!(place.read(&Bounds::all().events(5050)).is_ok());
    let request = EventsRequest::new(Owner::unique()).starting_at(place.position()).max_events(1);
    second.submit(request).expect("a valid request");
    let chunk = second.service_chunk(Budget::events(6000));
    assert_eq!((chunk.replayed, chunk.read), (50, 1));
}

/// A step of an application with several tabs.
#[derive(Debug, Clone, Copy)]
enum Step {
    Compute(usize, usize),
    Notify(usize, usize),
    Cancel(usize),
    Serve(usize, u64),
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each notification is delivered once, by its own scheduler; it is reached if and only
    /// if the computation is complete then.
    #[test]
    fn each_notification_has_one_outcome(steps in prop::collection::vec(prop_oneof![
        (0..3usize, 0..2usize).prop_map(|(tab, id)| Step::Compute(tab, id)),
        (0..3usize, 0..2usize).prop_map(|(tab, id)| Step::Notify(tab, id)),
        (0..3usize).prop_map(Step::Cancel),
        (0..3usize, 1..4000u64).prop_map(|(tab, budget)| Step::Serve(tab, budget)),
    ], 0..30)) {
        let traceset = traceset();
        let background = Background::new(TracesetContext::new(&traceset));
        let ids = ["a", "b"].map(|name| background.register(name, |pass| pass));
        let owners = [Owner::unique(), Owner::unique(), Owner::unique()];
        let mut tabs: Vec<_> =
            owners.iter().map(|_| scheduler(&traceset, background.share())).collect();
        // The notifications that are pending, by tab and computation.
        let mut pending: Vec<(usize, usize)> = Vec::new();
        let all = [0, 1, 2].map(|tab| Step::Serve(tab, 20_000));
        for step in steps.into_iter().chain(all).chain(all) {
            match step {
                Step::Compute(tab, id) => _ = tabs[tab].background().unwrap().compute(ids[id], owners[tab]),
                Step::Notify(tab, id) => {
                    tabs[tab].background().unwrap().notify(ids[id], owners[tab], Condition::Done);
                    pending.push((tab, id));
                }
                Step::Cancel(tab) => tabs[tab].background().unwrap().cancel_owner(owners[tab]),
                Step::Serve(tab, budget) => {
                    for news in tabs[tab].service_chunk(Budget::events(budget)).notifications {
                        prop_assert_eq!(news.owner, owners[tab]);
                        let id = ids.iter().position(|id| *id == news.computation).unwrap();
                        let at = pending.iter().position(|asked| *asked == (tab, id));
                        prop_assert!(at.is_some(), "told twice");
                        pending.remove(at.unwrap());
                        if news.outcome == Reached {
                            prop_assert_eq!(background.stage(ids[id]), ComputationProgress::Ready);
                        }
                    }
                }
            }
        }
        // What is still pending is about computations that were never requested.
        for (_, id) in pending {
            prop_assert_eq!(background.stage(ids[id]), ComputationProgress::Idle);
        }
    }
}
