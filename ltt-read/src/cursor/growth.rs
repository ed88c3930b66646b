//! Reading of tracefiles that are being recorded.

use std::sync::Arc;

use super::{Cursor, State};
use crate::base::time::Timestamp;
use crate::format::{Decoder, PacketBounds, packet_bounds};
use crate::layout::header::Ahead;
use crate::report::NoticeKind;
use crate::trace::Trace;

impl Cursor {
    /// Returns `true` if no event is left so far and more may follow.
    pub(crate) fn is_pending(&self) -> bool {
        let ends = matches!(self.state, State::End | State::Failed | State::Recovered { .. });
        !ends && self.tracefile().is_growing()
    }

    /// Returns `true` if the current packet has events that cannot be read yet, because the first
    /// of them is of a type that is not declared, given that [`is_pending`](Self::is_pending).
    pub(crate) fn waits_in_packet(&self) -> bool {
        self.next < self.content_end
    }

    /// Returns a time before which no event follows, if [`is_pending`](Self::is_pending).
    pub(crate) fn floor(&self) -> Timestamp {
        match self.waits_in_packet() {
            true => {
                let is_trusted = packet_bounds(&self.decoder.schema) != PacketBounds::Unknown;
                let start = self.packet.start.filter(|_| is_trusted);
                let before = self.tracefile().file(self.file).map(|file| file.before.floor);
                start.max(before).unwrap_or(Timestamp::MIN).max(self.last_timestamp)
            }
            false => self.known_floor().max(self.last_timestamp),
        }
    }

    /// Returns a time before which no event follows the data that is there.
    pub(crate) fn known_floor(&self) -> Timestamp {
        self.tracefile().growth.map_or(Timestamp::MIN, |growth| growth.floor)
    }

    /// Continues with a later version of the trace, which a
    /// [`GrowingTrace`](crate::GrowingTrace) returned. The position of the cursor and its
    /// current event stay the same.
    ///
    /// # Panics
    ///
    /// If the trace has no tracefile with the cursor's index: it is no later version.
    pub fn continue_with(&mut self, version: &Arc<Trace>) {
        let len = version.tracefiles().len();
        assert!((self.tracefile as usize) < len, "not a later version of the trace");
        self.trace = version.clone();
        if Arc::ptr_eq(&self.decoder, version.decoder()) {
            return;
        }
        self.decoder = version.decoder().clone();
        self.ahead = Ahead::NONE;
        if self.state == State::Packet {
            let table = self.decoder.tables.streams.get(self.packet.stream_class.index());
            self.table = table.cloned();
            // The layout of the current event is the same, but may not be compiled yet.
            let Decoder { schema, tables, .. } = &*self.decoder;
            if self.current.event_type.index() < schema.event_types.len() {
                _ = tables.body(schema, self.current.event_type);
            }
        }
    }

    /// Notes that the current event is earlier than a time before which none was expected.
    pub(crate) fn note_late(&mut self, expected: Timestamp) {
        if let Some(time) = self.current.timestamp.filter(|time| *time < expected) {
            self.note(NoticeKind::LateEvents { time, expected });
        }
    }

    /// Returns `true` if the cursor has an event, given that it was advanced and did not run
    /// out of events.
    pub(crate) fn has_event(&self) -> bool {
        self.state == State::Packet
    }
}
