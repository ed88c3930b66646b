//! The tools for tests detect faults.

use std::cell::Cell;

use lttv_context::{Traceset, TracesetContext};
use lttv_requests::testing::{Journal, assert_alone_is_together, serve_all};
use lttv_requests::{Budget, EventsRequest, FinishReason, Owner, Scheduler};

fn traceset() -> Traceset {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    Traceset::open(path).expect("the bundled trace")
}

#[test]
fn a_journal_is_whole_only_after_service() {
    let mut scheduler = Scheduler::new(TracesetContext::new(traceset()));
    let journal = Journal::new();
    let request = journal.watch(EventsRequest::new(Owner::unique()).max_events(100));
    scheduler.submit(request).expect("a valid request");
    scheduler.service_chunk(Budget::events(10));
    assert!(
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| journal.assert_whole())).is_err()
    );
    assert!(serve_all(&mut scheduler, Budget::events(10)) >= 9);
    journal.assert_whole();
    assert_eq!(journal.events().count(), 100);
    assert_eq!(journal.reason(), Some(FinishReason::EventCount));
}

#[test]
#[should_panic(expected = "request 1: event 5")]
fn a_request_that_depends_on_others_is_detected() {
    let traceset = traceset();
    // The second of two requests reads more events than it would alone.
    let made = Cell::new(0_u64);
    assert_alone_is_together(
        || {
            made.set(0);
            TracesetContext::new(&traceset)
        },
        2,
        |_, owner| {
            made.set(made.get() + 1);
            EventsRequest::new(owner).max_events(4 + made.get().pow(2))
        },
        Budget::events(3),
    );
}
