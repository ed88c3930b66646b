//! Writing of a data stream: packets of event records.

use std::io::{ErrorKind, Write};
use std::sync::Arc;

use super::bits::BitWriter;
use super::encode::{RoleField, encode};
use super::error::{LocatedProblem, Problem, WriteError};
use super::fit::shallow;
use super::header::{HeaderData, Headers, needs_header};
use super::index::PacketInfo;
use super::open_streams::OpenStream;
use super::output::{Output, OutputFile, Rotation};
use super::record::Record;
use super::roles::Lengths;
use super::scopes::Scopes;
use super::value::FieldValue;
use crate::schema::{EventType, EventTypeId, Schema, Scope, StreamClass, StreamClassId};

/// The default limit of packet sizes in bytes.
const PACKET_LIMIT: u64 = 1 << 20;

/// A writer of one data stream to any output.
///
/// Packets start and end automatically as events are written. An event that is refused leaves
/// the stream unchanged.
///
/// [`StreamWriter::finish`] ends the last packet and returns the output. A stream that is dropped
/// ends its last packet as well, but an error of that is lost, or, in a
/// [`StagedDirectory`](super::StagedDirectory), returned when the directory is published.
#[derive(Debug)]
#[must_use = "a stream that is dropped cannot return an error"]
pub struct StreamWriter<W: Write> {
    pub(super) schema: Arc<Schema>,
    pub(super) class: StreamClassId,
    pub(super) name: String,
    /// `None` once the stream is finished.
    pub(super) output: Option<Output<W>>,
    /// The entry of the stream among those of its trace; `None` if it is not written for one.
    entry: Option<OpenStream>,
    pub(super) limit: u64,
    pub(super) padded: bool,
    pub(super) stream_id: u64,
    pub(super) packet_header: FieldValue,
    pub(super) packet_context: FieldValue,
    pub(super) discarded: u64,
    pub(super) sequence: u64,
    pub(super) lengths: Lengths,
    pub(super) headers: Headers,
    /// For each event type, `true` if a length or selector of its fields is in the event
    /// header.
    pub(super) header_needed: Vec<bool>,
    pub(super) packets: u64,
    /// The clock value of a reader after the last packet.
    pub(super) carried: u64,
    pub(super) last_packet: Option<PacketInfo>,
    pub(super) open: Option<OpenPacket>,
    pub(super) w: BitWriter,
    pub(super) role_fields: Vec<RoleField>,
    pub(super) scopes: Scopes,
}

/// The packet that is being written.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenPacket {
    /// The clock value at the start, in cycles.
    pub(super) begin: u64,
    /// The clock value of a reader after the last event.
    pub(super) clock: u64,
    /// The greatest timestamp.
    pub(super) end: u64,
    pub(super) events: u64,
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
        let file = OutputFile { name: name.to_owned(), out, index: None };
        Self::with_output(schema, class, name, file, None)
    }

    /// Creates a stream like [`new`](Self::new), with an index file and further files.
    pub(super) fn with_output(
        schema: Arc<Schema>,
        class: StreamClassId,
        name: &str,
        file: OutputFile<W>,
        rotation: Option<Rotation<W>>,
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
            output: Some(Output::new(file, rotation)),
            entry: None,
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
            packets: 0,
            carried: 0,
            last_packet: None,
            open: None,
            w: BitWriter::default(),
            role_fields: Vec::new(),
            scopes: Scopes::default(),
            schema,
            class,
        })
    }

    /// Sets the entry of the stream among those of its trace.
    pub(super) fn with_entry(mut self, entry: OpenStream) -> Self {
        self.entry = Some(entry);
        self
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

    /// Returns the name given to [`StreamWriter::new`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the running count of discarded event records. The count is written at the end
    /// of the open packet, or of the next one if no packet is open.
    pub fn set_discarded(&mut self, count: u64) {
        self.discarded = count;
    }

    /// Sets the id of the stream for the packets that start after this call.
    pub(super) fn set_stream_id(&mut self, id: u64) {
        self.stream_id = id;
    }

    /// Returns the sequence number of the open packet, or of the next one.
    pub(super) fn packet_sequence(&self) -> u64 {
        self.sequence
    }

    /// Sets the sequence number of the next packet. A jump looks like lost packets to
    /// readers.
    pub fn set_packet_sequence(&mut self, number: u64) {
        self.sequence = number;
    }

    /// Sets members of the packet context that have no role, for the packets that start
    /// after this call.
    pub fn set_packet_context(&mut self, context: FieldValue) {
        self.packet_context = context;
    }

    /// Sets members of the packet header that have no role, for the packets that start
    /// after this call.
    pub(crate) fn set_packet_header(&mut self, header: FieldValue) {
        self.packet_header = header;
    }

    /// Returns the number of finished packets.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns the last finished packet; `None` if there is none.
    pub fn last_packet(&self) -> Option<&PacketInfo> {
        self.last_packet.as_ref()
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
            stream.put_header(event_type, FieldValue::Auto, header_data)?;
            if !body.is_empty() {
                stream.w.align(align.max(8));
                stream.w.put_bytes(body);
            }
            Ok(())
        })
    }

    /// Ends the last packet, writes the rest of the index if there is one, and returns
    /// the output: the last one if there were several files.
    ///
    /// # Errors
    ///
    /// See [`StreamWriter::end_packet`].
    pub fn finish(mut self) -> Result<W, WriteError> {
        let ended = self.end();
        if let Some(entry) = self.entry.take() {
            entry.finished();
        }
        match ended? {
            Some(out) => Ok(out),
            // Only this call and the end of the stream's life take the output.
            None => Err(WriteError::io(&self.name)(ErrorKind::NotConnected.into())),
        }
    }

    /// Ends the last packet and the index, and takes the output; `None` if it was taken before.
    fn end(&mut self) -> Result<Option<W>, WriteError> {
        let ended = self.end_packet_at_last();
        let output = self.output.take().map(Output::finish).transpose();
        ended.and(output)
    }

    fn event_class<'s>(
        &self,
        schema: &'s Schema,
        event_type: EventTypeId,
    ) -> Result<&'s EventType, WriteError> {
        let class = schema.event_types.get(event_type.index()).filter(|e| e.stream == self.class);
        class.ok_or(WriteError::NotInStream { what: "event type", index: event_type.0 })
    }

    /// Appends the header of an event. `value` has its members without a role.
    pub(super) fn put_header(
        &mut self,
        event_type: EventTypeId,
        value: FieldValue,
        header_data: HeaderData,
    ) -> Result<(), WriteError> {
        if self.headers.templated() && value == FieldValue::Auto {
            return self.headers.put(&mut self.w, event_type, header_data);
        }
        let only = &[Scope::EventHeader];
        self.headers.set_header(&mut self.scopes, value, header_data, only)?;
        self.encode_scope(Scope::EventHeader)
    }

    /// Appends a record with `put`, in a new packet if it does not fit in the open one.
    pub(super) fn append(
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

    pub(super) fn encode_scope(&mut self, scope: Scope) -> Result<(), WriteError> {
        let slot = scope as usize;
        match &self.scopes.classes[slot] {
            Some(class) => {
                encode(&mut self.w, class, &self.scopes.values[slot], &mut self.role_fields)
                    .map_err(|e| e.in_scope(scope))
            }
            None => Ok(()),
        }
    }
}

impl<W: Write> Drop for StreamWriter<W> {
    fn drop(&mut self) {
        if self.output.is_some() {
            let ended = self.end().map(|_| ());
            if let Some(entry) = self.entry.take() {
                entry.dropped(ended);
            }
        }
    }
}

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
