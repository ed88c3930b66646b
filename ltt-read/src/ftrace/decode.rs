//! The decoder of pages and records.

use std::sync::Arc;

use crate::layout::program::{Scratch, Window};
use crate::layout::record::{DELTA_BITS, HEADER_BITS, RecordLayouts, Records, kind};
use crate::layout::tables::{BodyStart, StreamTable, Tables};
use crate::packet::{Lost, Packet, PacketError, Record};
use crate::report::DecodeError;
use crate::schema::{ByteOrder, EventTypeId, Schema};

/// The decoding parameters of the tracefiles of one buffer.
#[derive(Debug, Clone)]
pub(crate) struct Decoder {
    layouts: Arc<RecordLayouts>,
    /// The size of a `long` of the kernel in bytes.
    long: u64,
    /// The event type of records without a description.
    unknown: EventTypeId,
}

/// The properties of a tracefile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileKind {
    /// The size of a page in bytes.
    pub(crate) page_size: u32,
}

/// The bits of the word after the time of a page.
mod commit {
    /// The size of the data.
    pub(super) const SIZE: u64 = (1 << 27) - 1;
    /// Events were lost before the page.
    pub(super) const LOST: u64 = 1 << 31;
    /// Their number is after the data.
    pub(super) const COUNTED: u64 = 1 << 30;
}

/// The size of the time of a page in bytes.
const TIME: u64 = 8;

/// The highest bits of a time, which records with absolute times do not contain.
const HIGH: u64 = 0xf8 << 56;

/// The place of an event in a page, in bytes, with its time.
struct Found {
    body: u64,
    end: u64,
    cycles: u64,
}

impl Decoder {
    /// Creates the decoder of a buffer whose kernel has a `long` of `long` bytes.
    pub(crate) fn new(layouts: RecordLayouts, long: u64, unknown: EventTypeId) -> Self {
        Decoder { layouts: Arc::new(layouts), long, unknown }
    }

    /// Returns the way to find the fields of events.
    pub(crate) fn body_start(&self) -> BodyStart {
        BodyStart::Record(self.layouts.clone())
    }

    /// Reads the header of the page at a byte offset of a file.
    pub(crate) fn packet(
        &self,
        tables: &Tables,
        kind: FileKind,
        file: &[u8],
        offset: u64,
        number: u64,
    ) -> Result<Packet, PacketError> {
        let data = file.get(offset as usize..).unwrap_or(&[]);
        let (available, page_size) = (data.len() as u64, u64::from(kind.page_size));
        let begin = TIME + self.long;
        let truncated = |bit| PacketError {
            kind: DecodeError::TruncatedPacket { missing: page_size.saturating_sub(available) },
            bit,
            size: None,
        };
        let time = self.number(data, 0, TIME).ok_or_else(|| truncated(0))?;
        let commit = self.number(data, TIME, self.long).ok_or_else(|| truncated(0))?;
        let end = begin + (commit & commit::SIZE);
        let error = |kind| {
            let size = (available >= page_size).then_some(page_size);
            PacketError { kind, bit: 8 * TIME, size }
        };
        if end > page_size {
            let (content, total) = (8 * end, 8 * page_size);
            return Err(error(DecodeError::ContentBeyondPacket { content, total }));
        }
        // The rest of the last page need not be there.
        let size = if available < page_size && end <= available { available } else { page_size };
        let records = self
            .records(tables)
            .ok_or_else(|| error(DecodeError::TimeOverflow { cycles: time }))?;
        let start = records.time(time);
        if start.is_none() {
            return Err(error(DecodeError::TimeOverflow { cycles: time }));
        }
        let lost = (commit & commit::LOST != 0).then(|| {
            let is_counted = commit & commit::COUNTED != 0;
            let count = is_counted.then(|| self.number(data, end, self.long)).flatten();
            count.map_or(Lost::Uncounted, Lost::Events)
        });
        Ok(Packet {
            number,
            offset,
            size,
            content_bits: 8 * end,
            events_start: 8 * begin,
            missing: size.saturating_sub(available),
            start_cycles: Some(time),
            start,
            clock: time,
            lost,
            ..Packet::none()
        })
    }

    /// Returns `true` if no event follows the record that ends at bit `pos`.
    pub(crate) fn is_padding(&self, tables: &Tables, window: Window<'_>, pos: u64) -> bool {
        let records = self.records(tables);
        records.is_some_and(|records| matches!(self.find(records, window, pos, 0), Ok(None)))
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
        let beyond = DecodeError::BeyondContent { needed: HEADER_BITS };
        let records = self.records(tables).ok_or(beyond)?;
        let table = self.table(tables).ok_or(beyond)?;
        let Found { body, end, cycles } = self.find(records, window, pos, clock)?.ok_or(beyond)?;
        let id = self.number(window.data, body, 2).filter(|_| body + 2 <= end).ok_or(beyond)?;
        let known = table.event(Some(id));
        let event_type = known.unwrap_or(self.unknown);
        let layout = tables.body(schema, event_type)?;
        if known.is_ok() {
            table.event_ids.note_size(id, event_type, 0, layout.region.fixed);
        }
        let record = Window { end: 8 * end, ..window };
        layout.region.run(record, 8 * body, scratch)?;
        let timestamp = records.time(cycles);
        if timestamp.is_none() {
            return Err(DecodeError::TimeOverflow { cycles });
        }
        Ok(Record { begin: pos, end: 8 * end, event_type, timestamp, cycles, clock: cycles })
    }

    /// Finds the event that follows a record ending at bit `pos`; `None` if there is none in the page.
    fn find(
        &self,
        records: &Records,
        window: Window<'_>,
        pos: u64,
        mut clock: u64,
    ) -> Result<Option<Found>, DecodeError> {
        let (mut at, content) = (pos / 8, window.end / 8);
        let within = |end: u64| match end <= content {
            true => Ok(end),
            false => Err(DecodeError::BeyondContent { needed: 8 * (end - content) }),
        };
        let header_size = HEADER_BITS / 8;
        // Fewer bytes than a header has are no record.
        while at + header_size <= content {
            let beyond = DecodeError::BeyondContent { needed: HEADER_BITS };
            let header = records.header(window.data, at as usize).ok_or(beyond)?;
            let delta = u64::from(header.delta);
            at += header_size;
            let word = || {
                let end = within(at + 4)?;
                let word = records.word(window.data, at as usize).ok_or(beyond)?;
                Ok::<_, DecodeError>((u64::from(word), end))
            };
            match header.kind {
                kind::PADDING if delta == 0 => return Ok(None),
                kind::PADDING => {
                    let (size, _) = word()?;
                    if size == 0 {
                        return Ok(None);
                    }
                    at = within(at + size)?;
                    clock = clock.wrapping_add(delta);
                }
                kind::EXTENDED => {
                    let (more, end) = word()?;
                    clock = clock.wrapping_add((more << DELTA_BITS) + delta);
                    at = end;
                }
                kind::ABSOLUTE => {
                    let (more, end) = word()?;
                    clock = ((more << DELTA_BITS) + delta) | (clock & HIGH);
                    at = end;
                }
                size => {
                    let (body, end) = match size {
                        kind::LONG => {
                            let (size, body) = word()?;
                            // The size includes the word itself.
                            let size = size.checked_sub(4).ok_or(DecodeError::EmptyEvent)?;
                            (body, body + size.next_multiple_of(4))
                        }
                        words => (at, at + 4 * u64::from(words)),
                    };
                    let end = within(end)?;
                    if end == body {
                        return Err(DecodeError::EmptyEvent);
                    }
                    let cycles = clock.wrapping_add(delta);
                    return Ok(Some(Found { body, end, cycles }));
                }
            }
        }
        Ok(None)
    }

    fn table<'t>(&self, tables: &'t Tables) -> Option<&'t StreamTable> {
        tables.streams.first().map(|table| &**table)
    }

    fn records<'t>(&self, tables: &'t Tables) -> Option<&'t Records> {
        self.table(tables)?.records.as_ref()
    }

    /// Reads a number of 2, 4 or 8 bytes; `None` if the data ends before.
    fn number(&self, data: &[u8], at: u64, size: u64) -> Option<u64> {
        let bytes = data.get(at as usize..)?.get(..size as usize)?;
        let value = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Some(match self.layouts.order {
            ByteOrder::Little => bytes.iter().rev().fold(0, value),
            ByteOrder::Big => bytes.iter().fold(0, value),
        })
    }
}
