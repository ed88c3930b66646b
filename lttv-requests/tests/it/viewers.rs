//! Viewers that the scheduler owns: what they receive, how long they stay, and who finds them.

use lttv_context::{EventCall, ReadCall, Subscription, Traceset, TracesetContext};
use lttv_requests::{
    Budget, Control, EventsRequest, FinishReason, Owner, Scheduler, Viewer, ViewerHandle,
};

/// A record of the calls of a viewer.
#[derive(Debug, Default)]
struct Calls {
    begun: u32,
    switches: u64,
    chunks: u32,
    end: Option<FinishReason>,
}

impl Viewer for Calls {
    fn events(&self) -> Subscription {
        "sched_switch".into()
    }

    fn begin(&mut self, _: &mut ReadCall<'_, '_>, _: &Control<'_>) {
        self.begun += 1;
    }

    fn event(&mut self, call: &mut EventCall<'_, '_>, _: &Control<'_>) {
        assert_eq!(call.event.event_type().name(), "sched_switch");
        assert!(self.begun == 1 && self.end.is_none());
        self.switches += 1;
    }

    fn end_chunk(&mut self, _: &mut ReadCall<'_, '_>, _: &Control<'_>) {
        self.chunks += 1;
    }

    fn end(&mut self, _: &mut ReadCall<'_, '_>, _: &Control<'_>, reason: FinishReason) {
        assert_eq!(self.end.replace(reason), None);
    }
}

fn scheduler() -> Scheduler<'static> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    Scheduler::new(TracesetContext::new(Traceset::open(path).expect("the bundled trace")))
}

fn submit(scheduler: &mut Scheduler<'static>, owner: Owner) -> ViewerHandle<Calls> {
    scheduler.submit_viewer(EventsRequest::new(owner), Calls::default()).expect("no position")
}

#[test]
fn a_viewer_is_shown_while_it_is_filled_and_taken_after_the_end() {
    let mut scheduler = scheduler();
    let handle = submit(&mut scheduler, Owner::unique());
    assert_eq!(scheduler.pending().next().map(|one| one.request), Some(handle.request()));
    assert_eq!(scheduler.viewer(handle).map(|calls| calls.begun), Some(0));
    scheduler.service_chunk(Budget::events(1000));
    let so_far = scheduler.viewer(handle).map_or(0, |calls| calls.switches);
    assert!(so_far > 0 && so_far < 497, "{so_far}");
    assert!(scheduler.take_viewer(handle).is_none(), "its request goes on");
    while scheduler.service_chunk(Budget::events(1000)).has_more() {}
    scheduler.viewer_mut(handle).expect("it stays").switches += 1;
    let calls = scheduler.take_viewer(handle).expect("its request has ended");
    assert_eq!((calls.begun, calls.switches, calls.chunks), (1, 498, 7));
    assert_eq!(calls.end, Some(FinishReason::EndOfTraceset));
    assert!(scheduler.viewer(handle).is_none() && scheduler.take_viewer(handle).is_none());
}

#[test]
fn a_cancelled_viewer_stays_until_its_owner_replaces_it() {
    let mut scheduler = scheduler();
    let (owner, other) = (Owner::unique(), Owner::unique());
    let (first, beside) = (submit(&mut scheduler, owner), submit(&mut scheduler, other));
    scheduler.service_chunk(Budget::events(1000));
    scheduler.cancel_owner(owner);
    let end = scheduler.viewer(first).and_then(|calls| calls.end);
    assert_eq!(end, Some(FinishReason::Cancelled));
    let second = scheduler.replace_viewer(EventsRequest::new(owner), Calls::default());
    let second = second.expect("no position");
    assert!(scheduler.viewer(first).is_none());
    scheduler.replace(EventsRequest::new(owner).max_events(1)).expect("no position");
    assert!(scheduler.viewer(second).is_none() && scheduler.pending().len() == 2);
    while scheduler.service_chunk(Budget::events(1000)).has_more() {}
    assert_eq!(scheduler.viewer(beside).map(|calls| calls.switches), Some(497));
    scheduler.remove_owner(other);
    assert!(scheduler.viewer(beside).is_none());
}

#[test]
fn a_request_that_is_refused_replaces_nothing() {
    let (mut scheduler, other) = (scheduler(), Traceset::new());
    let owner = Owner::unique();
    let handle = submit(&mut scheduler, owner);
    let end = lttv_context::TracesetPosition::end(&other);
    let stale = EventsRequest::new(owner).starting_at(&end);
    assert!(scheduler.replace_viewer(stale, Calls::default()).is_err());
    assert!(scheduler.viewer(handle).is_some() && scheduler.pending().len() == 1);
}

#[test]
fn handles_and_ids_of_another_scheduler_find_nothing() {
    let (mut one, mut two) = (scheduler(), scheduler());
    let (of_one, of_two) = (submit(&mut one, Owner::unique()), submit(&mut two, Owner::unique()));
    assert!(one.viewer(of_two).is_none() && one.viewer_mut(of_two).is_none());
    assert!(one.take_viewer(of_two).is_none() && one.cancel(of_two.request()).is_none());
    assert!(one.viewer(of_one).is_some() && two.viewer(of_two).is_some());
}
