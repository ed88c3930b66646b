//! LTTng's index files (`index/NAME.idx`, versions 1.0 and 1.1).
//!
//! A header of four big-endian `u32`s (magic, major, minor, entry size), then
//! per packet big-endian `u64`s: offset in bytes, packet size and content size
//! in bits, begin and end in cycles, discarded events, stream class id, and
//! from 1.1 on stream id and packet sequence number.

use byteorder::{BigEndian, ByteOrder};

use super::IndexEntry;
use crate::layout::program::Scratch;
use crate::layout::tables::Tables;
use crate::notice::{Notice, NoticeKind};
use crate::packet::Packet;
use crate::schema::Schema;
use crate::tracefile::DataFile;

const MAGIC: u32 = 0xc1f1_dcc1;
const HEADER: usize = 16;
/// Of version 1.0; later versions append to it.
const ENTRY: usize = 56;

/// The index of a data file, `None` if there is no index file, or a notice
/// that says why it is not used.
pub(super) fn read(
    schema: &Schema,
    tables: &Tables,
    file: &DataFile,
    number: u32,
) -> Result<Option<Vec<IndexEntry>>, Notice> {
    let Ok(bytes) = std::fs::read(&file.index_path) else { return Ok(None) };
    entries(schema, tables, file, number, &bytes).map(Some).map_err(|reason| Notice {
        kind: NoticeKind::IndexIgnored { reason },
        file: file.index_path.as_path().into(),
        packet: 0,
        offset: 0,
    })
}

fn entries(
    schema: &Schema,
    tables: &Tables,
    file: &DataFile,
    number: u32,
    bytes: &[u8],
) -> Result<Vec<IndexEntry>, &'static str> {
    let data = file.source.bytes();
    let (header, rest) = bytes.split_at_checked(HEADER).ok_or("shorter than its header")?;
    if BigEndian::read_u32(header) != MAGIC {
        return Err("wrong magic number");
    }
    if BigEndian::read_u32(&header[4..]) != 1 {
        return Err("unknown version");
    }
    let entry_size = BigEndian::read_u32(&header[12..]) as usize;
    if entry_size < ENTRY || !rest.len().is_multiple_of(entry_size) {
        return Err("its size does not fit its entry size");
    }
    let mut entries: Vec<IndexEntry> = Vec::with_capacity(rest.len() / entry_size);
    let mut next = 0;
    for entry in rest.chunks_exact(entry_size) {
        let field = |i: usize| BigEndian::read_u64(&entry[8 * i..]);
        let (offset, bits) = (field(0), field(1));
        if offset != next || bits == 0 || !bits.is_multiple_of(8) {
            return Err("its packets do not follow each other");
        }
        let class =
            tables.stream(Some(field(6))).map_err(|_| "it names an unknown stream class")?;
        let clock = tables.streams[class.index()].clock.as_ref();
        let clock = clock.ok_or("its stream class has no clock")?;
        let time = |i| clock.timestamp(field(i)).ok_or("a time is out of range");
        let (begin, end) = (time(3)?, time(4)?);
        // Where clocks went back, the packets themselves are the better source.
        let before = entries.last();
        if end < begin || before.is_some_and(|b| begin < b.begin || end < b.end) {
            return Err("its times are not in order");
        }
        entries.push(IndexEntry {
            file: number,
            number: entries.len() as u64,
            offset,
            size: bits / 8,
            begin,
            end,
            clock_before: 0,
        });
        next = offset.checked_add(bits / 8).ok_or("a packet is too large")?;
    }
    if next != data.len() as u64 {
        return Err("it does not cover the whole file");
    }
    // It fits the file's size; now see whether it is about this very file, and
    // whether clock values are whole, so that a packet can be entered without
    // those before it.
    for entry in [entries.first(), entries.last()].into_iter().flatten() {
        let mut scratch = Scratch::default();
        let packet =
            Packet::read(schema, tables, data, entry.offset, entry.number, 0, &mut scratch)
                .map_err(|_| "there is no packet where it says")?;
        let end_differs = packet.end.is_some_and(|end| end != entry.end);
        if packet.size != entry.size || packet.begin != Some(entry.begin) || end_differs {
            return Err("it disagrees with the packets");
        }
    }
    Ok(entries)
}
