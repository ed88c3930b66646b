//! Cursors: readers of one tracefile, event by event.

mod growth;
mod losses;
mod occurrences;
mod packets;
mod position;
mod records;
mod recover;
mod run;
mod seek;
mod waypoint;

use std::sync::Arc;

use crate::base::bits;
use crate::base::source::{SharedBytes, prefetch, prefetch_value};
use crate::base::time::Timestamp;
use crate::format::header_form::{HeaderForm, OfPacket, OfStream};
use crate::format::{Decoder, SchemaId};
use crate::layout::header::{Ahead, Quick};
use crate::layout::program::{Scratch, Window};
use crate::layout::tables::StreamTable;
use crate::packet::Packet;
use crate::report::{DecodeError, Error};
use crate::report::{Notice, NoticeKind};
use crate::schema::EventTypeId;
use crate::trace::Tracefile;
use crate::trace::{Trace, TracefileIndex};

pub use position::Position;
pub(crate) use run::{Run, RunEvents};

/// The distance in bytes past the current event at which data is prefetched: some events
/// ahead. Hardware prefetchers follow sequential reads, but not across a page boundary,
/// and a merge alternates between streams. Half and twice this distance perform as well.
const PREFETCH_DISTANCE: usize = 192;

/// The number of lines of the cache of which data is prefetched where some events will be read.
const NEXT_LINES: usize = 4;

/// A reader of one tracefile. Its current place is an event, the start of the tracefile
/// or the end of it.
///
/// [`Trace::cursor`] creates a cursor. Cursors are independent of each other and cheap to
/// clone; a clone has the same current event.
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
/// let mut events = 0;
/// while let Some(event) = cursor.next()? {
///     println!("{:?} {}", event.timestamp(), event.event_type().name());
///     events += 1;
/// }
/// # assert!(events > 0);
/// # Ok::<(), ltt_read::Error>(())
/// ```
///
/// To continue after damage with the packets that are sound:
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
/// loop {
///     match cursor.advance() {
///         Ok(true) => println!("{}", cursor.event().event_type().name()),
///         Ok(false) => break,
///         Err(error) => {
///             eprintln!("{error:?}");
///             if !cursor.skip_packet() {
///                 break;
///             }
///         }
///     }
/// }
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone)]
// The first two lines of the cache have what each event needs: in a merge of thousands of tracefiles,
// nothing of a cursor is near the processor when its next event is due.
#[repr(C, align(64))]
pub struct Cursor {
    /// The bytes of the current file, and the layouts of the packet's stream. Copies of the
    /// handles are kept here so that the decoding loop need not reach them through the
    /// trace.
    bytes: SharedBytes,
    table: Option<Arc<StreamTable>>,
    /// The end of the packet's readable content, in bits; 0 unless `state` is `Packet`.
    content_end: u64,
    /// The start of the next event record or of the padding before it, in bits from the
    /// packet's start.
    next: u64,
    /// The value of the default clock before that record, in cycles.
    clock: u64,
    last_timestamp: Timestamp,
    /// The header of the next event, if it has been looked up.
    ahead: Ahead,
    current: Current,
    /// The current packet. It is a placeholder in the state `Start`, and after a packet
    /// whose header could not be read.
    packet: Packet,
    /// The number of the trace among those that a merge reads.
    trace_number: u32,
    tracefile: u32,
    /// The identity of the trace's schema, which handles of fields are compared with.
    schema_id: SchemaId,
    /// The index of the current file among those of the tracefile.
    file: u32,
    /// The decoder of the trace, without a way through it.
    decoder: Arc<Decoder>,
    scratch: Scratch,
    trace: Arc<Trace>,
    state: State,
    /// The value of the default clock before the packet, in cycles.
    packet_clock: u64,
    notices: Vec<Notice>,
    /// The number of notices that were dropped because too many were waiting.
    notices_omitted: u64,
    packets_entered: u64,
    /// An upper bound of the times of the events of the current packet before `next`, apart from
    /// `last_timestamp`.
    latest: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first packet of `file`.
    Start,
    /// In `packet`.
    Packet,
    /// There was an error in `packet`. The packets after it may be readable.
    Failed,
    /// The content size of `packet` is damaged, but its events were found.
    Recovered { events: u64 },
    /// At the end of the tracefile, or after damage from which reading cannot continue.
    End,
}

/// The current event of a cursor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Current {
    /// The start of its header, in bits from the packet's start.
    pub(crate) begin: u64,
    pub(crate) event_type: EventTypeId,
    pub(crate) timestamp: Option<Timestamp>,
    pub(crate) cycles: u64,
    /// The value of the default clock before its header, in cycles.
    pub(crate) clock_before: u64,
}

impl Trace {
    /// Creates a cursor before the first event of a tracefile.
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn cursor(self: &Arc<Self>, tracefile: TracefileIndex) -> Cursor {
        Cursor::new(self.clone(), tracefile)
    }

    /// Returns a cursor before the first event of each tracefile.
    pub fn cursors(
        self: &Arc<Self>,
    ) -> impl DoubleEndedIterator<Item = Cursor> + ExactSizeIterator {
        (0..self.tracefiles().len()).map(|tracefile| self.cursor(TracefileIndex(tracefile)))
    }
}

impl Cursor {
    pub(crate) fn new(trace: Arc<Trace>, TracefileIndex(tracefile): TracefileIndex) -> Self {
        let len = trace.tracefiles().len();
        assert!(tracefile < len, "tracefile index {tracefile} out of range, trace has {len}");
        let bytes = trace.tracefiles()[tracefile].first_source();
        Cursor {
            schema_id: trace.decoder().id,
            decoder: trace.decoder().clone(),
            trace,
            bytes,
            table: None,
            trace_number: 0,
            tracefile: tracefile as u32,
            state: State::Start,
            file: 0,
            packet: Packet::none(),
            packet_clock: 0,
            content_end: 0,
            next: 0,
            clock: 0,
            ahead: Ahead::NONE,
            scratch: Scratch::default(),
            current: Current {
                begin: 0,
                event_type: EventTypeId(0),
                timestamp: None,
                cycles: 0,
                clock_before: 0,
            },
            last_timestamp: Timestamp::MIN,
            notices: Vec::new(),
            notices_omitted: 0,
            packets_entered: 0,
            latest: Timestamp::MIN,
        }
    }

    /// Sets the number of the trace among those that are read together, which
    /// [`Event::trace_index`](crate::Event::trace_index) returns.
    #[must_use]
    pub fn with_trace_number(self, number: usize) -> Self {
        Cursor { trace_number: number as u32, ..self }
    }

    pub(crate) fn trace_number(&self) -> usize {
        self.trace_number as usize
    }

    #[inline(always)]
    pub(crate) fn schema_id(&self) -> SchemaId {
        self.schema_id
    }

    #[inline(always)]
    pub(crate) fn decoder(&self) -> &Arc<Decoder> {
        &self.decoder
    }

    /// Returns the trace that the cursor reads.
    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace
    }

    /// Returns the tracefile that the cursor reads.
    pub fn tracefile(&self) -> &Tracefile {
        &self.trace.tracefiles()[self.tracefile as usize]
    }

    /// Returns the index of that tracefile in [`Trace::tracefiles`].
    pub fn tracefile_index(&self) -> TracefileIndex {
        TracefileIndex(self.tracefile as usize)
    }

    /// Returns the current packet; `None` before the first packet, after the last one,
    /// and after an error.
    pub fn packet(&self) -> Option<&Packet> {
        (self.state == State::Packet).then_some(&self.packet)
    }

    /// Reads the next event. Returns `true` if there is one, which [`event`](Self::event)
    /// then returns, and `false` after the last one. The last one of a [growing
    /// tracefile](Tracefile::is_growing) is the last one so far: see
    /// [`continue_with`](Self::continue_with).
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if the bytes that follow are not a sound event record or packet:
    /// see [`next`](Self::next).
    #[inline]
    pub fn advance(&mut self) -> Result<bool, Error> {
        if self.advance_quickly().is_some() {
            return Ok(true);
        }
        self.advance_slowly()
    }

    /// Reads the next event of the current packet. Returns `false` after the last one, and
    /// before the first packet.
    ///
    /// [`next_packet`](Self::next_packet) has an example.
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if the bytes that follow are not a sound event record: see
    /// [`next`](Self::next).
    #[inline]
    pub fn advance_in_packet(&mut self) -> Result<bool, Error> {
        if self.state != State::Packet || self.next >= self.content_end {
            return Ok(false);
        }
        if self.advance_quickly().is_some() {
            return Ok(true);
        }
        if self.only_padding_follows() {
            self.next = self.content_end;
            return Ok(false);
        }
        match self.read_event() {
            Ok(()) => Ok(true),
            Err(kind) => Err(self.fail(kind)),
        }
    }

    /// Prefetches those parts of the cursor itself that reading an event needs.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_value(&self.bytes);
        prefetch_value(&self.current.begin);
        prefetch_value(&self.scratch.slots);
    }

    /// Prefetches what reading the next events needs beside the cursor.
    #[inline]
    pub(crate) fn prefetch_next(&self) {
        let at = self.packet.offset.wrapping_add(self.next / 8);
        for line in 0..NEXT_LINES {
            prefetch(self.bytes.get(), at as usize + line * 64);
        }
        if self.scratch.slots.spilled() {
            prefetch_value(&self.scratch.slots[0]);
        }
    }

    /// Reads the next event of any form, or enters the next packet.
    #[inline(never)]
    fn advance_slowly(&mut self) -> Result<bool, Error> {
        loop {
            if self.state == State::Packet && self.next < self.content_end {
                if self.only_padding_follows() {
                    self.next = self.content_end;
                    continue;
                }
                return match self.read_event() {
                    Ok(()) => Ok(true),
                    // The metadata that declares the event type may not have arrived yet.
                    Err(DecodeError::UnknownEventType { .. }) if self.tracefile().is_growing() => {
                        Ok(false)
                    }
                    Err(kind) => Err(self.fail(kind)),
                };
            }
            if !self.next_packet()? {
                return Ok(false);
            }
        }
    }

    /// Reads the next event if its header has one of the forms for this and the event has
    /// no anomaly. Otherwise returns `None` and changes nothing.
    #[inline(always)]
    pub(crate) fn advance_quickly(&mut self) -> Option<()> {
        let table = self.table.as_deref()?;
        match table.quick.as_ref().is_some_and(Quick::is_simple) {
            true => self.advance_by::<OfStream<true>>(),
            false if table.records.is_some() => self.advance_by_record(),
            false => self.advance_by_other_form(),
        }
    }

    /// [`advance_quickly`](Self::advance_quickly) for less frequent forms.
    #[inline(never)] // keeps the code path of the frequent form short
    fn advance_by_other_form(&mut self) -> Option<()> {
        if self.table.as_deref()?.quick.is_some() {
            return self.advance_by::<OfStream<false>>();
        }
        if self.decoder.has_samples() {
            return self.advance_by_sample();
        }
        match self.advance_by::<OfPacket<true>>() {
            Some(()) => Some(()),
            None => self.advance_by_any_packet_form(),
        }
    }

    /// Reads an event that is not plain. This is a function of its own because it makes
    /// calls: the plain path then need not save registers for them.
    #[inline(never)]
    fn advance_by_any_packet_form(&mut self) -> Option<()> {
        self.advance_by::<OfPacket<false>>()
    }

    /// Reads the next event if its header has the form `F`.
    #[inline(always)]
    fn advance_by<F: HeaderForm>(&mut self) -> Option<()> {
        let table = self.table.as_deref()?;
        let data = self.bytes.get().get(self.packet.offset as usize..)?;
        let (plan, ids) = (F::plan(table, &self.packet)?, &table.event_ids);
        let header = F::header(plan, ids, data, self.next, self.clock, &self.ahead)?;
        let entry = header.entry;
        *self.scratch.slots.get_mut(table.body_anchor as usize)? = header.end;
        let end = match entry.fixed() {
            Some(bits) => header.end + bits,
            None if F::FIXED || !entry.is_dynamic() => return None,
            None => {
                let start = data.get((header.end / 8) as usize..)?;
                let quick_end = match (ids.skip(header.id), start.first_chunk()) {
                    (Some(skip), Some(body)) => skip.end(body, header.end, &mut self.scratch.slots),
                    _ => None,
                };
                match quick_end {
                    Some(end) => end,
                    None => {
                        let window = Window { data, end: self.content_end };
                        let body = self.decoder.tables.ready_body(entry)?;
                        body.region.end(window, header.end, &mut self.scratch)?
                    }
                }
            }
        };
        if end > self.content_end || header.time < self.last_timestamp {
            return None;
        }
        self.current = Current {
            begin: header.begin,
            event_type: entry.event(),
            timestamp: Some(header.time),
            cycles: header.cycles,
            clock_before: self.clock,
        };
        prefetch(data, (end / 8) as usize + PREFETCH_DISTANCE);
        self.ahead = F::look_ahead(plan, ids, data, end);
        self.next = end;
        self.clock = header.cycles;
        self.last_timestamp = header.time;
        Some(())
    }

    /// Decodes the record at `next`: its header, its type and the end of its body.
    fn read_event(&mut self) -> Result<(), DecodeError> {
        let decoder = &self.decoder;
        let data = self.bytes.get().get(self.packet.offset as usize..).unwrap_or(&[]);
        let window = Window { data, end: self.content_end };
        let (packet, scratch) = (&self.packet, &mut self.scratch);
        self.ahead = Ahead::NONE;
        let record = decoder.record(packet, window, self.next, self.clock, scratch)?;
        self.current = Current {
            begin: record.begin,
            event_type: record.event_type,
            timestamp: record.timestamp,
            cycles: record.cycles,
            clock_before: self.clock,
        };
        self.next = record.end;
        self.clock = record.clock;
        if let Some(now) = record.timestamp {
            if now < self.last_timestamp {
                self.latest = self.latest.max(self.last_timestamp);
                self.note(NoticeKind::ClockBackwards { from: self.last_timestamp, to: now });
            }
            self.last_timestamp = now;
        }
        Ok(())
    }

    /// Returns `true` if the rest of the content of the current packet is padding.
    fn only_padding_follows(&self) -> bool {
        self.decoder.is_padding(&self.packet, self.window(), self.next)
    }

    /// Returns the time of the last event that had one, since the last seek;
    /// [`Timestamp::MIN`] if there is none.
    pub(crate) fn last_timestamp(&self) -> Timestamp {
        self.last_timestamp
    }

    /// Returns the number of packets entered so far.
    pub(crate) fn packets_entered(&self) -> u64 {
        self.packets_entered
    }

    /// Returns the end of the current event record, in bits from the packet's start.
    #[cfg(feature = "writer")]
    pub(crate) fn end_of_record(&self) -> u64 {
        self.next
    }

    /// Returns the end of the header of the current event record, in bits from the packet's
    /// start.
    #[cfg(feature = "writer")]
    pub(crate) fn end_of_header(&self) -> Option<u64> {
        self.scratch.slots.get(self.table.as_deref()?.body_anchor as usize).copied()
    }

    /// Returns `true` if no event record follows the current one in the packet.
    #[cfg(feature = "writer")]
    pub(crate) fn is_last_in_packet(&self) -> bool {
        self.next >= self.content_end || self.only_padding_follows()
    }

    #[inline(always)]
    pub(crate) fn current(&self) -> &Current {
        &self.current
    }

    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    pub(crate) fn packet_unchecked(&self) -> &Packet {
        &self.packet
    }

    /// Returns the current packet's bytes and those after it; none if there is no packet.
    pub(crate) fn window(&self) -> Window<'_> {
        self.window_of_packet().unwrap_or(Window { data: &[], end: self.content_end })
    }

    /// Returns the current packet's bytes and those after it; `None` if there is no packet.
    #[inline(always)]
    pub(crate) fn window_of_packet(&self) -> Option<Window<'_>> {
        let data = self.bytes.get().get(self.packet.offset as usize..)?;
        Some(Window { data, end: self.content_end })
    }

    /// Returns the bytes of the file, and the offset of the packet in them.
    #[inline(always)]
    pub(crate) fn data_and_begin(&self) -> (&[u8], usize) {
        (self.bytes.get(), self.packet.offset as usize)
    }

    /// Reads the packet's little-endian bits from `pos` on, at least 57 of them.
    #[inline(always)]
    pub(crate) fn word_le(&self, pos: u64) -> u64 {
        let byte = (self.packet.offset as usize).wrapping_add((pos >> 3) as usize);
        bits::word(self.bytes.get(), byte) >> (pos & 7)
    }

    /// Returns the index of the current file among those of the tracefile.
    pub fn file_index(&self) -> usize {
        self.file as usize
    }

    /// Returns the number of the file that is read next and the offset in it, in bytes; `None` at
    /// the end.
    pub(crate) fn next_place(&self) -> Option<(u32, u64)> {
        let at = self.packet.offset + self.next / 8;
        (self.state != State::End).then_some((self.file, at))
    }

    /// Returns the number of bytes of the tracefile that have been read.
    pub(crate) fn bytes_done(&self) -> u64 {
        let files = &self.tracefile().files;
        if self.state == State::End {
            return self.tracefile().size();
        }
        let before: u64 = files[..self.file.saturating_sub(self.tracefile().first_file()) as usize]
            .iter()
            .map(|f| f.size())
            .sum();
        before + self.packet.offset + self.next / 8
    }
}
