//! Stepping from packet to packet, with the notices about packets.

use std::path::Path;

use super::{Cursor, State};
use crate::base::time::Timestamp;
use crate::layout::header::Ahead;
use crate::layout::tables::StreamTable;
use crate::packet::{Lost, Packet};
use crate::report::{DecodeError, Error, Notice, NoticeKind, Place};
use crate::trace::{DuplicateRun, FilePart, files_overlap};

/// The number of notices that a cursor keeps until they are taken; later ones are only
/// counted.
const MAX_NOTICES: usize = 1024;

impl Cursor {
    /// Enters the packet after the current one, and skips the events of the current one
    /// that have not been read. Returns `false` after the last packet.
    ///
    /// ```
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
    /// while cursor.next_packet()? {
    ///     let mut events = 0;
    ///     while cursor.advance_in_packet()? {
    ///         events += 1;
    ///     }
    ///     let packet = cursor.packet().expect("a packet");
    ///     println!("packet {}: {events} events in {} bytes", packet.number, packet.size);
    /// }
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Decode`] if the header or context of the packet is damaged, or if the
    /// current packet is truncated: see [`next`](Self::next).
    #[inline(never)]
    pub fn next_packet(&mut self) -> Result<bool, Error> {
        let (mut offset, mut number, before) = match self.state {
            State::Start => (0, 0, None),
            State::Packet if self.packet.missing > 0 => {
                let missing = self.packet.missing;
                return Err(self.fail(DecodeError::TruncatedPacket { missing }));
            }
            State::Packet => {
                let p = &self.packet;
                (p.offset + p.size, p.number + 1, Some(p.clone()))
            }
            State::Failed | State::Recovered { .. } | State::End => return Ok(false),
        };
        let mut clock = before.as_ref().and_then(|p| p.end_cycles).unwrap_or(self.clock);
        let file_before = self.file;
        let first_file = self.tracefile().first_file();
        if self.file < first_file {
            self.file = first_file;
            (offset, number, clock) = (0, 0, self.clock_before_file());
        }
        let entered = loop {
            let known = self.tracefile().duplicates.get();
            if let Some(run) = known.and_then(|known| known.at(self.file_index(), offset)) {
                let run = run.clone();
                self.leave_out(offset, number, &run);
                (offset, number) = (run.end, number + run.packets);
            } else if offset < self.len_of_file() {
                let entered = self.enter_packet(offset, number, clock);
                if entered.is_err() || !self.finds_duplicate(file_before, before.as_ref()) {
                    break entered;
                }
            } else if self.has_file_after() {
                self.file += 1;
                (offset, number) = (0, 0);
            } else if self.tracefile().is_growing() {
                // The next packet, once it is there, follows the current one.
                return Ok(false);
            } else {
                self.state = State::End;
                self.content_end = 0;
                return Ok(false);
            }
        };
        self.note_lost(before.as_ref());
        match before {
            Some(before) => self.compare_counters(&before),
            None => self.note_first_losses(),
        }
        entered.map(|()| true)
    }

    /// Returns the bytes of the current packet as far as the file has them; `None` where
    /// [`packet`](Self::packet) is.
    pub fn packet_bytes(&self) -> Option<&[u8]> {
        let packet = self.packet()?;
        let begin = packet.offset as usize;
        let end = begin.saturating_add((packet.size - packet.missing) as usize);
        self.bytes.get().get(begin..end)
    }

    /// Returns the value of the default clock before the current file, which is the first one that
    /// is kept, in cycles.
    pub(super) fn clock_before_file(&self) -> u64 {
        self.tracefile().file(self.file).map_or(0, |file| file.before.clock)
    }

    /// Returns the size of the current file in bytes; 0 if there is none yet.
    fn len_of_file(&self) -> u64 {
        self.tracefile().file(self.file).map_or(0, |file| file.size())
    }

    /// Returns `true` if the tracefile has a file after the current one.
    fn has_file_after(&self) -> bool {
        self.file.saturating_add(1) < self.tracefile().end_of_files()
    }

    /// Returns `true` if the tracefile has a file after the current one, or may get one.
    fn may_have_file_after(&self) -> bool {
        self.has_file_after() || self.tracefile().is_growing()
    }

    /// Returns `true` if the packet that was just entered is a duplicate that has to be
    /// left out. Duplicates are searched for only if overlapping files or damage suggest
    /// that there are some.
    fn finds_duplicate(&self, file_before: u32, before: Option<&Packet>) -> bool {
        let tracefile = self.tracefile();
        if tracefile.growth.is_some()
            || tracefile.files.len() < 2
            || tracefile.duplicates.get().is_some()
        {
            return false;
        }
        let overlaps = |before: &Packet| {
            let is_damaged = before.content_bits == 0;
            is_damaged || files_overlap(before, &self.packet)
        };
        let is_suspect =
            self.packet.missing > 0 || self.file != file_before && before.is_none_or(overlaps);
        let duplicates = || tracefile.duplicates(self.trace.decoder());
        is_suspect && duplicates().at(self.file_index(), self.packet.offset).is_some()
    }

    /// Notes that the packets from `offset` of the current file are left out as
    /// duplicates.
    fn leave_out(&mut self, offset: u64, number: u64, run: &DuplicateRun) {
        (self.packet.offset, self.packet.number) = (offset, number);
        let first = run.kept_in.clone();
        self.note(NoticeKind::DuplicatePackets { count: run.packets, first });
    }

    /// Enters the packet at `offset` of the current file. `clock` is the value of the
    /// default clock before it.
    pub(super) fn enter_packet(
        &mut self,
        offset: u64,
        number: u64,
        clock: u64,
    ) -> Result<(), Error> {
        let trace = self.trace.clone();
        let tracefile = &trace.tracefiles()[self.tracefile as usize];
        let Some(file) = tracefile.file(self.file) else { return Ok(()) };
        // Where this fails, the packet cannot be read either.
        self.bytes = file.unpacked().unwrap_or_else(|_| file.source.clone());
        self.packet_clock = clock;
        self.packets_entered += 1;
        self.latest = Timestamp::MIN;
        match file.packet(&self.decoder, offset, number, clock, &mut self.scratch) {
            Ok(packet) => {
                let table = self.decoder.tables.streams[packet.stream_class.index()].clone();
                self.make_slots(&table);
                self.table = Some(table);
                self.ahead = Ahead::NONE;
                self.content_end = packet.readable_bits();
                self.next = packet.events_start;
                self.clock = packet.clock;
                self.packet = packet;
                self.state = State::Packet;
                if let Some(found) = self.packet.wrong_magic {
                    self.note(NoticeKind::WrongMagic { found });
                }
                if let Some(found) = self.packet.wrong_uuid {
                    self.note(NoticeKind::WrongUuid { found });
                }
                if tracefile.instance.is_some_and(|of| of.is_other(self.packet.instance())) {
                    return Err(self.refuse_packet());
                }
                match self.packet.damage {
                    None => Ok(()),
                    Some(damage) => Err(self.recover(damage)),
                }
            }
            Err(error) => {
                // The packet is unreadable, but its end may be known.
                let goes_on = error.size.is_some() || self.may_have_file_after();
                self.state = if goes_on { State::Failed } else { State::End };
                self.packet =
                    Packet { offset, number, size: error.size.unwrap_or(0), ..Packet::none() };
                (self.next, self.content_end) = (0, 0);
                let place = self.place(offset.saturating_mul(8).saturating_add(error.bit));
                Err(Error::Decode { place, kind: error.kind })
            }
        }
    }

    /// Returns the error for a packet of another stream than the tracefile's. Reading may continue with the
    /// packet after it.
    #[cold]
    fn refuse_packet(&mut self) -> Error {
        let Packet { offset, number, size, stream_class, stream_id, cpu, .. } = self.packet;
        let class = self.decoder.schema.stream_classes.get(stream_class.index());
        let class = class.map_or(0, |class| class.id);
        let error = self.fail(DecodeError::OtherStream { class, id: stream_id, cpu });
        // Its counters are those of the other stream.
        self.packet = Packet { offset, number, size, ..Packet::none() };
        self.next = 0;
        error
    }

    pub(super) fn make_slots(&mut self, table: &StreamTable) {
        let needed = table.body_anchor as usize + 1;
        if self.scratch.slots.len() < needed {
            self.scratch.slots.resize(needed, 0);
        }
    }

    /// Notes the losses that the counters of a tracefile's first packet report, if they
    /// start at 0 with the trace.
    fn note_first_losses(&mut self) {
        if self.packet.counts_from_trace_start() {
            let start = Packet { discarded: Some(0), ..Packet::none() };
            let lost = self.packet.sequence.unwrap_or(0).wrapping_sub(self.packet.number);
            if lost > 0 {
                let kind =
                    NoticeKind::LostPackets { count: lost, start: None, end: self.packet.start };
                self.note(kind);
            }
            self.compare_counters(&start);
        }
    }

    /// Notes the events that were lost before the current packet, if it says so itself.
    fn note_lost(&mut self, before: Option<&Packet>) {
        let count = match self.packet.lost {
            None | Some(Lost::Events(0)) => return,
            Some(Lost::Events(count)) => Some(count),
            Some(Lost::Uncounted) => None,
        };
        let start = before.and_then(|before| before.start);
        self.note(NoticeKind::DiscardedEvents { count, start, end: self.packet.start });
    }

    /// Notes the losses between two successive packets according to their counters.
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
        let (begin, end) = (before.end, p.start);
        // A counter that went back means a restarted counter or swapped packets, not a
        // gap.
        let is_gap = |count: u64| count > 0 && count < u64::MAX >> 1;
        if is_gap(lost) {
            self.note(NoticeKind::LostPackets { count: lost, start: begin, end });
        }
        if is_gap(discarded) {
            let end = self.packet.end;
            self.note(NoticeKind::DiscardedEvents { count: Some(discarded), start: begin, end });
        }
    }

    /// Returns the place of the current file's bytes in the file.
    fn begin_of_file(&self) -> FilePart {
        self.tracefile().file(self.file).map(|file| file.begin).unwrap_or_default()
    }

    /// Returns the place of a bit of the current file, in the current packet.
    fn place(&self, bit: u64) -> Place {
        let file = self.tracefile().file(self.file).map(|file| file.path.clone());
        let begin = self.begin_of_file();
        Place {
            file: file.unwrap_or_else(|| Path::new("").into()),
            packet: begin.packet.saturating_add(self.packet.number),
            offset: begin.offset.saturating_mul(8).saturating_add(bit),
        }
    }

    pub(super) fn note(&mut self, kind: NoticeKind) {
        if self.notices.len() < MAX_NOTICES {
            let Place { file, packet, .. } = self.place(0);
            let offset = self.begin_of_file().offset.saturating_add(self.packet.offset);
            self.notices.push(Notice { kind, file, packet, offset });
        } else {
            self.notices_omitted += 1;
        }
    }

    /// Returns and removes the notices since the last call. At most 1024 are kept until
    /// then; [`notices_omitted`](Self::notices_omitted) counts the others.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Returns the number of notices that were dropped since the cursor was created,
    /// because 1024 were already waiting for [`take_notices`](Self::take_notices).
    pub fn notices_omitted(&self) -> u64 {
        self.notices_omitted
    }

    /// Creates the error for the record or packet at `next`, and enters the state after
    /// an error.
    #[cold]
    pub(super) fn fail(&mut self, kind: DecodeError) -> Error {
        self.state = State::Failed;
        self.content_end = 0;
        // If the packet is truncated, data that ends too early is a consequence of this.
        let is_out_of_data =
            matches!(kind, DecodeError::BeyondContent { .. } | DecodeError::UnterminatedString);
        let missing = self.packet.missing;
        let kind = match is_out_of_data && missing > 0 {
            true => DecodeError::TruncatedPacket { missing },
            false => kind,
        };
        let bit = self.packet.offset.saturating_mul(8).saturating_add(self.next);
        Error::Decode { place: self.place(bit), kind }
    }

    /// Skips the rest of the current packet after an error, so that reading continues
    /// with the next packet. If the packet is truncated or its end is unknown, skips the
    /// rest of the file, and reading continues with the tracefile's next file.
    ///
    /// If only the content size of a packet is damaged, its events may have been found.
    /// Reading then continues with them, and a [notice](NoticeKind::EventsRecovered)
    /// reports their number.
    ///
    /// Returns `false` if reading cannot continue: there was no error, or the error ended
    /// the last file.
    pub fn skip_packet(&mut self) -> bool {
        if let State::Recovered { events } = self.state {
            self.note(NoticeKind::EventsRecovered { count: events });
            self.read_recovered();
            return true;
        }
        if self.state != State::Failed {
            return false;
        }
        let ends_file = self.packet.missing > 0 || self.packet.size == 0;
        if ends_file {
            if !self.may_have_file_after() {
                return false;
            }
            let len = self.len_of_file();
            self.packet.size = len.saturating_sub(self.packet.offset);
            self.packet.missing = 0;
        }
        self.note(match ends_file {
            true => NoticeKind::RestOfFileSkipped,
            false => NoticeKind::PacketSkipped,
        });
        self.state = State::Packet;
        true
    }
}
