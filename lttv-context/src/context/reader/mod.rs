//! The merge of a context, and its position in the order of all events.

mod filtered;

use ltt_read::{
    Error, Event, Merge, Notice, Position, TimeSearch, Timestamp, TraceIndex, TracefileIndex,
};

use crate::bounds::{Bounds, EndReason, Limit};
use crate::traceset::{Key, Latest, Traceset, TracesetPosition, time_of};

use filtered::ReadPoint;

/// A merge, and the current position in the order of all events.
#[derive(Debug)]
pub(super) struct Reader {
    merge: Merge,
    /// The time of delivery of the last event, or the time sought, in ns. No later event is
    /// delivered at a time before it.
    now: i64,
    /// A bound on the times of the events before the current position.
    latest: Latest,
    /// The current position among all events while the merge skips events that do not pass the
    /// check: the tracefiles are then at other places than in a read of all events.
    read_point: Option<ReadPoint>,
    /// A merge of all tracefiles, for positions among all events while the other merge skips some.
    spare: Option<Box<Merge>>,
}

impl Reader {
    /// Creates a reader that is before the first event.
    pub(super) fn new(traceset: &Traceset) -> Self {
        let merge = traceset.merge();
        Reader { merge, now: i64::MIN, latest: None, read_point: None, spare: None }
    }

    /// Returns the time of delivery of the last event, or the time sought.
    pub(super) fn now(&self) -> Timestamp {
        Timestamp::from_ns(self.now)
    }

    pub(super) fn merge(&self) -> &Merge {
        &self.merge
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        self.merge.finish()
    }

    pub(super) fn take_errors(&mut self) -> Vec<Error> {
        self.merge.take_errors()
    }

    pub(super) fn take_notices(&mut self) -> Vec<Notice> {
        self.merge.take_notices()
    }

    /// Computes a time of delivery by which all events before `end` have been delivered: see
    /// [`Merge::delivered_by`].
    pub(super) fn delivered_by(&mut self, end: Timestamp) -> Option<Timestamp> {
        self.merge.delivered_by(end)
    }

    /// Computes a time of delivery like [`delivered_by`](Self::delivered_by), also of the events in
    /// tracefiles that are left out.
    pub(super) fn delivered_by_all(
        &mut self,
        traceset: &Traceset,
        end: Timestamp,
    ) -> Option<Timestamp> {
        match self.read_point {
            Some(_) => self.spare(traceset).delivered_by(end),
            None => self.merge.delivered_by(end),
        }
    }

    fn spare(&mut self, traceset: &Traceset) -> &mut Merge {
        self.spare.get_or_insert_with(|| Box::new(traceset.merge()))
    }

    /// Returns `true` if all events before the time have been delivered by the time of delivery
    /// `by`, and the current position is at that time or later.
    pub(super) fn is_past(&self, by: Option<Timestamp>) -> bool {
        by.is_some_and(|by| by.as_ns() <= self.now)
    }

    /// Returns the position before the next event, whether or not that event passes a check.
    pub(super) fn position(&mut self, traceset: &Traceset) -> TracesetPosition {
        if let Some(position) = self.filtered_position(traceset) {
            return position;
        }
        let (key, latest) = next_key(&mut self.merge, traceset, self.now, self.latest);
        let positions = self.merge.positions();
        self.merge.unread();
        TracesetPosition::new(traceset.revision(), key, latest, positions)
    }

    /// Returns `true` if reading has come to the end of the traceset, and `false` if more may
    /// arrive. There must be no next event.
    pub(super) fn is_at_end(&self, traceset: &Traceset) -> bool {
        !self.merge.is_pending() && !traceset.is_growing()
    }

    /// Returns the reason why a read ends that has delivered all that is final.
    pub(super) fn pending(&self, limit: &Limit<'_>) -> EndReason {
        let met = next_to_come(&self.merge, self.now)
            .and_then(|(key, place)| limit.met_at(key, || place));
        met.unwrap_or(EndReason::Pending)
    }

    /// Continues with a later state of the traceset, with some tracefiles that are new.
    pub(super) fn continue_with(
        &mut self,
        traceset: &Traceset,
        new: &[(TraceIndex, TracefileIndex)],
    ) {
        self.merge.continue_with_new(traceset.traces(), new);
        self.spare = None;
    }

    pub(super) fn seek_time(&mut self, time: Timestamp) {
        self.merge.seek(time);
        if let Some(read_point) = &mut self.read_point {
            *read_point = ReadPoint::Time(time);
        }
        self.set_time(time);
    }

    /// Seeks the time of a search that is complete.
    pub(super) fn seek_result(&mut self, search: TimeSearch) {
        let time = search.time();
        self.merge.seek_result(search);
        self.read_point = None;
        self.set_time(time);
    }

    fn set_time(&mut self, time: Timestamp) {
        self.now = time.as_ns();
        self.latest = time.as_ns().checked_sub(1);
    }

    pub(super) fn seek_position(&mut self, position: &TracesetPosition) {
        position.seek(&mut self.merge);
        self.read_point = None;
        // After a clock has gone back, events are still delivered at this time.
        self.now = position.time().map_or(i64::MAX, Timestamp::as_ns);
        self.latest = position.latest();
    }

    /// Calls a function with the next event, which stays the next one. Returns `None` at the end.
    pub(super) fn peek<R>(&mut self, look: impl FnOnce(&Event<'_>) -> R) -> Option<R> {
        let result = look(&self.merge.next()?);
        self.merge.unread();
        Some(result)
    }

    /// Sets the time to that of the next event, and calls a function with this event and its key.
    /// Returns `None` at the end.
    pub(super) fn reach_next<R>(&mut self, look: impl FnOnce(Key, &Event<'_>) -> R) -> Option<R> {
        self.now = self.now.max(time_of(&self.merge.next()?));
        let key = (self.now, self.merge.current_tracefile()?.0 as u32);
        let result = self.merge.current().map(|event| look(key, &event));
        self.merge.unread();
        result
    }

    /// Calls a function that reads events. It updates the time of delivery of the last event and
    /// the bound on the times of the events read, in this order.
    #[inline]
    pub(super) fn read<R>(
        &mut self,
        read: impl FnOnce(&mut Merge, &mut i64, &mut Latest) -> R,
    ) -> R {
        read(&mut self.merge, &mut self.now, &mut self.latest)
    }

    /// Reads events up to a position without calling hooks. The first event for which `on` returns
    /// `false` becomes the next event.
    pub(super) fn scan(&mut self, end: &TracesetPosition, mut on: impl FnMut(&Event<'_>) -> bool) {
        self.unfilter();
        let bounds = Bounds::all().until_position(end);
        let limit = Limit::new(&bounds, None);
        while self.merge.next().is_some() {
            let current = self.merge.current().zip(self.merge.current_tracefile());
            let Some((event, tracefile)) = current else { break };
            let now = self.now.max(time_of(&event));
            let key = (now, tracefile.0 as u32);
            if now >= limit.time && limit.met(key, &event).is_some() || !on(&event) {
                self.merge.unread();
                break;
            }
            self.now = now;
            self.latest = Some(now);
        }
    }
}

/// Computes the key of the next event of a merge, given the time of delivery before it in ns. Where
/// the merge waits, it is the key before which no event follows. `None` at the end. Also returns
/// `latest`, raised if an earlier event than the time of delivery follows: a growing traceset was
/// sought at a time that was not final.
fn next_key(
    merge: &mut Merge,
    traceset: &Traceset,
    now: i64,
    latest: Latest,
) -> (Option<Key>, Latest) {
    _ = merge.next();
    let latest = if is_late(merge, now) { latest.max(Some(now)) } else { latest };
    let next = merge.current().map(|event| time_of(&event)).zip(merge.current_tracefile());
    let next = next.map(|(time, number)| (now.max(time), number.0 as u32));
    let key = match next.or_else(|| Some(next_to_come(merge, now)?.0)) {
        Some(key) => Some(key),
        // What arrives next belongs to tracefiles that are not there yet.
        None if traceset.is_growing() => Some((now, u32::MAX)),
        None => None,
    };
    (key, latest)
}

/// Returns the key before which no event follows where a merge waits, given the time of delivery before
/// it in ns, and the place in the tracefile of the key. `None` if it does not wait.
fn next_to_come(merge: &Merge, now: i64) -> Option<(Key, Position)> {
    let (time, number, place) = merge.waits_for()?;
    if time.as_ns() >= now {
        return Some(((time.as_ns(), number.0 as u32), place));
    }
    // Of a tracefile that has joined, early events may follow, which are delivered at once; before those
    // of tracefiles with greater numbers, and after those with lesser ones.
    let (number, place) = merge.first_until(Timestamp::from_ns(now))?;
    Some(((now, number.0 as u32), place))
}

/// Returns `true` if the current event of a merge has come late, or if late events may follow, so
/// that times do not tell what has been delivered of other tracefiles. `now` is the time of
/// delivery before it, in ns.
fn is_late(merge: &Merge, now: i64) -> bool {
    let waits = merge.waits_for().map(|(time, ..)| time);
    merge.delivery_time().or(waits).is_some_and(|time| time.as_ns() < now)
}
