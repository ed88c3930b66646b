//! Reads that skip events.
//!
//! In such a read, each tracefile is ahead of the others up to its next event that is wanted, or
//! is not read at all. The merge alone therefore does not determine which events are before the
//! current position. A [`ReadPoint`] does, and allows the merge to return to the state that it
//! would have after reading all events.

use std::sync::Arc;

use super::position::{DeliveryKey, OrderPosition, seek_positions};
use super::reader::{Delivered, OrderedReader, is_late, next_key};
use super::selective::SelectiveRead;
use crate::base::time::Timestamp;
use crate::cursor::Position;
use crate::merge::Merge;
use crate::trace::TracefileNumber;

/// A position in the order of all events.
#[derive(Debug)]
pub(super) enum ReadPoint {
    /// The position before the first event of each tracefile at this time or later.
    Time(Timestamp),
    /// The position before or after an event. `place` is the event's position in its tracefile, and
    /// its time of delivery is that of the reader.
    Event { tracefile: TracefileNumber, place: Position },
    /// The positions in all tracefiles.
    Tracefiles { positions: Arc<[Position]>, latest: Option<Timestamp> },
    /// A position whose next event is known.
    Before(OrderPosition),
}

/// The place at which a read that skipped events has ended.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum SkippedTo<'p> {
    /// After the last event that was delivered.
    Delivered,
    /// Before the next event of the merge, which was looked at.
    NextEvent,
    /// The place at which the merge waits for events to come.
    Pending,
    /// Before a position or a time, if they are given, or else at the end. The nearer one counts.
    Bound {
        /// The position up to which all events were read or skipped.
        position: Option<&'p OrderPosition>,
        /// The time before which all events were read or skipped.
        time: Option<Timestamp>,
    },
}

impl OrderedReader {
    /// Moves the merge to the state that it would have after reading all events.
    pub fn read_all(&mut self) {
        if let Some(read_point) = self.read_point.take() {
            let now = self.delivered.time;
            self.delivered.latest = read_point.latest(now);
            read_point.seek(&mut self.merge, now);
        }
    }

    /// Prepares the merge to skip the events that a selection cannot choose.
    pub fn skip(&mut self, selective: &mut SelectiveRead) {
        let latest = self.delivered.latest;
        if self.read_point.is_none() {
            let positions = self.merge.positions_after().into();
            self.read_point = Some(ReadPoint::Tracefiles { positions, latest });
            selective.retain_tracefiles(&mut self.merge);
        }
        // Events may have been skipped since the last one delivered.
        selective.enter_spans(&mut self.merge, latest);
    }

    /// Updates the current position after a read that skipped events. `has_delivered` is `true` if it
    /// delivered any.
    pub fn end_skipping(&mut self, to: SkippedTo<'_>, has_delivered: bool) {
        let is_next = matches!(to, SkippedTo::NextEvent);
        if !is_next && has_delivered && is_late(&self.merge, self.delivered.time) {
            return self.end_late();
        }
        match to {
            SkippedTo::Delivered => {
                if has_delivered
                    && let Some(place) = self.merge.position_after()
                    && let Some(tracefile) = self.merge.current_tracefile()
                {
                    self.read_point = Some(ReadPoint::Event { tracefile, place });
                }
            }
            SkippedTo::NextEvent => {
                // All events before this one have been looked at.
                let place = self.merge.next().map(|event| event.position());
                if is_late(&self.merge, self.delivered.time) {
                    self.merge.unread();
                    self.end_late();
                } else if let Some(place) = place
                    && let Some(tracefile) = self.merge.current_tracefile()
                {
                    let time = self.delivered.time;
                    self.set_before(DeliveryKey::new(time, tracefile), Some(time), place);
                }
                self.merge.unread();
            }
            SkippedTo::Pending => self.end_pending(has_delivered),
            SkippedTo::Bound { position, time } => self.end_at(position, time, has_delivered),
        }
    }

    fn set_before(&mut self, key: DeliveryKey, latest: Option<Timestamp>, place: Position) {
        let next = OrderPosition::before_event(key, latest, place);
        self.read_point = Some(ReadPoint::Before(next));
    }

    /// Updates the current position to what the merge has passed in each tracefile.
    fn end_late(&mut self) {
        let (positions, latest) = (self.merge.positions_after().into(), Some(self.delivered.time));
        self.read_point = Some(ReadPoint::Tracefiles { positions, latest });
    }

    /// Updates the current position after all wanted events that are final were delivered: it is
    /// before the events to come.
    fn end_pending(&mut self, has_delivered: bool) {
        let now = self.delivered.time;
        match self.merge.waits_for() {
            Some((time, number, place)) if time >= now => {
                self.delivered.time = time;
                self.set_before(DeliveryKey::new(time, number), Some(time), place);
            }
            // Only tracefiles that are left out, or not there yet, may get more.
            None if has_delivered => {
                self.read_point = Some(ReadPoint::Time(now.saturating_add(1)));
            }
            _ => {}
        }
    }

    /// Updates the current position after no event before the bounds was wanted: it is at the nearer
    /// bound.
    fn end_at(
        &mut self,
        position: Option<&OrderPosition>,
        time: Option<Timestamp>,
        has_delivered: bool,
    ) {
        let end = self.end();
        let position = position.unwrap_or(&end);
        let key = position.key_or_end();
        match time {
            Some(time) if time <= key.time() => {
                if has_delivered || time > self.delivered.time {
                    self.delivered.time = time;
                    self.read_point = Some(ReadPoint::Time(time));
                }
            }
            _ => {
                if has_delivered || !self.is_after(position) {
                    self.delivered.time = key.time();
                    self.read_point = Some(ReadPoint::Before(position.clone()));
                }
            }
        }
    }

    /// Returns `true` if the current position is after `position`.
    fn is_after(&self, position: &OrderPosition) -> bool {
        if let Some(ReadPoint::Before(own)) = &self.read_point {
            return position < own;
        }
        let key = position.key_or_end();
        if key.time() != self.delivered.time {
            return key.time() < self.delivered.time;
        }
        let (tracefile, place) = (key.tracefile(), position.place());
        match &self.read_point {
            Some(ReadPoint::Event { tracefile: own, .. }) if *own != tracefile => tracefile < *own,
            Some(ReadPoint::Event { place: own, .. }) => place.is_some_and(|place| place < own),
            Some(ReadPoint::Tracefiles { positions, .. }) => {
                place.zip(positions.get(tracefile.0)).is_some_and(|(place, own)| place < own)
            }
            Some(ReadPoint::Time(_) | ReadPoint::Before(_)) | None => false,
        }
    }

    /// Computes the current position if events are skipped. A second merge seeks it, so that this
    /// one does not move.
    pub(super) fn skipping_position(&mut self) -> Option<OrderPosition> {
        let (read_point, now) = (self.read_point.take()?, self.delivered.time);
        if let ReadPoint::Before(position) = &read_point {
            let position = position.clone();
            self.read_point = Some(read_point);
            return Some(position);
        }
        let is_open = self.is_open();
        let merge = self.spare();
        read_point.seek(merge, now);
        let delivered = Delivered { time: now, latest: read_point.latest(now) };
        let (key, latest) = next_key(merge, is_open, delivered);
        let position = OrderPosition::new(key, latest, merge.positions());
        self.read_point = Some(ReadPoint::Before(position.clone()));
        Some(position)
    }
}

impl ReadPoint {
    /// Moves a merge to this position, and stops it from skipping tracefiles.
    fn seek(&self, merge: &mut Merge, now: Timestamp) {
        match self {
            ReadPoint::Time(time) => merge.seek_in_all(*time),
            ReadPoint::Event { tracefile, place } => merge.seek_delivery(now, *tracefile, *place),
            ReadPoint::Tracefiles { positions, .. } => seek_positions(merge, positions),
            ReadPoint::Before(position) => position.seek(merge),
        }
    }

    fn latest(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            ReadPoint::Time(time) => time.as_ns().checked_sub(1).map(Timestamp::from_ns),
            ReadPoint::Event { .. } => Some(now),
            ReadPoint::Tracefiles { latest, .. } => *latest,
            ReadPoint::Before(position) => position.latest(),
        }
    }
}
