//! Runs of complete packets at the known end of a file.

use std::path::Path;
use std::sync::Arc;

use crate::format::{Decoder, FileKind};
use crate::growth::stream::Packets;
use crate::layout::program::Scratch;
use crate::packet::{Instance, Packet};
use crate::report::DecodeError;
use crate::schema::Role;
use crate::trace::FilePart;

/// The stream that packets belong to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct StreamKey {
    instance: Instance,
    /// The name of the file if packets declare no id of their stream: each name is a stream.
    name: Option<String>,
}

impl StreamKey {
    /// Returns the key of packets of a file.
    pub(super) fn new(instance: Instance, file: &Path) -> StreamKey {
        let name = || file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        StreamKey { instance: instance.key(), name: instance.id.is_none().then(name) }
    }
}

/// The properties of a packet by which its place in its stream is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketPlace {
    size: usize,
    sequence: Option<u64>,
    sequence_bits: u32,
    /// The start and end in cycles; twice the same if only one is declared.
    times: Option<(u64, u64)>,
}

/// Whole packets of one stream that follow each other in a file.
#[derive(Debug)]
pub(super) struct PacketRun {
    pub(super) key: StreamKey,
    pub(super) file: Arc<Path>,
    begin: FilePart,
    bytes: Vec<u8>,
    packets: Vec<PacketPlace>,
}

/// The size of the packets at the start of `bytes` that are whole, with their places. A packet
/// is whole if all bytes of its declared size are there.
pub(super) struct Whole {
    pub(super) size: usize,
    pub(super) packets: Vec<PacketPlace>,
    /// The streams of successive packets, and the numbers of the first of these.
    pub(super) streams: Vec<(Instance, usize)>,
    /// The damage after them that more bytes cannot heal.
    pub(super) damage: Option<DecodeError>,
}

/// Finds the whole packets at the start of `bytes`.
pub(super) fn whole_packets(decoder: &Decoder, bytes: &[u8]) -> Whole {
    let mut scratch = Scratch::default();
    let mut whole = Whole { size: 0, packets: Vec::new(), streams: Vec::new(), damage: None };
    let mut clock = 0;
    while whole.size < bytes.len() {
        let offset = whole.size as u64;
        let packet = decoder.packet(FileKind::Ctf, bytes, offset, 0, clock, &mut scratch);
        let (size, packet) = match packet {
            Ok(packet) => {
                let roles = [Role::PacketTotalLength, Role::PacketContentLength];
                // Without a declared size, the packet ends with its file, whenever that is.
                let is_declared = roles.iter().any(|role| scratch.roles.get(*role).is_some());
                if packet.missing > 0 || !is_declared {
                    break;
                }
                clock = packet.end_cycles.unwrap_or(packet.clock);
                (packet.size, Some(packet))
            }
            // Damage, or the header is not there yet.
            Err(error) => match error.size {
                Some(size) => (size, None),
                None => {
                    whole.damage = Some(error.kind).filter(is_final);
                    break;
                }
            },
        };
        let Some(end) = whole.size.checked_add(size as usize).filter(|end| *end <= bytes.len())
        else {
            break;
        };
        whole.size = end;
        whole.packets.push(PacketPlace {
            size: size as usize,
            sequence: packet.as_ref().and_then(|packet| packet.sequence),
            sequence_bits: packet.as_ref().map_or(64, |packet| packet.sequence_bits.into()),
            times: packet.as_ref().and_then(|packet| {
                let (start, end) = (packet.start_cycles, packet.end_cycles);
                start.or(end).zip(end.or(start))
            }),
        });
        if let Some(instance) = packet.as_ref().map(Packet::instance)
            && whole.streams.last().is_none_or(|(last, _)| last.is_other(instance))
        {
            // Damaged packets count to the stream of those before, at the start to the first one.
            let first = if whole.streams.is_empty() { 0 } else { whole.packets.len() - 1 };
            whole.streams.push((instance, first));
        }
    }
    whole
}

/// Returns `true` if neither more bytes nor more metadata can make a packet sound.
fn is_final(damage: &DecodeError) -> bool {
    !matches!(
        damage,
        DecodeError::BeyondContent { .. }
            | DecodeError::TruncatedPacket { .. }
            | DecodeError::UnterminatedString
            | DecodeError::UnknownStreamClass { .. }
    )
}

impl PacketRun {
    /// Creates the runs of the whole packets in `bytes`, one for each time that the stream changes.
    pub(super) fn split(
        file: &Arc<Path>,
        begin: FilePart,
        mut bytes: Vec<u8>,
        whole: Whole,
    ) -> Vec<PacketRun> {
        let Whole { mut packets, streams, .. } = whole;
        let mut runs = Vec::with_capacity(streams.len());
        for (instance, first) in streams.into_iter().rev() {
            let packets = packets.split_off(first.min(packets.len()));
            let size: usize = packets.iter().map(|packet| packet.size).sum();
            let offset = bytes.len().saturating_sub(size);
            // The bytes of the first run, which are usually all, are not copied.
            let bytes =
                if first == 0 { std::mem::take(&mut bytes) } else { bytes.split_off(offset) };
            let begin = FilePart {
                offset: begin.offset + offset as u64,
                packet: begin.packet + first as u64,
            };
            let key = StreamKey::new(instance, file);
            runs.push(PacketRun { key, file: file.clone(), begin, bytes, packets });
        }
        runs.reverse();
        runs
    }

    /// Returns the key by which runs of one stream are ordered: the times, and the distance from
    /// a packet in sequence numbers, which may have few bits.
    pub(super) fn order(&self, from: &PacketPlace) -> (Option<(u64, u64)>, i64) {
        let first = self.packets.iter().find(|packet| packet.sequence.is_some());
        (self.times(), first.and_then(|first| first.distance(from)).unwrap_or(0))
    }

    /// Returns the start and end of the first packet that has both.
    pub(super) fn times(&self) -> Option<(u64, u64)> {
        self.packets.iter().find_map(|packet| packet.times)
    }

    /// Returns the first packet.
    pub(super) fn first(&self) -> Option<&PacketPlace> {
        self.packets.first()
    }

    /// Returns `true` if the run starts in its file where another one ended.
    pub(super) fn follows(&self, end: &(Arc<Path>, u64)) -> bool {
        self.begin.offset > 0 && self.begin.offset == end.1 && self.file == end.0
    }

    /// Returns the place of the run, by which new streams are ordered.
    pub(super) fn place(&self) -> (&Path, u64) {
        (&self.file, self.begin.offset)
    }

    /// Returns the end of the run in its file.
    pub(super) fn end(&self) -> (Arc<Path>, u64) {
        (self.file.clone(), self.begin.offset + self.bytes.len() as u64)
    }

    /// Drops the first packets of the run that are not after `last`. Those of them that `is_late`
    /// accepts are returned, as runs of their own.
    pub(super) fn drop_known(
        &mut self,
        last: &PacketPlace,
        is_late: impl Fn(&PacketPlace) -> bool,
    ) -> Vec<PacketRun> {
        let mut late: Vec<PacketRun> = Vec::new();
        let (mut size, mut was_late) = (0, false);
        let known = self.packets.iter().take_while(|packet| !packet.is_after(last)).count();
        for (number, packet) in (0_u64..).zip(self.packets.drain(..known)) {
            let end = size + packet.size;
            if is_late(&packet) {
                let bytes = self.bytes.get(size..end).unwrap_or_default();
                match late.last_mut().filter(|_| was_late) {
                    Some(run) => {
                        run.packets.push(packet);
                        run.bytes.extend_from_slice(bytes);
                    }
                    None => late.push(PacketRun {
                        key: self.key.clone(),
                        file: self.file.clone(),
                        begin: FilePart {
                            offset: self.begin.offset + size as u64,
                            packet: self.begin.packet + number,
                        },
                        bytes: bytes.to_vec(),
                        packets: vec![packet],
                    }),
                }
                was_late = true;
            } else {
                was_late = false;
            }
            size = end;
        }
        self.bytes.drain(..size);
        self.begin.offset += size as u64;
        self.begin.packet += known as u64;
        late
    }

    /// Iterates over the packets of the run between which others are missing.
    pub(super) fn gaps(&self) -> impl Iterator<Item = (PacketPlace, PacketPlace)> {
        let pairs = self.packets.windows(2).filter_map(|pair| Some((pair[0], *pair.get(1)?)));
        pairs.filter(|(before, after)| after.leaves_gap(before))
    }

    /// Returns `true` if packets are missing between `last` and the run.
    pub(super) fn leaves_gap(&self, last: &PacketPlace) -> bool {
        self.packets.first().is_some_and(|first| first.leaves_gap(last))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns the last packet.
    pub(super) fn last(&self) -> Option<&PacketPlace> {
        self.packets.last()
    }

    pub(super) fn into_packets(self) -> Packets {
        Packets { file: self.file, bytes: self.bytes, begin: self.begin, kind: FileKind::Ctf }
    }
}

impl PacketPlace {
    /// Returns the difference of the sequence numbers, modulo their width; `None` if a packet
    /// has none.
    fn distance(&self, from: &PacketPlace) -> Option<i64> {
        let shift = 64 - self.sequence_bits.clamp(1, 64);
        let difference = self.sequence?.wrapping_sub(from.sequence?) << shift;
        Some(difference as i64 >> shift)
    }

    /// Returns `true` if packets are missing between another one and this.
    pub(super) fn leaves_gap(&self, before: &PacketPlace) -> bool {
        self.distance(before).is_some_and(|distance| distance != 1)
    }

    /// Returns `true` if the packet is certainly before another one of its stream.
    pub(super) fn is_before(&self, other: &PacketPlace) -> bool {
        // Sequence numbers of few bits may seem to go back.
        match (self.times.zip(other.times), other.distance(self)) {
            (Some((times, other)), distance) => times < other && distance.is_none_or(|it| it > 0),
            (None, distance) => distance.is_some_and(|distance| distance > 0),
        }
    }

    /// Returns `true` if the packet is after another one of its stream, or if that is not known.
    fn is_after(&self, other: &PacketPlace) -> bool {
        let is_later = self.times.zip(other.times).map(|(times, other)| times > other);
        // Sequence numbers of few bits may seem to go back where many packets are missing.
        match self.distance(other) {
            Some(distance) => distance > 0 || is_later == Some(true),
            None => is_later != Some(false),
        }
    }
}
