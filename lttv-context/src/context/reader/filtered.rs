//! Reads that skip the events that do not pass a check.
//!
//! In such a read, each tracefile is ahead of the others up to its next event that passes, or
//! is not read at all. The merge alone therefore does not determine which events are before the
//! current position. A [`ReadPoint`] does, and allows the merge to return to the state that it
//! would have after reading all events.

use std::sync::Arc;

use ltt_read::{Merge, Position, Timestamp, TracefileNumber};

use super::{Reader, is_late, next_key};
use crate::bounds::{Bounds, EndReason};
use crate::hooks::Check;
use crate::traceset::{Latest, Traceset, TracesetPosition, seek_positions};

/// A position in the order of all events.
#[derive(Debug)]
pub(super) enum ReadPoint {
    /// The position before the first event of each tracefile at this time or later.
    Time(Timestamp),
    /// The position before or after an event. `place` is the event's position in its tracefile, and
    /// its time of delivery is [`Reader::now`].
    Event { tracefile: TracefileNumber, place: Position },
    /// The positions in all tracefiles.
    Tracefiles { positions: Arc<[Position]>, latest: Latest },
    /// A position whose next event is known.
    Before(TracesetPosition),
}

impl Reader {
    /// Moves the merge to the state that it would have after reading all events.
    pub(in crate::context) fn unfilter(&mut self) {
        if let Some(read_point) = self.read_point.take() {
            self.latest = read_point.latest(self.now);
            read_point.seek(&mut self.merge, self.now);
        }
    }

    /// Prepares the merge to skip events that do not pass the check.
    pub(in crate::context) fn filter(&mut self, check: &mut Check<'_>) {
        if self.read_point.is_none() {
            let positions = self.merge.positions_after().into();
            self.read_point = Some(ReadPoint::Tracefiles { positions, latest: self.latest });
            check.retain_tracefiles(&mut self.merge);
        }
        // Events may have been skipped since the last one delivered.
        check.enter_spans(&mut self.merge, self.latest);
    }

    /// Updates the current position after a read that skipped events. The read delivered `events`
    /// events and ended for `reason`. `end_time` is the time of delivery at which it stops, in ns.
    pub(in crate::context) fn end_filtered(
        &mut self,
        traceset: &Traceset,
        bounds: &Bounds,
        end_time: Option<i64>,
        events: u64,
        reason: EndReason,
    ) {
        if reason != EndReason::ExaminedCount && events > 0 && is_late(&self.merge, self.now) {
            return self.end_filtered_late();
        }
        match reason {
            EndReason::Stopped | EndReason::EventCount => {
                if events > 0
                    && let Some(place) = self.merge.position_after()
                    && let Some(tracefile) = self.merge.current_tracefile()
                {
                    self.read_point = Some(ReadPoint::Event { tracefile, place });
                }
            }
            EndReason::ExaminedCount => {
                // All events before this one have been looked at.
                let place = self.merge.next().map(|event| event.position());
                if is_late(&self.merge, self.now) {
                    self.merge.unread();
                    self.end_filtered_late();
                } else if let Some(place) = place
                    && let Some(tracefile) = self.merge.current_tracefile()
                {
                    let (key, latest) = ((self.now, tracefile.0 as u32), Some(self.now));
                    let revision = traceset.revision();
                    let next = TracesetPosition::before_event(revision, key, latest, place);
                    self.read_point = Some(ReadPoint::Before(next));
                }
                self.merge.unread();
            }
            EndReason::Pending => self.end_filtered_pending(traceset, events > 0),
            EndReason::EndOfTraceset | EndReason::EndPosition | EndReason::EndTime => {
                self.end_filtered_at(traceset, bounds, end_time, events > 0);
            }
        }
    }

    /// Updates the current position to what the merge has passed in each tracefile.
    fn end_filtered_late(&mut self) {
        let (positions, latest) = (self.merge.positions_after().into(), Some(self.now));
        self.read_point = Some(ReadPoint::Tracefiles { positions, latest });
    }

    /// Updates the current position after all events that pass and are final were delivered: it is
    /// before the events to come.
    fn end_filtered_pending(&mut self, traceset: &Traceset, has_delivered: bool) {
        match self.merge.waits_for() {
            Some((time, number, place)) if time.as_ns() >= self.now => {
                self.now = time.as_ns();
                let (key, latest) = ((self.now, number.0 as u32), Some(self.now));
                let next = TracesetPosition::before_event(traceset.revision(), key, latest, place);
                self.read_point = Some(ReadPoint::Before(next));
            }
            // Only tracefiles that are left out, or not there yet, may get more.
            None if has_delivered => {
                let after = Timestamp::from_ns(self.now.saturating_add(1));
                self.read_point = Some(ReadPoint::Time(after));
            }
            _ => {}
        }
    }

    /// Updates the current position after no event before the bounds passed: it is at the nearer
    /// bound.
    fn end_filtered_at(
        &mut self,
        traceset: &Traceset,
        bounds: &Bounds,
        end_time: Option<i64>,
        has_delivered: bool,
    ) {
        let end = TracesetPosition::end(traceset);
        let position = bounds.end_position().unwrap_or(&end);
        let key = position.key();
        match end_time {
            Some(time) if time <= key.0 => {
                if has_delivered || time > self.now {
                    self.now = time;
                    self.read_point = Some(ReadPoint::Time(Timestamp::from_ns(time)));
                }
            }
            _ => {
                if has_delivered || !self.is_after(position) {
                    self.now = key.0;
                    self.read_point = Some(ReadPoint::Before(position.clone()));
                }
            }
        }
    }

    /// Returns `true` if the current position is after `position`.
    fn is_after(&self, position: &TracesetPosition) -> bool {
        if let Some(ReadPoint::Before(own)) = &self.read_point {
            return position < own;
        }
        let (time, tracefile) = position.key();
        if time != self.now {
            return time < self.now;
        }
        let (tracefile, place) = (TracefileNumber(tracefile as usize), position.place());
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
    pub(super) fn filtered_position(&mut self, traceset: &Traceset) -> Option<TracesetPosition> {
        let (read_point, now) = (self.read_point.take()?, self.now);
        if let ReadPoint::Before(position) = &read_point {
            let position = position.clone();
            self.read_point = Some(read_point);
            return Some(position);
        }
        let merge = self.spare(traceset);
        read_point.seek(merge, now);
        let (key, latest) = next_key(merge, traceset, now, read_point.latest(now));
        let position = TracesetPosition::new(traceset.revision(), key, latest, merge.positions());
        self.read_point = Some(ReadPoint::Before(position.clone()));
        Some(position)
    }
}

impl ReadPoint {
    /// Moves a merge to this position, and stops it from skipping tracefiles.
    fn seek(&self, merge: &mut Merge, now: i64) {
        match self {
            ReadPoint::Time(time) => merge.seek_in_all(*time),
            ReadPoint::Event { tracefile, place } => {
                merge.seek_delivery(Timestamp::from_ns(now), *tracefile, *place);
            }
            ReadPoint::Tracefiles { positions, .. } => seek_positions(merge, positions),
            ReadPoint::Before(position) => position.seek(merge),
        }
    }

    fn latest(&self, now: i64) -> Latest {
        match self {
            ReadPoint::Time(time) => time.as_ns().checked_sub(1),
            ReadPoint::Event { .. } => Some(now),
            ReadPoint::Tracefiles { latest, .. } => *latest,
            ReadPoint::Before(position) => position.latest(),
        }
    }
}
