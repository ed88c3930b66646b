//! How far to read.

use ltt_read::{Event, Position, Timestamp};

use crate::position::{Key, TracesetPosition};

/// How far to read: whichever of its bounds comes first. All are exact, but the
/// one on [work](Self::looks).
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
    time: Option<Timestamp>,
    position: Option<TracesetPosition>,
    events: Option<u64>,
    looks: Option<u64>,
}

impl Bounds {
    /// No bounds but the traceset's end.
    pub fn all() -> Self {
        Self::default()
    }

    /// Stop before the first event at this time or later.
    #[must_use]
    pub fn until(self, time: Timestamp) -> Self {
        Bounds { time: Some(time), ..self }
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

    /// The time to stop at.
    pub fn end_time(&self) -> Option<Timestamp> {
        self.time
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
    pub(crate) fn new(bounds: &'b Bounds) -> Self {
        let end_time = bounds.end_time().map(|time| time.ns());
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
    /// The next event is not before the end time.
    EndTime,
}
