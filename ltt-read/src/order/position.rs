//! Positions in the order of all events.

use std::cmp::Ordering;
use std::iter;
use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::cursor::Position;
use crate::event::Event;
use crate::merge::Merge;
use crate::trace::TracefileNumber;

/// A position between two events of several traces in the order of all events.
///
/// A position is plain data: it may be kept, sent to other threads, and sought in any
/// [`OrderedReader`](super::OrderedReader) of the same traces. Positions are ordered as the events
/// are, and a comparison takes the same time for any number of tracefiles.
#[derive(Debug, Clone)]
pub struct OrderPosition {
    /// The key of the next event, or [`END`] after the last event.
    key: DeliveryKey,
    latest: Option<Timestamp>,
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

/// The time of delivery and the tracefile number of an event. Keys order all events except those
/// of one tracefile with equal times of delivery.
///
/// The time of delivery is the event's own time. If the clock of a tracefile goes back, the events
/// after that are delivered at once, as if they had the time from which it went back. This keeps
/// positions ordered there, too. Events without a time have the time [`Timestamp::MIN`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryKey {
    time: Timestamp,
    tracefile: u32,
}

/// The key that is greater than those of all events.
const END: DeliveryKey = DeliveryKey { time: Timestamp::MAX, tracefile: u32::MAX };

/// The bound that holds for any events: no position with it is known to be the start of a time.
pub(super) const UNKNOWN: Option<Timestamp> = Some(Timestamp::MAX);

/// Returns the time of an event for its key: [`Timestamp::MIN`] if the event has no time.
#[inline(always)]
pub(super) fn time_of(event: &Event<'_>) -> Timestamp {
    event.timestamp().unwrap_or(Timestamp::MIN)
}

impl DeliveryKey {
    /// Creates the key of an event in a tracefile, given its time of delivery.
    #[inline(always)]
    pub fn new(time: Timestamp, tracefile: TracefileNumber) -> Self {
        DeliveryKey { time, tracefile: tracefile.0 as u32 }
    }

    /// Creates the key after those of all known tracefiles at a time.
    pub(super) fn after_all(time: Timestamp) -> Self {
        DeliveryKey { time, tracefile: u32::MAX }
    }

    /// Returns the time of delivery.
    #[inline(always)]
    pub fn time(self) -> Timestamp {
        self.time
    }

    /// Returns the number of the tracefile.
    #[inline(always)]
    pub fn tracefile(self) -> TracefileNumber {
        TracefileNumber(self.tracefile as usize)
    }
}

impl OrderPosition {
    /// Creates a position from the key of the next event, `None` after the last event, and the
    /// positions in all tracefiles. `latest` is an upper bound on the times of the events before:
    /// `None` if there are none, and [`Timestamp::MAX`] if no bound is known.
    pub fn new(
        key: Option<DeliveryKey>,
        latest: Option<Timestamp>,
        tracefiles: impl Into<Arc<[Position]>>,
    ) -> Self {
        OrderPosition { key: key.unwrap_or(END), latest, places: Places::All(tracefiles.into()) }
    }

    /// Creates the position before an event, given its key and its position in its tracefile.
    /// `latest` is as in [`new`](Self::new).
    pub fn before_event(key: DeliveryKey, latest: Option<Timestamp>, place: Position) -> Self {
        OrderPosition { key, latest, places: Places::Next(place) }
    }

    /// Creates the position after the last event of some tracefiles, which is the greatest of all
    /// positions.
    pub fn end(tracefiles: usize) -> Self {
        Self::new(None, UNKNOWN, vec![Position::END; tracefiles])
    }

    /// Returns `true` if the position is after the last event.
    pub fn is_end(&self) -> bool {
        self.key == END
    }

    /// Returns the key of the next event. `None` at the end.
    pub fn key(&self) -> Option<DeliveryKey> {
        (!self.is_end()).then_some(self.key)
    }

    /// Returns the time of delivery of the next event: [`Timestamp::MIN`] if it has no time. `None`
    /// at the end.
    pub fn time(&self) -> Option<Timestamp> {
        self.key().map(DeliveryKey::time)
    }

    /// Returns an upper bound on the times of the events before the position: see
    /// [`new`](Self::new).
    pub fn latest(&self) -> Option<Timestamp> {
        self.latest
    }

    /// Returns `true` if the position is known to be the one that seeking `time` leads to: all
    /// events before it are before `time`, and no event after it is delivered before `time`.
    pub fn is_start_of(&self, time: Timestamp) -> bool {
        self.latest.is_none_or(|latest| latest < time)
            && self.time().is_none_or(|next| time <= next)
    }

    /// Returns `true` if an event is not before the position, given its key and its position in its
    /// tracefile.
    pub fn is_reached_by(&self, key: DeliveryKey, place: impl FnOnce() -> Position) -> bool {
        let is_at = || self.place().is_none_or(|own| place() >= *own);
        key > self.key || key == self.key && is_at()
    }

    /// Returns the position before the same event where its tracefile has another number. Events of
    /// other traces may come between. `None` at the end.
    pub fn renumbered(&self, tracefile: TracefileNumber) -> Option<Self> {
        let key = DeliveryKey::new(self.time()?, tracefile);
        Some(Self::before_event(key, UNKNOWN, *self.place()?))
    }

    /// Returns the positions in all tracefiles, if they are known without a seek.
    pub fn tracefiles(&self) -> Option<&Arc<[Position]>> {
        match &self.places {
            Places::All(all) => Some(all),
            Places::Next(_) => None,
        }
    }

    /// Returns the position in the tracefile of the next event.
    pub(super) fn place(&self) -> Option<&Position> {
        match &self.places {
            Places::All(all) => all.get(self.key.tracefile as usize),
            Places::Next(place) => Some(place),
        }
    }

    /// Returns the time of [`key`](Self::key), or [`Timestamp::MAX`] at the end.
    pub(super) fn key_or_end(&self) -> DeliveryKey {
        self.key
    }

    /// Moves a merge of the traces to this position.
    pub(super) fn seek(&self, merge: &mut Merge) {
        match &self.places {
            // The end of the data so far is where a merge waits.
            _ if self.is_end() && merge.is_growing() => merge.seek_in_all(Timestamp::MAX),
            Places::All(all) => seek_positions(merge, all),
            Places::Next(place) => {
                merge.seek_delivery(self.key.time, self.key.tracefile(), *place);
            }
        }
    }
}

/// Moves a merge to positions in all tracefiles that were there when they were taken. Nothing had
/// been read of others.
pub(super) fn seek_positions(merge: &mut Merge, positions: &[Position]) {
    match merge.tracefiles().saturating_sub(positions.len()) {
        0 => merge.seek_positions(positions),
        new => {
            let at_start = iter::repeat_n(Position::START, new);
            let all: Vec<_> = positions.iter().copied().chain(at_start).collect();
            merge.seek_positions(&all);
        }
    }
}

impl PartialEq for OrderPosition {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for OrderPosition {}

impl PartialOrd for OrderPosition {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderPosition {
    /// Compares the places of two positions of the same traces in the order of events.
    fn cmp(&self, other: &Self) -> Ordering {
        // The key and the place of the next event determine the places of all other tracefiles.
        self.key.cmp(&other.key).then_with(|| self.place().cmp(&other.place()))
    }
}
