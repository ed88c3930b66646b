//! Packets and event records of CTF, which layouts describe completely.

use crate::base::uuid::Uuid;
use crate::layout::clock::update_clock;
use crate::layout::node::NodeKind;
use crate::layout::program::{Len, RoleValues, Scratch, Window};
use crate::layout::region::Region;
use crate::layout::tables::Tables;
use crate::packet::{Packet, PacketError, Record};
use crate::report::DecodeError;
use crate::schema::{Role, Schema};

const MAGIC: u64 = 0xc1fc_1fc1;

/// Reads the header and context of the packet at a byte offset of a file.
///
/// `clock` is the value of the default clock before the packet. `scratch` keeps the
/// places and values of the fields.
pub(super) fn packet(
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
    let end_cycles = end_cycles.map(|end| update_clock(roles.clock, end, roles.end_bits.into()));
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
        cpu: table.cpu(data, scratch),
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
        lost: None,
        damage,
    })
}

/// Reads the record that follows one ending at `pos` in a packet: see
/// [`Decoder::record`](super::Decoder::record).
pub(super) fn record(
    schema: &Schema,
    tables: &Tables,
    packet: &Packet,
    window: Window<'_>,
    pos: u64,
    clock: u64,
    scratch: &mut Scratch,
) -> Result<Record, DecodeError> {
    let table = &tables.streams[packet.stream_class.index()];
    let begin = table.header.begin(pos);
    let header = table.header.read(window, begin, clock, scratch)?;
    let event_type = table.event(header.id)?;
    let body = tables.body(schema, event_type)?;
    if let Some(id) = header.id {
        table.event_ids.note_size(id, event_type, 0, body.region.fixed);
        if let Some(skip) = body.region.branchless_skip().filter(|_| !body.needs_header) {
            table.event_ids.note_skip(id, skip);
        }
    }
    if body.needs_header {
        table.header.region.run(window, begin, scratch)?;
    }
    let end = body.region.run(window, header.end, scratch)?;
    if end == begin {
        return Err(DecodeError::EmptyEvent);
    }
    let cycles = header.clock;
    let timestamp = match &table.clock {
        Some(clock) => match clock.timestamp(cycles) {
            None => return Err(DecodeError::TimeOverflow { cycles }),
            time => time,
        },
        None => None,
    };
    Ok(Record { begin, end, event_type, timestamp, cycles, clock: cycles })
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
