//! LTTng's index files (`index/NAME.idx`, versions 1.0 and 1.1).
//!
//! The header consists of four big-endian `u32`s: magic number, major version, minor
//! version and entry size. Each packet has an entry of big-endian `u64`s: offset in
//! bytes, packet size and content size in bits, start and end in cycles, number of
//! discarded events, stream class id and, since version 1.1, stream id and packet
//! sequence number.

use std::fs::{self, File};
use std::io::{BufReader, Read};

use byteorder::{BigEndian, ByteOrder};

use crate::format::Decoder;
use crate::layout::program::Scratch;
use crate::layout::tables::Tables;
use crate::report::{Notice, NoticeKind};
use crate::trace::{DataFile, Declared, IndexEntry};

const MAGIC: u32 = 0xc1f1_dcc1;
const HEADER: usize = 16;
/// The size of an entry in version 1.0, in bytes. Later versions append to it.
const ENTRY: usize = 56;
/// The greatest accepted size of an entry, in bytes.
const MAX_ENTRY: usize = 256;
/// The least size of a packet in an index, in bytes.
const MIN_PACKET: u64 = 8;

/// The reason for not using an index file whose entries differ from the packets.
pub(super) const DISAGREES: &str = "its entries differ from the packets";

/// Reads the index file of a data file; `None` if there is none. With `check_all`,
/// compares all entries with the packets, otherwise the first and the last one. The error
/// is a notice with the reason why the file is not used.
pub(super) fn read(
    decoder: &Decoder,
    file: &DataFile,
    number: u32,
    check_all: bool,
) -> Result<Option<Vec<IndexEntry>>, Notice> {
    let Some(path) = file.index_path() else { return Ok(None) };
    let ignored = |reason| Notice {
        kind: NoticeKind::IndexIgnored { reason },
        file: path.as_path().into(),
        packet: 0,
        offset: 0,
    };
    // Opening a pipe would wait for a writer, and a device may have no end.
    let Ok(found) = fs::metadata(&path) else { return Ok(None) };
    if !found.is_file() {
        return Err(ignored("not a regular file"));
    }
    let max_packets = file.size() / MIN_PACKET + 1;
    if found.len() > HEADER as u64 + max_packets * MAX_ENTRY as u64 {
        return Err(ignored("too large for its data file"));
    }
    let Ok(opened) = File::open(&path) else { return Ok(None) };
    let entries = entries(&decoder.tables, file, number, found.len(), opened).map_err(ignored)?;
    // The entries fit the file's size. Next, they are compared with the packets.
    let checked = if check_all { entries.len() } else { 1 };
    let (first, last) = (entries.iter().take(checked), entries.last());
    match first.chain(last).all(|entry| agrees(decoder, file, entry)) {
        true => Ok(Some(entries)),
        false => Err(ignored(DISAGREES)),
    }
}

/// Reads the entries of an index file that has `len` bytes. The error is the reason why
/// it is not used.
fn entries(
    tables: &Tables,
    file: &DataFile,
    number: u32,
    len: u64,
    opened: File,
) -> Result<Vec<IndexEntry>, &'static str> {
    let data_len = file.size();
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
        // If clocks went back, the headers of the packets are more reliable.
        let before = entries.last();
        if end < begin || before.is_some_and(|b| begin < b.start || end < b.end) {
            return Err("its times are not in order");
        }
        entries.push(IndexEntry {
            file: number,
            number: number_in_file,
            offset,
            size: bits / 8,
            start: begin,
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

/// Returns `true` if an entry agrees with its packet and the packet's clock values have
/// full width, so that it can be entered without the previous packets.
pub(super) fn agrees(decoder: &Decoder, file: &DataFile, entry: &IndexEntry) -> bool {
    let mut scratch = Scratch::default();
    let packet = file.packet(decoder, entry.offset, entry.number, 0, &mut scratch);
    packet.is_ok_and(|packet| {
        let declared = Declared { begin: packet.start, end: packet.end.or(entry.declared.end) };
        packet.size == entry.size && declared == entry.declared
    })
}
