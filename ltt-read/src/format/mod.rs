//! Formats of packets and event records.
//!
//! A [`Decoder`] reads the packets and event records of a trace, whatever its format. It
//! decides by the format once per packet and once per record, except for the records
//! whose header has one of the common [forms](header_form): these are decoded in place.
//!
//! Only this module and the code that opens traces name the formats.

mod ctf;
pub(crate) mod header_form;
mod quirks;

use std::sync::atomic::{AtomicU32, Ordering};

use crate::base::clock_transform::ClockTransform;
use crate::base::time::Timestamp;
use crate::ftrace::decode as ftrace;
use crate::layout::program::{Scratch, Slot, Window};
use crate::layout::tables::{BodyStart, Tables};
use crate::legacy::decode as legacy;
use crate::packet::{Packet, PacketError, Record};
use crate::perf::decode as perf;
use crate::report::{DecodeError, LayoutError};
use crate::schema::Schema;

pub(crate) use crate::perf::decode::FoundSample;
pub(crate) use quirks::{PacketBounds, describes_other_events, packet_bounds};

/// The identity of the schema of a trace, which tells its handles from those of other traces. All versions
/// of a trace have the same: those with other times, and those of a trace that grows. The default is that of
/// no trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SchemaId(u32);

impl SchemaId {
    fn new() -> SchemaId {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        SchemaId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The decoder of the packets and event records of one trace.
#[derive(Debug)]
pub(crate) struct Decoder {
    pub(crate) id: SchemaId,
    pub(crate) schema: Schema,
    pub(crate) tables: Tables,
    /// The transforms of the clocks of the schema, in their order.
    pub(crate) transforms: Box<[ClockTransform]>,
    format: Format,
}

/// The format of a trace, with its parameters that the schema does not contain.
#[derive(Debug)]
enum Format {
    Ctf,
    Legacy(legacy::Decoder),
    Ftrace(ftrace::Decoder),
    Perf(perf::Decoder),
}

/// The properties of a file that its packets do not contain.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FileKind {
    Ctf,
    Legacy(legacy::FileKind),
    Ftrace(ftrace::FileKind),
    Perf(perf::FileKind),
}

impl Decoder {
    /// Creates the decoder of a trace in CTF.
    pub(crate) fn of_ctf(schema: Schema) -> Result<Decoder, LayoutError> {
        Decoder::new(schema, None, Format::Ctf)
    }

    /// Creates the decoder of a trace in CTF whose schema may grow. The layouts of what is
    /// declared are the same in the decoder of each longer schema, as long as no event type
    /// needs more than `slots` value slots.
    pub(crate) fn of_growing_ctf(schema: Schema, slots: Slot) -> Result<Decoder, LayoutError> {
        Decoder::with_slots(schema, None, Format::Ctf, slots)
    }

    /// Creates the decoder of a trace in a format before CTF.
    pub(crate) fn of_legacy(
        schema: Schema,
        decoder: legacy::Decoder,
    ) -> Result<Decoder, LayoutError> {
        Decoder::new(schema, None, Format::Legacy(decoder))
    }

    /// Creates the decoder of a buffer of ftrace.
    pub(crate) fn of_ftrace(
        schema: Schema,
        decoder: ftrace::Decoder,
    ) -> Result<Decoder, LayoutError> {
        Decoder::new(schema, None, Format::Ftrace(decoder))
    }

    /// Creates the decoder of a recording of perf.
    pub(crate) fn of_perf(schema: Schema, decoder: perf::Decoder) -> Result<Decoder, LayoutError> {
        Decoder::new(schema, None, Format::Perf(decoder))
    }

    fn new(
        schema: Schema,
        transforms: Option<Box<[ClockTransform]>>,
        format: Format,
    ) -> Result<Decoder, LayoutError> {
        Decoder::with_slots(schema, transforms, format, 0)
    }

    fn with_slots(
        schema: Schema,
        transforms: Option<Box<[ClockTransform]>>,
        format: Format,
        slots: Slot,
    ) -> Result<Decoder, LayoutError> {
        let body_start = match &format {
            Format::Ctf => BodyStart::AfterHeader,
            Format::Legacy(_) => BodyStart::AlignedPayload,
            Format::Ftrace(decoder) => decoder.body_start(),
            Format::Perf(decoder) => decoder.body_start(),
        };
        let transforms = transforms
            .unwrap_or_else(|| vec![ClockTransform::IDENTITY; schema.clocks.len()].into());
        let tables = Tables::new(&schema, body_start, &transforms, slots)?;
        Ok(Decoder { id: SchemaId::new(), schema, tables, transforms, format })
    }

    /// Creates the decoder of the same trace with other transforms of the clocks of its schema.
    pub(crate) fn transformed(
        &self,
        transforms: Box<[ClockTransform]>,
    ) -> Result<Decoder, LayoutError> {
        let format = match &self.format {
            Format::Ctf => Format::Ctf,
            Format::Legacy(decoder) => {
                // The schemas of these formats have one clock.
                Format::Legacy(decoder.transformed(transforms.first().copied().unwrap_or_default()))
            }
            Format::Ftrace(decoder) => Format::Ftrace(decoder.clone()),
            Format::Perf(decoder) => Format::Perf(decoder.clone()),
        };
        let decoder = Decoder::new(self.schema.clone(), Some(transforms), format)?;
        Ok(Decoder { id: self.id, ..decoder })
    }

    /// Returns the time of a record of a packet before the transform of its clock. `time` is that
    /// after it.
    pub(crate) fn recorded(
        &self,
        packet: &Packet,
        cycles: u64,
        time: Timestamp,
    ) -> Option<Timestamp> {
        match &self.format {
            Format::Ctf | Format::Perf(_) => {
                let table = &self.tables.streams[packet.stream_class.index()];
                table.clock.as_ref()?.recorded(cycles)
            }
            Format::Legacy(decoder) => decoder.recorded(cycles, time),
            Format::Ftrace(_) => {
                let table = &self.tables.streams[packet.stream_class.index()];
                table.records.as_ref()?.recorded(cycles)
            }
        }
    }

    /// Reads the header and context of the packet at a byte offset of a file.
    ///
    /// `clock` is the value of the default clock before the packet. `scratch` keeps the
    /// places and values of the fields.
    pub(crate) fn packet(
        &self,
        kind: FileKind,
        file: &[u8],
        offset: u64,
        number: u64,
        clock: u64,
        scratch: &mut Scratch,
    ) -> Result<Packet, PacketError> {
        match (&self.format, kind) {
            (Format::Legacy(decoder), FileKind::Legacy(kind)) => {
                decoder.packet(kind, file, offset, number)
            }
            (Format::Ftrace(decoder), FileKind::Ftrace(kind)) => {
                decoder.packet(&self.tables, kind, file, offset, number)
            }
            (Format::Perf(decoder), FileKind::Perf(kind)) => {
                decoder.packet(&self.tables, kind, file, offset, number)
            }
            _ => ctf::packet(&self.schema, &self.tables, file, offset, number, clock, scratch),
        }
    }

    /// Returns the start of the record that follows one ending at `pos` in a packet.
    pub(crate) fn next_record(&self, packet: &Packet, pos: u64) -> u64 {
        match (&self.format, packet.packing) {
            (Format::Legacy(decoder), Some(packing)) => decoder.begin(packing, pos),
            (Format::Ftrace(_) | Format::Perf(_), _) => pos,
            _ => self.tables.streams[packet.stream_class.index()].header.begin(pos),
        }
    }

    /// Returns `true` if a packet has only padding between `pos` and the end of its
    /// content, which is that of `window`. In CTF, the content does not end in padding.
    pub(crate) fn is_padding(&self, packet: &Packet, window: Window<'_>, pos: u64) -> bool {
        match &self.format {
            Format::Ctf | Format::Perf(_) => false,
            Format::Legacy(_) => self.next_record(packet, pos) >= window.end,
            Format::Ftrace(decoder) => decoder.is_padding(&self.tables, window, pos),
        }
    }

    /// Returns `true` if [`sample`](Self::sample) may find something.
    #[inline(always)]
    pub(crate) fn has_samples(&self) -> bool {
        matches!(self.format, Format::Perf(_))
    }

    /// Finds the sample that follows a record ending at `pos` in a packet, if it is one with a time.
    #[inline(always)]
    pub(crate) fn sample(&self, data: &[u8], pos: u64) -> Option<FoundSample> {
        match &self.format {
            Format::Perf(decoder) => decoder.sample(data, pos),
            _ => None,
        }
    }

    /// Reads the record that follows one ending at `pos` in a packet: its header, its
    /// type and the end of its body. `clock` is the value of the default clock before it.
    pub(crate) fn record(
        &self,
        packet: &Packet,
        window: Window<'_>,
        pos: u64,
        clock: u64,
        scratch: &mut Scratch,
    ) -> Result<Record, DecodeError> {
        let (schema, tables) = (&self.schema, &self.tables);
        match &self.format {
            Format::Ctf => ctf::record(schema, tables, packet, window, pos, clock, scratch),
            Format::Legacy(decoder) => {
                decoder.record(schema, tables, packet, window, pos, clock, scratch)
            }
            Format::Ftrace(decoder) => decoder.record(schema, tables, window, pos, clock, scratch),
            Format::Perf(decoder) => decoder.record(schema, tables, window, pos, clock, scratch),
        }
    }
}
