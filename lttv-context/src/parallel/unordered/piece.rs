//! Pieces of tracefiles: where they begin, and reading them up to the next one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::{Cursor, Error, Event, Notice, Packet, Position, Timestamp};

use super::MOST_ERRORS;

/// The greatest number of notices that a piece keeps.
const MOST_NOTICES: usize = 4096;

/// A piece that is to be read.
#[derive(Debug)]
pub(super) struct Job {
    /// The number of its tracefile, and its own one there.
    pub(super) tracefile: usize,
    pub(super) number: usize,
    /// The approximate number of bytes of the tracefile before it, and its approximate size.
    pub(super) before: u64,
    pub(super) bytes: u64,
    /// A cursor of the tracefile, at any place.
    pub(super) cursor: Cursor,
    pub(super) begin: Begin,
    /// The begin of the next piece; `None` for the last one.
    pub(super) next: Option<Arc<Boundary>>,
}

/// The place at which a piece begins.
#[derive(Debug, Clone)]
pub(super) enum Begin {
    /// The begin of the whole read in this tracefile.
    Position(Position),
    /// The end of the piece before.
    Boundary(Arc<Boundary>),
}

/// The place between two pieces: the start of a packet with events that have times. A cursor that has
/// read its first event goes on in the same way, however it came there.
#[derive(Debug)]
pub(super) struct Boundary {
    position: Position,
    packet: Packet,
    first: FirstEvent,
}

/// The facts about an event on which the state of a cursor after it depends, besides the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FirstEvent {
    position: Position,
    cycles: Option<u64>,
    time: Timestamp,
}

impl FirstEvent {
    /// Returns the facts of an event; `None` if it has no time.
    fn of(event: &Event<'_>) -> Option<Self> {
        let (position, cycles) = (event.position(), event.cycles());
        event.timestamp().map(|time| FirstEvent { position, cycles, time })
    }
}

impl Boundary {
    /// Goes forward by at least `bytes`, from packet to packet, and returns the place there, with the
    /// distance. Returns `None` if there is none before `limit`, or none that can be known without the
    /// events before it.
    pub(super) fn find(
        scout: &mut Cursor,
        bytes: u64,
        limit: Option<Timestamp>,
    ) -> Option<(Self, u64)> {
        let mut passed = 0;
        loop {
            passed += scout.packet().map_or(0, |packet| packet.size);
            match scout.next_packet() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(_) if scout.skip_packet() => continue,
                Err(_) => return None,
            }
            if passed < bytes {
                continue;
            }
            let (packet, position) = (scout.packet()?.clone(), scout.position());
            let start = packet.start?;
            if limit.is_some_and(|limit| start >= limit) {
                return None;
            }
            match scout.advance_in_packet() {
                Ok(true) => {
                    let first = FirstEvent::of(&scout.event())?;
                    return Some((Boundary { position, packet, first }, passed));
                }
                Ok(false) => {}
                Err(_) if scout.skip_packet() => {}
                Err(_) => return None,
            }
        }
    }
}

/// The range of times of a read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) begin: Option<Timestamp>,
    pub(super) end: Option<Timestamp>,
    /// The time of the first event at which a tracefile is left, since no other event of the range
    /// follows; `None` if some may follow up to its end.
    pub(super) limit: Option<Timestamp>,
}

impl Span {
    fn contains(&self, time: Timestamp) -> bool {
        self.begin.is_none_or(|begin| time >= begin) && self.end.is_none_or(|end| time < end)
    }
}

/// A piece that has been read.
#[derive(Debug)]
pub(super) struct Piece<T> {
    pub(super) part: T,
    pub(super) events: u64,
    pub(super) outcome: Outcome,
    pub(super) errors: Vec<Error>,
    pub(super) errors_omitted: u64,
    pub(super) notices: Vec<Notice>,
    pub(super) notices_omitted: u64,
}

/// The end of the read of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// At the first event of the next piece, which therefore counts.
    HandedOver,
    /// At the end of the tracefile, or because the read was stopped.
    End,
    /// At an event after the range.
    Followed,
}

/// A reader of one piece.
pub(super) struct PieceReader<'r, T, E> {
    span: Option<Span>,
    each: &'r E,
    /// `true` if the events are only counted, and `each` does nothing.
    counts: bool,
    /// `true` if the whole read is stopped.
    stop: &'r AtomicBool,
    piece: Piece<T>,
}

impl<'r, T: Default, E: Fn(&mut T, &Event<'_>)> PieceReader<'r, T, E> {
    pub(super) fn new(
        span: Option<Span>,
        (each, counts): (&'r E, bool),
        stop: &'r AtomicBool,
    ) -> Self {
        let piece = Piece {
            part: T::default(),
            events: 0,
            outcome: Outcome::End,
            errors: Vec::new(),
            errors_omitted: 0,
            notices: Vec::new(),
            notices_omitted: 0,
        };
        PieceReader { span, each, counts: counts && span.is_none(), stop, piece }
    }

    pub(super) fn read(mut self, job: Job) -> Piece<T> {
        let Job { mut cursor, begin, next, .. } = job;
        if self.enter(&mut cursor, &begin) {
            self.piece.outcome = self.read_packets(&mut cursor, next.as_deref());
            self.collect_notices(&mut cursor);
        }
        self.piece.notices_omitted += cursor.notices_omitted();
        self.piece
    }

    /// Enters the packet at which the piece begins. Returns `false` if nothing can be read there.
    fn enter(&mut self, cursor: &mut Cursor, begin: &Begin) -> bool {
        match begin {
            Begin::Position(position) => {
                let entered = match cursor.seek(*position) {
                    Ok(()) => true,
                    Err(error) => self.go_on_after(cursor, error),
                };
                // They were met when the position was sought.
                cursor.take_notices();
                entered
            }
            Begin::Boundary(at) => {
                let entered = cursor.seek(at.position).and_then(|()| cursor.advance_in_packet());
                // The piece before has the notices up to its first event.
                cursor.take_notices();
                if entered.as_ref().is_ok_and(|has_event| *has_event) {
                    return self.deliver(&cursor.event()) || {
                        self.piece.outcome = Outcome::Followed;
                        false
                    };
                }
                debug_assert!(false, "the scout has read this event: {entered:?}");
                false
            }
        }
    }

    /// Reads packets up to the end of the piece.
    fn read_packets(&mut self, cursor: &mut Cursor, next: Option<&Boundary>) -> Outcome {
        loop {
            if let Some(outcome) = self.read_events(cursor) {
                return outcome;
            }
            self.collect_notices(cursor);
            if self.stop.load(Ordering::Relaxed) {
                return Outcome::End;
            }
            match cursor.next_packet() {
                Ok(true) => {
                    let begins = |next: &&Boundary| cursor.packet() == Some(&next.packet);
                    if let Some(next) = next.filter(begins)
                        && let Some(outcome) = self.read_first(cursor, next)
                    {
                        return outcome;
                    }
                }
                Ok(false) => return Outcome::End,
                Err(error) => {
                    if !self.go_on_after(cursor, error) {
                        return Outcome::End;
                    }
                }
            }
        }
    }

    /// Reads the rest of the events of a packet. Returns `Some` if the piece ends there.
    #[inline]
    fn read_events(&mut self, cursor: &mut Cursor) -> Option<Outcome> {
        loop {
            if self.counts {
                self.piece.events += cursor.pass_events(u64::MAX);
            }
            match cursor.advance_in_packet() {
                Ok(true) if self.deliver(&cursor.event()) => {}
                Ok(true) => return Some(Outcome::Followed),
                Ok(false) => return None,
                Err(error) => {
                    if !self.go_on_after(cursor, error) {
                        return Some(Outcome::End);
                    }
                }
            }
        }
    }

    /// Reads the first event of the packet with which the next piece should begin. Returns `Some` if
    /// this piece ends there.
    fn read_first(&mut self, cursor: &mut Cursor, next: &Boundary) -> Option<Outcome> {
        match cursor.advance_in_packet() {
            Ok(true) if FirstEvent::of(&cursor.event()) == Some(next.first) => {
                Some(Outcome::HandedOver)
            }
            Ok(true) if self.deliver(&cursor.event()) => None,
            Ok(true) => Some(Outcome::Followed),
            Ok(false) => None,
            Err(error) => (!self.go_on_after(cursor, error)).then_some(Outcome::End),
        }
    }

    /// Delivers an event. Returns `false` if it is after the range.
    #[inline(always)]
    fn deliver(&mut self, event: &Event<'_>) -> bool {
        if let Some(span) = &self.span {
            // Without a time, it comes before all others.
            let Some(time) = event.timestamp() else { return true };
            if span.limit.is_some_and(|limit| time >= limit) {
                return false;
            }
            if !span.contains(time) {
                return true;
            }
        }
        self.piece.events += 1;
        (self.each)(&mut self.piece.part, event);
        true
    }

    /// Keeps an error, and skips the damage. Returns `false` if reading cannot continue.
    #[cold]
    fn go_on_after(&mut self, cursor: &mut Cursor, error: Error) -> bool {
        match self.piece.errors.len() < MOST_ERRORS {
            true => self.piece.errors.push(error),
            false => self.piece.errors_omitted += 1,
        }
        cursor.skip_packet()
    }

    fn collect_notices(&mut self, cursor: &mut Cursor) {
        for notice in cursor.take_notices() {
            match self.piece.notices.len() < MOST_NOTICES {
                true => self.piece.notices.push(notice),
                false => self.piece.notices_omitted += 1,
            }
        }
    }
}
