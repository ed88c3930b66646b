//! The bounds of a read.

use std::ops::{Bound, RangeBounds};

use ltt_read::order::{DeliveryKey, OrderPosition};
use ltt_read::{Event, Position, Timestamp};

use crate::traceset::TracesetPosition;

/// The bounds of a read: where it stops, at the first bound met, and which times the delivered
/// events have. All bounds are exact except [`max_examined`](Self::max_examined).
///
/// ```
/// use lttv_context::{Bounds, EndReason, TracesetContext, Traceset};
/// use ltt_read::Timestamp;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let read = context.read(&Bounds::all().until(Timestamp::MAX).events(500))?;
/// assert_eq!((read.events, read.reason), (500, EndReason::EventCount));
/// # Ok::<(), Box<dyn std::error::Error>>(())
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
    /// Creates bounds that end a read only at the end of the traceset.
    pub fn all() -> Self {
        Self::default()
    }

    /// Sets the start time: events before it are skipped.
    ///
    /// After [seeking](crate::TracesetContext::seek_time) this time, only events out of order,
    /// after a clock went back, are before it. Hooks of extensions are called for skipped events.
    #[must_use]
    pub fn since(self, time: Timestamp) -> Self {
        Bounds { since: Some(time), ..self }
    }

    /// Sets the end time: events before it are delivered, and the read stops once all of them have
    /// been delivered.
    ///
    /// The context is then at the position to which [seeking](crate::TracesetContext::seek_time)
    /// the time leads, before the first event at the time or later. If a clock goes back, events
    /// before the time may follow that position. They are delivered as well: the read continues
    /// until the last of them, skips events at the time or later, and returns to the position. The
    /// next read skips the events delivered in this way, unless another position is sought first.
    /// For extensions the read stops at the position.
    ///
    /// ```
    /// use lttv_context::{Bounds, TracesetContext, Traceset};
    /// use ltt_read::Timestamp;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let span = context.contexts().time_span().expect("some events");
    /// let half = Timestamp::from_ns(span.start.as_ns() + (span.end.as_ns() - span.start.as_ns()) / 2);
    /// let before = context.read(&Bounds::all().until(half))?.events;
    /// let after = context.read(&Bounds::all())?.events;
    /// assert_eq!(before + after, 6087);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn until(self, time: Timestamp) -> Self {
        Bounds { until: Some(time), ..self }
    }

    /// Sets the times of the events that are delivered: [`since`](Self::since) the start of a range and
    /// [`until`](Self::until) its end. Like all ranges in Rust, `a..b` is without `b`, and `a..=b` with it; a
    /// [`TimeSpan`](ltt_read::TimeSpan) contains both of its ends.
    ///
    /// ```
    /// use lttv_context::{Bounds, TracesetContext, Traceset};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let span = context.contexts().time_span().expect("some events");
    /// // All events are within the time span, the last one as well.
    /// assert_eq!(context.read(&Bounds::all().within(span))?.events, 6087);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn within(self, times: impl RangeBounds<Timestamp>) -> Self {
        let (since, until) = half_open(&times);
        Bounds { since, until, ..self }
    }

    /// Sets a time at whose start the read stops: at the position to which
    /// [seeking](crate::TracesetContext::seek_time) the time leads, before the first event at the
    /// time or later. If a clock goes back, events before the time may follow that position.
    #[must_use]
    pub fn until_start_of(self, time: Timestamp) -> Self {
        Bounds { start_of: Some(time), ..self }
    }

    /// Sets the position at which the read stops. If the current position is after it, the read
    /// stops at once.
    #[must_use]
    pub fn until_position(self, position: &TracesetPosition) -> Self {
        Bounds { position: Some(position.clone()), ..self }
    }

    /// Sets the number of events after which the read stops.
    #[must_use]
    pub fn events(self, events: u64) -> Self {
        Bounds { events: Some(events), ..self }
    }

    /// Sets the approximate number of events to look at before the read stops, whether or not they
    /// pass a [check](crate::TracesetContext::set_filter). This returns control to the caller regularly
    /// even if few events pass.
    #[must_use]
    pub fn max_examined(self, events: u64) -> Self {
        Bounds { looks: Some(events), ..self }
    }

    /// Returns the bounds of what is within these and others by time.
    pub(crate) fn confined(&self, to: &Bounds) -> Self {
        let first = |a: Option<Timestamp>, b: Option<Timestamp>| a.into_iter().chain(b).min();
        Bounds {
            since: self.since.max(to.since),
            until: first(self.until, to.until),
            start_of: first(self.start_of, to.start_of),
            ..self.clone()
        }
    }

    /// Returns the bounds without a maximum number of events.
    pub(crate) fn unlimited(self) -> Self {
        Bounds { events: None, looks: None, ..self }
    }

    /// Returns the time before which events are skipped.
    pub fn start_time(&self) -> Option<Timestamp> {
        self.since
    }

    /// Returns the time before which events are delivered.
    pub fn end_time(&self) -> Option<Timestamp> {
        self.until
    }

    /// Returns the time at whose start the read stops.
    pub(crate) fn end_start_of(&self) -> Option<Timestamp> {
        self.start_of
    }

    /// Returns the position at which the read stops.
    pub fn end_position(&self) -> Option<&TracesetPosition> {
        self.position.as_ref()
    }

    /// Returns the number of events after which the read stops.
    pub fn max_events(&self) -> Option<u64> {
        self.events
    }

    /// Returns the approximate number of events to look at before the read stops.
    pub(crate) fn examined_limit(&self) -> Option<u64> {
        self.looks
    }
}

/// Returns the first time of a range and the first time after it; `None` where it has no end.
pub(crate) fn half_open(
    times: &impl RangeBounds<Timestamp>,
) -> (Option<Timestamp>, Option<Timestamp>) {
    let after = |time: &Timestamp| time.as_ns().checked_add(1).map(Timestamp::from_ns);
    let start = match times.start_bound() {
        Bound::Included(time) => Some(*time),
        // Nothing is after the last time.
        Bound::Excluded(time) => after(time).or(Some(Timestamp::MAX)),
        Bound::Unbounded => None,
    };
    let end = match times.end_bound() {
        Bound::Included(time) => after(time),
        Bound::Excluded(time) => Some(*time),
        Bound::Unbounded => None,
    };
    (start, end)
}

/// The bounds of a read by time and position.
pub(crate) struct Limit<'b> {
    /// The time of delivery before which no bound is met.
    pub(crate) time: Timestamp,
    end_time: Option<Timestamp>,
    position: Option<&'b OrderPosition>,
}

impl<'b> Limit<'b> {
    /// Creates the limit for the end position of `bounds`, and for a time of delivery.
    pub(crate) fn new(bounds: &'b Bounds, end_time: Option<Timestamp>) -> Self {
        let position = bounds.end_position().map(TracesetPosition::order);
        let position_time = position.and_then(OrderPosition::time).unwrap_or(Timestamp::MAX);
        Limit { time: end_time.unwrap_or(Timestamp::MAX).min(position_time), end_time, position }
    }

    /// Returns the bound that an event meets, if any.
    #[cold]
    #[inline(never)]
    pub(crate) fn met(&self, key: DeliveryKey, event: &Event<'_>) -> Option<EndReason> {
        self.met_at(key, || event.position())
    }

    /// Returns the bound that is met by the position before an event, if any, given its key and its
    /// place in its tracefile.
    pub(crate) fn met_at(
        &self,
        key: DeliveryKey,
        place: impl FnOnce() -> Position,
    ) -> Option<EndReason> {
        if self.position.is_some_and(|end| end.is_reached_by(key, place)) {
            return Some(EndReason::EndPosition);
        }
        self.end_time.is_some_and(|end| key.time() >= end).then_some(EndReason::EndTime)
    }
}

/// The result of a read.
///
/// Damage in a trace does not end a read, since the events after it are delivered as well. It shows
/// only in [`errors`](Self::errors).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "`errors` tells whether the read met damage"]
#[non_exhaustive]
pub struct ReadEnd {
    /// The number of events delivered, whether or not a hook was called for them. With a
    /// [check](crate::TracesetContext::set_filter), only events that pass it are counted.
    pub events: u64,
    /// The number of events looked at, whether or not they pass a
    /// [check](crate::TracesetContext::set_filter). Events that were skipped without a look are
    /// not counted, and some events after the end of the read may be.
    pub examined: u64,
    /// The reason for the end of the read.
    pub reason: EndReason,
    /// The number of errors met so far, and not yet [removed](crate::TracesetContext::take_errors):
    /// those in [`Merge::errors`](ltt_read::Merge::errors) and those
    /// [omitted](ltt_read::Merge::errors_omitted) there. If it is not 0, events may be
    /// missing, in this read or an earlier one.
    pub errors: u64,
}

/// The reason for the end of a read. If several apply, it is the first of them in this order.
///
/// It can be matched exhaustively: a caller that continues a read has to know each reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// A hook returned `Break`. Its event was delivered.
    Stopped,
    /// The maximum number of events was delivered.
    EventCount,
    /// The maximum number of events was looked at.
    ExaminedCount,
    /// Nothing more is final in a traceset that is [growing](crate::Traceset::growing): see
    /// [`TracesetContext::watermark`](crate::TracesetContext::watermark).
    Pending,
    /// There are no more events, or none that can pass the check.
    EndOfTraceset,
    /// The next event is not before the end position.
    EndPosition,
    /// All events before the end time were delivered and others remain, or the next event is not
    /// before the time at whose start to stop.
    EndTime,
}
