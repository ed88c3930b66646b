//! Positions in the order of all events of a traceset.

use std::cmp::Ordering;
use std::iter;
use std::sync::Arc;

use ltt_read::{Event, Merge, Position, Timestamp, TraceIndex, TracefileNumber};

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
    /// The key of the next event, or [`END`] after the last event.
    key: Key,
    latest: Latest,
    places: Places,
}

/// The places of a position in tracefiles.
#[derive(Debug, Clone)]
enum Places {
    /// The place in each tracefile.
    All(Arc<[Position]>),
    /// The place in the tracefile of the next event, from which the others are found when they
    /// are needed.
    Next(Position),
}

/// An upper bound on the times of all events before a position, in ns. `None` if there are no
/// such events, and [`UNKNOWN`] if no bound is known.
pub(crate) type Latest = Option<i64>;

/// The bound that holds for any events: no position with it is known to be the start of a time.
pub(crate) const UNKNOWN: Latest = Some(i64::MAX);

/// The time of delivery, in ns, and the tracefile number of an event. Keys order all events
/// except those of one tracefile with equal times of delivery.
///
/// If the clock of a tracefile goes back, the events after that are delivered at once, as if
/// they had the time from which it went back. This keeps positions ordered there, too.
pub(crate) type Key = (i64, u32);

/// Returns the time of an event for its key, in ns: `i64::MIN` if the event has no time.
#[inline(always)]
pub(crate) fn time_of(event: &Event<'_>) -> i64 {
    event.timestamp().map_or(i64::MIN, Timestamp::as_ns)
}

/// The key that is greater than those of all events.
const END: Key = (i64::MAX, u32::MAX);

impl TracesetPosition {
    pub(crate) fn new(
        revision: Revision,
        key: Option<Key>,
        latest: Latest,
        tracefiles: impl Into<Arc<[Position]>>,
    ) -> Self {
        let (key, places) = (key.unwrap_or(END), Places::All(tracefiles.into()));
        TracesetPosition { revision, key, latest, places }
    }

    /// Creates the position before an event, given its key and its place in its tracefile.
    pub(crate) fn before_event(
        revision: Revision,
        key: Key,
        latest: Latest,
        place: Position,
    ) -> Self {
        TracesetPosition { revision, key, latest, places: Places::Next(place) }
    }

    /// Creates the position after the last event of a traceset, which is the greatest of its
    /// positions.
    pub fn end(traceset: &Traceset) -> Self {
        let tracefiles: usize = traceset.traces().iter().map(|t| t.tracefiles().len()).sum();
        Self::new(traceset.revision(), None, UNKNOWN, vec![Position::END; tracefiles])
    }

    /// Returns `true` if the position is after the last event.
    pub fn is_end(&self) -> bool {
        self.key == END
    }

    /// Returns the time of delivery of the next event: its own time, or the time of an earlier
    /// event if that is later. Returns `None` at the end, and [`Timestamp::MIN`] if the next event
    /// has no time.
    pub fn time(&self) -> Option<Timestamp> {
        (!self.is_end()).then(|| Timestamp::from_ns(self.key.0))
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
        self.latest.is_none_or(|latest| latest < time.as_ns())
            && self.time().is_none_or(|next| time <= next)
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
        if self.revision != from.revision() || self.is_end() {
            return None;
        }
        let (trace, tracefile) = *from.tracefiles().get(self.key.1 as usize)?;
        let trace = &from.traces()[trace.0];
        let at = to.traces().iter().position(|other| Arc::ptr_eq(other, trace))?;
        let there = (TraceIndex(at), tracefile);
        let number = to.tracefiles().iter().position(|other| *other == there)?;
        let key = (self.key.0, number as u32);
        Some(Self::before_event(to.revision(), key, UNKNOWN, *self.place()?))
    }

    /// Returns the revision of the position's traceset.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns `true` if the position is consistent with a traceset of this many tracefiles.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn fits(&self, tracefiles: usize) -> bool {
        let next = self.is_end() || (self.key.1 as usize) < tracefiles;
        next && matches!(&self.places, Places::All(all) if all.len() == tracefiles)
    }

    pub(crate) fn key(&self) -> Key {
        self.key
    }

    pub(crate) fn latest(&self) -> Latest {
        self.latest
    }

    /// Moves a merge of the traceset to this position.
    pub(crate) fn seek(&self, merge: &mut Merge) {
        match &self.places {
            // The end of the data so far is where a merge waits.
            _ if self.is_end() && merge.is_growing() => merge.seek_in_all(Timestamp::MAX),
            Places::All(all) => seek_positions(merge, all),
            Places::Next(place) => {
                let tracefile = TracefileNumber(self.key.1 as usize);
                merge.seek_delivery(Timestamp::from_ns(self.key.0), tracefile, *place);
            }
        }
    }

    /// Finds the place in each tracefile of the traceset.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn tracefiles(&self, traceset: &Traceset) -> Arc<[Position]> {
        if let Places::All(all) = &self.places {
            return all.clone();
        }
        let mut merge = traceset.merge();
        self.seek(&mut merge);
        merge.positions().into()
    }

    /// Returns the memory in bytes that the places in tracefiles take.
    pub(crate) fn places_size(&self) -> usize {
        match &self.places {
            Places::All(all) => size_of_val::<[Position]>(all),
            Places::Next(_) => 0,
        }
    }

    /// Returns the position in the tracefile of the next event.
    pub(crate) fn place(&self) -> Option<&Position> {
        match &self.places {
            Places::All(all) => all.get(self.key.1 as usize),
            Places::Next(place) => Some(place),
        }
    }
}

/// Moves a merge to positions in all tracefiles that were there when they were taken. Nothing had
/// been read of others.
pub(crate) fn seek_positions(merge: &mut Merge, positions: &[Position]) {
    match merge.tracefiles().saturating_sub(positions.len()) {
        0 => merge.seek_positions(positions),
        new => {
            let at_start = iter::repeat_n(Position::START, new);
            let all: Vec<_> = positions.iter().copied().chain(at_start).collect();
            merge.seek_positions(&all);
        }
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
        if self.revision != other.revision {
            return None;
        }
        // The key and the place of the next event determine the places of all other tracefiles.
        Some(self.key.cmp(&other.key).then_with(|| self.place().cmp(&other.place())))
    }
}

/// An error for a position of another traceset, or of this traceset before a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the position is of {position:?}, the traceset is now {traceset:?}")]
pub struct StalePosition {
    /// The revision of the position's traceset.
    pub position: Revision,
    /// The current revision of the traceset that refused the position.
    pub traceset: Revision,
}
