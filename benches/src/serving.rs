//! Serving of requests to their end.

use std::cell::Cell;

use lttv_requests::{Budget, EventsRequest, Owner, Scheduler};

/// Serves requests until none is pending. Returns the numbers of events read and delivered.
pub fn drain(scheduler: &mut Scheduler<'_>) -> (u64, u64) {
    let (mut read, mut delivered) = (0, 0);
    loop {
        let chunk = scheduler.service_chunk(Budget::events(6000));
        read += chunk.read;
        delivered += chunk.delivered;
        if !chunk.has_more() {
            return (read, delivered);
        }
    }
}

/// Returns a request for all events, which counts them.
pub fn counting(count: &Cell<u64>) -> EventsRequest<'_> {
    EventsRequest::new(Owner::unique()).on_every_event(|_, _| count.set(count.get() + 1))
}
