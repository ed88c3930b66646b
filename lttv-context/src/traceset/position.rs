//! Positions in the order of all events of a traceset.

use std::cmp::Ordering;
use std::sync::Arc;

use ltt_read::order::OrderPosition;
use ltt_read::{Event, Timestamp, TraceIndex, TracefileNumber};

use super::{Revision, Traceset};

/// A position between two events of a traceset.
///
/// A position is plain data: it may be kept, sent to other threads, and sought in any context
/// of the same traceset. Positions of one traceset are ordered as its events are, and a
/// comparison takes the same time for any number of tracefiles. Positions of different
/// tracesets, or of one traceset before and after a change, are not comparable.
///
/// ```
/// use lttv_context::{Bounds, TracesetContext, Traceset, TracesetPosition};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let mut context = TracesetContext::new(&traceset);
/// let begin = context.position();
/// assert_eq!(context.read(&Bounds::all().events(10))?.errors, 0);
/// let tenth = context.position();
/// assert!(begin < tenth && tenth < TracesetPosition::end(&traceset));
///
/// context.seek_position(&begin)?;
/// let read = context.read(&Bounds::all().until_position(&tenth))?;
/// assert_eq!(read.events, 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TracesetPosition {
    revision: Revision,
    order: OrderPosition,
}

/// Returns the time of an event for its key: [`Timestamp::MIN`] if the event has no time.
#[inline(always)]
pub(crate) fn time_of(event: &Event<'_>) -> Timestamp {
    event.timestamp().unwrap_or(Timestamp::MIN)
}

impl TracesetPosition {
    pub(crate) fn new(revision: Revision, order: OrderPosition) -> Self {
        TracesetPosition { revision, order }
    }

    /// Creates the position after the last event of a traceset, which is the greatest of its
    /// positions.
    pub fn end(traceset: &Traceset) -> Self {
        let tracefiles: usize = traceset.traces().iter().map(|t| t.tracefiles().len()).sum();
        Self::new(traceset.revision(), OrderPosition::end(tracefiles))
    }

    /// Returns `true` if the position is after the last event.
    pub fn is_end(&self) -> bool {
        self.order.is_end()
    }

    /// Returns the time of delivery of the next event: its own time, or the time of an earlier
    /// event if that is later. Returns `None` at the end, and [`Timestamp::MIN`] if the next event
    /// has no time.
    pub fn time(&self) -> Option<Timestamp> {
        self.order.time()
    }

    /// Returns `true` if the position is known to be the one that seeking `time` leads to: all
    /// events before it are before `time`, and no event after it is delivered before `time`.
    ///
    /// For a position met while reading, this is known from the events that were read. After
    /// seeking a time, it is known for that time and later ones.
    ///
    /// ```
    /// # use lttv_context::{Bounds, TracesetContext, Traceset};
    /// # use ltt_read::Timestamp;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// assert!(context.position().is_start_of(Timestamp::MIN));
    /// assert_eq!(context.read(&Bounds::all().events(10))?.errors, 0);
    /// let tenth = context.position();
    /// let time = tenth.time().expect("there are more");
    /// assert!(tenth.is_start_of(time));
    /// assert!(!tenth.is_start_of(Timestamp::from_ns(time.as_ns() + 1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_start_of(&self, time: Timestamp) -> bool {
        self.order.is_start_of(time)
    }

    /// Returns the position before the same event in another traceset that contains its trace,
    /// for instance after a trace was added or removed. Events of other traces may come
    /// between. `None` if `from` is not the position's traceset, if `to` does not contain the
    /// trace, or at the end.
    ///
    /// ```
    /// # use lttv_context::{Bounds, TracesetContext, Traceset};
    /// # let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces");
    /// let kernel = Traceset::open(format!("{traces}/kernel"))?;
    /// let mut context = TracesetContext::new(&kernel);
    /// assert_eq!(context.read(&Bounds::all().events(10))?.events, 10);
    /// let eleventh = context.position();
    ///
    /// let mut both = Traceset::open(format!("{traces}/ust"))?;
    /// both.add(kernel.traces()[0].clone());
    /// let there = eleventh.in_traceset(&kernel, &both).expect("the trace is in both");
    /// assert_eq!(there.time(), eleventh.time());
    /// TracesetContext::new(&both).seek_position(&there)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_traceset(&self, from: &Traceset, to: &Traceset) -> Option<TracesetPosition> {
        if self.revision != from.revision() {
            return None;
        }
        let TracefileNumber(number) = self.order.key()?.tracefile();
        let (trace, tracefile) = *from.tracefiles().get(number)?;
        let trace = &from.traces()[trace.0];
        let at = to.traces().iter().position(|other| Arc::ptr_eq(other, trace))?;
        let there = (TraceIndex(at), tracefile);
        let number = to.tracefiles().iter().position(|other| *other == there)?;
        Some(Self::new(to.revision(), self.order.renumbered(TracefileNumber(number))?))
    }

    /// Returns the revision of the position's traceset.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the position in the order of all events.
    pub(crate) fn order(&self) -> &OrderPosition {
        &self.order
    }
}

impl PartialEq for TracesetPosition {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for TracesetPosition {
    /// Compares the places of two positions in the order of events. Returns `None` if they belong
    /// to different tracesets.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.revision == other.revision).then(|| self.order.cmp(&other.order))
    }
}

/// An error for a position of another traceset, or of this traceset before a change.
///
/// Programs that read in other ways create it as well, so that it has no other fields.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the position is of {position:?}, the traceset is now {traceset:?}")]
pub struct StalePosition {
    /// The revision of the position's traceset.
    pub position: Revision,
    /// The current revision of the traceset that refused the position.
    pub traceset: Revision,
}

ltt_read::debug_as_chain!(StalePosition);
