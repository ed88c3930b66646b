//! A merge that knows its position in the order of all events.

use std::sync::Arc;

use super::position::{DeliveryKey, OrderPosition, time_of};
use super::skipping::ReadPoint;
use crate::base::time::Timestamp;
use crate::cursor::Position;
use crate::event::Event;
use crate::merge::{Merge, TimeSearch};
use crate::report::{Error, Notice};
use crate::trace::{Trace, TraceIndex, TracefileIndex};

/// A [`Merge`] that knows its position in the order of all events.
///
/// Events are read by [`parts`](Self::parts), whose caller updates what was delivered. In a read
/// that [skips events](Self::skip), the tracefiles are at other places than in a read of all events:
/// the position is that among all events nevertheless.
#[derive(Debug)]
pub struct OrderedReader {
    pub(super) merge: Merge,
    pub(super) delivered: Delivered,
    /// The current position among all events while the merge skips some: the tracefiles are then at
    /// other places than in a read of all events.
    pub(super) read_point: Option<ReadPoint>,
    /// A merge of all tracefiles, for positions among all events while the other merge skips some.
    spare: Option<Box<Merge>>,
    traces: Vec<Arc<Trace>>,
    tracefiles: Vec<(TraceIndex, TracefileIndex)>,
    /// `true` if other traces may follow.
    is_open: bool,
}

/// The times of the events that an [`OrderedReader`] has delivered.
///
/// It has no other fields: it is a pair of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivered {
    /// The time of delivery of the last event, or the time sought. No later event is delivered at a
    /// time before it.
    pub time: Timestamp,
    /// A bound on the times of the events before the current position: `None` if there are no such
    /// events, and [`Timestamp::MAX`] if no bound is known.
    pub latest: Option<Timestamp>,
}

impl OrderedReader {
    /// Creates a reader before the first event of some tracefiles, which are numbered in the order
    /// in which they are given. `is_open` is `true` if others may [follow](Self::continue_with).
    pub fn new(
        traces: &[Arc<Trace>],
        tracefiles: &[(TraceIndex, TracefileIndex)],
        is_open: bool,
    ) -> Self {
        OrderedReader {
            merge: Merge::of_tracefiles(traces, tracefiles),
            delivered: Delivered { time: Timestamp::MIN, latest: None },
            read_point: None,
            spare: None,
            traces: traces.to_vec(),
            tracefiles: tracefiles.to_vec(),
            is_open,
        }
    }

    /// Continues with later versions of the traces: see [`Merge::continue_with`]. The first of the
    /// tracefiles are those known before.
    pub fn continue_with(
        &mut self,
        traces: &[Arc<Trace>],
        tracefiles: &[(TraceIndex, TracefileIndex)],
        is_open: bool,
    ) {
        let new = tracefiles.get(self.tracefiles.len()..).unwrap_or_default();
        self.merge.continue_with_new(traces, new);
        (self.traces, self.tracefiles) = (traces.to_vec(), tracefiles.to_vec());
        (self.spare, self.is_open) = (None, is_open);
    }

    /// Returns the merge that reads.
    pub fn merge(&self) -> &Merge {
        &self.merge
    }

    /// Returns the merge that reads, and what it has delivered, for the caller to update.
    #[inline]
    pub fn parts(&mut self) -> (&mut Merge, &mut Delivered) {
        (&mut self.merge, &mut self.delivered)
    }

    /// Returns the time of delivery of the last event, or the time sought.
    pub fn time(&self) -> Timestamp {
        self.delivered.time
    }

    /// Ends the read: see [`Merge::finish`].
    ///
    /// # Errors
    ///
    /// Returns an error if the merge met damage.
    pub fn finish(self) -> Result<(), Error> {
        self.merge.finish()
    }

    /// Returns and removes the errors since the last call.
    pub fn take_errors(&mut self) -> Vec<Error> {
        self.merge.take_errors()
    }

    /// Returns and removes the notices since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        self.merge.take_notices()
    }

    /// Computes a time of delivery by which all events before `end` have been delivered, of the
    /// tracefiles that are read: see [`Merge::delivered_by`].
    pub fn delivered_by(&mut self, end: Timestamp) -> Option<Timestamp> {
        self.merge.delivered_by(end)
    }

    /// Computes a time of delivery like [`delivered_by`](Self::delivered_by), also of the events in
    /// tracefiles that are skipped.
    pub fn delivered_by_all(&mut self, end: Timestamp) -> Option<Timestamp> {
        match self.read_point {
            Some(_) => self.spare().delivered_by(end),
            None => self.merge.delivered_by(end),
        }
    }

    pub(super) fn spare(&mut self) -> &mut Merge {
        let (traces, tracefiles) = (&self.traces, &self.tracefiles);
        self.spare.get_or_insert_with(|| Box::new(Merge::of_tracefiles(traces, tracefiles)))
    }

    /// Returns the position before the next event, whether or not that event is skipped.
    pub fn position(&mut self) -> OrderPosition {
        if let Some(position) = self.skipping_position() {
            return position;
        }
        let (key, latest) = next_key(&mut self.merge, self.is_open, self.delivered);
        let positions = self.merge.positions();
        self.merge.unread();
        OrderPosition::new(key, latest, positions)
    }

    /// Returns the position after the last event.
    pub fn end(&self) -> OrderPosition {
        OrderPosition::end(self.tracefiles.len())
    }

    /// Returns `true` if other traces may follow, or if a tracefile may get more data.
    pub fn is_growing(&self) -> bool {
        self.is_open || self.merge.is_growing()
    }

    /// Returns `true` if other traces may follow.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns `true` if reading has come to the end of the traces, and `false` if more may arrive.
    /// There must be no next event.
    pub fn is_at_end(&self) -> bool {
        !self.merge.is_pending() && !self.is_open
    }

    /// Returns the key before which no event follows where the merge waits, and the position in
    /// the tracefile of the key. `None` if it does not wait.
    pub fn next_to_come(&self) -> Option<(DeliveryKey, Position)> {
        next_to_come(&self.merge, self.delivered.time)
    }

    /// Seeks a time: see [`Merge::seek`].
    pub fn seek_time(&mut self, time: Timestamp) {
        self.merge.seek(time);
        if let Some(read_point) = &mut self.read_point {
            *read_point = ReadPoint::Time(time);
        }
        self.set_time(time);
    }

    /// Seeks a time of its own in each trace, of which `least` is the least: see
    /// [`Merge::seek_each`].
    pub fn seek_times(&mut self, time_in: impl Fn(TraceIndex) -> Timestamp, least: Timestamp) {
        self.merge.seek_each(time_in);
        self.read_point = None;
        self.set_time(least);
    }

    /// Creates a search for a time in all tracefiles.
    pub fn search(&self, time: Timestamp) -> TimeSearch {
        TimeSearch::within(&self.merge, time)
    }

    /// Seeks the time of a search that is complete.
    pub fn seek_result(&mut self, search: TimeSearch) {
        let time = search.time();
        self.merge.seek_result(search);
        self.read_point = None;
        self.set_time(time);
    }

    fn set_time(&mut self, time: Timestamp) {
        let latest = time.as_ns().checked_sub(1).map(Timestamp::from_ns);
        self.delivered = Delivered { time, latest };
    }

    /// Seeks a position in the same traces.
    pub fn seek_position(&mut self, position: &OrderPosition) {
        position.seek(&mut self.merge);
        self.read_point = None;
        // After a clock has gone back, events are still delivered at this time.
        let time = position.time().unwrap_or(Timestamp::MAX);
        self.delivered = Delivered { time, latest: position.latest() };
    }

    /// Returns `true` if there is a next event that is final. It stays the next one.
    pub fn has_next(&mut self) -> bool {
        let has_next = self.merge.next().is_some();
        self.merge.unread();
        has_next
    }

    /// Sets the time to that of the next event, and calls a function with this event and its key.
    /// The event stays the next one. Returns `None` at the end.
    pub fn reach_next<R>(&mut self, look: impl FnOnce(DeliveryKey, &Event<'_>) -> R) -> Option<R> {
        self.delivered.time = self.delivered.time.max(time_of(&self.merge.next()?));
        let key = DeliveryKey::new(self.delivered.time, self.merge.current_tracefile()?);
        let result = self.merge.current().map(|event| look(key, &event));
        self.merge.unread();
        result
    }
}

/// Computes the key of the next event of a merge, given the times of what was delivered before it.
/// Where the merge waits, it is the key before which no event follows. `None` at the end. Also
/// returns the bound on the times before it, raised if an earlier event than the time of delivery
/// follows: growing traces were sought at a time that was not final.
pub(super) fn next_key(
    merge: &mut Merge,
    is_open: bool,
    Delivered { time: now, latest }: Delivered,
) -> (Option<DeliveryKey>, Option<Timestamp>) {
    _ = merge.next();
    let latest = if is_late(merge, now) { latest.max(Some(now)) } else { latest };
    let next = merge.current().map(|event| time_of(&event)).zip(merge.current_tracefile());
    let next = next.map(|(time, number)| DeliveryKey::new(now.max(time), number));
    let key = match next.or_else(|| Some(next_to_come(merge, now)?.0)) {
        Some(key) => Some(key),
        // What arrives next belongs to tracefiles that are not there yet.
        None if is_open => Some(DeliveryKey::after_all(now)),
        None => None,
    };
    (key, latest)
}

/// Returns the key before which no event follows where a merge waits, given the time of delivery
/// before it, and the place in the tracefile of the key. `None` if it does not wait.
fn next_to_come(merge: &Merge, now: Timestamp) -> Option<(DeliveryKey, Position)> {
    let (time, number, place) = merge.waits_for()?;
    if time >= now {
        return Some((DeliveryKey::new(time, number), place));
    }
    // Of a tracefile that has joined, early events may follow, which are delivered at once; before those
    // of tracefiles with greater numbers, and after those with lesser ones.
    let (number, place) = merge.first_until(now)?;
    Some((DeliveryKey::new(now, number), place))
}

/// Returns `true` if the current event of a merge has come late, or if late events may follow, so
/// that times do not tell what has been delivered of other tracefiles. `now` is the time of
/// delivery before it.
pub(super) fn is_late(merge: &Merge, now: Timestamp) -> bool {
    let waits = merge.waits_for().map(|(time, ..)| time);
    merge.delivery_time().or(waits).is_some_and(|time| time < now)
}
