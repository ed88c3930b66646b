//! One tracefile of a growing trace.

use std::path::Path;
use std::sync::Arc;

use crate::base::source::SharedBytes;
use crate::base::time::Timestamp;
use crate::format::{Decoder, FileKind, PacketBounds, packet_bounds};
use crate::layout::program::{Scratch, Window};
use crate::packet::Packet;
use crate::report::DecodeError;
use crate::trace::{Before, DataFile, FilePart, FirstPacket, Growth, Tracefile};

/// A tracefile that grows, as the next version of its trace will have it.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) tracefile: Tracefile,
    growth: Growth,
    /// The latest time that a packet declares.
    latest: Timestamp,
    /// The value of the default clock after the last packet, in cycles.
    clock: u64,
    /// The data of stream classes that are not declared yet, and all data after it.
    waiting: Vec<DataFile>,
    /// The place after all data.
    end: FilePart,
}

/// A run of whole packets of a file.
pub(crate) struct Packets {
    pub(crate) file: Arc<Path>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) begin: FilePart,
    pub(crate) kind: FileKind,
}

impl Stream {
    pub(super) fn new(tracefile: Tracefile) -> Stream {
        Stream {
            tracefile: Tracefile { growth: Some(Growth::NEW), ..tracefile },
            growth: Growth::NEW,
            latest: Timestamp::MIN,
            clock: 0,
            waiting: Vec::new(),
            end: FilePart::default(),
        }
    }

    /// Returns the place after all data.
    pub(super) fn end(&self) -> FilePart {
        self.end
    }

    /// Adds packets after all others.
    pub(super) fn append(&mut self, decoder: &Decoder, packets: Packets) {
        let Packets { file, bytes, begin, kind } = packets;
        if bytes.is_empty() || self.growth.is_complete {
            return;
        }
        self.end = FilePart {
            offset: begin.offset.saturating_add(bytes.len() as u64),
            packet: begin.packet.saturating_add(1),
        };
        self.waiting.push(DataFile {
            path: file,
            source: SharedBytes::in_memory(bytes),
            missing: 0,
            packed: None,
            may_have_index: false,
            first_begin: None,
            kind,
            begin,
            before: Before::NOTHING,
        });
        self.admit(decoder, false);
    }

    /// Moves data to the tracefile whose stream class is declared, or all of it with `all`.
    pub(super) fn admit(&mut self, decoder: &Decoder, all: bool) {
        let declared = |file: &DataFile| {
            let first = file.packet(decoder, 0, 0, 0, &mut Scratch::default());
            let unknown = |kind| matches!(kind, DecodeError::UnknownStreamClass { .. });
            !first.is_err_and(|error| unknown(error.kind))
        };
        let count = match all {
            true => self.waiting.len(),
            false => self.waiting.iter().take_while(|file| declared(file)).count(),
        };
        let admitted: Vec<_> = self.waiting.drain(..count).collect();
        for mut file in admitted {
            file.before = Before { floor: self.growth.floor, clock: self.clock };
            self.note_packets(decoder, &file);
            self.tracefile.files.push(file);
        }
        self.update();
    }

    /// Takes the properties of the stream from its packets, and the time up to which it is
    /// known.
    fn note_packets(&mut self, decoder: &Decoder, file: &DataFile) {
        if self.tracefile.instance.is_none()
            && let Some(first) = FirstPacket::read(decoder, file.bytes())
        {
            self.tracefile.instance = Some(first.instance);
            self.tracefile.cpu = first.instance.cpu.or(self.tracefile.cpu);
        }
        // Only known tracers declare times that can be relied upon.
        let is_trusted = packet_bounds(&decoder.schema) != PacketBounds::Unknown;
        let (mut scratch, mut offset, mut number) = (Scratch::default(), 0, 0);
        while offset < file.size() {
            match file.packet(decoder, offset, number, self.clock, &mut scratch) {
                Ok(packet) => {
                    self.clock = packet.end_cycles.unwrap_or(packet.clock);
                    offset += packet.size;
                    // The end is 0 if the tracer did not finish the packet.
                    let end = packet.end.filter(|end| Some(*end) >= packet.start);
                    self.latest = self.latest.max(end.or(packet.start).unwrap_or(Timestamp::MIN));
                    if let Some(end) = end.filter(|_| is_trusted) {
                        self.growth.floor = self.growth.floor.max(end);
                    }
                }
                Err(error) => match error.size {
                    Some(size) => offset += size,
                    None => break,
                },
            }
            number += 1;
        }
        self.end.packet = file.begin.packet.saturating_add(number);
    }

    /// Notes that no event before a time follows. Returns `true` if this is new.
    pub(super) fn silent_until(&mut self, time: Timestamp) -> bool {
        let is_new = time > self.growth.floor && !self.growth.is_complete;
        // Data that waits for metadata may have earlier events.
        if is_new && self.waiting.is_empty() {
            self.growth.floor = time;
            self.update();
        }
        is_new
    }

    /// Notes that no more data follows.
    pub(super) fn complete(&mut self, decoder: &Decoder) {
        self.admit(decoder, true);
        self.growth.is_complete = true;
        self.update();
    }

    /// Forgets the files before one with a number.
    pub(super) fn release_before(&mut self, decoder: &Decoder, file: u32) {
        let most = self.tracefile.files.len();
        let count = (file.saturating_sub(self.growth.released) as usize).min(most);
        let (released, kept) = self.tracefile.files.split_at_mut(count);
        if let (Some(first), Some(next)) = (released.first(), kept.first_mut()) {
            let clock = first.before.clock;
            next.before.clock =
                released.iter().fold(clock, |clock, file| clock_after(decoder, file, clock));
        }
        self.tracefile.files.drain(..count);
        self.growth.released += count as u32;
        self.update();
    }

    fn update(&mut self) {
        self.tracefile.growth = Some(self.growth);
    }

    /// Returns the latest time that a packet declares; [`Timestamp::MIN`] if there is none.
    pub(super) fn latest(&self) -> Timestamp {
        self.latest
    }

    /// Returns `true` if more data may follow.
    pub(super) fn is_growing(&self) -> bool {
        !self.growth.is_complete
    }
}

/// Returns the value of the default clock after a file, given the one before it. It is that of the
/// last event where packets declare no end.
fn clock_after(decoder: &Decoder, file: &DataFile, mut clock: u64) -> u64 {
    let (mut scratch, mut offset, mut number) = (Scratch::default(), 0, 0);
    while offset < file.size() {
        match file.packet(decoder, offset, number, clock, &mut scratch) {
            Ok(packet) => {
                clock = packet.end_cycles.unwrap_or_else(|| {
                    let data = file.bytes().get(offset as usize..).unwrap_or(&[]);
                    clock_after_events(decoder, &packet, data, &mut scratch)
                });
                offset += packet.size;
            }
            Err(error) => match error.size {
                Some(size) => offset += size,
                None => break,
            },
        }
        number += 1;
    }
    clock
}

/// Returns the value of the default clock after the events of a packet, which starts with `data`.
fn clock_after_events(
    decoder: &Decoder,
    packet: &Packet,
    data: &[u8],
    scratch: &mut Scratch,
) -> u64 {
    let (mut next, mut clock, end) = (packet.events_start, packet.clock, packet.readable_bits());
    while next < end
        && let Ok(record) = decoder.record(packet, Window { data, end }, next, clock, scratch)
    {
        (next, clock) = (record.end, record.clock);
    }
    clock
}
