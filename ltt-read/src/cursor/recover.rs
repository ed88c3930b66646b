//! Recovery of the events of a packet whose content size is damaged.
//!
//! Such a packet has a plausible size, but its content size is larger than that, or too
//! small even for the packet's own header and context. The boundary between its events
//! and its padding is then found by this rule:
//!
//! * The padding is the run of equal bytes at the packet's end, whatever their value. No
//!   event starts after the last byte that differs from them. Therefore padding that is
//!   filled with one value is never decoded as an event.
//! * All records before that must be sound: each has a known event type, ends within the
//!   packet, and has a time that lies between the packet's start and end and not before
//!   the time of the previous record. If any record is unsound, no event of the packet is
//!   recovered: the padding may contain data of an earlier packet.
//!
//! Events whose last bytes equal the padding are found as well. Only trailing events that
//! consist entirely of padding bytes are lost.

use super::{Cursor, State};
use crate::base::time::Timestamp;
use crate::packet::Packet;
use crate::report::{DecodeError, Error};

/// The recovered content of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Content {
    /// The end of the content, in bits from the packet's start.
    end: u64,
    events: u64,
}

impl Cursor {
    /// Returns the error for the damaged content size of the packet that was just
    /// entered. If its events are found, they can be read after
    /// [`skip_packet`](Self::skip_packet).
    #[cold]
    pub(super) fn recover(&mut self, damage: DecodeError) -> Error {
        let content = self.clone().find_content();
        let error = self.fail(damage);
        match content {
            Some(Content { end, events }) => {
                self.packet.content_bits = end;
                self.state = State::Recovered { events };
            }
            None => {
                let Packet { offset, number, size, .. } = self.packet;
                self.packet = Packet { offset, number, size, ..Packet::none() };
                self.next = 0;
            }
        }
        error
    }

    /// Returns `true` if the content of the current packet was recovered and `bit` is not
    /// before its events.
    pub(super) fn is_recovered(&self, bit: u64) -> bool {
        matches!(self.state, State::Recovered { .. }) && bit >= self.packet.events_start
    }

    /// Continues with the recovered events of the current packet.
    pub(super) fn read_recovered(&mut self) {
        self.state = State::Packet;
        // A seek meets the damage, and leaves the packet out.
        self.latest = Timestamp::MAX;
        self.content_end = self.packet.readable_bits();
    }

    /// Reads the events of the current packet by the rule in the module's documentation.
    fn find_content(mut self) -> Option<Content> {
        let last_start = self.last_start()?;
        let mut time = self.packet.start?;
        let end = self.packet.end?;
        let trace = self.trace.clone();
        self.content_end = self.packet.readable_bits();
        let mut events = 0;
        while trace.decoder().next_record(&self.packet, self.next) <= last_start {
            self.read_event().ok()?;
            let now = self.current.timestamp?;
            if now < time || now > end {
                return None;
            }
            time = now;
            events += 1;
        }
        Some(Content { end: self.next, events })
    }

    /// Returns the last place in the current packet at which an event may start, in bits:
    /// the last byte before its padding.
    fn last_start(&self) -> Option<u64> {
        let data = self.bytes.get().get(self.packet.offset as usize..)?;
        let data = data.get(..self.packet.size as usize)?;
        let filling = data.last()?;
        Some(8 * data.iter().rposition(|byte| byte != filling)? as u64)
    }
}
