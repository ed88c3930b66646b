//! The packets of a data stream.

use std::io::Write;

use super::error::{LocatedProblem, WriteError};
use super::index::PacketInfo;
use super::roles::{
    PACKET_MAGIC, clock_after, clock_after_field, fill_timestamp, fill_uuid, for_each_role,
};
use super::stream::{OpenPacket, StreamWriter};
use super::value::FieldValue;
use crate::base::uuid::Uuid;
use crate::schema::{Role, Schema, Scope, StreamClass};

const PACKET: [Scope; 2] = [Scope::PacketHeader, Scope::PacketContext];

impl<W: Write> StreamWriter<W> {
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
        if self.packets > 0 && !self.lengths.total && !self.lengths.content {
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
        let mut carried = open.clock;
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
                // A narrow field has the lower bits, which readers complete.
                let bits = role_field.bits();
                let low = if bits < 64 { end & ((1 << bits) - 1) } else { end };
                late(if clock_after(open.begin, bits, low) == end { low } else { end })?;
                carried = end;
            } else if role_field.roles.has(Role::DiscardedEvents) {
                // Counters may wrap.
                role_field.overwrite(&mut self.w, 0, self.discarded);
            }
        }
        self.carried = carried;
        self.output_packet(PacketInfo {
            offset: 0,
            total_bits,
            content_bits,
            start: open.begin,
            end,
            discarded: self.discarded,
            stream_class: self.schema.stream_classes[self.class.index()].id,
            stream: self.stream_id,
            sequence: self.sequence,
        })
    }

    /// Writes the encoded packet to the output.
    fn output_packet(&mut self, packet: PacketInfo) -> Result<(), WriteError> {
        // After an error the packet cannot be repaired, so it is given up.
        self.open = None;
        let Some(output) = &mut self.output else { return Ok(()) };
        let offset = output.packet(self.w.bytes(), packet)?;
        self.count_packet(PacketInfo { offset, ..packet });
        Ok(())
    }

    fn count_packet(&mut self, packet: PacketInfo) {
        self.last_packet = Some(packet);
        self.packets += 1;
        self.sequence = packet.sequence.wrapping_add(1);
    }

    /// Ends the open packet at its last event.
    pub(super) fn end_packet_at_last(&mut self) -> Result<(), WriteError> {
        self.open.map_or(Ok(()), |open| self.end_packet(open.end))
    }

    /// Ends the open packet at a clock value, or at its last event if that is later.
    pub(super) fn end_packet_from(&mut self, end: u64) -> Result<(), WriteError> {
        self.open.map_or(Ok(()), |open| self.end_packet(open.end.max(end)))
    }

    /// Writes a packet that is encoded already. Its counters are those of its bytes.
    pub(super) fn copied_packet(
        &mut self,
        bytes: &[u8],
        packet: PacketInfo,
    ) -> Result<(), WriteError> {
        if self.packets > 0 && !self.lengths.total && !self.lengths.content {
            return Err(WriteError::OnePacket);
        }
        let Some(output) = &mut self.output else { return Ok(()) };
        let offset = output.packet(bytes, packet)?;
        self.discarded = packet.discarded;
        self.carried = packet.end;
        self.count_packet(PacketInfo { offset, ..packet });
        Ok(())
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
        let (mut declared_class, mut clock, mut timed) = (None, self.carried, false);
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
            return Err(WriteError::ClockGap { from: self.carried, to: begin });
        }
        Ok(clock)
    }
}
