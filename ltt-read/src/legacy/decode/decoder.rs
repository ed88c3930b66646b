//! The decoder of legacy traces: blocks to packets, event headers to ids and times.

use crate::base::clock_transform::ClockTransform;
use crate::base::time::Timestamp;
use crate::layout::program::Window;
use crate::legacy::blocks::block::{BlockHeader, TraceHeader};
use crate::legacy::blocks::block_2003::{self, Block};
use crate::legacy::blocks::clock::TickClock;
use crate::legacy::blocks::event_header::{EventHeader, Form, align_up};
use crate::legacy::blocks::version::Version;
use crate::legacy::blocks::{Packing, interpolate, packing};
use crate::packet::{Packet, PacketError};
use crate::report::DecodeError;
use crate::schema::{ByteOrder, EventTypeId, Schema, StreamClassId};

/// The decoding parameters of the tracefiles of one trace.
#[derive(Debug, Clone)]
pub(crate) struct Decoder {
    version: Version,
    order: ByteOrder,
    times: Times,
    /// The id of the heartbeat event whose payload is the full clock, if there is one.
    full_clock: Option<u64>,
    /// The alignment of each event type's payload in bytes, minus 1 (since 2.0).
    payload_masks: Box<[u8]>,
}

/// The conversion of ticks to times.
#[derive(Debug, Clone)]
enum Times {
    /// A conversion by the frequency of the clock.
    Clock(TickClock),
    /// An interpolation between both ends of each block. All blocks have this size in
    /// bytes.
    Interpolated { block_size: u64, transform: ClockTransform },
}

/// The properties of a tracefile that only its name contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileKind {
    pub(crate) stream: StreamClassId,
    /// `true` for a compact channel of 1.0.
    pub(crate) compact: bool,
}

/// A decoded event header, with positions in bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    pub(crate) id: u64,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) cycles: u64,
    size: Option<u64>,
}

impl Decoder {
    /// Creates a decoder for a trace since 0.7.
    pub(crate) fn new(schema: &Schema, trace: &TraceHeader, clock: TickClock) -> Self {
        let full_clock = match trace.version {
            Version::Facilities(_) | Version::OneZero if trace.has_heartbeat => Some(3),
            _ => None,
        };
        Decoder {
            version: trace.version,
            order: trace.order,
            times: Times::Clock(clock),
            full_clock,
            payload_masks: payload_masks(schema),
        }
    }

    /// Creates a decoder for a trace of 2003.
    pub(crate) fn of_2003(order: ByteOrder, block_size: u64) -> Self {
        Decoder {
            version: Version::Of2003,
            order,
            times: Times::Interpolated { block_size, transform: ClockTransform::IDENTITY },
            full_clock: Some(block_2003::HEARTBEAT),
            payload_masks: Box::new([]),
        }
    }

    /// Reads the packet that starts at a byte offset of a file.
    pub(crate) fn packet(
        &self,
        kind: FileKind,
        file: &[u8],
        offset: u64,
        number: u64,
    ) -> Result<Packet, PacketError> {
        let data = file.get(offset as usize..).unwrap_or(&[]);
        let packet = Packet { number, offset, stream_class: kind.stream, ..Packet::none() };
        match self.times {
            Times::Clock(ref clock) => self.block(clock, kind, data, packet),
            Times::Interpolated { block_size, transform } => {
                let packet = self.block_of_2003(block_size, data, packet)?;
                // An event between both ends is interpolated between their transformed times.
                let time = |time: Option<Timestamp>| transform.checked_apply(time?);
                Ok(Packet { start: time(packet.start), end: time(packet.end), ..packet })
            }
        }
    }

    /// Creates the decoder of the same trace with another transform of its clock.
    pub(crate) fn transformed(&self, transform: ClockTransform) -> Self {
        let times = match self.times {
            Times::Clock(clock) => Times::Clock(clock.transformed(transform)),
            Times::Interpolated { block_size, .. } => Times::Interpolated { block_size, transform },
        };
        Decoder { times, ..self.clone() }
    }

    /// Returns the time of a record before the transform of its clock. `time` is that after it.
    pub(crate) fn recorded(&self, cycles: u64, time: Timestamp) -> Option<Timestamp> {
        match &self.times {
            Times::Clock(clock) => clock.recorded(cycles),
            Times::Interpolated { transform, .. } => Some(transform.inverse(time)),
        }
    }

    fn block(
        &self,
        clock: &TickClock,
        kind: FileKind,
        data: &[u8],
        packet: Packet,
    ) -> Result<Packet, PacketError> {
        let early =
            |(kind, byte): (DecodeError, u64)| PacketError { kind, bit: 8 * byte, size: None };
        let header = BlockHeader::read(data).map_err(early)?;
        let available = data.len() as u64;
        let error = |kind| {
            let valid = (header.events_begin..=available).contains(&header.size);
            PacketError { kind, bit: 8 * header.events_begin, size: valid.then_some(header.size) }
        };
        if (header.trace.version, header.trace.order) != (self.version, self.order) {
            return Err(error(DecodeError::ForeignSubBuffer));
        }
        let (size, content) = (header.size, header.data_end);
        if content > size {
            let (content, total) = (8 * content, 8 * size);
            return Err(error(DecodeError::ContentBeyondPacket { content, total }));
        }
        if content < header.events_begin {
            let (bits, needed) = (8 * content, 8 * header.events_begin);
            return Err(error(DecodeError::PacketTooSmall { bits, needed }));
        }
        let lost = header.lost.map(|(events, _)| u64::from(events));
        let blocks = header.lost.map(|(_, blocks)| packet.number + u64::from(blocks));
        Ok(Packet {
            size,
            content_bits: 8 * content,
            events_start: 8 * header.events_begin,
            missing: size.saturating_sub(available),
            start_cycles: Some(header.begin),
            end_cycles: Some(header.end),
            start: clock.timestamp(header.begin),
            end: clock.timestamp(header.end),
            discarded: lost,
            discarded_bits: 32,
            // Lost blocks leave a gap in the sequence numbers of the recorded ones.
            sequence: blocks,
            sequence_bits: 32,
            clock: header.begin,
            packing: Some(packing(&header.trace, kind.compact, *clock)),
            ..packet
        })
    }

    fn block_of_2003(&self, size: u64, data: &[u8], packet: Packet) -> Result<Packet, PacketError> {
        let valid = (size > 0 && size <= data.len() as u64).then_some(size);
        let error = |(kind, byte)| PacketError { kind, bit: 8 * byte, size: valid };
        let block = Block::read(data, size, self.order).map_err(error)?;
        Ok(Packet {
            size,
            content_bits: 8 * block.data_end,
            start_cycles: Some(block.begin.cycles),
            end_cycles: Some(block.end.cycles),
            start: Some(Timestamp::from_ns(block.begin.ns)),
            end: Some(Timestamp::from_ns(block.end.ns)),
            clock: block.begin.cycles,
            packing: Some(Packing { form: Form::Of2003, payload_mask: 0, quick: None }),
            ..packet
        })
    }

    /// Returns the start, in bits, of the header after a record that ended at bit `pos`.
    pub(crate) fn begin(&self, packing: Packing, pos: u64) -> u64 {
        8 * packing.form.begin(pos / 8)
    }

    /// Reads the header after a record that ended at bit `pos`.
    pub(crate) fn header(
        &self,
        packing: Packing,
        window: Window<'_>,
        pos: u64,
        clock: u64,
    ) -> Result<Header, DecodeError> {
        let read = EventHeader::read(packing.form, self.order, window, pos / 8, clock)?;
        let EventHeader { begin, end, id, cycles, size } = read;
        Ok(Header { id, begin: 8 * begin, end: 8 * end, cycles, size })
    }

    /// Returns the alignment of an event's payload in bytes, minus 1.
    pub(crate) fn payload_mask(&self, packing: Packing, event: EventTypeId) -> u8 {
        match packing.form {
            Form::Markers { .. } => self.payload_masks.get(event.index()).copied().unwrap_or(0),
            _ => packing.payload_mask,
        }
    }

    /// Returns the start of the payload after a header, in bits.
    pub(crate) fn payload(&self, packing: Packing, header: &Header, event: EventTypeId) -> u64 {
        8 * align_up(header.end / 8, self.payload_mask(packing, event))
    }

    /// Returns the end of a record in bits, given the end of its fields. The size in the
    /// header, if there is one, has to agree.
    pub(crate) fn record_end(
        &self,
        header: &Header,
        payload: u64,
        fields_end: u64,
    ) -> Result<u64, DecodeError> {
        let Some(declared) = header.size else { return Ok(fields_end) };
        let found = (fields_end - payload) / 8;
        // Facilities also pad after a string that is the last field.
        let padding = if self.version < Version::Markers(0) { 7 } else { 0 };
        match declared.checked_sub(found) {
            Some(more) if more <= padding => Ok(payload + 8 * declared),
            _ => Err(DecodeError::SizeMismatch { declared, found }),
        }
    }

    /// Returns the clock value after an event. For a heartbeat event with the full clock,
    /// the value is in its payload.
    pub(crate) fn clock_after(&self, header: &Header, window: Window<'_>, end: u64) -> u64 {
        let last = || {
            let first = (end / 8).checked_sub(8)?;
            let bytes = *window.data.get(first as usize..)?.first_chunk::<8>()?;
            Some(match self.order {
                ByteOrder::Little => u64::from_le_bytes(bytes),
                ByteOrder::Big => u64::from_be_bytes(bytes),
            })
        };
        match self.full_clock {
            Some(id) if id == header.id => last().unwrap_or(header.cycles),
            _ => header.cycles,
        }
    }

    /// Returns the clock value for the time of an event itself. A heartbeat event sets
    /// its own time, except in 2003.
    pub(crate) fn own_clock(&self, header: &Header, after: u64) -> u64 {
        if self.version == Version::Of2003 { header.cycles } else { after }
    }

    /// Returns the time of an event of a packet.
    pub(crate) fn timestamp(&self, packet: &Packet, id: u64, cycles: u64) -> Option<Timestamp> {
        match &self.times {
            Times::Clock(clock) => clock.timestamp(cycles),
            // The events at both ends of a block contain their own times.
            Times::Interpolated { .. } if id == block_2003::BLOCK_START => packet.start,
            Times::Interpolated { .. } if id == block_2003::BLOCK_END => packet.end,
            Times::Interpolated { .. } => {
                let begin = (packet.start_cycles?, packet.start?);
                interpolate(begin, (packet.end_cycles?, packet.end?), cycles)
            }
        }
    }
}

fn payload_masks(schema: &Schema) -> Box<[u8]> {
    let mask = |align: u32| u8::try_from(align / 8).unwrap_or(128).max(1) - 1;
    let payloads = schema.event_types.iter().map(|e| e.payload.as_ref());
    payloads.map(|p| p.map_or(0, |class| mask(class.align))).collect()
}
