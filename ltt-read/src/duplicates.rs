//! Packets that are in several files of a stream.
//!
//! Snapshots of one session overlap: what was still in the buffers when the next
//! one was taken is in both. A packet is the same as another of its stream if both
//! have the same sequence number, times and sizes; where there are no sequence
//! numbers or no times, if both have the same bytes as well. The first of them is read,
//! unless the file ends within it and another has it whole.

use std::path::Path;
use std::sync::Arc;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::index::IndexEntry;
use crate::layout::program::Scratch;
use crate::layout::tables::Tables;
use crate::packet::Packet;
use crate::schema::{Schema, StreamClassId};
use crate::time::Timestamp;
use crate::tracefile::{DataFile, Tracefile};

/// Which packets of a tracefile are left out.
#[derive(Debug, Default)]
pub(crate) struct Duplicates {
    /// For each file, in the order of offsets.
    runs: Vec<Vec<Run>>,
}

/// Packets in a row that are left out.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// Offset of the first of them in their file.
    begin: u64,
    /// Where the next packet begins.
    pub(crate) end: u64,
    /// How many they are.
    pub(crate) packets: u64,
    /// The file that has the first of them as well.
    pub(crate) kept_in: Arc<Path>,
}

/// What makes a packet the same as another one.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Mark {
    class: StreamClassId,
    sequence: Option<u64>,
    begin: Option<u64>,
    end: Option<u64>,
    size: u64,
    content_bits: u64,
}

impl Mark {
    /// `None` if nothing tells the packet from others of its stream.
    fn new(packet: &Packet) -> Option<Mark> {
        let is_told = packet.sequence.is_some() || packet.begin.is_some() && packet.end.is_some();
        is_told.then_some(Mark {
            class: packet.stream_class,
            sequence: packet.sequence,
            begin: packet.begin_cycles,
            end: packet.end_cycles,
            size: packet.size,
            content_bits: packet.content_bits,
        })
    }
}

/// A packet that is read.
#[derive(Debug, Clone, Copy)]
struct Kept {
    file: usize,
    offset: u64,
    size: u64,
    is_cut: bool,
}

impl Duplicates {
    /// Finds them by the headers of all packets.
    pub(crate) fn find(schema: &Schema, tables: &Tables, files: &[DataFile]) -> Duplicates {
        let mut kept: HashMap<Mark, Kept> = HashMap::new();
        let mut duplicates = Duplicates { runs: vec![Vec::new(); files.len()] };
        let mut clock = 0;
        for (number, file) in files.iter().enumerate() {
            each_packet(schema, tables, file, &mut clock, |packet| {
                let Some(mark) = Mark::new(packet) else { return };
                let (offset, size, is_cut) = (packet.offset, packet.size, packet.missing > 0);
                let this = Kept { file: number, offset, size, is_cut };
                match kept.entry(mark) {
                    Entry::Vacant(place) => _ = place.insert(this),
                    Entry::Occupied(mut place) => {
                        let other = *place.get();
                        if other.file == number || !is_same(packet, this, other, files) {
                            return;
                        }
                        let (out, stays) = match other.is_cut && !is_cut {
                            true => (place.insert(this), this),
                            false => (this, other),
                        };
                        let kept_in = files[stays.file].path.clone();
                        duplicates.leave_out(out, kept_in);
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
            _ => runs.push(Run { begin, end, packets: 1, kept_in }),
        }
    }

    /// The packets from an offset of a file on that are left out, if the one there
    /// is.
    pub(crate) fn at(&self, file: usize, offset: u64) -> Option<&Run> {
        let runs = self.runs.get(file)?;
        let after = runs.partition_point(|run| run.begin <= offset);
        runs[..after].last().filter(|run| run.begin == offset)
    }

    fn holds(&self, file: usize, offset: u64) -> bool {
        let Some(runs) = self.runs.get(file) else { return false };
        let after = runs.partition_point(|run| run.begin <= offset);
        runs[..after].last().is_some_and(|run| offset < run.end)
    }

    /// Takes them out of the index entries of a tracefile's packets, which come
    /// straight from its files.
    pub(crate) fn take_out(
        schema: &Schema,
        tables: &Tables,
        tracefile: &Tracefile,
        entries: &mut Vec<IndexEntry>,
    ) {
        // The same packet has the same times, so files overlap if there is any.
        let overlap = |pair: &[IndexEntry]| {
            pair[0].file != pair[1].file
                && times_overlap((pair[0].begin, pair[0].end), pair[1].begin)
        };
        if tracefile.files.len() < 2 || !entries.windows(2).any(overlap) {
            return;
        }
        let duplicates = tracefile.duplicates(schema, tables);
        entries.retain(|entry| !duplicates.holds(entry.file as usize, entry.offset));
    }
}

/// Whether the last packet of a file and the first one of the next suggest that the
/// files have packets in common.
pub(crate) fn files_overlap(last: &Packet, next: &Packet) -> bool {
    if let (Some(last), Some(number)) = (last.sequence, next.sequence) {
        // Whether the number went on, in numbers of so many bits.
        let bits = u32::from(next.sequence_bits.clamp(1, 64));
        let ahead = number.wrapping_sub(last) << (64 - bits);
        return ahead as i64 <= 0;
    }
    match (last.begin, last.end, next.begin) {
        (Some(begin), Some(end), Some(next)) => times_overlap((begin, end), next),
        _ => false,
    }
}

/// Whether a file's first packet begins before the last one of the file before it
/// has ended.
fn times_overlap((begin, end): (Timestamp, Timestamp), next: Timestamp) -> bool {
    next < end || next <= begin
}

/// Whether two packets of one mark are the same.
fn is_same(packet: &Packet, one: Kept, other: Kept, files: &[DataFile]) -> bool {
    // Numbers of few bits come again, but not at the same time.
    if packet.sequence.is_some() && packet.begin.is_some() && packet.end.is_some() {
        return true;
    }
    let bytes = |kept: Kept| {
        let bytes = files[kept.file].source.bytes();
        let begin = usize::try_from(kept.offset).unwrap_or(usize::MAX).min(bytes.len());
        &bytes[begin..bytes.len().min(begin.saturating_add(kept.size as usize))]
    };
    let (one, other) = (bytes(one), bytes(other));
    // As far as both are there.
    let len = one.len().min(other.len());
    len > 0 && one[..len] == other[..len]
}

/// Reads the headers of a file's packets, up to damage beyond which no packet can be
/// found. `clock` is the default clock before the file, and then after it.
fn each_packet(
    schema: &Schema,
    tables: &Tables,
    file: &DataFile,
    clock: &mut u64,
    mut each: impl FnMut(&Packet),
) {
    let (mut scratch, mut offset, mut number) = (Scratch::default(), 0, 0);
    while offset < file.source.bytes().len() as u64 {
        let size = match file.packet(schema, tables, offset, number, *clock, &mut scratch) {
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

/// Whether the packets of `next` follow those of `file` in one stream, by their
/// sequence numbers: the first is the one after the last, or is in both.
pub(crate) fn follows(schema: &Schema, tables: &Tables, file: &DataFile, next: &DataFile) -> bool {
    let first = next.packet(schema, tables, 0, 0, 0, &mut Scratch::default());
    let Ok(first) = first else { return false };
    let (Some(sequence), Some(mark)) = (first.sequence, Mark::new(&first)) else { return false };
    let (mut last, mut is_in_both) = (None, false);
    each_packet(schema, tables, file, &mut 0, |packet| {
        last = Some((packet.sequence, packet.begin));
        is_in_both |= Mark::new(packet).as_ref() == Some(&mark);
    });
    let goes_on = last.is_some_and(|(last, begin)| {
        last.and_then(|last| last.checked_add(1)) == Some(sequence) && begin <= first.begin
    });
    goes_on || is_in_both
}
