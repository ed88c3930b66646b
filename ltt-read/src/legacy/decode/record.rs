//! Event records: headers are read by the decoder, bodies by their layouts, like those of
//! CTF.

use super::decoder::Decoder;
use crate::layout::program::{Scratch, Window};
use crate::layout::tables::Tables;
use crate::packet::Packet;
use crate::packet::Record;
use crate::report::DecodeError;
use crate::schema::Schema;

impl Decoder {
    /// Reads the record that follows one ending at `pos` in a packet: see
    /// [`Decoder::record`](crate::format::Decoder::record).
    #[allow(clippy::too_many_arguments)] // the parameters of the common decoder and its parts
    pub(crate) fn record(
        &self,
        schema: &Schema,
        tables: &Tables,
        packet: &Packet,
        window: Window<'_>,
        pos: u64,
        clock: u64,
        scratch: &mut Scratch,
    ) -> Result<Record, DecodeError> {
        let table = &tables.streams[packet.stream_class.index()];
        let packing = packet.packing.ok_or(DecodeError::NotASubBuffer)?;
        let header = self.header(packing, window, pos, clock)?;
        let event_type = table.event(Some(header.id))?;
        let body = tables.body(schema, event_type)?;
        let align = self.payload_mask(packing, event_type).count_ones();
        table.event_ids.note_size(header.id, event_type, align, body.region.fixed);
        let payload = match self.payload(packing, &header, event_type) {
            begin if begin <= window.end => begin,
            // A record without fields may end before the padding.
            _ if body.region.fixed == Some(0) => header.end,
            begin => return Err(DecodeError::BeyondContent { needed: begin - window.end }),
        };
        let fields_end = body.region.run(window, payload, scratch)?;
        let end = self.record_end(&header, payload, fields_end)?;
        if end > window.end {
            return Err(DecodeError::BeyondContent { needed: end - window.end });
        }
        let after = self.clock_after(&header, window, fields_end);
        let cycles = self.own_clock(&header, after);
        let timestamp = self.timestamp(packet, header.id, cycles);
        if timestamp.is_none() {
            return Err(DecodeError::TimeOverflow { cycles });
        }
        Ok(Record { begin: header.begin, end, event_type, timestamp, cycles, clock: after })
    }
}
