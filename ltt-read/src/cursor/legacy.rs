//! Reading of sub-buffers in the formats before CTF. The trace's decoder reads the
//! headers; bodies are read by their layouts, like those of CTF.

use super::form::Form;
use super::{Current, Cursor};
use crate::error::DecodeError;
use crate::layout::header::QuickValues;
use crate::layout::program::Window;
use crate::layout::tables::StreamTable;
use crate::legacy::{Decoder, Packing};
use crate::notice::NoticeKind;
use crate::packet::Packet;

/// Events of legacy traces whose header has the common form. With `PLAIN`, only the
/// events that are decoded without a call: those with a body of fixed size and a time
/// that is far from being rounded.
pub(super) struct Quick<const PLAIN: bool>;

impl<const PLAIN: bool> Form for Quick<PLAIN> {
    const FIXED: bool = PLAIN;

    #[inline(always)]
    fn header(
        table: &StreamTable,
        packet: &Packet,
        data: &[u8],
        next: u64,
        clock: u64,
    ) -> Option<QuickValues> {
        packet.packing.as_ref()?.quick.as_ref()?.read::<PLAIN>(&table.event_ids, data, next, clock)
    }
}

impl Cursor {
    /// [`advance_quickly`](Cursor::advance_quickly) for legacy traces.
    #[inline(never)] // keeps the code path of CTF short
    pub(super) fn advance_legacy_quickly(&mut self) -> Option<()> {
        match self.advance_by::<Quick<true>>() {
            Some(()) => Some(()),
            None => self.advance_legacy_less_quickly(),
        }
    }

    /// Reads an event that is not plain. This is a function of its own because it makes
    /// calls: the plain path then need not save registers for them.
    #[inline(never)]
    fn advance_legacy_less_quickly(&mut self) -> Option<()> {
        self.advance_by::<Quick<false>>()
    }

    /// Returns the decoder and the packing of the current packet.
    fn legacy<'a>(&self, table: &'a StreamTable) -> Option<(&'a Decoder, Packing)> {
        Some((table.legacy.as_deref()?, self.packet.packing?))
    }

    /// Returns `true` if there is only padding between `next` and the end of the content.
    pub(super) fn at_legacy_padding(&self) -> bool {
        let Some(table) = self.table.as_deref() else { return false };
        let begin = |(decoder, packing): (&Decoder, _)| decoder.begin(packing, self.next);
        self.legacy(table).map(begin).is_some_and(|begin| begin >= self.content_end)
    }

    /// [`read_event`](Cursor::read_event) for legacy traces.
    pub(super) fn read_legacy_event(&mut self) -> Result<(), DecodeError> {
        let trace = &*self.trace;
        let tables = trace.tables();
        let table = &tables.streams[self.packet.stream_class.index()];
        let (decoder, packing) = self.legacy(table).ok_or(DecodeError::NotASubBuffer)?;
        let data = self.source.bytes().get(self.packet.offset as usize..).unwrap_or(&[]);
        let window = Window { data, end: self.content_end };

        let header = decoder.header(packing, window, self.next, self.clock)?;
        let event_type = table.event(Some(header.id))?;
        let body = tables.body(trace.schema(), event_type)?;
        let align = decoder.payload_mask(packing, event_type).count_ones();
        table.event_ids.note_size(header.id, event_type, align, body.region.fixed);
        let payload = match decoder.payload(packing, &header, event_type) {
            begin if begin <= window.end => begin,
            // A record without fields may end before the padding.
            _ if body.region.fixed == Some(0) => header.end,
            begin => return Err(DecodeError::BeyondContent { needed: begin - window.end }),
        };
        let fields_end = body.region.run(window, payload, &mut self.scratch)?;
        let end = decoder.record_end(&header, payload, fields_end)?;
        if end > window.end {
            return Err(DecodeError::BeyondContent { needed: end - window.end });
        }
        let after = decoder.clock_after(&header, window, fields_end);
        let cycles = decoder.own_clock(&header, after);
        let timestamp = decoder.timestamp(&self.packet, header.id, cycles);
        let now = timestamp.ok_or(DecodeError::TimeOverflow { cycles })?;
        self.current = Current {
            begin: header.begin,
            event_type,
            timestamp,
            cycles,
            clock_before: self.clock,
        };
        self.next = end;
        self.clock = after;
        if now < self.last_timestamp {
            self.note(NoticeKind::ClockBackwards { from: self.last_timestamp, to: now });
        }
        self.last_timestamp = now;
        Ok(())
    }

    /// Notes the losses that the counters of a tracefile's first sub-buffer report. These
    /// counters start at 0 with the trace.
    pub(super) fn note_first_losses(&mut self) {
        if self.packet.packing.is_some() {
            let start = Packet { discarded: Some(0), ..Packet::none() };
            let lost = self.packet.sequence.unwrap_or(0).wrapping_sub(self.packet.number);
            if lost > 0 {
                let kind =
                    NoticeKind::LostPackets { count: lost, start: None, end: self.packet.start };
                self.note(kind);
            }
            self.compare_counters(&start);
        }
    }
}
