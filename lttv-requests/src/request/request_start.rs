//! Positions at which requests start and continue.

use std::cmp::Ordering;

use ltt_read::Timestamp;
use lttv_context::{Bounds, TracesetPosition};

/// The start of a request.
///
/// ```
/// use ltt_read::Timestamp;
/// use lttv_requests::Start;
///
/// assert!(matches!(Start::from(Timestamp::from_ns(7)), Start::Time(_)));
/// assert!(matches!(Start::default(), Start::Begin));
/// ```
#[derive(Debug, Clone, Default)]
pub enum Start {
    /// The start of the traceset, before its first event.
    #[default]
    Begin,
    /// The position before the first event at this time or later.
    Time(Timestamp),
    /// A position, typically from an earlier read of this traceset.
    Position(TracesetPosition),
}

impl From<Timestamp> for Start {
    fn from(time: Timestamp) -> Self {
        Start::Time(time)
    }
}

impl From<TracesetPosition> for Start {
    fn from(position: TracesetPosition) -> Self {
        Start::Position(position)
    }
}

impl From<&TracesetPosition> for Start {
    fn from(position: &TracesetPosition) -> Self {
        Start::Position(position.clone())
    }
}

/// A place between two events at which a request starts or continues.
///
/// A time stands for the position before the first event at this time or later, which is
/// only found by seeking.
#[derive(Debug, Clone)]
pub(crate) enum RequestStart {
    Time(Timestamp),
    Position(TracesetPosition),
}

impl From<Start> for RequestStart {
    fn from(start: Start) -> Self {
        match start {
            Start::Begin => RequestStart::Time(Timestamp::MIN),
            Start::Time(time) => RequestStart::Time(time),
            Start::Position(position) => RequestStart::Position(position),
        }
    }
}

impl RequestStart {
    /// Returns whether the start is known to be at a position.
    pub(crate) fn is_at(&self, position: &TracesetPosition) -> bool {
        count();
        match self {
            RequestStart::Time(time) => position.is_start_of(*time),
            RequestStart::Position(own) => own == position,
        }
    }

    /// Returns whether there are events between a position and the start.
    pub(crate) fn is_after(&self, position: &TracesetPosition) -> bool {
        count();
        match self {
            RequestStart::Time(time) => position.time().is_some_and(|next| next < *time),
            RequestStart::Position(own) => position < own,
        }
    }

    /// Returns whether reading from a position leads to the start.
    pub(crate) fn is_reached_from(&self, position: &TracesetPosition) -> bool {
        self.is_at(position) || self.is_after(position)
    }

    /// Compares two starts. A time that may be equal to a position is ordered before it;
    /// seeking the time decides.
    pub(crate) fn order(&self, other: &RequestStart) -> Ordering {
        count();
        match (self, other) {
            (RequestStart::Time(a), RequestStart::Time(b)) => a.cmp(b),
            (RequestStart::Position(a), RequestStart::Position(b)) => {
                a.partial_cmp(b).unwrap_or(Ordering::Equal)
            }
            (RequestStart::Time(_), RequestStart::Position(position)) => self.order_to(position),
            (RequestStart::Position(position), RequestStart::Time(_)) => {
                other.order_to(position).reverse()
            }
        }
    }

    fn order_to(&self, position: &TracesetPosition) -> Ordering {
        if self.is_after(position) { Ordering::Greater } else { Ordering::Less }
    }

    /// Returns whether both are equal as written: the same time, or the same position.
    pub(crate) fn is_identical(&self, other: &RequestStart) -> bool {
        count();
        match (self, other) {
            (RequestStart::Time(a), RequestStart::Time(b)) => a == b,
            (RequestStart::Position(a), RequestStart::Position(b)) => a == b,
            _ => false,
        }
    }

    /// Returns bounds that end at the start.
    pub(crate) fn bounds(&self) -> Bounds {
        match self {
            RequestStart::Time(time) => Bounds::all().until_start_of(*time),
            RequestStart::Position(position) => Bounds::all().until_position(position),
        }
    }
}

/// Counts comparisons, for tests of complexity.
#[inline(always)]
fn count() {
    #[cfg(test)]
    tests::COMPARISONS.with(|count| count.set(count.get() + 1));
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use ltt_read::schema::{FieldClass, Format, StreamClassId};
    use ltt_read::writer::{FieldValue, MemoryTrace, presets};
    use lttv_context::{Bounds, Traceset, TracesetContext};

    use crate::{Budget, EventsRequest, Owner, Scheduler, Urgency};

    thread_local! {
        pub(super) static COMPARISONS: Cell<u64> = const { Cell::new(0) };
    }

    /// Builds a traceset with one event per nanosecond.
    fn traceset(events: u64) -> Traceset {
        let mut schema = presets::lttng_kernel(Format::Ctf2);
        schema.clocks[0].offset_seconds = 0;
        let tick = schema.add_event_type(StreamClassId(0), "tick", FieldClass::structure([]));
        let mut trace = MemoryTrace::new(schema);
        let stream = trace.stream(StreamClassId(0), "channel_0").expect("a stream");
        let mut stream = stream.with_packet_context(FieldValue::fields([("cpu_id", 0_u64)]));
        for time in 0..events {
            stream.event(tick, time, FieldValue::Struct(Vec::new())).expect("an event");
        }
        trace.add(stream).expect("a stream");
        vec![trace.open().expect("a trace")].into()
    }

    /// Returns the number of comparisons that it takes to serve requests that start at
    /// different positions.
    fn comparisons(requests: u64, by_position: bool, shares: bool) -> u64 {
        let got = Cell::new(0);
        let traceset = traceset(2 * requests + 10);
        let mut positions = Vec::new();
        let mut context = TracesetContext::new(&traceset);
        while positions.len() < requests as usize {
            positions.push(context.position());
            _ = context.read(&Bounds::all().events(2)).expect("bounds without a position");
        }
        let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
        scheduler.set_sharing(shares);
        for (number, position) in (0_u8..=255).cycle().zip(&positions) {
            let request = EventsRequest::new(Owner::unique()).urgency(Urgency::new(number % 3));
            let request = match (by_position, position.time()) {
                (false, Some(time)) => request.starting_at(time),
                _ => request.starting_at(position),
            };
            let request = request.max_events(4).on_every_event(|_, _| got.set(got.get() + 1));
            scheduler.submit(request).expect("a valid request");
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
            // The logarithm of 3200 is less than twice that of 100.
            assert!(many <= 2 * few, "{few} for each of few requests, {many} for each of many");
            assert!(few < 400, "{few} for each request");
        }
    }
}
