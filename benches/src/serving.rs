//! Serving requests to their end.

use std::cell::Cell;

use lttv_requests::{Budget, EventsRequest, Owner, Scheduler};

/// Serves until nothing pends; tells how many events were read and delivered.
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

/// A viewer of everything, which counts what it gets.
pub fn counting(count: &Cell<u64>) -> EventsRequest<'_> {
    EventsRequest::new(Owner::fresh()).on_every_event(|_, _| count.set(count.get() + 1))
}
