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

/// What the header and context of a packet say, and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Packet {
    /// Number in its file, from 0.
    pub number: u64,
    /// Offset of its first byte in its file.
    pub offset: u64,
    /// Size in bytes, padding included, as declared; without a declaration,
    /// the rest of the file.
    pub size: u64,
    /// Size in bits of header, context and event records, as declared. If that is
    /// damaged, and the events were found all the same, it is their end.
    pub content_bits: u64,
    /// Where the first event record (or its padding) begins, in bits from the
    /// packet's begin.
    pub events_begin: u64,
    /// How many of its bytes the file lacks: 0 for a whole packet.
    pub missing: u64,
    /// Stream class of its event records.
    pub stream_class: StreamClassId,
    /// Id of the data stream within its class.
    pub stream_id: Option<u64>,
    /// Clock value at its begin.
    pub begin_cycles: Option<u64>,
    /// Clock value at its end.
    pub end_cycles: Option<u64>,
    /// Time at its begin.
    pub begin: Option<Timestamp>,
    /// Time at its end.
    pub end: Option<Timestamp>,
    /// Event records discarded so far (a running count of its tracefile).
    pub discarded: Option<u64>,
    /// Width of that counter in bits.
    pub discarded_bits: u8,
    /// Sequence number.
    pub sequence: Option<u64>,
    /// Width of that number in bits.
    pub sequence_bits: u8,
    /// Its magic number, if that is not CTF's.
    pub wrong_magic: Option<u64>,
    /// Its trace UUID, if that is not the trace's.
    pub wrong_uuid: Option<Uuid>,
    /// The default clock where its events begin, in cycles.
    pub clock: u64,
    /// How its events are packed, if it is a legacy block.
    pub(crate) packing: Option<Packing>,
    /// What is wrong with its content size, where that is all: then `content_bits` is
    /// the whole packet, as long as its events are not found.
    pub(crate) damage: Option<DecodeError>,
}

/// Why there is no packet.
#[derive(Debug)]
pub(crate) struct PacketError {
    pub(crate) kind: DecodeError,
    /// How many bits into the packet that was found.
    pub(crate) bit: u64,
    /// Its size in bytes, if it tells one that can be believed.
    pub(crate) size: Option<u64>,
}

impl Packet {
    /// Reads the packet that begins at a byte of a file.
    ///
    /// `clock` is the default clock's value before it; `scratch` keeps the
    /// places and values of header and context fields.
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
            // With a sound size, what follows the packet can be read.
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
                // Between these times, its events can be found.
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
            events_begin: pos,
            missing: (total / 8).saturating_sub(data.len() as u64),
            stream_class,
            stream_id: roles.get(Role::StreamId),
            begin_cycles,
            end_cycles,
            begin,
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

    /// No packet: what a cursor holds before it has read one.
    pub(crate) fn none() -> Packet {
        Packet {
            number: 0,
            offset: 0,
            size: 0,
            content_bits: 0,
            events_begin: 0,
            missing: 0,
            stream_class: StreamClassId(0),
            stream_id: None,
            begin_cycles: None,
            end_cycles: None,
            begin: None,
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

    /// Where reading its events must end, in bits: the content's end, or the
    /// file's if that comes first.
    pub(crate) fn readable_bits(&self) -> u64 {
        let present = (self.size - self.missing).saturating_mul(8);
        self.content_bits.min(present)
    }
}

/// Total and content size in bits of a packet that declares them or not, of
/// which `read` bits have been read (CTF 1.8.3 section 5.2).
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

/// The trace UUID in a packet header.
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
