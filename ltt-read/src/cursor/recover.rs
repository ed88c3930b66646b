//! Finding the events of a packet whose content size is damaged.
//!
//! Such a packet has a size that can be believed, but its content size is larger than
//! that, or too small even for the packet's own header and context. Where its events end
//! and its padding starts is then found by this rule:
//!
//! * The padding is the run of equal bytes at the packet's end, whatever their value: at
//!   or after the last byte that differs from them, no event starts. So padding that is
//!   filled with one value never makes an event.
//! * All records up to there must be sound. Each has a known event type and ends within
//!   the packet. Its time is between the packet's begin and end, and not before that of
//!   the record before it. If only one of them is not, nothing of the packet is read:
//!   its padding may be what an earlier packet left there.
//!
//! Events whose last bytes equal the padding are found all the same; only those are lost
//! that hold nothing else and come last.

use super::{Cursor, State};
use crate::error::{DecodeError, Error};
use crate::packet::Packet;

/// What was found in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Content {
    /// Its end, in bits from the packet's begin.
    end: u64,
    events: u64,
}

impl Cursor {
    /// Returns the error for the damaged content size of the packet that was just
    /// entered. If its events are found, they come after
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

    /// Whether a bit of the current packet is in content that was found again.
    pub(super) fn is_recovered(&self, bit: u64) -> bool {
        matches!(self.state, State::Recovered { .. }) && bit >= self.packet.events_begin
    }

    /// Goes on with the events that were found in the current packet.
    pub(super) fn read_recovered(&mut self) {
        self.state = State::Packet;
        self.content_end = self.packet.readable_bits();
    }

    /// Reads the events of the current packet by the rule above.
    fn find_content(mut self) -> Option<Content> {
        let last_start = self.last_start()?;
        let mut time = self.packet.begin?;
        let end = self.packet.end?;
        let trace = self.trace.clone();
        let table = &trace.tables().streams[self.packet.stream_class.index()];
        self.content_end = self.packet.readable_bits();
        let mut events = 0;
        while table.header.begin(self.next) <= last_start {
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

    /// The last place in the current packet where an event may start, in bits: the last
    /// byte before its padding.
    fn last_start(&self) -> Option<u64> {
        let data = self.source.bytes().get(self.packet.offset as usize..)?;
        let data = data.get(..self.packet.size as usize)?;
        let filling = data.last()?;
        Some(8 * data.iter().rposition(|byte| byte != filling)? as u64)
    }
}
