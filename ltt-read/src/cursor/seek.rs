//! Seeking positions and times.

use super::{Cursor, Position, State};
use crate::base::time::Timestamp;
use crate::layout::header::Ahead;
use crate::packet::Packet;
use crate::report::Error;
use crate::trace::TimedPacket;

impl Cursor {
    /// Returns the position before the next event to be read.
    pub fn position(&self) -> Position {
        Position {
            file: self.file,
            packet_offset: self.packet.offset,
            bit: if self.state == State::Start { 0 } else { self.next },
            packet_number: self.packet.number,
            packet_clock: self.packet_clock,
            clock: self.clock,
            at_end: self.state == State::End,
        }
    }

    /// Returns the value of the default clock before the current packet, in cycles.
    pub(crate) fn packet_clock(&self) -> u64 {
        self.packet_clock
    }

    /// Returns the position before the current event.
    pub(crate) fn position_of_event(&self) -> Position {
        Position {
            file: self.file,
            packet_offset: self.packet.offset,
            bit: self.current.begin,
            packet_number: self.packet.number,
            packet_clock: self.packet_clock,
            clock: self.current.clock_before,
            at_end: false,
        }
    }

    /// Returns the position before the next event to be delivered. With `is_loaded`, this
    /// is the current event, which a merge has read but not delivered yet.
    pub(crate) fn undelivered_position(&self, is_loaded: bool) -> Position {
        match self.state {
            State::Packet if is_loaded => self.position_of_event(),
            State::Failed => Position::END,
            _ => self.position(),
        }
    }

    /// Seeks a position: [`next`](Self::next) then returns the event after it.
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if there is no packet at the position: it comes from another
    /// tracefile, or the file has been damaged since.
    pub fn seek(&mut self, position: Position) -> Result<(), Error> {
        self.last_timestamp = Timestamp::MIN;
        let (first, end) = (self.tracefile().first_file(), self.tracefile().end_of_files());
        let is_released = position.file < first;
        let is_entered = self.has_entered_soundly(&position);
        self.file = position.file.min(end.saturating_sub(1));
        if position.at_end {
            self.state = State::End;
            self.content_end = 0;
            return Ok(());
        }
        if position.bit == 0 && position.packet_offset == 0 && position.file == 0 || is_released {
            self.restart();
            return Ok(());
        }
        let Position { packet_offset, packet_number, packet_clock, .. } = position;
        if is_entered {
            self.return_to_first_event();
        } else if let Err(error) = self.enter_packet(packet_offset, packet_number, packet_clock) {
            // Positions between events that were recovered were found after the error.
            if !self.is_recovered(position.bit) {
                return Err(error);
            }
            self.read_recovered();
        }
        if position.bit > self.next {
            // The events before the position are not known.
            self.latest = Timestamp::MAX;
        }
        self.next = position.bit.max(self.next).min(self.content_end);
        self.clock = position.clock;
        Ok(())
    }

    /// Returns `true` if the current packet is that of a position, and entering it again would find the same.
    fn has_entered_soundly(&self, position: &Position) -> bool {
        let Packet { offset, number, missing, damage, wrong_magic, wrong_uuid, .. } = &self.packet;
        let place = (self.file, *offset, *number, self.packet_clock);
        let Position { file, packet_offset, packet_number, packet_clock, .. } = *position;
        // What is wrong with a packet is noted each time. After an error, its content is empty.
        let is_sound = damage.is_none() && wrong_magic.is_none() && wrong_uuid.is_none();
        self.state == State::Packet
            && place == (file, packet_offset, packet_number, packet_clock)
            && (is_sound && *missing == 0)
            && (self.content_end > 0 && self.content_end == self.packet.readable_bits())
    }

    /// Returns to the first event of the current packet.
    fn return_to_first_event(&mut self) {
        // The events before the next one are not those that were read before it.
        self.packets_entered += 1;
        self.latest = Timestamp::MIN;
        self.ahead = Ahead::NONE;
        self.next = self.packet.events_start;
        self.clock = self.packet.clock;
    }

    /// Returns to the start of the tracefile.
    fn restart(&mut self) {
        self.state = State::Start;
        self.packet = Packet::none();
        (self.next, self.content_end) = (0, 0);
        self.file = self.tracefile().first_file();
        self.clock = self.clock_before_file();
        self.packet_clock = self.clock;
    }

    /// Enters the packet at which a seek of a time continues, or returns to the start of
    /// the tracefile if there is none. `true` beside the packet means that it may contain
    /// `time`; otherwise, it is the last one, and its events are skipped. Returns `true`
    /// if the seek is complete.
    pub(crate) fn enter_found(
        &mut self,
        found: Option<(TimedPacket, bool)>,
        time: Timestamp,
    ) -> Result<bool, Error> {
        self.last_timestamp = Timestamp::MIN;
        let Some((packet, is_reached)) = found else {
            self.restart();
            return Ok(true);
        };
        self.file = packet.file;
        self.enter_packet(packet.offset, packet.number, packet.clock_before)?;
        if is_reached {
            self.enter_waypoint(time);
            return Ok(false);
        }
        self.latest = Timestamp::MAX;
        // The clock of a packet to come continues that of the last event if no end is declared.
        if self.tracefile().is_growing() && self.packet.end_cycles.is_none() {
            return Ok(false);
        }
        // Damage after the last indexed packet must be reported.
        self.next = self.content_end;
        Ok(true)
    }

    /// Seeks the next event after a damaged packet whose timestamp is `time` or later,
    /// skipping damaged packets.
    pub(crate) fn seek_after_damage(&mut self, time: Timestamp, mut damage: impl FnMut(Error)) {
        while self.skip_packet() {
            match self.skip_to(time) {
                Ok(()) => return,
                Err(error) => damage(error),
            }
        }
    }

    /// Seeks the position before the next event whose timestamp is `time` or later.
    pub(crate) fn skip_to(&mut self, time: Timestamp) -> Result<(), Error> {
        let mut left = u64::MAX;
        self.skip_up_to(time, &mut left).map(drop)
    }

    /// Seeks the position before the next event whose timestamp is `time` or later,
    /// skipping at most `left` events, and subtracts the number of skipped events from
    /// `left`. Returns `true` if the seek is complete.
    pub(crate) fn skip_up_to(&mut self, time: Timestamp, left: &mut u64) -> Result<bool, Error> {
        loop {
            *left -= self.skip_run(time, *left);
            if *left == 0 {
                return Ok(false);
            }
            *left -= 1;
            if self.skip_one(time)? {
                return Ok(true);
            }
        }
    }

    /// Skips one event of any form if it is before `time`. Returns `true` if it is not, or
    /// at the end of the tracefile.
    fn skip_one(&mut self, time: Timestamp) -> Result<bool, Error> {
        // There are no notices about skipped events.
        self.last_timestamp = Timestamp::MIN;
        if !self.advance()? {
            return Ok(true);
        }
        let is_reached = self.current.timestamp.is_some_and(|t| t >= time);
        if is_reached {
            let position = self.position_of_event();
            self.next = position.bit;
            self.clock = position.clock;
            self.last_timestamp = Timestamp::MIN;
            let before = time.as_ns().checked_sub(1).map_or(time, Timestamp::from_ns);
            self.latest = self.latest.max(before);
        }
        Ok(is_reached)
    }
}
