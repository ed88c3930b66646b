//! LTTng's packet index files (`index/NAME.idx`), version 1.1.

use std::io::{self, Write};

const MAGIC: u32 = 0xC1F1_DCC1;
const VERSION: (u32, u32) = (1, 1);
/// The size of an entry in bytes: nine fields of 64 bits.
const ENTRY_BYTES: u32 = 72;

/// The properties of a written packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketInfo {
    /// The offset in bytes from the start of the stream.
    pub offset: u64,
    /// The size in bits, padding included.
    pub total_bits: u64,
    /// The size in bits, padding excluded.
    pub content_bits: u64,
    /// The clock value at the start of the packet, in cycles.
    pub start: u64,
    /// The clock value at the end of the packet, in cycles.
    pub end: u64,
    /// The running count of discarded event records.
    pub discarded: u64,
    /// The id of the stream class.
    pub stream_class: u64,
    /// The id of the stream within its class.
    pub stream: u64,
    /// The sequence number of the packet.
    pub sequence: u64,
}

/// Writes an index file for these packets.
///
/// # Errors
///
/// Returns the errors of `out`.
pub fn write_index(mut out: impl Write, packets: &[PacketInfo]) -> io::Result<()> {
    write_header(&mut out)?;
    packets.iter().try_for_each(|packet| write_entry(&mut out, packet))
}

/// Writes the start of an index file.
pub(super) fn write_header(mut out: impl Write) -> io::Result<()> {
    [MAGIC, VERSION.0, VERSION.1, ENTRY_BYTES]
        .iter()
        .try_for_each(|word| out.write_all(&word.to_be_bytes()))
}

/// Writes the entry of a packet.
pub(super) fn write_entry(mut out: impl Write, p: &PacketInfo) -> io::Result<()> {
    let fields = [
        p.offset,
        p.total_bits,
        p.content_bits,
        p.start,
        p.end,
        p.discarded,
        p.stream_class,
        p.stream,
        p.sequence,
    ];
    fields.iter().try_for_each(|field| out.write_all(&field.to_be_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout() {
        let packet = PacketInfo {
            offset: 1,
            total_bits: 2,
            content_bits: 3,
            start: 4,
            end: 5,
            discarded: 6,
            stream_class: 7,
            stream: 8,
            sequence: 9,
        };
        let mut bytes = Vec::new();
        write_index(&mut bytes, &[packet]).unwrap();
        assert_eq!(bytes[..16], [0xc1, 0xf1, 0xdc, 0xc1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 72]);
        assert_eq!(bytes.len(), 16 + 72);
        let numbers = bytes[16..].chunks(8).map(|c| u64::from(c[7]));
        assert!(numbers.eq(1..=9));
    }
}
