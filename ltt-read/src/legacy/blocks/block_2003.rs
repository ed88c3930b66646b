//! Blocks of the format of 2003. The first and last event of a block have a fixed layout
//! and contain the time and the ticks at the start and end of the block.

use byteorder::{BigEndian, ByteOrder, LittleEndian};

use super::block::NoHeader;
use crate::report::DecodeError;
use crate::schema;

/// The ids of the events that the format itself defines.
pub(crate) const BLOCK_START: u64 = 17;
pub(crate) const BLOCK_END: u64 = 18;
pub(crate) const HEARTBEAT: u64 = 19;

/// The size of an event header in bytes: id and time.
pub(crate) const EVENT_HEADER: usize = 6;

/// The size of the first and last event: header, seconds, nanoseconds, ticks, block
/// number.
const EDGE: usize = EVENT_HEADER + 20;

/// The contents of the first and the last event of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) begin: Edge,
    pub(crate) end: Edge,
    /// The end of the events, in bytes.
    pub(crate) data_end: u64,
}

/// The time and ticks at one end of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) ns: i64,
    pub(crate) cycles: u64,
}

impl Block {
    /// Reads both ends of the block at the start of `bytes`.
    pub(crate) fn read(
        bytes: &[u8],
        size: u64,
        order: schema::ByteOrder,
    ) -> Result<Self, NoHeader> {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let Some(bytes) = bytes.get(..size) else {
            let missing = (size - bytes.len()) as u64;
            return Err((DecodeError::TruncatedPacket { missing }, bytes.len() as u64));
        };
        match order {
            schema::ByteOrder::Little => read::<LittleEndian>(bytes),
            schema::ByteOrder::Big => read::<BigEndian>(bytes),
        }
    }
}

fn read<O: ByteOrder>(bytes: &[u8]) -> Result<Block, NoHeader> {
    let size = bytes.len();
    let needed = 2 * EDGE + 4;
    if size < needed {
        let (bits, needed) = (8 * size as u64, 8 * needed as u64);
        return Err((DecodeError::PacketTooSmall { bits, needed }, 0));
    }
    let lost = O::read_u32(&bytes[size - 4..]) as usize;
    let last = size.checked_sub(lost).filter(|last| (EDGE..=size - EDGE).contains(last));
    let last = last.ok_or((DecodeError::NotASubBuffer, size as u64 - 4))?;
    Ok(Block {
        begin: edge::<O>(bytes, 0, BLOCK_START)?,
        end: edge::<O>(bytes, last, BLOCK_END)?,
        data_end: (last + EDGE) as u64,
    })
}

fn edge<O: ByteOrder>(bytes: &[u8], at: usize, id: u64) -> Result<Edge, NoHeader> {
    let event = &bytes[at..at + EDGE];
    if u64::from(O::read_u16(event)) != id {
        return Err((DecodeError::NotASubBuffer, at as u64));
    }
    let (seconds, ns) = (O::read_u32(&event[6..]), O::read_u32(&event[10..]));
    Ok(Edge {
        ns: i64::from(seconds) * 1_000_000_000 + i64::from(ns),
        cycles: O::read_u64(&event[14..]),
    })
}
