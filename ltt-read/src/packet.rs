//! Decoded packets and event records, whatever their format.

use crate::base::time::Timestamp;
use crate::base::uuid::Uuid;
use crate::legacy::blocks::Packing;
use crate::report::DecodeError;
use crate::schema::{EventTypeId, StreamClassId};

/// The decoded header and context of a packet, and the values derived from them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[repr(C)] // the offset is needed for each event
pub struct Packet {
    /// The offset of its first byte in its file, or in its [part](crate::Tracefile::parts) of one, in bytes.
    pub offset: u64,
    /// The number of the packet in its file or part, from 0.
    pub number: u64,
    /// The declared size in bytes, including padding; without a declaration, the size of
    /// the rest of the file.
    pub size: u64,
    /// The declared size of header, context and event records, in bits. If this is
    /// damaged but the events were found, it is the end of the events.
    pub content_bits: u64,
    /// The start of the first event record or of the padding before it, in bits from the
    /// packet's start.
    pub(crate) events_start: u64,
    /// The number of its bytes that are missing in the file: 0 for a whole packet.
    pub(crate) missing: u64,
    /// The stream class of its event records.
    pub stream_class: StreamClassId,
    /// The id of the data stream within its class; `None` if not declared.
    pub stream_id: Option<u64>,
    /// The number of the CPU that recorded it, which is the field `cpu_id` of its context; `None` without
    /// such a field. The number is not checked and may be arbitrarily large.
    pub cpu: Option<u32>,
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
    pub(crate) discarded_bits: u8,
    /// The sequence number; `None` if not declared.
    pub sequence: Option<u64>,
    /// The width of that number in bits.
    pub sequence_bits: u8,
    /// The magic number, if it is not that of CTF.
    pub(crate) wrong_magic: Option<u64>,
    /// The trace UUID in the packet header, if it is not that of the trace.
    pub(crate) wrong_uuid: Option<Uuid>,
    /// The value of the default clock before its first event, in cycles.
    pub clock: u64,
    /// The packing of its events, if it is a sub-buffer in a format before CTF.
    pub(crate) packing: Option<Packing>,
    /// The events that were lost before it, if it says so itself rather than by counters.
    pub(crate) lost: Option<Lost>,
    /// The error in its content size, if that is the only damage. Until the events are
    /// found, `content_bits` is then the size of the whole packet.
    pub(crate) damage: Option<DecodeError>,
}

/// The stream that a packet belongs to. The events of a tracefile are those of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Instance {
    pub(crate) class: StreamClassId,
    /// The id of the stream within its class, if packets declare it.
    pub(crate) id: Option<u64>,
    /// The CPU, if packets declare it.
    pub(crate) cpu: Option<u32>,
}

/// The greatest number of a CPU that makes a packet one of another stream. Greater ones are damage: no
/// machine has as many CPUs.
const MAX_CPU: u32 = 1 << 16;

impl Instance {
    /// Returns `true` if packets of both belong to different streams. A CPU that no machine has is damage,
    /// and tells nothing.
    pub(crate) fn is_other(self, than: Instance) -> bool {
        let is_damaged = |of: Instance| of.cpu.is_some_and(|cpu| cpu > MAX_CPU);
        match is_damaged(self) || is_damaged(than) {
            true => self.without_cpu().key() != than.without_cpu().key(),
            false => self.key() != than.key(),
        }
    }

    fn without_cpu(self) -> Instance {
        Instance { cpu: None, ..self }
    }

    /// Returns what tells it apart from others: the class counts only beside an id or a CPU. A stream that
    /// declares neither may have packets of several classes.
    pub(crate) fn key(self) -> Instance {
        match self {
            Instance { id: None, cpu: None, .. } => Instance { class: StreamClassId(0), ..self },
            _ => self,
        }
    }
}

/// The events that were lost before a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    Events(u64),
    /// The tracer has not counted them.
    Uncounted,
}

/// A decoded event record, with positions in bits from the packet's start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    /// The start of its header.
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) event_type: EventTypeId,
    pub(crate) timestamp: Option<Timestamp>,
    /// The clock value of its timestamp, in cycles.
    pub(crate) cycles: u64,
    /// The value of the default clock after it, in cycles.
    pub(crate) clock: u64,
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
            cpu: None,
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
            lost: None,
            damage: None,
        }
    }

    /// Returns the stream that it belongs to.
    pub(crate) fn instance(&self) -> Instance {
        Instance { class: self.stream_class, id: self.stream_id, cpu: self.cpu }
    }

    /// Returns `true` if it says itself, rather than by counters, that events were lost before it.
    pub fn follows_loss(&self) -> bool {
        matches!(self.lost, Some(Lost::Events(1..) | Lost::Uncounted))
    }

    /// Returns `true` if its counters of losses started at 0 with the trace, so that the
    /// counters of the first packet report losses, too.
    pub(crate) fn counts_from_trace_start(&self) -> bool {
        self.packing.is_some()
    }

    /// Returns the end of its readable content, in bits: the content's end, or the file's
    /// if that comes first.
    pub(crate) fn readable_bits(&self) -> u64 {
        let present = (self.size - self.missing).saturating_mul(8);
        self.content_bits.min(present)
    }
}
