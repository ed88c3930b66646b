//! Reads that skip the events that do not pass a check.
//!
//! In such a read, each tracefile is ahead of the others up to its next event that passes, or
//! is not read at all. The merge alone therefore does not determine which events are before the
//! current position. A [`Stand`] does, and allows the merge to return to the state that it
//! would have after reading all events.

use std::mem;
use std::sync::Arc;

use ltt_read::{Merge, Position, Timestamp};

use crate::bounds::{Bounds, EndReason};
use crate::context::TracesetContext;
use crate::position::{Latest, TracesetPosition, time_of};

/// A position in the order of all events.
#[derive(Debug)]
pub(crate) enum Stand {
    /// The position before the first event of each tracefile at this time or later.
    Time(Timestamp),
    /// The position before or after an event. `place` is the event's position in its tracefile, and
    /// its time of delivery is [`TracesetContext::now`].
    Event { tracefile: usize, place: Position },
    /// The positions in all tracefiles.
    Tracefiles { positions: Arc<[Position]>, latest: Latest },
}

impl TracesetContext<'_> {
    /// Moves the merge to the state that it would have after reading all events.
    pub(crate) fn read_whole(&mut self) {
        if let Some(stand) = self.stand.take() {
            self.latest = stand.latest(self.now);
            stand.seek(&mut self.merge, self.now);
        }
    }

    /// Returns `true` if events that do not pass the check may be skipped.
    pub(crate) fn leaves_out(&self) -> bool {
        self.check.is_some() && !self.extensions.keep_state()
    }

    /// Prepares the merge to skip events that do not pass the check.
    pub(crate) fn read_partly(&mut self) {
        let Some(check) = &mut self.check else { return };
        if self.stand.is_none() {
            let positions = self.merge.next_positions().into();
            self.stand = Some(Stand::Tracefiles { positions, latest: self.latest });
            self.merge.leave_out(|number| check.tracefiles.get(number) == Some(&true));
            check.is_led = false;
        }
        // Events may have been skipped since the last one delivered.
        if !mem::replace(&mut check.is_led, true) {
            check.enter(&mut self.merge, self.latest);
        }
    }

    /// Updates the current position after a read that skipped events. The read delivered `events`
    /// events and ended for `reason`. `end_time` is the time of delivery at which it stops, in ns.
    pub(crate) fn came_to(
        &mut self,
        bounds: &Bounds,
        end_time: Option<i64>,
        events: u64,
        reason: EndReason,
    ) {
        match reason {
            EndReason::Stopped | EndReason::EventCount => {
                if events > 0
                    && let Some(place) = self.merge.position_after()
                {
                    let tracefile = self.merge.current_tracefile();
                    self.stand = Some(Stand::Event { tracefile, place });
                }
            }
            EndReason::LookCount => {
                // All events before this one have been looked at.
                if let Some(place) = self.merge.next().map(|event| event.position()) {
                    let tracefile = self.merge.current_tracefile();
                    self.stand = Some(Stand::Event { tracefile, place });
                }
                self.merge.put_back();
            }
            EndReason::EndOfTraceset | EndReason::EndPosition | EndReason::EndTime => {
                self.came_to_end(bounds, end_time, events > 0);
            }
        }
    }

    /// Updates the current position after no event before the bounds passed: it is at the nearer
    /// bound.
    fn came_to_end(&mut self, bounds: &Bounds, end_time: Option<i64>, has_delivered: bool) {
        let end = TracesetPosition::end(self.traceset());
        let position = bounds.end_position().unwrap_or(&end);
        let key = position.key();
        match end_time {
            Some(time) if time <= key.0 => {
                if has_delivered || time > self.now {
                    self.now = time;
                    self.stand = Some(Stand::Time(Timestamp::from_ns(time)));
                }
            }
            _ => {
                if has_delivered || !self.stands_after(position) {
                    self.now = key.0;
                    self.stand = Some(Stand::Tracefiles {
                        positions: position.tracefiles().into(),
                        latest: position.latest(),
                    });
                }
            }
        }
    }

    /// Returns `true` if the current position is after `position`.
    fn stands_after(&self, position: &TracesetPosition) -> bool {
        let (time, tracefile) = position.key();
        if time != self.now {
            return time < self.now;
        }
        let (tracefile, place) = (tracefile as usize, position.place());
        match &self.stand {
            Some(Stand::Event { tracefile: own, .. }) if *own != tracefile => tracefile < *own,
            Some(Stand::Event { place: own, .. }) => place.is_some_and(|place| place < own),
            Some(Stand::Tracefiles { positions, .. }) => {
                place.zip(positions.get(tracefile)).is_some_and(|(place, own)| place < own)
            }
            Some(Stand::Time(_)) | None => false,
        }
    }

    /// Computes the current position if events are skipped. A second merge seeks it, so that this
    /// one does not move.
    pub(crate) fn whole_position(&self) -> Option<TracesetPosition> {
        let stand = self.stand.as_ref()?;
        let mut merge = Merge::new(self.traceset().traces());
        stand.seek(&mut merge, self.now);
        let time = merge.next().map(|event| self.now.max(time_of(&event)));
        let key = time.map(|time| (time, merge.current_tracefile() as u32));
        let (generation, latest) = (self.traceset().generation(), stand.latest(self.now));
        Some(TracesetPosition::new(generation, key, latest, merge.positions()))
    }
}

impl Stand {
    /// Moves a merge to this position, and stops it from skipping tracefiles.
    fn seek(&self, merge: &mut Merge, now: i64) {
        match self {
            // An empty list of positions makes the merge read all tracefiles.
            Stand::Time(time) => {
                merge.read_whole(&[]);
                merge.seek(*time);
            }
            Stand::Event { tracefile, place } => {
                merge.seek_cut(Timestamp::from_ns(now), *tracefile, *place);
            }
            Stand::Tracefiles { positions, .. } => merge.read_whole(positions),
        }
    }

    fn latest(&self, now: i64) -> Latest {
        match self {
            Stand::Time(time) => time.ns().checked_sub(1),
            Stand::Event { .. } => Some(now),
            Stand::Tracefiles { latest, .. } => *latest,
        }
    }
}
