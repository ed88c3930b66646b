//! LTTng's index files (`index/NAME.idx`, versions 1.0 and 1.1).
//!
//! A header of four big-endian `u32`s (magic, major, minor, entry size), then
//! per packet big-endian `u64`s: offset in bytes, packet size and content size
//! in bits, begin and end in cycles, discarded events, stream class id, and
//! from 1.1 on stream id and packet sequence number.

use std::fs::{self, File};
use std::io::{BufReader, Read};

use byteorder::{BigEndian, ByteOrder};

use super::{Declared, IndexEntry};
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
/// Larger entries are those of no index.
const MAX_ENTRY: usize = 256;
/// No packet that an index can describe is smaller, in bytes.
const MIN_PACKET: u64 = 8;

/// Why an index is not used whose entries are not those of the packets.
pub(super) const DISAGREES: &str = "it disagrees with the packets";

/// The index of a data file, `None` if there is no index file, or a notice
/// that says why it is not used. Compares all entries with the packets if `check_all`,
/// otherwise the first and the last.
pub(super) fn read(
    schema: &Schema,
    tables: &Tables,
    file: &DataFile,
    number: u32,
    check_all: bool,
) -> Result<Option<Vec<IndexEntry>>, Notice> {
    let ignored = |reason| Notice {
        kind: NoticeKind::IndexIgnored { reason },
        file: file.index_path.as_path().into(),
        packet: 0,
        offset: 0,
    };
    // A pipe would have to be waited for, a device may never end.
    let Ok(found) = fs::metadata(&file.index_path) else { return Ok(None) };
    if !found.is_file() {
        return Err(ignored("it is no regular file"));
    }
    let most = file.source.bytes().len() as u64 / MIN_PACKET + 1;
    if found.len() > HEADER as u64 + most * MAX_ENTRY as u64 {
        return Err(ignored("it is larger than its data file allows"));
    }
    let Ok(opened) = File::open(&file.index_path) else { return Ok(None) };
    let entries = entries(tables, file, number, found.len(), opened).map_err(ignored)?;
    // Its entries fit the file's size; now see whether they are about this very file.
    let checked = if check_all { entries.len() } else { 1 };
    let (first, last) = (entries.iter().take(checked), entries.last());
    match first.chain(last).all(|entry| agrees(schema, tables, file, entry)) {
        true => Ok(Some(entries)),
        false => Err(ignored(DISAGREES)),
    }
}

/// Reads the entries of an index file of some bytes.
fn entries(
    tables: &Tables,
    file: &DataFile,
    number: u32,
    len: u64,
    opened: File,
) -> Result<Vec<IndexEntry>, &'static str> {
    let data_len = file.source.bytes().len() as u64;
    let mut bytes = BufReader::with_capacity(1 << 16, opened.take(len));
    let mut header = [0; HEADER];
    bytes.read_exact(&mut header).map_err(|_| "shorter than its header")?;
    if BigEndian::read_u32(&header) != MAGIC {
        return Err("wrong magic number");
    }
    if BigEndian::read_u32(&header[4..]) != 1 {
        return Err("unknown version");
    }
    let entry_size = BigEndian::read_u32(&header[12..]) as usize;
    let rest = len - HEADER as u64;
    if !(ENTRY..=MAX_ENTRY).contains(&entry_size) || !rest.is_multiple_of(entry_size as u64) {
        return Err("its size does not fit its entry size");
    }
    let mut entry = [0; MAX_ENTRY];
    let mut entries: Vec<IndexEntry> = Vec::new();
    let mut next = 0;
    for number_in_file in 0..rest / entry_size as u64 {
        bytes.read_exact(&mut entry[..entry_size]).map_err(|_| "it cannot be read")?;
        let field = |i: usize| BigEndian::read_u64(&entry[8 * i..]);
        let (offset, bits) = (field(0), field(1));
        if offset != next || bits < 8 * MIN_PACKET || !bits.is_multiple_of(8) {
            return Err("its packets do not follow each other");
        }
        next = offset.checked_add(bits / 8).ok_or("a packet is too large")?;
        if next > data_len {
            return Err("it has packets beyond the end of the file");
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
            number: number_in_file,
            offset,
            size: bits / 8,
            begin,
            end,
            clock_before: 0,
            declared: Declared { begin: Some(begin), end: Some(end) },
        });
    }
    if next != data_len {
        return Err("it does not cover the whole file");
    }
    Ok(entries)
}

/// Whether an entry is right about its packet, and the packet's clock values are whole, so
/// that it can be entered without those before it.
pub(super) fn agrees(
    schema: &Schema,
    tables: &Tables,
    file: &DataFile,
    entry: &IndexEntry,
) -> bool {
    let mut scratch = Scratch::default();
    let data = file.source.bytes();
    let packet = Packet::read(schema, tables, data, entry.offset, entry.number, 0, &mut scratch);
    packet.is_ok_and(|packet| {
        let declared = Declared { begin: packet.begin, end: packet.end.or(entry.declared.end) };
        packet.size == entry.size && declared == entry.declared
    })
}
