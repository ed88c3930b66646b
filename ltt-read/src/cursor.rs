//! Cursors: reading one tracefile, event by event.

mod legacy;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::bits;
use crate::error::{DecodeError, Error, Place};
use crate::event::Event;
use crate::layout::header::QuickValues;
use crate::layout::program::{Scratch, Window};
use crate::layout::tables::StreamTable;
use crate::notice::{Notice, NoticeKind};
use crate::packet::Packet;
use crate::schema::EventTypeId;
use crate::source::Source;
use crate::time::Timestamp;
use crate::trace::Trace;
use crate::tracefile::Tracefile;

/// Notices that a cursor keeps until they are taken; later ones are dropped.
const MAX_NOTICES: usize = 1024;

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

/// A place in a tracefile: a cut between two events.
///
/// It is plain data, valid for every cursor of the same tracefile, and
/// ordered as the events are. How it was reached does not matter for that.
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// let mut cursor = trace.cursor(0);
/// let first = cursor.next()?.expect("an event").position();
/// let after = cursor.position();
/// let second = cursor.next()?.expect("another event").offset();
///
/// let mut other = trace.cursor(0);
/// other.seek(after)?;
/// assert_eq!(other.next()?.map(|event| event.offset()), Some(second));
/// assert!(first < after);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Position {
    file: u32,
    packet_offset: u64,
    bit: u64,
    packet_number: u64,
    packet_clock: u64,
    clock: u64,
    at_end: bool,
}

impl Position {
    /// Before the first event.
    pub const BEGIN: Position = Position {
        file: 0,
        packet_offset: 0,
        bit: 0,
        packet_number: 0,
        packet_clock: 0,
        clock: 0,
        at_end: false,
    };

    /// After the last event.
    pub const END: Position = Position { file: u32::MAX, at_end: true, ..Position::BEGIN };

    /// As bytes, to be kept in a file. They mean something for the same trace only.
    ///
    /// ```
    /// # use ltt_read::Position;
    /// let bytes = Position::END.to_bytes();
    /// assert_eq!(Position::from_bytes(&bytes), Position::END);
    /// ```
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let numbers =
            [self.packet_offset, self.bit, self.packet_number, self.packet_clock, self.clock];
        let mut bytes = [0; Self::BYTES];
        let (head, rest) = bytes.split_at_mut(5);
        head[0] = self.at_end.into();
        head[1..].copy_from_slice(&self.file.to_le_bytes());
        for (to, number) in rest.chunks_exact_mut(8).zip(numbers) {
            to.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// What [`to_bytes`](Self::to_bytes) gave. Any other bytes give some position
    /// too, but one that may not be sought.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (head, rest) = bytes.split_at(5);
        let number = |at: usize| {
            let bytes = rest.get(8 * at..).and_then(|rest| rest.first_chunk());
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        Position {
            at_end: head[0] != 0,
            file: head[1..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)),
            packet_offset: number(0),
            bit: number(1),
            packet_number: number(2),
            packet_clock: number(3),
            clock: number(4),
        }
    }

    /// How many [bytes](Self::to_bytes) a position is.
    pub const BYTES: usize = 45;

    /// Where it is: what is left is known from there.
    #[inline]
    fn place(&self) -> (bool, u32, u64, u64) {
        if self.at_end {
            return (true, 0, 0, 0);
        }
        (false, self.file, self.packet_offset, self.bit)
    }
}

impl PartialEq for Position {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
    }
}

impl Eq for Position {}

impl PartialOrd for Position {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Position {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl Hash for Position {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place().hash(state);
    }
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
    /// [`skip_packet`](Self::skip_packet) finds a packet to go on with.
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
        }
        if body.needs_header {
            table.header.region.run(window, begin, &mut self.scratch)?;
        }
        let end = body.region.run(window, header.end, &mut self.scratch)?;
        if end == self.next {
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

    /// Enters the packet after the current one; false if there is none.
    #[inline(never)]
    fn next_packet(&mut self) -> Result<bool, Error> {
        let (offset, number, before) = match self.state {
            State::Start => (0, 0, None),
            State::Packet if self.packet.missing > 0 => {
                let missing = self.packet.missing;
                return Err(self.fail(DecodeError::TruncatedPacket { missing }));
            }
            State::Packet => {
                let p = &self.packet;
                (p.offset + p.size, p.number + 1, Some(p.clone()))
            }
            State::Failed | State::End => return Ok(false),
        };
        let clock = before.as_ref().and_then(|p| p.end_cycles).unwrap_or(self.clock);
        let files = self.tracefile().files.len() as u32;
        let len = self.tracefile().files[self.file as usize].source.bytes().len() as u64;
        if offset < len {
            self.enter_packet(offset, number, clock)?;
        } else if self.file + 1 < files {
            self.file += 1;
            self.enter_packet(0, 0, clock)?;
        } else {
            self.state = State::End;
            self.content_end = 0;
            return Ok(false);
        }
        match before {
            Some(before) => self.compare_counters(&before),
            None => self.note_first_losses(),
        }
        Ok(true)
    }

    /// Makes the packet at a place of the current file the current one.
    /// `clock` is the default clock before it.
    fn enter_packet(&mut self, offset: u64, number: u64, clock: u64) -> Result<(), Error> {
        let trace = self.trace.clone();
        let file = &trace.tracefiles()[self.tracefile as usize].files[self.file as usize];
        self.source = file.source.clone();
        self.packet_clock = clock;
        self.packets_entered += 1;
        let (schema, tables) = (trace.schema(), trace.tables());
        match file.packet(schema, tables, offset, number, clock, &mut self.scratch) {
            Ok(packet) => {
                let table = &tables.streams[packet.stream_class.index()];
                self.make_slots(table);
                self.table = Some(table.clone());
                self.content_end = packet.readable_bits();
                self.next = packet.events_begin;
                self.clock = packet.clock;
                self.packet = packet;
                self.state = State::Packet;
                if let Some(found) = self.packet.wrong_magic {
                    self.note(NoticeKind::WrongMagic { found });
                }
                if let Some(found) = self.packet.wrong_uuid {
                    self.note(NoticeKind::WrongUuid { found });
                }
                Ok(())
            }
            Err(error) => {
                // What the packet is not is unknown, but perhaps where it ends.
                self.state = if error.size.is_some() { State::Failed } else { State::End };
                self.packet =
                    Packet { offset, number, size: error.size.unwrap_or(0), ..Packet::none() };
                (self.next, self.content_end) = (0, 0);
                let offset = offset.saturating_mul(8).saturating_add(error.bit);
                let place = Place { file: file.path.clone(), packet: number, offset };
                Err(Error::Decode { place, kind: error.kind })
            }
        }
    }

    fn make_slots(&mut self, table: &StreamTable) {
        let needed = table.body_anchor as usize + 1;
        if self.scratch.slots.len() < needed {
            self.scratch.slots.resize(needed, 0);
        }
    }

    /// Notes what the counters of two neighbouring packets say was lost.
    fn compare_counters(&mut self, before: &Packet) {
        let p = &self.packet;
        let difference = |now: u64, then: u64, bits: u8| {
            let mask = u64::MAX >> (64 - u32::from(bits.clamp(1, 64)));
            now.wrapping_sub(then) & mask
        };
        let lost = match (p.sequence, before.sequence) {
            (Some(now), Some(then)) => difference(now, then, p.sequence_bits).wrapping_sub(1),
            _ => 0,
        };
        let discarded = match (p.discarded, before.discarded) {
            (Some(now), Some(then)) => difference(now, then, p.discarded_bits),
            _ => 0,
        };
        let (begin, end) = (before.end, p.begin);
        // A number that went back is a restarted or swapped packet, not a gap.
        let is_gap = |count: u64| count > 0 && count < u64::MAX >> 1;
        if is_gap(lost) {
            self.note(NoticeKind::LostPackets { count: lost, begin, end });
        }
        if is_gap(discarded) {
            let end = self.packet.end;
            self.note(NoticeKind::DiscardedEvents { count: Some(discarded), begin, end });
        }
    }

    fn note(&mut self, kind: NoticeKind) {
        if self.notices.len() < MAX_NOTICES {
            let file = self.tracefile().files[self.file as usize].path.clone();
            let (packet, offset) = (self.packet.number, self.packet.offset);
            self.notices.push(Notice { kind, file, packet, offset });
        }
    }

    /// Takes the notices that came up since the last call. At most 1024 are
    /// kept until then.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// The error for what stands at `next`.
    #[cold]
    fn fail(&mut self, kind: DecodeError) -> Error {
        self.state = State::Failed;
        self.content_end = 0;
        // In a cut packet, running out of data means just that.
        let cut =
            matches!(kind, DecodeError::BeyondContent { .. } | DecodeError::UnterminatedString);
        let missing = self.packet.missing;
        let kind = if cut && missing > 0 { DecodeError::TruncatedPacket { missing } } else { kind };
        let file = self.tracefile().files[self.file as usize].path.clone();
        let offset = self.packet.offset.saturating_mul(8).saturating_add(self.next);
        Error::Decode { place: Place { file, packet: self.packet.number, offset }, kind }
    }

    /// After an error: gives up the rest of the packet, so that reading goes on
    /// with the next one. False if there is nothing to go on with: there was no
    /// error, the packet is cut, or it does not tell where it ends.
    pub fn skip_packet(&mut self) -> bool {
        if self.state != State::Failed || self.packet.missing > 0 {
            return false;
        }
        self.note(NoticeKind::PacketSkipped);
        self.state = State::Packet;
        true
    }

    /// The cut before the next event that would be read.
    pub fn position(&self) -> Position {
        Position {
            file: self.file,
            packet_offset: self.packet.offset,
            bit: if self.state == State::Start { 0 } else { self.next },
            packet_number: self.packet.number,
            packet_clock: self.packet_clock,
            clock: self.clock,
            at_end: self.state == State::End,
        }
    }

    /// The cut before the event that it stands on.
    pub(crate) fn position_of_event(&self) -> Position {
        Position {
            file: self.file,
            packet_offset: self.packet.offset,
            bit: self.current.begin,
            packet_number: self.packet.number,
            packet_clock: self.packet_clock,
            clock: self.current.clock_before,
            at_end: false,
        }
    }

    /// The cut before what it has next: before the event that it stands on,
    /// unless that has been read.
    pub(crate) fn cut(&self, stands_on_next: bool) -> Position {
        match self.state {
            State::Packet if stands_on_next => self.position_of_event(),
            State::Failed => Position::END,
            _ => self.position(),
        }
    }

    /// How many packets it has entered so far.
    pub(crate) fn packets_entered(&self) -> u64 {
        self.packets_entered
    }

    /// Goes to a cut: [`next`](Self::next) gives the event after it.
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if there is no packet where the position says: it came
    /// from another tracefile, or the file was damaged since.
    pub fn seek(&mut self, position: Position) -> Result<(), Error> {
        self.last_timestamp = Timestamp::MIN;
        let files = self.tracefile().files.len();
        self.file = position.file.min(files.saturating_sub(1) as u32);
        if position.at_end {
            self.state = State::End;
            self.content_end = 0;
            return Ok(());
        }
        if position.bit == 0 && position.packet_offset == 0 && position.file == 0 {
            self.restart();
            return Ok(());
        }
        self.enter_packet(position.packet_offset, position.packet_number, position.packet_clock)?;
        self.next = position.bit.max(self.next).min(self.content_end);
        self.clock = position.clock;
        Ok(())
    }

    /// Goes before the first packet.
    fn restart(&mut self) {
        self.state = State::Start;
        self.packet = Packet::none();
        (self.file, self.next, self.content_end) = (0, 0, 0);
        (self.packet_clock, self.clock) = (0, 0);
    }

    /// Goes before the first event whose timestamp is `time` or later (after
    /// the last event if there is none), counted in file order. An event without
    /// a timestamp comes before all times but [`Timestamp::MIN`].
    ///
    /// It searches the [packet index](Trace::packet_index), then reads one packet.
    ///
    /// Packets are passed by their end times; one that tells none is held to
    /// end where the next begins.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next), if the packet to search is damaged.
    pub fn seek_time(&mut self, time: Timestamp) -> Result<(), Error> {
        match self.seek_packet(time)? {
            true => Ok(()),
            false => self.skip_to(time),
        }
    }

    /// Goes to the begin of the packet in which [`seek_time`](Self::seek_time) ends.
    /// True if there is no more to do.
    pub(crate) fn seek_packet(&mut self, time: Timestamp) -> Result<bool, Error> {
        self.last_timestamp = Timestamp::MIN;
        if time == Timestamp::MIN {
            self.restart();
            return Ok(true);
        }
        let trace = self.trace.clone();
        let index = trace.packet_index(self.tracefile as usize);
        let Some(entry) = index.first_reaching(time) else {
            // Behind the last packet that could be indexed there may be
            // damage that must not go unreported.
            match index.entries().last() {
                Some(last) => {
                    self.file = last.file;
                    self.enter_packet(last.offset, last.number, last.clock_before)?;
                    self.next = self.content_end;
                }
                None => self.restart(),
            }
            return Ok(true);
        };
        self.file = entry.file;
        self.enter_packet(entry.offset, entry.number, entry.clock_before)?;
        Ok(false)
    }

    /// As [`seek_time`](Self::seek_time), but leaves damaged packets out.
    pub(crate) fn reach(&mut self, time: Timestamp, mut damage: impl FnMut(Error)) {
        let mut step = self.seek_time(time);
        while let Err(error) = step {
            damage(error);
            step = if self.skip_packet() { self.skip_to(time) } else { Ok(()) };
        }
    }

    /// Goes on to before the next event whose timestamp is `time` or later.
    pub(crate) fn skip_to(&mut self, time: Timestamp) -> Result<(), Error> {
        let mut left = u64::MAX;
        self.skip_some(time, &mut left).map(drop)
    }

    /// The same, but passes no more events than `left`, which becomes less by those
    /// that it passes. Whether it is there.
    pub(crate) fn skip_some(&mut self, time: Timestamp, left: &mut u64) -> Result<bool, Error> {
        loop {
            self.skip_quickly(time, left);
            if *left == 0 {
                return Ok(false);
            }
            *left -= 1;
            // What is passed over is not worth a notice.
            self.last_timestamp = Timestamp::MIN;
            if !self.advance()? {
                return Ok(true);
            }
            if self.current.timestamp.is_some_and(|t| t >= time) {
                let cut = self.position_of_event();
                self.next = cut.bit;
                self.clock = cut.clock;
                self.last_timestamp = Timestamp::MIN;
                return Ok(true);
            }
        }
    }

    /// Passes events before `time` in the current packet, `left` at most, as long as
    /// nothing is out of the ordinary: [`advance_quickly`](Self::advance_quickly)
    /// without standing on each.
    fn skip_quickly(&mut self, time: Timestamp, left: &mut u64) {
        let Some(table) = self.table.as_deref() else { return };
        let Some(data) = self.source.bytes().get(self.packet.offset as usize..) else { return };
        let window = Window { data, end: self.content_end };
        let tables = self.trace.tables();
        let (mut next, mut clock) = (self.next, self.clock);
        let read = |next, clock| match &table.quick {
            Some(_) => Quick::header(table, &self.packet, data, next, clock),
            None => legacy::Quick::<false>::header(table, &self.packet, data, next, clock),
        };
        while *left > 0
            && let Some(header) = read(next, clock)
            && header.time < time
        {
            let end = match header.entry.fixed() {
                Some(bits) => header.end + bits,
                None => {
                    let Some(body) = tables.ready_body(header.entry) else { break };
                    let end = body.region.end(window, header.end, &mut self.scratch);
                    end.unwrap_or(u64::MAX)
                }
            };
            if end > window.end {
                break;
            }
            (next, clock) = (end, header.cycles);
            *left -= 1;
        }
        (self.next, self.clock) = (next, clock);
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

    /// The bytes of the file, and at which of their bits the packet begins.
    #[inline(always)]
    pub(crate) fn data_and_begin(&self) -> (&[u8], u64) {
        (self.source.bytes(), self.packet.offset << 3)
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

/// A form that headers of events have, nearly always. (Not a closure, as those are
/// not always inlined.)
trait Form {
    /// Whether only bodies of fixed size are meant.
    const FIXED: bool;

    /// The header at a place of a packet, if it has the form.
    fn header(
        table: &StreamTable,
        packet: &Packet,
        data: &[u8],
        next: u64,
        clock: u64,
    ) -> Option<QuickValues>;
}

/// The quick form of CTF's headers.
struct Quick;

impl Form for Quick {
    const FIXED: bool = false;

    #[inline(always)]
    fn header(
        table: &StreamTable,
        _: &Packet,
        data: &[u8],
        next: u64,
        clock: u64,
    ) -> Option<QuickValues> {
        table.quick.as_ref()?.read(&table.event_ids, data, next, clock)
    }
}
