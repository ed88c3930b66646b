//! Where requests stand, compared.

use std::cmp::Ordering;

use ltt_read::Timestamp;
use lttv_context::{Bounds, TracesetPosition};

use crate::start::Start;

/// A place between two events.
///
/// A time is one too: that before the first event at it or later. Which position
/// that is shows when somebody goes there.
#[derive(Debug, Clone)]
pub(crate) enum Cut {
    Time(Timestamp),
    Position(TracesetPosition),
}

impl From<Start> for Cut {
    fn from(start: Start) -> Self {
        match start {
            Start::Begin => Cut::Time(Timestamp::MIN),
            Start::Time(time) => Cut::Time(time),
            Start::Position(position) => Cut::Position(position),
        }
    }
}

impl Cut {
    /// Whether it is known to be at a position.
    pub(crate) fn is_at(&self, position: &TracesetPosition) -> bool {
        count();
        match self {
            Cut::Time(time) => position.is_start_of(*time),
            Cut::Position(own) => own == position,
        }
    }

    /// Whether there are events between a position and it.
    pub(crate) fn is_behind(&self, position: &TracesetPosition) -> bool {
        count();
        match self {
            Cut::Time(time) => position.time().is_some_and(|next| next < *time),
            Cut::Position(own) => position < own,
        }
    }

    /// Whether reading on from a position leads to it.
    pub(crate) fn is_reached_from(&self, position: &TracesetPosition) -> bool {
        self.is_at(position) || self.is_behind(position)
    }

    /// Which of two comes first. What may be equal counts as a time before a
    /// position: going to the time shows it.
    pub(crate) fn order(&self, other: &Cut) -> Ordering {
        count();
        match (self, other) {
            (Cut::Time(a), Cut::Time(b)) => a.cmp(b),
            (Cut::Position(a), Cut::Position(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Cut::Time(_), Cut::Position(position)) => self.order_to(position),
            (Cut::Position(position), Cut::Time(_)) => other.order_to(position).reverse(),
        }
    }

    fn order_to(&self, position: &TracesetPosition) -> Ordering {
        if self.is_behind(position) { Ordering::Greater } else { Ordering::Less }
    }

    /// Whether both are the same by what they say, wherever that is.
    pub(crate) fn is_same(&self, other: &Cut) -> bool {
        count();
        match (self, other) {
            (Cut::Time(a), Cut::Time(b)) => a == b,
            (Cut::Position(a), Cut::Position(b)) => a == b,
            _ => false,
        }
    }

    /// Bounds that end at it.
    pub(crate) fn bounds(&self) -> Bounds {
        match self {
            Cut::Time(time) => Bounds::all().until_start_of(*time),
            Cut::Position(position) => Bounds::all().until_position(position),
        }
    }
}

/// Counts that cuts were compared, for tests of how much is done.
#[inline(always)]
fn count() {
    #[cfg(test)]
    tests::COMPARISONS.with(|count| count.set(count.get() + 1));
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use ltt_read::schema::{FieldClass, Format, StreamClassId};
    use ltt_read::writer::{MemoryTrace, Value, presets};
    use lttv_context::{Bounds, Traceset, TracesetContext};

    use crate::{Budget, EventsRequest, Owner, Scheduler, Urgency};

    thread_local! {
        pub(super) static COMPARISONS: Cell<u64> = const { Cell::new(0) };
    }

    /// An event a nanosecond.
    fn traceset(events: u64) -> Traceset {
        let mut schema = presets::lttng_kernel(Format::Ctf2);
        schema.clocks[0].offset_seconds = 0;
        let tick = schema.add_event_type(StreamClassId(0), "tick", FieldClass::structure([]));
        let mut trace = MemoryTrace::new(schema);
        let stream = trace.stream(StreamClassId(0), "channel_0").expect("a stream");
        let mut stream = stream.with_packet_context(Value::fields([("cpu_id", 0_u64)]));
        for time in 0..events {
            stream.event(tick, time, Value::Struct(Vec::new())).expect("an event");
        }
        trace.add(stream).expect("a stream");
        vec![trace.open().expect("a trace")].into()
    }

    /// How many comparisons it takes to serve requests that begin at different places.
    fn comparisons(requests: u64, by_position: bool, shares: bool) -> u64 {
        let got = Cell::new(0);
        let traceset = traceset(2 * requests + 10);
        let mut positions = Vec::new();
        let mut context = TracesetContext::new(&traceset);
        while positions.len() < requests as usize {
            positions.push(context.position());
            context.middle(&Bounds::all().events(2)).expect("no position in it");
        }
        let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
        scheduler.set_sharing(shares);
        for (number, position) in (0_u8..=255).cycle().zip(&positions) {
            let request = EventsRequest::new(Owner::fresh()).urgency(Urgency::new(number % 3));
            let request = match (by_position, position.time()) {
                (false, Some(time)) => request.from(time),
                _ => request.from(position),
            };
            let request = request.events(4).on_every_event(|_, _| got.set(got.get() + 1));
            scheduler.submit(request).expect("a sound request");
        }
        COMPARISONS.set(0);
        while scheduler.service_chunk(Budget::events(100)).has_more() {}
        assert_eq!(got.get(), 4 * requests);
        COMPARISONS.get()
    }

    #[test]
    fn comparisons_grow_no_faster_than_requests_and_their_logarithm() {
        for (by_position, shares) in [(false, true), (true, true), (true, false)] {
            let few = comparisons(100, by_position, shares) / 100;
            let many = comparisons(3200, by_position, shares) / 3200;
            // Their logarithm is not twice as large.
            assert!(many <= 2 * few, "{few} for each of few requests, {many} for each of many");
            assert!(few < 400, "{few} for each request");
        }
    }
}
