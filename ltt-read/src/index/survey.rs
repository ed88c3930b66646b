//! Surveys: reading all events of a tracefile to determine the times of its packets.

use std::mem;
use std::sync::Arc;

use super::trust::{DISORDER, Doubt, OUTSIDE};
use crate::base::time::{TimeSpan, Timestamp};
use crate::cursor::Cursor;
use crate::report::{Notice, NoticeKind};
use crate::trace::{Declared, PacketTimes, TimedPacket, Trace, TracefileIndex};

/// A scan of all events of a tracefile for their times, in bounded steps.
///
/// A survey reads events as a cursor does, so that it meets the same damage. Packets
/// without events are left out.
#[derive(Debug)]
pub(crate) struct Survey {
    cursor: Cursor,
    packets: Vec<TimedPacket>,
    /// The number of packets that the cursor had entered at the last event.
    entered: u64,
    current: Current,
    /// The span of all declared times so far; `None` if a packet lacks a time.
    declared: Option<TimeSpan>,
    /// The span of the times of all events before the current packet.
    events: Option<TimeSpan>,
    in_order: bool,
    notice: Option<Notice>,
}

/// The current packet.
#[derive(Debug)]
struct Current {
    declared: Declared,
    /// The time of the last event; [`Timestamp::MIN`] if it has none.
    last: Timestamp,
    earliest: Timestamp,
    latest: Timestamp,
    /// `true` if an event has no time.
    has_untimed: bool,
    in_order: bool,
}

impl Current {
    fn new(declared: Declared) -> Self {
        Current {
            declared,
            last: Timestamp::MIN,
            earliest: Timestamp::MAX,
            latest: Timestamp::MIN,
            has_untimed: false,
            in_order: true,
        }
    }

    /// Returns the span of the times of its events; `None` if no event has a time.
    fn span(&self) -> Option<TimeSpan> {
        let span = TimeSpan { start: self.earliest, end: self.latest };
        (span.start <= span.end).then_some(span)
    }

    /// Returns `true` if all events are within the declared times.
    fn is_enclosed(&self) -> bool {
        let Declared { begin, .. } = self.declared;
        self.span().is_none_or(|span| {
            begin.is_none_or(|begin| begin <= span.start)
                && self.declared.known_end().is_none_or(|end| span.end <= end)
        })
    }
}

impl Survey {
    pub(super) fn new(trace: &Arc<Trace>, tracefile: TracefileIndex, doubt: Doubt) -> Self {
        let notice = match doubt {
            Doubt::Unknown => None,
            Doubt::Contradiction(notice) => Some(notice),
        };
        Survey {
            cursor: trace.cursor(tracefile),
            packets: Vec::new(),
            entered: 0,
            current: Current::new(Declared { begin: None, end: None }),
            declared: None,
            events: None,
            in_order: true,
            notice,
        }
    }

    pub(super) fn trace(&self) -> &Arc<Trace> {
        self.cursor.trace()
    }

    pub(super) fn tracefile(&self) -> TracefileIndex {
        self.cursor.tracefile_index()
    }

    /// Reads all events and returns the times of the packets.
    pub(super) fn run(mut self) -> PacketTimes {
        let mut left = u64::MAX;
        while !self.resume(&mut left) {
            left = u64::MAX;
        }
        self.finish()
    }

    /// Continues over at most `left` events, and subtracts the number of events read from
    /// `left`. Returns `true` if the survey is complete.
    pub(crate) fn resume(&mut self, left: &mut u64) -> bool {
        while *left > 0 {
            *left -= 1;
            match self.cursor.advance() {
                Ok(true) => {}
                // The reader of the events will report the error.
                Err(_) if self.cursor.skip_packet() => continue,
                Ok(false) | Err(_) => return true,
            }
            let entered = self.cursor.packets_entered();
            if mem::replace(&mut self.entered, entered) != entered {
                self.enter();
            }
            let time = self.cursor.current().timestamp;
            let current = &mut self.current;
            current.has_untimed |= time.is_none();
            let order = time.unwrap_or(Timestamp::MIN);
            current.in_order &= current.last <= order;
            current.last = order;
            if let Some(time) = time {
                current.earliest = current.earliest.min(time);
                current.latest = current.latest.max(time);
            }
        }
        false
    }

    /// Starts a packet, at its first event.
    fn enter(&mut self) {
        self.leave();
        let Some(packet) = self.cursor.packet() else { return };
        let declared = Declared { begin: packet.start, end: packet.end };
        let place = TimedPacket {
            file: self.cursor.file_index() as u32,
            number: packet.number,
            offset: packet.offset,
            clock_before: self.cursor.packet_clock(),
            earliest: Timestamp::MAX,
            latest: Timestamp::MIN,
            in_order: true,
        };
        let before = mem::replace(&mut self.current, Current::new(declared)).declared;
        self.packets.push(place);
        let is_back = |before: Option<Timestamp>, now: Option<Timestamp>| {
            before.zip(now).is_some_and(|(before, now)| now < before)
        };
        let is_disorder = is_back(before.begin, declared.begin)
            || is_back(before.known_end(), declared.known_end());
        if is_disorder {
            self.note(DISORDER);
        }
    }

    /// Finishes the current packet.
    fn leave(&mut self) {
        let before = self.packets.len().checked_sub(2).and_then(|at| self.packets.get(at));
        let before = before.map_or(Timestamp::MIN, |packet| packet.latest);
        let Some(packet) = self.packets.last_mut() else { return };
        let current = &self.current;
        packet.in_order = current.in_order;
        packet.latest = current.latest;
        packet.earliest = if current.has_untimed { Timestamp::MIN } else { current.earliest };
        self.in_order &= packet.in_order && before <= packet.earliest;
        self.events = join(self.events, current.span());
        let Declared { begin, .. } = current.declared;
        let span = begin.zip(current.declared.known_end());
        let span = span.map(|(begin, end)| TimeSpan { start: begin, end });
        self.declared = match self.packets.len() {
            1 => span,
            _ => self.declared.and(span).and_then(|span| join(self.declared, Some(span))),
        };
        if !self.current.is_enclosed() {
            self.note(OUTSIDE);
        }
    }

    /// Records the first fault in the declared times, in the current packet.
    fn note(&mut self, reason: &'static str) {
        let Some(packet) = self.packets.last() else { return };
        let file = self.cursor.tracefile().file(packet.file);
        let Some(file) = file.map(|file| file.path.clone()) else {
            return;
        };
        let kind = NoticeKind::PacketTimesIgnored { reason };
        let (packet, offset) = (packet.number, packet.offset);
        self.notice.get_or_insert(Notice { kind, file, packet, offset });
    }

    /// Finishes the current packet at an event of a type that is not declared yet. Nothing is
    /// known of the times from there on, so a seek of a later time has to stop in this packet.
    fn leave_open(&mut self) {
        let floor = self.cursor.floor();
        if self.cursor.packets_entered() != self.entered {
            self.enter();
            self.current.earliest = floor;
        }
        self.leave();
        if let Some(packet) = self.packets.last_mut() {
            packet.latest = Timestamp::MAX;
        }
    }

    /// Returns the times of the packets.
    pub(super) fn finish(mut self) -> PacketTimes {
        match self.cursor.is_pending() && self.cursor.waits_in_packet() {
            true => self.leave_open(),
            false => self.leave(),
        }
        let span = match (&self.notice, self.declared) {
            (None, Some(declared)) => Some(declared),
            _ => self.events,
        };
        PacketTimes::new(self.packets, span, self.in_order, self.notice, true)
    }
}

fn join(a: Option<TimeSpan>, b: Option<TimeSpan>) -> Option<TimeSpan> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.join(b)),
        (a, b) => a.or(b),
    }
}
