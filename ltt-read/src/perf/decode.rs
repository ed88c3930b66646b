//! The decoder of runs of records.

use std::sync::Arc;

use super::index::{RecordHeader, Records, Run, Sample};
use super::kinds::{Kind, SAMPLE};
use crate::layout::program::{Scratch, Window};
use crate::layout::record::RecordLayouts;
use crate::layout::tables::{BodyStart, Tables};
use crate::packet::{Lost, Packet, PacketError, Record};
use crate::report::DecodeError;
use crate::schema::{EventTypeId, Schema, StreamClassId};

/// The decoding parameters of a recording.
#[derive(Debug, Clone)]
pub(crate) struct Decoder(Arc<Parameters>);

#[derive(Debug)]
pub(super) struct Parameters {
    pub(super) layouts: Arc<RecordLayouts>,
    pub(super) records: Records,
    /// The kinds of records that are no samples. Their event types follow those of the attributes.
    pub(super) kinds: Box<[Kind]>,
    /// The number of event types of samples, one for each attribute.
    pub(super) samples: u32,
    /// The event type of records of other kinds, with a time and without one.
    pub(super) unknown: [EventTypeId; 2],
    /// The stream class of records without a time.
    pub(super) untimed: StreamClassId,
    /// For each tracefile, its runs, with offsets from the first one.
    pub(super) runs: Box<[Box<[Run]>]>,
}

/// The way in which a file has runs of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// The runs of the tracefile with a number are known.
    Indexed(u32),
    /// The file is one run: a part of a recording that is being written.
    OneRun,
    /// The file stands for the damage after all records of such a recording.
    Damage(DecodeError),
}

/// A sample that was found by its header. Places are in bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundSample {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) event_type: EventTypeId,
    pub(crate) cycles: u64,
}

impl Decoder {
    pub(super) fn new(parameters: Parameters) -> Self {
        Decoder(Arc::new(parameters))
    }

    /// Returns the way to find the fields of events.
    pub(crate) fn body_start(&self) -> BodyStart {
        BodyStart::Record(self.0.layouts.clone())
    }

    /// Returns the run at a byte offset of a file. Its packet extends to the next run of the same CPU.
    pub(crate) fn packet(
        &self,
        tables: &Tables,
        kind: FileKind,
        file: &[u8],
        offset: u64,
        number: u64,
    ) -> Result<Packet, PacketError> {
        let error = |kind| PacketError { kind, bit: 0, size: None };
        let missing = DecodeError::TruncatedPacket { missing: 0 };
        let (run, next) = match kind {
            FileKind::OneRun if offset == 0 => (self.0.records.one_run(file).map_err(error)?, None),
            FileKind::OneRun => return Err(error(missing)),
            FileKind::Damage(damage) => return Err(error(damage)),
            FileKind::Indexed(tracefile) => {
                let runs = self.0.runs.get(tracefile as usize).map_or(&[][..], |runs| runs);
                let found = runs.binary_search_by_key(&offset, |run| run.offset);
                // Damage follows a run of its offset only if that is empty.
                let at = found.map_err(|_| error(missing))?;
                (*runs.get(at).ok_or_else(|| error(missing))?, runs.get(at + 1))
            }
        };
        if let Some(damage) = run.damage {
            return Err(error(damage));
        }
        let end = next.map_or(run.offset + run.size, |next| next.offset);
        let available = (file.len() as u64).saturating_sub(offset);
        let size = end - run.offset;
        let converter = tables.streams.first().and_then(|table| table.clock.as_ref());
        let start = match run.start {
            None => None,
            Some(cycles) => {
                let start = converter.and_then(|converter| converter.timestamp(cycles));
                Some(start.ok_or_else(|| PacketError {
                    size: Some(size).filter(|_| next.is_some()),
                    ..error(DecodeError::TimeOverflow { cycles })
                })?)
            }
        };
        Ok(Packet {
            stream_class: match run.start {
                Some(_) => StreamClassId(0),
                None => self.0.untimed,
            },
            number,
            offset,
            size,
            content_bits: 8 * run.size,
            events_start: 0,
            missing: size.saturating_sub(available),
            start_cycles: run.start,
            start,
            clock: run.start.unwrap_or(0),
            lost: run.lost.map(Lost::Events),
            ..Packet::none()
        })
    }

    /// Finds the sample that follows a record ending at bit `pos`; `None` if another record does, or if it has no time.
    #[inline(always)]
    pub(crate) fn sample(&self, data: &[u8], pos: u64) -> Option<FoundSample> {
        let records = &self.0.records;
        let at = records.after_rounds(data, pos / 8);
        let Sample { attribute, time, size } = records.sample(data, at)?;
        let event_type = EventTypeId(attribute);
        Some(FoundSample { begin: 8 * at, end: 8 * (at + size), event_type, cycles: time })
    }

    /// Reads the record that follows one ending at bit `pos`: see
    /// [`Decoder::record`](crate::format::Decoder::record).
    pub(crate) fn record(
        &self,
        schema: &Schema,
        tables: &Tables,
        window: Window<'_>,
        pos: u64,
        clock: u64,
        scratch: &mut Scratch,
    ) -> Result<Record, DecodeError> {
        let parameters = &*self.0;
        let beyond = |needed| DecodeError::BeyondContent { needed };
        let pos = 8 * parameters.records.after_rounds(window.data, pos / 8);
        let header = parameters.records.header(window.data, pos / 8).ok_or(beyond(64))?;
        let bits = 8 * header.size;
        let end = pos + bits;
        if end > window.end {
            return Err(beyond(bits));
        }
        let record = window.data.get((pos / 8) as usize..(end / 8) as usize).ok_or(beyond(bits))?;
        let attribute = parameters.records.attribute(record, header.kind);
        let cycles = parameters.records.time(record, header.kind, attribute);
        let event_type = self.event_type(header, attribute, cycles.is_some());
        let layout = tables.body(schema, event_type)?;
        layout.region.run(Window { end, ..window }, pos, scratch)?;
        let timestamp = match cycles {
            None => None,
            Some(cycles) => {
                let converter = tables.streams.first().and_then(|table| table.clock.as_ref());
                let time = converter.and_then(|converter| converter.timestamp(cycles));
                Some(time.ok_or(DecodeError::TimeOverflow { cycles })?)
            }
        };
        let cycles = cycles.unwrap_or(clock);
        Ok(Record { begin: pos, end, event_type, timestamp, cycles, clock: cycles })
    }

    fn event_type(&self, header: RecordHeader, attribute: u32, has_time: bool) -> EventTypeId {
        let parameters = &*self.0;
        let RecordHeader { kind, misc, .. } = header;
        if kind == SAMPLE {
            return EventTypeId(attribute);
        }
        let kind = Kind::new(kind, misc, has_time);
        let at = parameters.kinds.iter().position(|known| *known == kind);
        let unknown = parameters.unknown[usize::from(!has_time)];
        at.map_or(unknown, |at| EventTypeId(parameters.samples + at as u32))
    }
}
