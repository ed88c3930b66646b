//! Headers of sub-buffers ("blocks"), which are the packets of these formats.
//!
//! Each header repeats the properties of the whole trace.

use byteorder::{BigEndian, ByteOrder, LittleEndian};

use super::version::Version;
use crate::report::DecodeError;
use crate::schema;

/// The magic number in every block since version 0.3.
pub(crate) const MAGIC: u32 = 0x00d6_b7ed;

/// The properties of the whole trace in a block header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceHeader {
    pub(crate) version: Version,
    pub(crate) order: schema::ByteOrder,
    /// The size of a pointer of the traced machine in bytes.
    pub(crate) arch_size: u8,
    /// The number of the machine's architecture (before 2.0).
    pub(crate) arch_type: u32,
    /// The alignment of events in bytes, or 0 if they are packed.
    pub(crate) alignment: u8,
    /// `true` if event times are 32 bits wide; heartbeat events keep them unambiguous
    /// (before 2.0).
    pub(crate) has_heartbeat: bool,
    pub(crate) compact: Compact,
    pub(crate) frequency: u64,
    pub(crate) freq_scale: u32,
    /// The ticks at the start of the trace; since 2.0, the start of its first block.
    pub(crate) start_tsc: u64,
    /// The wall-clock time at the start of the trace, in seconds since the epoch.
    pub(crate) start_seconds: u64,
    /// The fraction of the wall-clock time, in microseconds.
    pub(crate) start_microseconds: u64,
}

/// The packing of events in a compact channel (1.0).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Compact {
    pub(crate) tsc_lsb_truncate: u8,
    pub(crate) tscbits: u8,
    pub(crate) data_shift: u8,
}

/// The header of a block. Sizes and offsets are in bytes from the start of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    pub(crate) trace: TraceHeader,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) size: u64,
    /// The end of the events.
    pub(crate) data_end: u64,
    /// The start of the events.
    pub(crate) events_begin: u64,
    /// The numbers of events and of sub-buffers that the tracefile has lost so far.
    pub(crate) lost: Option<(u32, u32)>,
}

/// An error from reading a block header, with its offset in bytes from the start of the
/// block.
pub(crate) type NoHeader = (DecodeError, u64);

impl BlockHeader {
    /// Reads the block header at the start of `bytes`, of any version since 0.7.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, NoHeader> {
        // The magic number has two possible offsets.
        let magic = |at: usize| {
            let word = LittleEndian::read_u32(bytes.get(at..at + 4)?);
            (word == MAGIC || word == MAGIC.swap_bytes()).then_some(word == MAGIC)
        };
        match (magic(16), magic(40)) {
            (Some(true), _) => markers::<LittleEndian>(bytes, schema::ByteOrder::Little),
            (Some(false), _) => markers::<BigEndian>(bytes, schema::ByteOrder::Big),
            (_, Some(true)) => heartbeat::<LittleEndian>(bytes, schema::ByteOrder::Little),
            (_, Some(false)) => heartbeat::<BigEndian>(bytes, schema::ByteOrder::Big),
            _ if bytes.len() < 44 => Err(short(bytes, 44)),
            _ => Err((DecodeError::NotASubBuffer, 16)),
        }
    }
}

fn short(bytes: &[u8], needed: usize) -> NoHeader {
    let missing = needed.saturating_sub(bytes.len()) as u64;
    (DecodeError::TruncatedPacket { missing }, bytes.len() as u64)
}

fn need(bytes: &[u8], size: usize) -> Result<(), NoHeader> {
    if bytes.len() < size { Err(short(bytes, size)) } else { Ok(()) }
}

fn version(major: u8, minor: u8, at: u64) -> Result<Version, NoHeader> {
    Version::new(major, minor).ok_or((DecodeError::UnknownSubBufferVersion { major, minor }, at))
}

/// Checks an alignment: 0 or a power of two.
fn alignment(value: u8, at: u64) -> Result<u8, NoHeader> {
    match value {
        0 | 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 => Ok(value),
        alignment => Err((DecodeError::BadAlignment { alignment }, at)),
    }
}

/// Reads a header of 2.0 to 2.6.
fn markers<O: ByteOrder>(b: &[u8], order: schema::ByteOrder) -> Result<BlockHeader, NoHeader> {
    need(b, 60)?;
    let version = version(b[20], b[21], 20)?;
    let events_begin = match version {
        Version::Markers(0) => first_of_2_0::<O>(b),
        Version::Markers(1) => 60,
        _ => 68,
    };
    need(b, events_begin)?;
    let (first, size) = (O::read_u32(&b[52..]), O::read_u32(&b[56..]));
    let data_end = match version {
        Version::Markers(5..) => first,
        _ => size.checked_sub(first).ok_or((
            DecodeError::ContentBeyondPacket {
                content: 8 * u64::from(first),
                total: 8 * u64::from(size),
            },
            52,
        ))?,
    };
    let counters = matches!(version, Version::Markers(2..));
    Ok(BlockHeader {
        trace: TraceHeader {
            version,
            order,
            arch_size: b[22],
            arch_type: 0,
            alignment: alignment(b[23], 23)?,
            has_heartbeat: false,
            compact: Compact::default(),
            frequency: O::read_u64(&b[40..]),
            freq_scale: O::read_u32(&b[48..]),
            start_tsc: O::read_u64(b),
            start_seconds: O::read_u64(&b[24..]),
            start_microseconds: O::read_u64(&b[32..]),
        },
        begin: O::read_u64(b),
        end: O::read_u64(&b[8..]),
        size: size.into(),
        data_end: data_end.into(),
        events_begin: events_begin as u64,
        lost: counters.then(|| (O::read_u32(&b[60..]), O::read_u32(&b[64..]))),
    })
}

/// Returns the start of the events in a block of 2.0. Its header was padded with zeros to
/// 8 bytes on 64-bit machines; the first word of an event is very unlikely to be 0.
fn first_of_2_0<O: ByteOrder>(b: &[u8]) -> usize {
    match b.get(60..64) {
        Some(word) if O::read_u32(word) != 0 => 60,
        _ => 64,
    }
}

/// Reads a header of 0.7, 0.8 or 1.0.
fn heartbeat<O: ByteOrder>(b: &[u8], order: schema::ByteOrder) -> Result<BlockHeader, NoHeader> {
    need(b, 62)?;
    let version = version(b[57], b[58], 57)?;
    // The number of bytes between alignment and frequency scale, and the offset of the
    // latter.
    let (compact, scale_at) = match version {
        Version::OneZero => (3, 65),
        Version::Facilities(8) => (2, 64),
        Version::Facilities(_) => (0, 62),
        _ => return Err((DecodeError::UnknownSubBufferVersion { major: b[57], minor: b[58] }, 57)),
    };
    let events_begin = scale_at + 44;
    need(b, events_begin)?;
    let extra = |i: usize| if i < compact { b[62 + i] } else { 0 };
    let word = |i: usize| O::read_u64(&b[scale_at + 4 + 8 * i..]);
    let (lost, size) = (O::read_u32(&b[32..]), O::read_u32(&b[36..]));
    let error = DecodeError::ContentBeyondPacket {
        content: 8 * u64::from(lost),
        total: 8 * u64::from(size),
    };
    Ok(BlockHeader {
        trace: TraceHeader {
            version,
            order,
            arch_size: b[56],
            arch_type: O::read_u32(&b[44..]),
            alignment: alignment(b[61], 61)?,
            has_heartbeat: b[60] != 0,
            compact: Compact {
                tsc_lsb_truncate: extra(0),
                tscbits: extra(1),
                data_shift: extra(2),
            },
            frequency: word(0),
            freq_scale: O::read_u32(&b[scale_at..]),
            start_tsc: word(1),
            start_seconds: word(3),
            start_microseconds: word(4),
        },
        begin: O::read_u64(b),
        end: O::read_u64(&b[16..]),
        size: size.into(),
        data_end: size.checked_sub(lost).ok_or((error, 32))?.into(),
        events_begin: events_begin as u64,
        lost: None,
    })
}
