//! Detection of packets that are in several files of a stream.
//!
//! Snapshots of one session overlap: packets that were still in the buffers when the next
//! snapshot was taken are in both. Two packets of a stream are equal if they have the
//! same sequence number, times and sizes; without sequence numbers or times, their bytes
//! must be equal as well. The first of the equal packets is read, unless the file ends
//! within it and another file contains the whole packet.

use std::path::Path;
use std::sync::Arc;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::data_file::DataFile;
use crate::base::time::Timestamp;
use crate::format::Decoder;
use crate::layout::program::Scratch;
use crate::packet::Packet;
use crate::schema::StreamClassId;

/// The packets of a tracefile that are left out.
#[derive(Debug, Default)]
pub(crate) struct Duplicates {
    /// The runs of each file, in the order of offsets.
    runs: Vec<Vec<DuplicateRun>>,
}

/// A run of successive packets that are left out.
#[derive(Debug, Clone)]
pub(crate) struct DuplicateRun {
    /// The offset of the first packet in the file, in bytes.
    begin: u64,
    /// The offset of the next packet after the run, in bytes.
    pub(crate) end: u64,
    /// The number of packets.
    pub(crate) packets: u64,
    /// The path of the file from which the first of them is read.
    pub(crate) kept_in: Arc<Path>,
}

/// The values by which equal packets are recognised.
#[derive(Debug, PartialEq, Eq, Hash)]
struct PacketIdentity {
    class: StreamClassId,
    sequence: Option<u64>,
    begin: Option<u64>,
    end: Option<u64>,
    size: u64,
    content_bits: u64,
}

impl PacketIdentity {
    /// Returns the identity of a packet; `None` if the packet has nothing by which to
    /// distinguish it from others of its stream.
    fn new(packet: &Packet) -> Option<PacketIdentity> {
        let is_unique = packet.sequence.is_some() || packet.start.is_some() && packet.end.is_some();
        is_unique.then_some(PacketIdentity {
            class: packet.stream_class,
            sequence: packet.sequence,
            begin: packet.start_cycles,
            end: packet.end_cycles,
            size: packet.size,
            content_bits: packet.content_bits,
        })
    }
}

/// A packet that is read, unless a better copy is found.
#[derive(Debug, Clone, Copy)]
struct Kept {
    file: usize,
    offset: u64,
    size: u64,
    is_truncated: bool,
}

impl Duplicates {
    /// Finds the duplicates, by reading the headers of all packets.
    pub(crate) fn find(decoder: &Decoder, files: &[DataFile]) -> Duplicates {
        let mut kept: HashMap<PacketIdentity, Kept> = HashMap::new();
        let mut duplicates = Duplicates { runs: vec![Vec::new(); files.len()] };
        let mut clock = 0;
        for (number, file) in files.iter().enumerate() {
            each_packet(decoder, file, &mut clock, |packet| {
                let Some(identity) = PacketIdentity::new(packet) else { return };
                let (offset, size, is_truncated) = (packet.offset, packet.size, packet.missing > 0);
                let this = Kept { file: number, offset, size, is_truncated };
                match kept.entry(identity) {
                    Entry::Vacant(place) => _ = place.insert(this),
                    Entry::Occupied(mut place) => {
                        let other = *place.get();
                        if files[other.file].source.is_of_file(&file.source)
                            || !is_same(packet, this, other, files)
                        {
                            return;
                        }
                        let (duplicate, original) = match other.is_truncated && !is_truncated {
                            true => (place.insert(this), this),
                            false => (this, other),
                        };
                        let kept_in = files[original.file].path.clone();
                        duplicates.leave_out(duplicate, kept_in);
                    }
                }
            });
        }
        duplicates
    }

    fn leave_out(&mut self, packet: Kept, kept_in: Arc<Path>) {
        let runs = &mut self.runs[packet.file];
        let (begin, end) = (packet.offset, packet.offset.saturating_add(packet.size));
        match runs.last_mut() {
            Some(last) if last.end == begin => (last.end, last.packets) = (end, last.packets + 1),
            _ => runs.push(DuplicateRun { begin, end, packets: 1, kept_in }),
        }
    }

    /// Returns the run of duplicates that starts at an offset of a file; `None` if the
    /// packet there is not left out.
    pub(crate) fn at(&self, file: usize, offset: u64) -> Option<&DuplicateRun> {
        let runs = self.runs.get(file)?;
        let after = runs.partition_point(|run| run.begin <= offset);
        runs[..after].last().filter(|run| run.begin == offset)
    }

    /// Returns `true` if the packet at an offset of a file is left out.
    pub(crate) fn contains(&self, file: usize, offset: u64) -> bool {
        let Some(runs) = self.runs.get(file) else { return false };
        let after = runs.partition_point(|run| run.begin <= offset);
        runs[..after].last().is_some_and(|run| offset < run.end)
    }
}

/// Returns `true` if the last packet of a file and the first one of the next file suggest
/// that the files have packets in common.
pub(crate) fn files_overlap(last: &Packet, next: &Packet) -> bool {
    if let (Some(last), Some(number)) = (last.sequence, next.sequence) {
        // The files overlap unless the sequence number increased, modulo its width.
        let bits = u32::from(next.sequence_bits.clamp(1, 64));
        let ahead = number.wrapping_sub(last) << (64 - bits);
        return ahead as i64 <= 0;
    }
    match (last.start, last.end, next.start) {
        (Some(begin), Some(end), Some(next)) => times_overlap((begin, end), next),
        _ => false,
    }
}

/// Returns `true` if a file's first packet starts before the last packet of the previous
/// file has ended.
pub(crate) fn times_overlap((begin, end): (Timestamp, Timestamp), next: Timestamp) -> bool {
    next < end || next <= begin
}

/// Returns `true` if two packets with the same identity are equal.
fn is_same(packet: &Packet, one: Kept, other: Kept, files: &[DataFile]) -> bool {
    // Sequence numbers of few bits repeat, but not at the same times.
    if packet.sequence.is_some() && packet.start.is_some() && packet.end.is_some() {
        return true;
    }
    let bytes = |kept: Kept| {
        let bytes = files[kept.file].bytes();
        let begin = usize::try_from(kept.offset).unwrap_or(usize::MAX).min(bytes.len());
        &bytes[begin..bytes.len().min(begin.saturating_add(kept.size as usize))]
    };
    let (one, other) = (bytes(one), bytes(other));
    // Compares the bytes that are present in both.
    let len = one.len().min(other.len());
    len > 0 && one[..len] == other[..len]
}

/// Reads the headers of a file's packets, up to damage beyond which no packet can be
/// found. `clock` is the value of the default clock before the file, and becomes its
/// value after the file.
fn each_packet(decoder: &Decoder, file: &DataFile, clock: &mut u64, mut each: impl FnMut(&Packet)) {
    let (mut scratch, mut offset, mut number) = (Scratch::default(), 0, 0);
    while offset < file.size() {
        let size = match file.packet(decoder, offset, number, *clock, &mut scratch) {
            Ok(packet) => {
                each(&packet);
                *clock = packet.end_cycles.unwrap_or(packet.clock);
                Some(packet.size)
            }
            Err(error) => error.size,
        };
        let Some(size) = size.filter(|size| *size > 0) else { return };
        (offset, number) = (offset.saturating_add(size), number + 1);
    }
}

/// Returns `true` if the packets of `next` follow those of `file` in one stream according
/// to their sequence numbers: if its first packet is the one after the last packet of
/// `file`, or is in both.
pub(crate) fn follows(decoder: &Decoder, file: &DataFile, next: &DataFile) -> bool {
    let first = next.packet(decoder, 0, 0, 0, &mut Scratch::default());
    let Ok(first) = first else { return false };
    let identity = PacketIdentity::new(&first);
    let (Some(sequence), Some(identity)) = (first.sequence, identity) else { return false };
    let (mut last, mut is_in_both) = (None, false);
    each_packet(decoder, file, &mut 0, |packet| {
        last = Some((packet.sequence, packet.start));
        is_in_both |= PacketIdentity::new(packet).as_ref() == Some(&identity);
    });
    let is_next = last.is_some_and(|(last, begin)| {
        last.and_then(|last| last.checked_add(1)) == Some(sequence) && begin <= first.start
    });
    is_next || is_in_both
}
