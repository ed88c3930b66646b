//! Packets: header and context, sizes, times and counters.

use crate::error::DecodeError;
use crate::layout::node::NodeKind;
use crate::layout::program::{Len, RoleValues, Scratch, Window};
use crate::layout::region::Region;
use crate::layout::tables::Tables;
use crate::legacy::Packing;
use crate::schema::{Role, Schema, StreamClassId};
use crate::time::{Timestamp, update_clock};
use crate::uuid::Uuid;

const MAGIC: u64 = 0xc1fc_1fc1;

/// The decoded header and context of a packet, and the values derived from them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Packet {
    /// The number of the packet in its file, from 0.
    pub number: u64,
    /// The offset of its first byte in its file, in bytes.
    pub offset: u64,
    /// The declared size in bytes, including padding; without a declaration, the size of
    /// the rest of the file.
    pub size: u64,
    /// The declared size of header, context and event records, in bits. If this is
    /// damaged but the events were found, it is the end of the events.
    pub content_bits: u64,
    /// The start of the first event record or of the padding before it, in bits from the
    /// packet's start.
    pub events_start: u64,
    /// The number of its bytes that are missing in the file: 0 for a whole packet.
    pub missing: u64,
    /// The stream class of its event records.
    pub stream_class: StreamClassId,
    /// The id of the data stream within its class; `None` if not declared.
    pub stream_id: Option<u64>,
    /// The clock value at its start, in cycles; `None` if not declared.
    pub start_cycles: Option<u64>,
    /// The clock value at its end, in cycles; `None` if not declared.
    pub end_cycles: Option<u64>,
    /// The time at its start; `None` if not declared.
    pub start: Option<Timestamp>,
    /// The time at its end; `None` if not declared.
    pub end: Option<Timestamp>,
    /// The number of event records discarded so far, a running count of its tracefile;
    /// `None` if not declared.
    pub discarded: Option<u64>,
    /// The width of that counter in bits.
    pub discarded_bits: u8,
    /// The sequence number; `None` if not declared.
    pub sequence: Option<u64>,
    /// The width of that number in bits.
    pub sequence_bits: u8,
    /// The magic number, if it is not that of CTF.
    pub wrong_magic: Option<u64>,
    /// The trace UUID in the packet header, if it is not that of the trace.
    pub wrong_uuid: Option<Uuid>,
    /// The value of the default clock before its first event, in cycles.
    pub clock: u64,
    /// The packing of its events, if it is a sub-buffer in a format before CTF.
    pub(crate) packing: Option<Packing>,
    /// The error in its content size, if that is the only damage. Until the events are
    /// found, `content_bits` is then the size of the whole packet.
    pub(crate) damage: Option<DecodeError>,
}

/// An error in a packet's header or context.
#[derive(Debug)]
pub(crate) struct PacketError {
    pub(crate) kind: DecodeError,
    /// The offset of the error, in bits from the packet's start.
    pub(crate) bit: u64,
    /// The size of the packet in bytes, if it declares a plausible one.
    pub(crate) size: Option<u64>,
}

impl Packet {
    /// Reads the header and context of the packet at a byte offset of a file.
    ///
    /// `clock` is the value of the default clock before the packet. `scratch` keeps the
    /// places and values of the fields.
    pub(crate) fn read(
        schema: &Schema,
        tables: &Tables,
        file: &[u8],
        offset: u64,
        number: u64,
        clock: u64,
        scratch: &mut Scratch,
    ) -> Result<Packet, PacketError> {
        let data = file.get(offset as usize..).unwrap_or(&[]);
        let available = data.len() as u64 * 8;
        let window = Window { data, end: available };
        scratch.roles = RoleValues::at(clock);
        let early = |kind, bit| PacketError { kind, bit, size: None };

        let mut pos = 0;
        let (mut wrong_magic, mut wrong_uuid) = (None, None);
        if let Some(region) = &tables.packet_header {
            pos = region.run(window, pos, scratch).map_err(|kind| early(kind, 0))?;
            wrong_magic = scratch.roles.get(Role::PacketMagic).filter(|found| *found != MAGIC);
            let uuid = uuid(tables, region, window, scratch);
            wrong_uuid = uuid.filter(|found| schema.uuid.is_some_and(|u| u != *found));
        }
        let stream = scratch.roles.get(Role::StreamClassId);
        let stream_class = tables.stream(stream).map_err(|kind| early(kind, pos))?;
        let table = &tables.streams[stream_class.index()];
        if let Some(region) = &table.packet_context {
            pos = region.run(window, pos, scratch).map_err(|kind| early(kind, pos))?;
        }
        let roles = scratch.roles;
        let declared = roles.get(Role::PacketTotalLength);
        let content = roles.get(Role::PacketContentLength);
        let error = |kind| {
            // If the size is sound, the packets after this one can be read.
            let sound =
                |bits: &u64| bits.is_multiple_of(8) && *bits >= pos.max(8) && *bits <= available;
            PacketError { kind, bit: pos, size: declared.filter(sound).map(|bits| bits / 8) }
        };
        let time = |cycles: Option<u64>| table.clock.as_ref()?.timestamp(cycles?);
        let begin_cycles = roles.get(Role::ClockTimestamp).map(|_| roles.clock);
        let end_cycles = roles.get(Role::PacketEndTimestamp);
        let end_cycles =
            end_cycles.map(|end| update_clock(roles.clock, end, roles.end_bits.into()));
        let (begin, end) = (time(begin_cycles), time(end_cycles));
        let ((total, content), damage) = match sizes(declared, content, pos, available) {
            Ok(sizes) => (sizes, None),
            Err(kind) => match (error(kind), begin.zip(end)) {
                // The events can be found because their times must lie between these.
                (PacketError { size: Some(size), .. }, Some((begin, end))) if begin <= end => {
                    ((8 * size, 8 * size), Some(kind))
                }
                (error, _) => return Err(error),
            },
        };
        Ok(Packet {
            number,
            offset,
            size: total / 8,
            content_bits: content,
            events_start: pos,
            missing: (total / 8).saturating_sub(data.len() as u64),
            stream_class,
            stream_id: roles.get(Role::StreamId),
            start_cycles: begin_cycles,
            end_cycles,
            start: begin,
            end,
            discarded: roles.get(Role::DiscardedEvents),
            discarded_bits: roles.discarded_bits,
            sequence: roles.get(Role::PacketSequence),
            sequence_bits: roles.sequence_bits,
            wrong_magic,
            wrong_uuid,
            clock: roles.clock,
            packing: None,
            damage,
        })
    }

    /// Creates the placeholder that a cursor holds before it has read a packet.
    pub(crate) fn none() -> Packet {
        Packet {
            number: 0,
            offset: 0,
            size: 0,
            content_bits: 0,
            events_start: 0,
            missing: 0,
            stream_class: StreamClassId(0),
            stream_id: None,
            start_cycles: None,
            end_cycles: None,
            start: None,
            end: None,
            discarded: None,
            discarded_bits: 0,
            sequence: None,
            sequence_bits: 0,
            wrong_magic: None,
            wrong_uuid: None,
            clock: 0,
            packing: None,
            damage: None,
        }
    }

    /// Returns the end of its readable content, in bits: the content's end, or the file's
    /// if that comes first.
    pub(crate) fn readable_bits(&self) -> u64 {
        let present = (self.size - self.missing).saturating_mul(8);
        self.content_bits.min(present)
    }
}

/// Computes the total and content size in bits of a packet from its optional
/// declarations. `read` bits of it have been read (CTF 1.8.3 section 5.2).
fn sizes(
    total: Option<u64>,
    content: Option<u64>,
    read: u64,
    available: u64,
) -> Result<(u64, u64), DecodeError> {
    let (total, content) = match (total, content) {
        (Some(t), Some(c)) => (t, c),
        (Some(t), None) => (t, t),
        (None, Some(c)) => (c, c),
        (None, None) => (available, available),
    };
    if !total.is_multiple_of(8) {
        return Err(DecodeError::PacketSizeNotBytes { bits: total });
    }
    if content > total {
        return Err(DecodeError::ContentBeyondPacket { content, total });
    }
    if content < read || total == 0 {
        return Err(DecodeError::PacketTooSmall { bits: content, needed: read.max(8) });
    }
    Ok((total, content))
}

/// Returns the trace UUID in a packet header.
fn uuid(tables: &Tables, region: &Region, window: Window<'_>, scratch: &Scratch) -> Option<Uuid> {
    let node = &region.nodes[tables.uuid_node? as usize];
    let (NodeKind::Array { len, .. } | NodeKind::Blob { len }) = &node.kind else { return None };
    let Len::Const(16) = len else { return None };
    let first = ((scratch.slots[node.anchor as usize] + node.offset) / 8) as usize;
    window.data.get(first..)?.first_chunk::<16>().map(|bytes| Uuid(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_and_missing_sizes() {
        assert_eq!(sizes(Some(800), Some(700), 64, 8000), Ok((800, 700)));
        assert_eq!(sizes(Some(800), None, 64, 8000), Ok((800, 800)));
        assert_eq!(sizes(None, Some(800), 64, 8000), Ok((800, 800)));
        assert_eq!(sizes(None, None, 64, 8000), Ok((8000, 8000)));
        assert!(sizes(Some(801), None, 0, 8000).is_err());
        assert!(sizes(Some(800), Some(801), 0, 8000).is_err());
        assert!(sizes(Some(800), Some(10), 64, 8000).is_err());
        assert!(sizes(Some(0), Some(0), 0, 8000).is_err());
    }
}
