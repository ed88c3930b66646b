//! How far to read.

use ltt_read::{Event, Position, Timestamp};

use crate::position::{Key, TracesetPosition};

/// What to read: how far, whichever of its bounds comes first, and events of which times.
/// All are exact, but the one on [work](Self::looks).
///
/// ```
/// use lttv_context::Bounds;
/// use ltt_read::Timestamp;
///
/// let chunk = Bounds::all().until(Timestamp::from_ns(1_000)).events(500);
/// assert_eq!(chunk.max_events(), Some(500));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    start_of: Option<Timestamp>,
    position: Option<TracesetPosition>,
    events: Option<u64>,
    looks: Option<u64>,
}

impl Bounds {
    /// No bounds but the traceset's end.
    pub fn all() -> Self {
        Self::default()
    }

    /// Leave out events before this time.
    ///
    /// After [seeking](crate::TracesetContext::seek_time) the time, these are events that
    /// come late, since a clock went back. Hooks of extensions get them.
    #[must_use]
    pub fn since(self, time: Timestamp) -> Self {
        Bounds { since: Some(time), ..self }
    }

    /// Deliver the events before this time, and stop when all of them have been delivered.
    ///
    /// The context is then where [seeking](crate::TracesetContext::seek_time) the time leads
    /// to, before the first event at it or later. Where a clock goes back, events before the
    /// time may come after that place. They are delivered all the same: reading goes on
    /// until the last of them has come, leaves out events at the time or later, and goes
    /// back. Until something is sought, the next read leaves out what was delivered so. To
    /// extensions it is as if reading had stopped at the place.
    ///
    /// ```
    /// use lttv_context::{Bounds, TracesetContext, Traceset};
    /// use ltt_read::Timestamp;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let span = context.contexts().time_span().expect("some events");
    /// let half = Timestamp::from_ns(span.begin.ns() + (span.end.ns() - span.begin.ns()) / 2);
    /// let before = context.middle(&Bounds::all().until(half))?.events;
    /// let after = context.middle(&Bounds::all())?.events;
    /// assert_eq!(before + after, 6087);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn until(self, time: Timestamp) -> Self {
        Bounds { until: Some(time), ..self }
    }

    /// Stop where [seeking](crate::TracesetContext::seek_time) this time leads to: before
    /// the first event at it or later. Where a clock goes back, events before the time may
    /// come after that place.
    #[must_use]
    pub fn until_start_of(self, time: Timestamp) -> Self {
        Bounds { start_of: Some(time), ..self }
    }

    /// Stop at this position, or at once if it is behind.
    #[must_use]
    pub fn until_position(self, position: &TracesetPosition) -> Self {
        Bounds { position: Some(position.clone()), ..self }
    }

    /// Stop after this many events.
    #[must_use]
    pub fn events(self, events: u64) -> Self {
        Bounds { events: Some(events), ..self }
    }

    /// Stop when about this many events have been looked at, whether or not they
    /// pass a [check](crate::TracesetContext::choose): to have a turn now and then
    /// even if few pass.
    #[must_use]
    pub fn looks(self, events: u64) -> Self {
        Bounds { looks: Some(events), ..self }
    }

    /// The time before which events are left out.
    pub fn start_time(&self) -> Option<Timestamp> {
        self.since
    }

    /// The time before which events are delivered.
    pub fn end_time(&self) -> Option<Timestamp> {
        self.until
    }

    /// The time at whose start to stop.
    pub fn end_start_of(&self) -> Option<Timestamp> {
        self.start_of
    }

    /// The position to stop at.
    pub fn end_position(&self) -> Option<&TracesetPosition> {
        self.position.as_ref()
    }

    /// The number of events to stop after.
    pub fn max_events(&self) -> Option<u64> {
        self.events
    }

    /// The number of events to look at.
    pub fn max_looks(&self) -> Option<u64> {
        self.looks
    }
}

/// The bounds of a read but for the number of events.
pub(crate) struct Limit<'b> {
    /// Nothing is met before this time.
    pub(crate) time: i64,
    end_time: Option<i64>,
    position: Option<(Key, Option<&'b Position>)>,
}

impl<'b> Limit<'b> {
    /// Those bounds, with a time of delivery to stop at.
    pub(crate) fn new(bounds: &'b Bounds, end_time: Option<i64>) -> Self {
        let position = bounds.end_position().map(|end| (end.key(), end.place()));
        let position_time = position.map_or(i64::MAX, |(key, _)| key.0);
        Limit { time: end_time.unwrap_or(i64::MAX).min(position_time), end_time, position }
    }

    /// Which bound an event meets.
    #[cold]
    #[inline(never)]
    pub(crate) fn met(&self, key: Key, event: &Event<'_>) -> Option<EndReason> {
        if let Some((end, place)) = self.position {
            let is_at = key == end && place.is_none_or(|place| event.position() >= *place);
            if key > end || is_at {
                return Some(EndReason::EndPosition);
            }
        }
        self.end_time.is_some_and(|end| key.0 >= end).then_some(EndReason::EndTime)
    }
}

/// What came of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadEnd {
    /// How many events were delivered, whether or not a hook was called for them:
    /// all, or those that pass the [check](crate::TracesetContext::choose).
    pub events: u64,
    /// What ended it.
    pub reason: EndReason,
}

/// Why reading ended. If several hold, it is the first of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// A hook asked to stop; its event was delivered.
    Stopped,
    /// As many events as wanted were delivered.
    EventCount,
    /// As many events as wanted were looked at.
    LookCount,
    /// There are no more events, or none that can pass.
    EndOfTraceset,
    /// The next event is not before the end position.
    EndPosition,
    /// All events before the end time were delivered, and there are others; or the next
    /// event is not before the time at whose start to stop.
    EndTime,
}
