//! Going anywhere but to the next event: to positions and to times.

use super::form::Form;
use super::{Cursor, Position, State, legacy};
use crate::error::Error;
use crate::index;
use crate::layout::header::skip::{Lane, Place};
use crate::layout::program::Window;
use crate::packet::Packet;
use crate::time::Timestamp;

impl Cursor {
    /// The cut before the next event that would be read.
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

    /// The default clock before the packet that it is in.
    pub(crate) fn packet_clock(&self) -> u64 {
        self.packet_clock
    }

    /// The cut before the event that it stands on.
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

    /// The cut before what it has next: before the event that it stands on,
    /// unless that has been read.
    pub(crate) fn cut(&self, stands_on_next: bool) -> Position {
        match self.state {
            State::Packet if stands_on_next => self.position_of_event(),
            State::Failed => Position::END,
            _ => self.position(),
        }
    }

    /// Goes to a cut: [`next`](Self::next) gives the event after it.
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if there is no packet where the position says: it came
    /// from another tracefile, or the file was damaged since.
    pub fn seek(&mut self, position: Position) -> Result<(), Error> {
        self.last_timestamp = Timestamp::MIN;
        let files = self.tracefile().files.len();
        self.file = position.file.min(files.saturating_sub(1) as u32);
        if position.at_end {
            self.state = State::End;
            self.content_end = 0;
            return Ok(());
        }
        if position.bit == 0 && position.packet_offset == 0 && position.file == 0 {
            self.restart();
            return Ok(());
        }
        let Position { packet_offset, packet_number, packet_clock, .. } = position;
        if let Err(error) = self.enter_packet(packet_offset, packet_number, packet_clock) {
            // Positions between events that were recovered were found after the error.
            if !self.is_recovered(position.bit) {
                return Err(error);
            }
            self.read_recovered();
        }
        self.next = position.bit.max(self.next).min(self.content_end);
        self.clock = position.clock;
        Ok(())
    }

    /// Goes before the first packet.
    fn restart(&mut self) {
        self.state = State::Start;
        self.packet = Packet::none();
        (self.file, self.next, self.content_end) = (0, 0, 0);
        (self.packet_clock, self.clock) = (0, 0);
    }

    /// Goes before the first event whose timestamp is `time` or later (after
    /// the last event if there is none), counted in file order. An event without
    /// a timestamp comes before all times but [`Timestamp::MIN`].
    ///
    /// It searches the [times of packets](crate::Trace::packet_times), then reads one
    /// packet. The event is the first such one in any case; the times say how far a wrong
    /// packet can mislead.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next), if the packet to search is damaged.
    pub fn seek_time(&mut self, time: Timestamp) -> Result<(), Error> {
        match self.seek_packet(time)? {
            true => Ok(()),
            false => self.skip_to(time),
        }
    }

    /// Goes to the start of the first packet that may hold what
    /// [`seek_time`](Self::seek_time) seeks. True if there is no more to do.
    pub(crate) fn seek_packet(&mut self, time: Timestamp) -> Result<bool, Error> {
        self.last_timestamp = Timestamp::MIN;
        if time == Timestamp::MIN {
            self.restart();
            return Ok(true);
        }
        let trace = self.trace.clone();
        let found = index::packet_reaching(&trace, self.tracefile as usize, time);
        let Some((packet, is_reached)) = found else {
            self.restart();
            return Ok(true);
        };
        self.file = packet.file;
        self.enter_packet(packet.offset, packet.number, packet.clock_before)?;
        if !is_reached {
            // After the last packet that could be indexed there may be damage that must
            // not go unreported.
            self.next = self.content_end;
        }
        Ok(!is_reached)
    }

    /// Goes on behind a damaged packet to the next event whose timestamp is `time` or
    /// later, leaving damaged packets out.
    pub(crate) fn reach_behind(&mut self, time: Timestamp, mut damage: impl FnMut(Error)) {
        while self.skip_packet() {
            match self.skip_to(time) {
                Ok(()) => return,
                Err(error) => damage(error),
            }
        }
    }

    /// Goes on to before the next event whose timestamp is `time` or later.
    pub(crate) fn skip_to(&mut self, time: Timestamp) -> Result<(), Error> {
        let mut left = u64::MAX;
        self.skip_some(time, &mut left).map(drop)
    }

    /// The same, but passes no more events than `left`, which becomes less by those
    /// that it passes. Whether it is there.
    pub(crate) fn skip_some(&mut self, time: Timestamp, left: &mut u64) -> Result<bool, Error> {
        loop {
            match self.lane(time) {
                Some(mut lane) => {
                    *left -= lane.skip(*left);
                    let place = lane.place;
                    self.go(place);
                }
                None => self.skip_by_time(time, left),
            }
            if *left == 0 {
                return Ok(false);
            }
            *left -= 1;
            if self.pass(time)? {
                return Ok(true);
            }
        }
    }

    /// Goes to a place in the current packet.
    pub(crate) fn go(&mut self, place: Place) {
        (self.next, self.clock) = (place.next, place.clock);
    }

    /// Passes one event, of whatever kind, if it is before `time`. Whether it is there.
    pub(crate) fn pass(&mut self, time: Timestamp) -> Result<bool, Error> {
        // What is passed over is not worth a notice.
        self.last_timestamp = Timestamp::MIN;
        if !self.advance()? {
            return Ok(true);
        }
        let is_there = self.current.timestamp.is_some_and(|t| t >= time);
        if is_there {
            let cut = self.position_of_event();
            self.next = cut.bit;
            self.clock = cut.clock;
            self.last_timestamp = Timestamp::MIN;
        }
        Ok(is_there)
    }

    /// The way over those events of the current packet that are before `time`, if they
    /// are told by the value of the default clock.
    pub(crate) fn lane(&mut self, time: Timestamp) -> Option<Lane<'_>> {
        let table = self.table.as_deref()?;
        let quick = table.quick.as_ref()?;
        let data = self.source.bytes().get(self.packet.offset as usize..)?;
        Some(Lane {
            quick,
            table,
            tables: self.trace.tables(),
            window: Window { data, end: self.content_end },
            scratch: &mut self.scratch,
            place: Place { next: self.next, clock: self.clock },
            header: quick.size()?,
            before: quick.cycles_reaching(time)?,
        })
    }

    /// Passes events of the current packet before `time`, `left` at most, where their
    /// times have to be asked one by one: in legacy traces.
    fn skip_by_time(&mut self, time: Timestamp, left: &mut u64) {
        let Some(table) = self.table.as_deref() else { return };
        let Some(data) = self.source.bytes().get(self.packet.offset as usize..) else { return };
        let window = Window { data, end: self.content_end };
        let (mut next, mut clock) = (self.next, self.clock);
        while *left > 0
            && let Some(header) =
                legacy::Quick::<false>::header(table, &self.packet, data, next, clock)
            && header.time < time
        {
            let end = match header.entry.fixed() {
                Some(bits) => header.end + bits,
                None => {
                    let body = self.trace.tables().ready_body(header.entry);
                    let Some(body) = body else { break };
                    let end = body.region.end(window, header.end, &mut self.scratch);
                    end.unwrap_or(u64::MAX)
                }
            };
            if end > window.end {
                break;
            }
            (next, clock) = (end, header.cycles);
            *left -= 1;
        }
        (self.next, self.clock) = (next, clock);
    }
}
