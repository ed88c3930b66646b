//! Cursors: reading one tracefile, event by event.

mod form;
mod legacy;
mod packets;
mod position;
mod recover;
mod seek;

use std::sync::Arc;

use crate::bits;
use crate::error::{DecodeError, Error};
use crate::event::Event;
use crate::layout::leap::Leap;
use crate::layout::program::{Scratch, Window};
use crate::layout::tables::StreamTable;
use crate::notice::{Notice, NoticeKind};
use crate::packet::Packet;
use crate::schema::EventTypeId;
use crate::source::{Source, fetch};
use crate::time::Timestamp;
use crate::trace::Trace;
use crate::tracefile::Tracefile;

use form::{Form, Quick};
pub use position::Position;

/// How far behind an event bytes are fetched while it is looked at: some events ahead.
/// Processors foresee reading in order, but not beyond a page of memory, and streams take
/// turns. (Half as far and twice as far are as good.)
const AHEAD: usize = 192;

/// A reader of one tracefile: stands on an event, or before the first, or
/// after the last.
///
/// [`Trace::cursor`] makes one. Cursors are independent of each other and cheap
/// to clone; a clone stands on the same event.
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// let mut cursor = trace.cursor(0);
/// let mut events = 0;
/// while let Some(event) = cursor.next()? {
///     println!("{:?} {}", event.timestamp(), event.event_type().name());
///     events += 1;
/// }
/// # assert!(events > 0);
/// # Ok::<(), ltt_read::Error>(())
/// ```
///
/// To read on after damage, as far as that is sound:
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// let mut cursor = trace.cursor(0);
/// loop {
///     match cursor.advance() {
///         Ok(true) => println!("{}", cursor.event().event_type().name()),
///         Ok(false) => break,
///         Err(error) => {
///             eprintln!("{error}");
///             if !cursor.skip_packet() {
///                 break;
///             }
///         }
///     }
/// }
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cursor {
    trace: Arc<Trace>,
    /// Number of the trace among those that are read together.
    trace_number: u32,
    tracefile: u32,
    state: State,
    /// Which of the tracefile's files is read.
    file: u32,
    /// The bytes of that file, and the layouts of the packet's stream: here so
    /// that the decoding loop need not go through the trace to them.
    source: Arc<Source>,
    table: Option<Arc<StreamTable>>,
    /// The packet that is read (sound unless `state` is `Start` or `End`).
    packet: Packet,
    /// The default clock before it.
    packet_clock: u64,
    /// Where its readable content ends, in bits: 0 when `state` is not `Packet`.
    content_end: u64,
    /// Where the next event record (or its padding) begins, in bits from the
    /// packet's begin.
    next: u64,
    /// The default clock before that record.
    clock: u64,
    scratch: Scratch,
    current: Current,
    last_timestamp: Timestamp,
    notices: Vec<Notice>,
    /// How many were not kept.
    notices_omitted: u64,
    packets_entered: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first packet of `file`.
    Start,
    /// In `packet`.
    Packet,
    /// An error was met in `packet`; what follows it may be read.
    Failed,
    /// The content size of `packet` is damaged, but its events were found.
    Recovered { events: u64 },
    /// Nothing more can be read.
    End,
}

/// The event that a cursor stands on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Current {
    /// Begin of its header, in bits from the packet's begin.
    pub(crate) begin: u64,
    pub(crate) event_type: EventTypeId,
    pub(crate) timestamp: Option<Timestamp>,
    pub(crate) cycles: u64,
    /// The clock before its header.
    clock_before: u64,
}

impl Cursor {
    pub(crate) fn new(trace: Arc<Trace>, tracefile: usize) -> Self {
        assert!(tracefile < trace.tracefiles().len(), "no tracefile {tracefile}");
        let source = trace.tracefiles()[tracefile].files[0].source.clone();
        Cursor {
            trace,
            source,
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
        }
    }

    /// The same cursor, for a trace that has a number among others.
    pub(crate) fn of_trace(self, number: usize) -> Self {
        Cursor { trace_number: number as u32, ..self }
    }

    pub(crate) fn trace_number(&self) -> usize {
        self.trace_number as usize
    }

    /// The trace that it reads.
    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace
    }

    /// The tracefile that it reads.
    pub fn tracefile(&self) -> &Tracefile {
        &self.trace.tracefiles()[self.tracefile as usize]
    }

    /// Number of that tracefile in its trace.
    pub fn tracefile_index(&self) -> usize {
        self.tracefile as usize
    }

    /// The packet that it is in; `None` before the first, after the last, and
    /// after an error.
    pub fn packet(&self) -> Option<&Packet> {
        (self.state == State::Packet).then_some(&self.packet)
    }

    /// Steps to the next event and gives it; `None` after the last.
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if the bytes that follow are no sound event record or
    /// packet. Nothing more is delivered then, unless
    /// [`skip_packet`](Self::skip_packet) finds a packet or a file to go on with.
    #[allow(clippy::should_implement_trait)] // events borrow the cursor
    pub fn next(&mut self) -> Result<Option<Event<'_>>, Error> {
        match self.advance()? {
            true => Ok(Some(Event::new(self))),
            false => Ok(None),
        }
    }

    /// Steps to the next event; false after the last. [`event`](Self::event)
    /// gives it then.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    #[inline]
    pub fn advance(&mut self) -> Result<bool, Error> {
        if self.advance_quickly().is_some() {
            return Ok(true);
        }
        self.advance_any()
    }

    /// [`advance`](Self::advance), for what its quick form does not handle.
    #[inline(never)]
    fn advance_any(&mut self) -> Result<bool, Error> {
        loop {
            if self.state == State::Packet && self.next < self.content_end {
                if self.at_legacy_padding() {
                    self.next = self.content_end;
                    continue;
                }
                return match self.read_event() {
                    Ok(()) => Ok(true),
                    Err(kind) => Err(self.fail(kind)),
                };
            }
            if !self.next_packet()? {
                return Ok(false);
            }
        }
    }

    /// Steps to the next event if its header has the quick form and nothing is
    /// out of the ordinary; otherwise leaves everything as it is.
    #[inline(always)]
    pub(crate) fn advance_quickly(&mut self) -> Option<()> {
        if self.table.as_deref()?.quick.is_none() {
            return self.advance_legacy_quickly();
        }
        self.advance_by::<Quick>()
    }

    /// Steps to the next event, whose header is of one of the forms.
    #[inline(always)]
    fn advance_by<F: Form>(&mut self) -> Option<()> {
        let table = self.table.as_deref()?;
        let data = self.source.bytes().get(self.packet.offset as usize..)?;
        let header = F::header(table, &self.packet, data, self.next, self.clock)?;
        let entry = header.entry;
        *self.scratch.slots.get_mut(table.body_anchor as usize)? = header.end;
        let end = match entry.fixed() {
            Some(bits) => header.end + bits,
            None if F::FIXED => return None,
            None => {
                let window = Window { data, end: self.content_end };
                let body = self.trace.tables().ready_body(entry)?;
                body.region.end(window, header.end, &mut self.scratch)?
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
        fetch(data, (end / 8) as usize + AHEAD);
        self.next = end;
        self.clock = header.cycles;
        self.last_timestamp = header.time;
        Some(())
    }

    /// The event that it stands on.
    ///
    /// Only to be asked for when the last step was an [`advance`](Self::advance)
    /// that gave true. Otherwise the event means nothing, and its methods may
    /// panic.
    #[inline(always)]
    pub fn event(&self) -> Event<'_> {
        Event::new(self)
    }

    /// Decodes the record at `next`: header, type, and where its body ends.
    fn read_event(&mut self) -> Result<(), DecodeError> {
        let trace = &*self.trace;
        let tables = trace.tables();
        let table = &tables.streams[self.packet.stream_class.index()];
        if table.legacy.is_some() {
            return self.read_legacy_event();
        }
        let data = self.source.bytes().get(self.packet.offset as usize..).unwrap_or(&[]);
        let window = Window { data, end: self.content_end };

        let begin = table.header.begin(self.next);
        let header = table.header.read(window, begin, self.clock, &mut self.scratch)?;
        let event_type = table.event(header.id)?;
        let body = tables.body(trace.schema(), event_type)?;
        if let Some(id) = header.id {
            table.event_ids.note_size(id, event_type, 0, body.region.fixed);
            if let Some(leap) = Leap::new(&body.region).filter(|_| !body.needs_header) {
                table.event_ids.note_leap(id, leap);
            }
        }
        if body.needs_header {
            table.header.region.run(window, begin, &mut self.scratch)?;
        }
        let end = body.region.run(window, header.end, &mut self.scratch)?;
        if end == begin {
            return Err(DecodeError::EmptyEvent);
        }
        let timestamp = match &table.clock {
            Some(clock) => match clock.timestamp(header.clock) {
                None => return Err(DecodeError::TimeOverflow { cycles: header.clock }),
                time => time,
            },
            None => None,
        };
        self.current = Current {
            begin,
            event_type,
            timestamp,
            cycles: header.clock,
            clock_before: self.clock,
        };
        self.next = end;
        self.clock = header.clock;
        if let Some(now) = timestamp {
            if now < self.last_timestamp {
                self.note(NoticeKind::ClockBackwards { from: self.last_timestamp, to: now });
            }
            self.last_timestamp = now;
        }
        Ok(())
    }

    /// The time of the last event that had one, since it was moved elsewhere.
    pub(crate) fn last_timestamp(&self) -> Timestamp {
        self.last_timestamp
    }

    /// How many packets it has entered so far.
    pub(crate) fn packets_entered(&self) -> u64 {
        self.packets_entered
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

    pub(crate) fn window(&self) -> Window<'_> {
        let data = self.source.bytes().get(self.packet.offset as usize..).unwrap_or(&[]);
        Window { data, end: self.content_end }
    }

    /// The bytes of the file, and at which of them the packet begins.
    #[inline(always)]
    pub(crate) fn data_and_begin(&self) -> (&[u8], usize) {
        (self.source.bytes(), self.packet.offset as usize)
    }

    /// The packet's little-endian bits from `pos` on, 57 of them at least.
    #[inline(always)]
    pub(crate) fn word_le(&self, pos: u64) -> u64 {
        let byte = (self.packet.offset as usize).wrapping_add((pos >> 3) as usize);
        bits::word(self.source.bytes(), byte) >> (pos & 7)
    }

    /// Which of its tracefile's files it reads.
    pub(crate) fn file_index(&self) -> usize {
        self.file as usize
    }

    /// Bytes of its tracefile that lie behind it.
    pub(crate) fn bytes_done(&self) -> u64 {
        let files = &self.tracefile().files;
        if self.state == State::End {
            return self.tracefile().size();
        }
        let before: u64 =
            files[..self.file as usize].iter().map(|f| f.source.bytes().len() as u64).sum();
        before + self.packet.offset + self.next / 8
    }
}
