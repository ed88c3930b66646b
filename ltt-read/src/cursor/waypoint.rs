//! Waypoints of a cursor: noting them, and entering packets at them.

use super::{Cursor, State};
use crate::base::time::Timestamp;
use crate::trace::{Waypoint, Waypoints, mark};

impl Cursor {
    /// Notes the place before the next event to be read as a waypoint, where one is wanted.
    pub(crate) fn note_waypoint(&self, waypoints: &mut Waypoints) {
        let tracefile = self.tracefile_index().0;
        let place = (self.file, self.packet.offset, self.next);
        let latest = self.latest.max(self.last_timestamp);
        let is_known = self.state == State::Packet && latest < Timestamp::MAX;
        if !is_known || self.next >= self.content_end || !waypoints.wants(tracefile, place) {
            return;
        }
        waypoints.add(
            tracefile,
            Waypoint {
                file: self.file,
                packet: self.packet.offset,
                bit: self.next,
                clock: self.clock,
                latest,
                mark: self.mark(self.next),
            },
        );
    }

    /// Moves to the last waypoint of the packet that was just entered with no event at `time` or
    /// later before it, if there is one.
    pub(super) fn enter_waypoint(&mut self, time: Timestamp) {
        let Some(waypoints) = self.trace.waypoints() else { return };
        let packet = (self.file, self.packet.offset);
        let found = waypoints.before(self.tracefile_index().0, packet, time);
        let Some(Waypoint { bit, clock, latest, mark, .. }) = found.copied() else { return };
        if (self.next..self.content_end).contains(&bit) && self.mark(bit) == mark {
            (self.next, self.clock, self.latest) = (bit, clock, latest);
        }
    }

    /// Returns the mark of a place in the current packet.
    fn mark(&self, bit: u64) -> u64 {
        let packet = self.bytes.get().get(self.packet.offset as usize..);
        mark(packet.unwrap_or_default(), bit)
    }
}
