//! Writing of a data stream: packets of event records.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use super::bits::BitWriter;
use super::encode::{RoleField, encode};
use super::error::{LocatedProblem, Problem, WriteError};
use super::fit::shallow;
use super::header::{HeaderData, Headers, needs_header};
use super::index::{PacketInfo, write_index};
use super::roles::{
    Lengths, PACKET_MAGIC, clock_after_field, fill_timestamp, fill_uuid, for_each_role,
};
use super::scopes::Scopes;
use super::value::FieldValue;
use crate::base::uuid::Uuid;
use crate::schema::{EventType, EventTypeId, Role, Schema, Scope, StreamClass, StreamClassId};

/// The default limit of packet sizes in bytes.
const PACKET_LIMIT: u64 = 1 << 20;

/// An event record to write.
///
/// ```
/// # use ltt_read::{schema::EventTypeId, writer::{Record, FieldValue}};
/// let record = Record {
///     common_context: FieldValue::fields([("vpid", 12), ("vtid", 13)]),
///     payload: FieldValue::fields([("count", 3)]),
///     ..Record::new(EventTypeId(0), 1_000_000)
/// };
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The event type.
    pub event_type: EventTypeId,
    /// The clock value in cycles.
    pub timestamp: u64,
    /// The event header. Leave it automatic unless it has members without a role.
    pub header: FieldValue,
    /// The context that all event types of the stream class share.
    pub common_context: FieldValue,
    /// The context of this event type.
    pub specific_context: FieldValue,
    /// The payload of the event.
    pub payload: FieldValue,
}

impl Record {
    /// Creates a record with automatic values only.
    pub fn new(event_type: EventTypeId, timestamp: u64) -> Self {
        Record {
            event_type,
            timestamp,
            header: FieldValue::Auto,
            common_context: FieldValue::Auto,
            specific_context: FieldValue::Auto,
            payload: FieldValue::Auto,
        }
    }
}

/// A writer of one data stream to any output.
///
/// Packets start and end automatically as events are written. Call
/// [`StreamWriter::finish`] at the end. An event that is refused leaves the stream
/// unchanged.
#[derive(Debug)]
#[must_use = "a stream is complete only when finished"]
pub struct StreamWriter<W> {
    schema: Arc<Schema>,
    class: StreamClassId,
    name: String,
    out: W,
    index: Option<PathBuf>,
    limit: u64,
    padded: bool,
    stream_id: u64,
    packet_header: FieldValue,
    packet_context: FieldValue,
    discarded: u64,
    sequence: u64,
    lengths: Lengths,
    headers: Headers,
    /// For each event type, `true` if a length or selector of its fields is in the event
    /// header.
    header_needed: Vec<bool>,
    offset: u64,
    packets: Vec<PacketInfo>,
    open: Option<OpenPacket>,
    w: BitWriter,
    role_fields: Vec<RoleField>,
    scopes: Scopes,
}

/// The packet that is being written.
#[derive(Debug, Clone, Copy)]
struct OpenPacket {
    /// The clock value at the start, in cycles.
    begin: u64,
    /// The clock value of a reader after the last event.
    clock: u64,
    /// The greatest timestamp.
    end: u64,
    events: u64,
}

impl<W: Write> StreamWriter<W> {
    /// Creates a stream of a class of the schema. The name is that of its file, for error
    /// messages.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such class, or if its fields are nested too
    /// deeply.
    pub fn new(
        schema: Arc<Schema>,
        class: StreamClassId,
        name: &str,
        out: W,
    ) -> Result<Self, WriteError> {
        let Some(stream) = schema.stream_classes.get(class.index()) else {
            return Err(WriteError::NotInStream { what: "stream class", index: class.0 });
        };
        check_depths(&schema, stream, class)?;
        let needed = |class: &Option<_>| class.as_deref().is_some_and(needs_header);
        let common = needed(&stream.common_context);
        let needed = |e: &EventType| common || needed(&e.specific_context) || needed(&e.payload);
        Ok(StreamWriter {
            name: name.to_owned(),
            out,
            index: None,
            limit: PACKET_LIMIT,
            padded: false,
            stream_id: 0,
            packet_header: FieldValue::Auto,
            packet_context: FieldValue::Auto,
            discarded: 0,
            sequence: 0,
            lengths: Lengths::of(stream),
            headers: Headers::new(&schema, class),
            header_needed: schema.event_types.iter().map(needed).collect(),
            offset: 0,
            packets: Vec::new(),
            open: None,
            w: BitWriter::default(),
            role_fields: Vec::new(),
            scopes: Scopes::default(),
            schema,
            class,
        })
    }

    /// Sets the maximum size of packets in bytes (1 MiB by default). The only packet of a
    /// stream without packet length fields has no limit.
    pub fn with_packet_limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Pads every packet to the limit, as LTTng does.
    pub fn with_padding(mut self) -> Self {
        self.padded = true;
        self
    }

    /// Sets the id of the stream within its class. LTTng uses the CPU number.
    pub fn with_stream_id(mut self, id: u64) -> Self {
        self.stream_id = id;
        self
    }

    /// Sets members of the packet context that have no role, for all packets.
    pub fn with_packet_context(mut self, context: FieldValue) -> Self {
        self.packet_context = context;
        self
    }

    /// Sets members of the packet header that have no role, for all packets.
    pub fn with_packet_header(mut self, header: FieldValue) -> Self {
        self.packet_header = header;
        self
    }

    /// Enables a packet index, written to this file by [`finish`](Self::finish).
    pub(super) fn with_index(mut self, path: PathBuf) -> Self {
        self.index = Some(path);
        self
    }

    /// Returns the name given to [`StreamWriter::new`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the running count of discarded event records. The count is written at the end
    /// of the open packet, or of the next one if no packet is open.
    pub fn set_discarded(&mut self, count: u64) {
        self.discarded = count;
    }

    /// Sets the sequence number of the next packet. A jump looks like lost packets to
    /// readers.
    pub fn set_packet_sequence(&mut self, number: u64) {
        self.sequence = number;
    }

    /// Returns the finished packets.
    pub fn packets(&self) -> &[PacketInfo] {
        &self.packets
    }

    /// Writes an event record that has only a payload.
    ///
    /// # Errors
    ///
    /// See [`StreamWriter::record`].
    pub fn event(
        &mut self,
        event_type: EventTypeId,
        timestamp: u64,
        payload: impl Into<FieldValue>,
    ) -> Result<(), WriteError> {
        self.record(Record { payload: payload.into(), ..Record::new(event_type, timestamp) })
    }

    /// Writes an event record.
    ///
    /// # Errors
    ///
    /// Returns an error if a value does not fit its class, if a length or selector
    /// contradicts the fields that depend on it, if the headers cannot carry the id or
    /// timestamp, or if the output fails.
    pub fn record(&mut self, record: Record) -> Result<(), WriteError> {
        let Record { event_type, timestamp, header, .. } = record;
        let schema = self.schema.clone();
        let class = self.event_class(&schema, event_type)?;
        let common = schema.stream_classes[self.class.index()].common_context.as_ref();
        self.scopes.set(Scope::CommonContext, common, record.common_context)?;
        let specific = class.specific_context.as_ref();
        self.scopes.set(Scope::SpecificContext, specific, record.specific_context)?;
        self.scopes.set(Scope::Payload, class.payload.as_ref(), record.payload)?;
        let templated = header == FieldValue::Auto
            && self.headers.templated()
            && !self.header_needed[event_type.index()];
        self.append(class, timestamp, |stream, header_data| {
            if templated {
                stream.headers.put(&mut stream.w, event_type, header_data)?;
                stream.scopes.complete(&BODY)?;
            } else {
                let mut scopes = stream.scopes.clone();
                let all = &Scope::ALL[Scope::EventHeader as usize..];
                stream.headers.set_header(&mut scopes, header.clone(), header_data, all)?;
                stream.scopes = scopes;
                stream.encode_scope(Scope::EventHeader)?;
            }
            BODY.iter().try_for_each(|&scope| stream.encode_scope(scope))
        })
    }

    /// Writes an event record with already encoded contexts and payload; the fast way for
    /// generators of large traces. `align` is the alignment of `body` in bits; values
    /// below 8 count as 8. The content of `body` is not checked.
    ///
    /// # Errors
    ///
    /// See [`StreamWriter::record`].
    pub fn encoded_event(
        &mut self,
        event_type: EventTypeId,
        timestamp: u64,
        align: u32,
        body: &[u8],
    ) -> Result<(), WriteError> {
        let schema = self.schema.clone();
        let class = self.event_class(&schema, event_type)?;
        self.append(class, timestamp, |stream, header_data| {
            if stream.headers.templated() {
                stream.headers.put(&mut stream.w, event_type, header_data)?;
            } else {
                let (header, only) = (FieldValue::Auto, &[Scope::EventHeader]);
                stream.headers.set_header(&mut stream.scopes, header, header_data, only)?;
                stream.encode_scope(Scope::EventHeader)?;
            }
            if !body.is_empty() {
                stream.w.align(align.max(8));
                stream.w.put_bytes(body);
            }
            Ok(())
        })
    }

    /// Starts a packet at a clock value before its first event. Ends the open packet, if
    /// there is one. Without this call, a packet starts at the time of its first event.
    ///
    /// # Errors
    ///
    /// Returns an error if the packet header and context cannot carry these values, or if
    /// the output fails.
    pub fn begin_packet(&mut self, begin: u64) -> Result<(), WriteError> {
        if let Some(open) = self.open {
            self.end_packet(open.end)?;
        }
        if !self.packets.is_empty() && !self.lengths.total && !self.lengths.content {
            return Err(WriteError::OnePacket);
        }
        self.w.clear();
        self.role_fields.clear();
        let schema = self.schema.clone();
        let stream = &schema.stream_classes[self.class.index()];
        let (header, context) = (self.packet_header.clone(), self.packet_context.clone());
        self.scopes.set(Scope::PacketHeader, schema.packet_header.as_ref(), header)?;
        self.scopes.set(Scope::PacketContext, stream.packet_context.as_ref(), context)?;
        let clock = self.fill_packet(&schema, stream, begin)?;
        self.scopes.complete(&PACKET)?;
        PACKET.iter().try_for_each(|&scope| self.encode_scope(scope))?;
        self.open = Some(OpenPacket { begin, clock, end: begin, events: 0 });
        Ok(())
    }

    /// Ends the open packet, if there is one, at a clock value.
    ///
    /// # Errors
    ///
    /// Returns an error if the packet context cannot carry these values, or if the output
    /// fails.
    pub fn end_packet(&mut self, end: u64) -> Result<(), WriteError> {
        let Some(open) = self.open else { return Ok(()) };
        let content_bits = self.w.position();
        let bytes = match self.padded && self.lengths.total && self.lengths.content {
            true => self.limit.max(content_bits.div_ceil(8)),
            false => content_bits.div_ceil(8),
        };
        let total_bits = bytes * 8;
        if total_bits != content_bits && !(self.lengths.total && self.lengths.content) {
            return Err(WriteError::Unpaddable);
        }
        for role_field in &self.role_fields {
            let mut late = |number| {
                role_field
                    .overwrite_whole(&mut self.w, number)
                    .map_err(|e| LocatedProblem::from(e).in_scope(Scope::PacketContext))
            };
            if role_field.roles.has(Role::PacketTotalLength) {
                late(total_bits)?;
            } else if role_field.roles.has(Role::PacketContentLength) {
                late(content_bits)?;
            } else if role_field.roles.has(Role::PacketEndTimestamp) {
                late(end)?;
            } else if role_field.roles.has(Role::DiscardedEvents) {
                // Counters may wrap.
                role_field.overwrite(&mut self.w, 0, self.discarded);
            }
        }
        self.out.write_all(self.w.bytes()).map_err(WriteError::io(&self.name))?;
        let padding = bytes - self.w.bytes().len() as u64;
        std::io::copy(&mut std::io::Read::take(std::io::repeat(0), padding), &mut self.out)
            .map_err(WriteError::io(&self.name))?;
        self.packets.push(PacketInfo {
            offset: self.offset,
            total_bits,
            content_bits,
            start: open.begin,
            end,
            discarded: self.discarded,
            stream_class: self.schema.stream_classes[self.class.index()].id,
            stream: self.stream_id,
            sequence: self.sequence,
        });
        self.offset += bytes;
        self.sequence += 1;
        self.open = None;
        Ok(())
    }

    /// Ends the last packet, writes the index if there is one, and returns the output.
    ///
    /// # Errors
    ///
    /// See [`StreamWriter::end_packet`].
    pub fn finish(mut self) -> Result<W, WriteError> {
        if let Some(open) = self.open {
            self.end_packet(open.end)?;
        }
        self.out.flush().map_err(WriteError::io(&self.name))?;
        if let Some(path) = &self.index {
            let io = || WriteError::io(path.display().to_string());
            let mut bytes = Vec::new();
            write_index(&mut bytes, &self.packets).map_err(io())?;
            std::fs::write(path, bytes).map_err(io())?;
        }
        Ok(self.out)
    }

    fn event_class<'s>(
        &self,
        schema: &'s Schema,
        event_type: EventTypeId,
    ) -> Result<&'s EventType, WriteError> {
        let class = schema.event_types.get(event_type.index()).filter(|e| e.stream == self.class);
        class.ok_or(WriteError::NotInStream { what: "event type", index: event_type.0 })
    }

    /// Appends a record with `put`, in a new packet if it does not fit in the open one.
    fn append(
        &mut self,
        class: &EventType,
        timestamp: u64,
        mut put: impl FnMut(&mut Self, HeaderData) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let mut started = false;
        loop {
            if self.open.is_none() {
                self.begin_packet(timestamp)?;
                started = true;
            }
            let Some(mut open) = self.open else { continue };
            let before = self.w.checkpoint();
            let role_fields = self.role_fields.len();
            let header_data = HeaderData { id: class.id, clock: open.clock, timestamp };
            let done = put(self, header_data);
            self.role_fields.truncate(role_fields);
            let end = self.w.position();
            let several = self.lengths.total || self.lengths.content;
            let full = several && end > self.limit.saturating_mul(8);
            let event = || class.name().to_owned();
            let refused = match done {
                Err(e) => Some(e),
                Ok(()) if end == before.position() => Some(WriteError::Empty { event: event() }),
                Ok(()) if full && open.events == 0 => {
                    Some(WriteError::TooLarge { event: event(), limit: self.limit })
                }
                Ok(()) => None,
            };
            if let Some(error) = refused {
                self.w.rollback(before);
                if started {
                    self.open = None;
                }
                return Err(error);
            }
            if full {
                self.w.rollback(before);
                self.end_packet(open.end)?;
                continue;
            }
            open.clock = timestamp;
            open.end = open.end.max(timestamp);
            open.events += 1;
            self.open = Some(open);
            return Ok(());
        }
    }

    fn encode_scope(&mut self, scope: Scope) -> Result<(), WriteError> {
        let slot = scope as usize;
        match &self.scopes.classes[slot] {
            Some(class) => {
                encode(&mut self.w, class, &self.scopes.values[slot], &mut self.role_fields)
                    .map_err(|e| e.in_scope(scope))
            }
            None => Ok(()),
        }
    }

    /// Fills in packet header and context by role. Returns the clock value that a reader
    /// has after them.
    fn fill_packet(
        &mut self,
        schema: &Schema,
        stream: &StreamClass,
        begin: u64,
    ) -> Result<u64, WriteError> {
        let (stream_id, sequence) = (self.stream_id, self.sequence);
        let (mut declared_class, mut clock, mut timed) = (None, 0, false);
        for scope in PACKET {
            let Some(class) = self.scopes.classes[scope as usize].clone() else { continue };
            let value = &mut self.scopes.values[scope as usize];
            fill_uuid(&class, value, schema.uuid.unwrap_or(Uuid([0; 16])));
            for_each_role(&class, value, &mut |roles, bits, value| {
                if roles.has(Role::ClockTimestamp) {
                    fill_timestamp(clock, begin, bits, value);
                    clock = clock_after_field(clock, bits, value);
                    timed = true;
                }
                let known = match roles {
                    r if r.has(Role::PacketMagic) => PACKET_MAGIC,
                    r if r.has(Role::StreamClassId) => stream.id,
                    r if r.has(Role::StreamId) => stream_id,
                    r if r.has(Role::PacketSequence) => sequence,
                    _ => return,
                };
                if *value == FieldValue::Auto {
                    let bits = bits.unwrap_or(64);
                    let cut = if bits < 64 { known & ((1 << bits) - 1) } else { known };
                    *value = FieldValue::Uint(cut);
                }
                if roles.has(Role::StreamClassId) {
                    declared_class = value.number();
                }
            });
        }
        let id = i128::from(stream.id);
        if declared_class.map_or(schema.stream_classes.len() > 1, |declared| declared != id) {
            return Err(WriteError::NoRoomForId { what: "stream class", id: stream.id });
        }
        if timed && stream.default_clock.is_some() && clock != begin {
            return Err(WriteError::ClockGap { from: 0, to: begin });
        }
        Ok(clock)
    }
}

const PACKET: [Scope; 2] = [Scope::PacketHeader, Scope::PacketContext];
const BODY: [Scope; 3] = [Scope::CommonContext, Scope::SpecificContext, Scope::Payload];

/// Returns an error if classes are nested so deeply that recursion over them could
/// exhaust the stack.
fn check_depths(
    schema: &Schema,
    stream: &StreamClass,
    class: StreamClassId,
) -> Result<(), WriteError> {
    let events = schema.event_types.iter().filter(|e| e.stream == class);
    let of_stream = [
        (Scope::PacketHeader, &schema.packet_header),
        (Scope::PacketContext, &stream.packet_context),
        (Scope::EventHeader, &stream.event_header),
        (Scope::CommonContext, &stream.common_context),
    ];
    let of_events = events.flat_map(|e| {
        [(Scope::SpecificContext, &e.specific_context), (Scope::Payload, &e.payload)]
    });
    for (scope, class) in of_stream.into_iter().chain(of_events) {
        if class.as_ref().is_some_and(|class| !shallow(class)) {
            return Err(LocatedProblem::from(Problem::TooDeep).in_scope(scope));
        }
    }
    Ok(())
}
