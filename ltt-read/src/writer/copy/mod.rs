//! Copying from a trace that is read to one that is written.
//!
//! This is the only part of the writer that also uses the reader.

mod field_encoder;
mod layout;
mod transfer;
mod values;

use std::io::Write;
use std::sync::Arc;

use transfer::Clock;
use values::other_fields;

use super::error::{LocatedProblem, WriteError};
use super::header::HeaderData;
use super::index::PacketInfo;
use super::record::Record;
use super::stream::StreamWriter;
use super::value::FieldValue;
use crate::cursor::Cursor;
use crate::event::Event;
use crate::packet::{Lost, Packet};
use crate::schema::{Scope, StreamClassId};

pub use field_encoder::FieldEncoder;
pub use transfer::Transfer;

/// A copier of events and packets to one data stream.
///
/// Events are copied in one of three ways, the first one that gives a record with the same
/// fields and times:
///
/// 1. The bytes of the whole record.
/// 2. A new header, and the bytes of contexts and payload.
/// 3. A new header, and each field encoded for the target's class.
///
/// Each packet of the source becomes a packet, without the events that are not copied, and
/// packets without events are left out. With a [packet
/// limit](StreamWriter::with_packet_limit) of less than the size of a packet, it becomes
/// several. Sequence numbers continue; gaps of the source stay. Counters of discarded events
/// are those of the source.
///
/// ```
/// use std::sync::Arc;
///
/// use ltt_read::writer::{MemoryTrace, StreamCopier, Transfer};
///
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// // Keep the context switches.
/// let switch = trace.event_types_named("sched_switch").next();
/// let transfer = Arc::new(Transfer::new(&trace, trace.schema().clone()));
/// let mut target = MemoryTrace::new(transfer.target().clone());
/// let mut copied = 0;
/// for mut cursor in trace.cursors() {
///     let tracefile = cursor.tracefile();
///     let Some(class) = tracefile.stream_class() else { continue };
///     let stream = target.stream(class, tracefile.name())?;
///     let mut copier = StreamCopier::new(&transfer, class, stream);
///     while let Some(event) = cursor.next()? {
///         if Some(event.type_id()) == switch {
///             copier.event(&event)?;
///             copied += 1;
///         }
///     }
///     target.add(copier.into_stream()?)?;
/// }
/// let target = target.open()?;
/// let events = target.cursors().map(|mut cursor| {
///     std::iter::from_fn(|| cursor.advance().ok().filter(|more| *more)).count()
/// });
/// assert_eq!(events.sum::<usize>(), copied);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "a stream that is dropped cannot return an error"]
#[doc(alias("trim"))]
pub struct StreamCopier<W: Write> {
    transfer: Arc<Transfer>,
    class: StreamClassId,
    stream: StreamWriter<W>,
    /// The packet of the source whose events are being copied.
    packet: Option<CopiedPacket>,
    /// The sequence number of the last packet of the source that was met.
    sequence: Option<u64>,
    /// The number of events that were lost before packets of the source that say so themselves.
    lost: u64,
}

/// A change of the fields of a packet header, packet context or event header.
type HeaderChange<'c> = &'c mut dyn FnMut(Scope, &mut FieldValue);

/// A packet of the source of which events have been copied.
#[derive(Debug, Clone, Copy)]
struct CopiedPacket {
    file: usize,
    offset: u64,
    /// The clock value at its end in the target, if the last of its events was copied.
    end: Option<u64>,
}

impl<W: Write> StreamCopier<W> {
    /// Creates a copier to a stream of a class of the target.
    pub fn new(transfer: &Arc<Transfer>, class: StreamClassId, stream: StreamWriter<W>) -> Self {
        StreamCopier {
            transfer: transfer.clone(),
            class,
            stream,
            packet: None,
            sequence: None,
            lost: 0,
        }
    }

    /// Returns the stream, to write records that are not copied.
    pub fn stream(&mut self) -> &mut StreamWriter<W> {
        &mut self.stream
    }

    /// Copies an event. Returns `false` if the target has no such event type.
    ///
    /// # Errors
    ///
    /// See [`StreamWriter::record`].
    pub fn event(&mut self, event: &Event<'_>) -> Result<bool, WriteError> {
        self.copy(event, true, &mut |_, _| (), |encoder| event.visit_body(encoder))
    }

    /// Copies an event with other values in its contexts and payload. Returns `false` if the
    /// target has no such event type.
    ///
    /// `fields` calls the encoder for each field, as [`Event::visit_body`] does: with a visitor of
    /// its own that passes on what it receives, or changes it. It may be called a second time for
    /// the same event, with a new encoder. Arrays keep their number of elements, variants and
    /// options their selection, and texts whose length is in another field the sum of bytes and
    /// padding.
    ///
    /// # Errors
    ///
    /// Returns an error if a field is of another kind than its class, or an array has another
    /// number of elements than was announced; otherwise see [`StreamWriter::record`].
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use ltt_read::writer::{FieldEncoder, MemoryTrace, StreamCopier, Transfer};
    /// use ltt_read::{FieldInfo, StrValue, TracefileIndex, Visitor};
    ///
    /// /// Passes on a payload of integers and texts, without the texts.
    /// struct Blank<'e, 'w>(&'e mut FieldEncoder<'w>);
    ///
    /// impl Visitor for Blank<'_, '_> {
    ///     fn string(&mut self, field: &FieldInfo, mut value: StrValue<'_>) {
    ///         value.padding += value.bytes.len() as u64;
    ///         value.bytes = b"";
    ///         self.0.string(field, value);
    ///     }
    ///     fn uint(&mut self, field: &FieldInfo, value: u64) {
    ///         self.0.uint(field, value);
    ///     }
    ///     fn sint(&mut self, field: &FieldInfo, value: i64) {
    ///         self.0.sint(field, value);
    ///     }
    ///     fn begin_struct(&mut self, field: &FieldInfo) {
    ///         self.0.begin_struct(field);
    ///     }
    ///     fn end_struct(&mut self, field: &FieldInfo) {
    ///         self.0.end_struct(field);
    ///     }
    /// }
    ///
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// # let switch = trace.event_types_named("sched_switch").next();
    /// # let transfer = Arc::new(Transfer::new(&trace, trace.schema().clone()));
    /// # let mut target = MemoryTrace::new(transfer.target().clone());
    /// # for mut cursor in trace.cursors() {
    /// #     let tracefile = cursor.tracefile();
    /// #     let Some(class) = tracefile.stream_class() else { continue };
    /// #     let mut copier = StreamCopier::new(&transfer, class, target.stream(class, tracefile.name())?);
    /// #     while let Some(event) = cursor.next()? {
    /// #         if Some(event.type_id()) != switch { continue; }
    /// copier.event_with(&event, |encoder| event.visit_body(&mut Blank(encoder)))?;
    /// #     }
    /// #     target.add(copier.into_stream()?)?;
    /// # }
    /// # let target = target.open()?;
    /// # let mut events = 0;
    /// # for mut cursor in target.cursors() {
    /// #     while let Some(event) = cursor.next()? {
    /// #         let name = event.field("next_comm").and_then(|name| name.as_str());
    /// #         assert!(name.is_some_and(|name| name.bytes.is_empty()));
    /// #         events += 1;
    /// #     }
    /// # }
    /// # assert!(events > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn event_with(
        &mut self,
        event: &Event<'_>,
        fields: impl FnMut(&mut FieldEncoder<'_>),
    ) -> Result<bool, WriteError> {
        self.copy(event, false, &mut |_, _| (), fields)
    }

    /// Copies an event like [`event_with`](Self::event_with), and gives the fields without a role
    /// of the headers other values as well. `headers` is called for the event header, and for the
    /// packet header and the packet context with the first event of each packet, each time with
    /// the structure that the scope would have; [`FieldValue::Auto`] if all of its fields have
    /// roles. Texts and blobs are [`FieldValue::Bytes`], with the padding of those whose length is
    /// declared.
    ///
    /// # Errors
    ///
    /// See [`event_with`](Self::event_with).
    pub fn event_with_headers(
        &mut self,
        event: &Event<'_>,
        mut headers: impl FnMut(Scope, &mut FieldValue),
        fields: impl FnMut(&mut FieldEncoder<'_>),
    ) -> Result<bool, WriteError> {
        self.copy(event, false, &mut headers, fields)
    }

    /// Copies an event: as bytes if `as_bytes` and where possible, otherwise with the `fields`.
    fn copy(
        &mut self,
        event: &Event<'_>,
        as_bytes: bool,
        headers: HeaderChange<'_>,
        mut fields: impl FnMut(&mut FieldEncoder<'_>),
    ) -> Result<bool, WriteError> {
        let mut plan = self.transfer.events[event.type_id().index()];
        if !plan.is_wanted {
            return Ok(false);
        }
        plan.align = plan.align.filter(|_| as_bytes);
        let stream_plan = self.transfer.streams[self.class.index()];
        let timestamp = stream_plan.clock.of(event);
        let cursor = event.cursor();
        if self.is_other_packet(event) {
            self.enter(event, timestamp, headers)?;
        }
        let current = *cursor.current();
        let bytes = cursor.window().data;
        let (id, target) = (event.type_id(), &*self.transfer.target);
        let class = &target.event_types[id.index()];
        let stream_class = &target.stream_classes[class.stream.index()];
        let end = cursor.end_of_record();
        let whole = match (plan.align, stream_plan.header_align) {
            (Some(body), Some(header)) if plan.same_id => Some(header.max(body)),
            _ => None,
        };
        let header_align = stream_class.event_header.as_ref().map_or(1, |class| class.align);
        self.stream.append(class, timestamp, |stream, header: HeaderData| {
            if let Some(align) = whole
                && decodes(header, current.clock_before, stream_plan.timestamp_bits)
            {
                let before = stream.w.position().next_multiple_of(header_align.into());
                if let Some(bytes) = movable(bytes, current.begin, end, before, align) {
                    stream.w.align(header_align);
                    stream.w.put_bytes(bytes);
                    return Ok(());
                }
            }
            let mut value = FieldValue::Auto;
            if stream_plan.header_has_others {
                value = FieldValue::of(event, Scope::EventHeader);
                headers(Scope::EventHeader, &mut value);
            }
            stream.put_header(id, value, header)?;
            // The fields move as one if both places differ by a multiple of all alignments in
            // them.
            if let (Some(align), Some(begin)) = (plan.align, cursor.end_of_header())
                && let Some(bytes) = movable(bytes, begin, end, stream.w.position(), align)
            {
                stream.w.put_bytes(bytes);
                return Ok(());
            }
            let (mut roots, mut count) = ([None; 3], 0);
            for (scope, root) in [
                (Scope::CommonContext, &stream_class.common_context),
                (Scope::SpecificContext, &class.specific_context),
                (Scope::Payload, &class.payload),
            ] {
                if event.has_scope(scope) {
                    roots[count] = root.as_deref();
                    count += 1;
                }
            }
            let mut encoder = FieldEncoder::new(&mut stream.w, &roots[..count]);
            fields(&mut encoder);
            let done = encoder.finish();
            done.map_err(|problem| LocatedProblem::from(problem).in_scope(Scope::Payload))
        })?;
        self.note_end(event, stream_plan.clock);
        Ok(true)
    }

    /// Writes a record in place of an event: into the packet of the target that belongs to
    /// that of the event. The record has the event's time.
    ///
    /// # Errors
    ///
    /// See [`StreamWriter::record`].
    pub fn event_as(&mut self, event: &Event<'_>, record: Record) -> Result<(), WriteError> {
        let clock = self.transfer.streams[self.class.index()].clock;
        let timestamp = clock.of(event);
        if self.is_other_packet(event) {
            self.enter(event, timestamp, &mut |_, _| ())?;
        }
        self.stream.record(Record { timestamp, ..record })?;
        self.note_end(event, clock);
        Ok(())
    }

    /// Returns `true` if the packet of the target does not belong to that of an event.
    fn is_other_packet(&self, event: &Event<'_>) -> bool {
        let place = (event.cursor().file_index(), event.packet().offset);
        self.packet.is_none_or(|packet| (packet.file, packet.offset) != place)
    }

    /// Notes the end of the packet of an event that was copied, if the event is its last one.
    fn note_end(&mut self, event: &Event<'_>, clock: Clock) {
        let packet = event.packet();
        if let Some(copied) = &mut self.packet {
            copied.end = match event.cursor().is_last_in_packet() {
                true => clock.bound(packet.end_cycles, packet.end),
                false => None,
            };
        }
    }

    /// Copies the current packet of a cursor as it is. Returns `false` if that is not
    /// possible, and then writes nothing: the target has another layout, clock or sequence
    /// number, or the packet is damaged, or its file lacks a part of it, or its times depend on
    /// packets that were left out.
    ///
    /// # Errors
    ///
    /// Returns an error if the output fails.
    pub fn packet(&mut self, cursor: &Cursor) -> Result<bool, WriteError> {
        let (Some(packet), Some(bytes)) = (cursor.packet(), cursor.packet_bytes()) else {
            return Ok(false);
        };
        let is_sound = bytes.len() as u64 == packet.size && packet.damage.is_none();
        if !self.transfer.copies_packets(packet.stream_class)
            || packet.stream_class != self.class
            || !is_sound
        {
            return Ok(false);
        }
        self.leave()?;
        let plan = self.transfer.streams[self.class.index()];
        let continues = self.stream.carried == cursor.packet_clock() && packet.end_cycles.is_some();
        if !plan.has_own_clock && !continues {
            return Ok(false);
        }
        let sequence = self.next_sequence(packet);
        if packet.sequence.is_some_and(|declared| declared != sequence) {
            return Ok(false);
        }
        self.note_packet(packet, sequence);
        let info = PacketInfo {
            offset: 0,
            total_bits: packet.size.saturating_mul(8),
            content_bits: packet.content_bits,
            start: packet.start_cycles.unwrap_or(0),
            end: packet.end_cycles.unwrap_or(0),
            discarded: packet.discarded.unwrap_or(0),
            stream_class: self.transfer.target.stream_classes[self.class.index()].id,
            stream: packet.stream_id.unwrap_or(0),
            sequence,
        };
        self.stream.copied_packet(bytes, info)?;
        Ok(true)
    }

    /// Ends the last packet, and returns the stream.
    ///
    /// # Errors
    ///
    /// See [`StreamWriter::end_packet`].
    pub fn into_stream(mut self) -> Result<StreamWriter<W>, WriteError> {
        self.leave()?;
        Ok(self.stream)
    }

    /// Ends the packet of the target that belongs to the current packet of the source.
    fn leave(&mut self) -> Result<(), WriteError> {
        match self.packet.take() {
            Some(CopiedPacket { end: Some(end), .. }) => self.stream.end_packet_from(end),
            Some(_) => self.stream.end_packet_at_last(),
            None => Ok(()),
        }
    }

    /// Starts a packet for the packet of the source that contains an event.
    fn enter(
        &mut self,
        event: &Event<'_>,
        timestamp: u64,
        headers: HeaderChange<'_>,
    ) -> Result<(), WriteError> {
        let (cursor, packet) = (event.cursor(), event.packet());
        let stream_class = &event.trace().schema().stream_classes[packet.stream_class.index()];
        let align = stream_class.event_header.as_ref().map_or(1, |header| header.align);
        let first = packet.events_start.next_multiple_of(align.into());
        let clock = self.transfer.streams[self.class.index()].clock;
        let declared = clock.bound(packet.start_cycles, packet.start);
        let begin = match cursor.current().begin <= first {
            true => declared.map_or(timestamp, |start| start.min(timestamp)),
            false => timestamp,
        };
        let lost = lost_before(packet);
        if lost > 0 && self.packet.is_some() {
            // A counter contains what was lost up to the end of its packet.
            self.lose(lost);
            self.packet = None;
            self.stream.end_packet_from(begin)?;
        } else {
            self.leave()?;
        }
        self.set_contexts(event, headers);
        let sequence = self.next_sequence(packet);
        self.note_packet(packet, sequence);
        if lost > 0 && self.stream.packets() == 0 {
            // Of the first packet, a counter does not tell.
            for lost in [0, lost] {
                self.stream.begin_packet(begin)?;
                self.lose(lost);
                self.stream.end_packet(begin)?;
            }
        }
        self.stream.begin_packet(begin)?;
        let offset = packet.offset;
        self.packet = Some(CopiedPacket { file: cursor.file_index(), offset, end: None });
        Ok(())
    }

    /// Sets what the packets of the target have in common with that of an event.
    fn set_contexts(&mut self, event: &Event<'_>, headers: HeaderChange<'_>) {
        let packet = event.packet();
        if event.trace().schema().format.is_ctf() {
            let mut of = |scope| {
                let mut value = match event.has_scope(scope) {
                    true => other_fields(event, scope),
                    false => FieldValue::Auto,
                };
                headers(scope, &mut value);
                value
            };
            self.stream.set_packet_context(of(Scope::PacketContext));
            self.stream.set_packet_header(of(Scope::PacketHeader));
        }
        if let Some(id) = packet.stream_id {
            self.stream.set_stream_id(id);
        }
        if let Some(discarded) = packet.discarded {
            self.stream.set_discarded(discarded);
        }
    }

    /// Adds to the number of lost events of the target.
    fn lose(&mut self, count: u64) {
        self.lost = self.lost.wrapping_add(count);
        self.stream.set_discarded(self.lost);
    }

    /// Returns the sequence number of the packet of the target that follows from one of the
    /// source. Packets that the tracer lost stay missing, those that were left out are
    /// not.
    fn next_sequence(&self, packet: &Packet) -> u64 {
        match (packet.sequence, self.sequence) {
            (Some(now), Some(before)) => {
                let mask = u64::MAX >> (64 - u32::from(packet.sequence_bits.clamp(1, 64)));
                let lost = now.wrapping_sub(before).wrapping_sub(1) & mask;
                // A number that went back is no gap.
                let lost = if lost > mask >> 1 { 0 } else { lost };
                self.stream.packet_sequence().wrapping_add(lost)
            }
            (Some(now), None) => now,
            (None, _) => self.stream.packet_sequence(),
        }
    }

    fn note_packet(&mut self, packet: &Packet, sequence: u64) {
        self.sequence = packet.sequence.or(self.sequence);
        self.stream.set_packet_sequence(sequence);
    }

    /// Notes that a packet of the source is left out, so that its sequence number is not
    /// taken for a lost packet. Packets of which an event is copied need no call.
    ///
    /// # Errors
    ///
    /// See [`StreamWriter::end_packet`].
    pub fn skip_packet(&mut self, packet: &Packet) -> Result<(), WriteError> {
        self.leave()?;
        if packet.sequence.is_some() {
            let sequence = self.next_sequence(packet);
            if self.sequence.is_some() {
                self.stream.set_packet_sequence(sequence);
            }
            self.sequence = self.sequence.and(packet.sequence);
        }
        Ok(())
    }
}

/// Returns the number of events that were lost before a packet, if it says so itself.
fn lost_before(packet: &Packet) -> u64 {
    match packet.lost {
        None => 0,
        Some(Lost::Events(count)) => count,
        // At least one; CTF has no losses without a number.
        Some(Lost::Uncounted) => 1,
    }
}

/// Returns `true` if a header that was decoded after the clock value `before` has the same
/// time after that of the target. `bits` is the [length](transfer::StreamPlan::timestamp_bits) of its
/// timestamp.
fn decodes(header: HeaderData, before: u64, bits: u32) -> bool {
    let HeaderData { clock, timestamp, .. } = header;
    let within = timestamp.checked_sub(clock).is_some_and(|gap| bits >= 64 || gap >> bits == 0);
    clock == before || bits >= 64 || bits > 0 && within
}

/// Returns the whole bytes from the bit `begin` up to `end` if they can be moved to the
/// position `to`: all alignments have to agree.
fn movable(bytes: &[u8], begin: u64, end: u64, to: u64, align: u32) -> Option<&[u8]> {
    let common = u64::from(align.max(8));
    let is_whole = begin.is_multiple_of(8) && end.is_multiple_of(8);
    if begin % common != to % common || !is_whole {
        return None;
    }
    bytes.get((begin / 8) as usize..(end / 8) as usize)
}
