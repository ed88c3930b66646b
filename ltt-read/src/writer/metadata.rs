//! Metadata files: a schema as text, plain or in packets.

use super::error::WriteError;
use super::{ctf2, tsdl};
use crate::schema::{ByteOrder, ClockClass, Format, Schema};
use crate::uuid::Uuid;

/// The magic number of metadata packets; CTF 2 keeps that of CTF 1.8.
const MAGIC: u32 = 0x75D1_1D57;
/// Bytes of a metadata packet header.
const HEADER: usize = 37;

/// The metadata text of a schema: TSDL for CTF 1.8, a JSON text sequence for
/// CTF 2.
///
/// # Errors
///
/// [`WriteError::Inexpressible`] if the format has no words for something.
pub fn metadata_text(schema: &Schema) -> Result<String, WriteError> {
    match schema.format {
        Format::Ctf1 => tsdl::print(schema),
        Format::Ctf2 => ctf2::print(schema),
        Format::Legacy => Err(WriteError::Inexpressible {
            place: "schema".to_owned(),
            format: "a metadata language",
            what: "legacy formats: they have none".to_owned(),
        }),
    }
}

/// Packs metadata text into packets of at most `packet_bytes` bytes each, as
/// LTTng stores it.
pub fn packetized_metadata(schema: &Schema, text: &str, packet_bytes: usize) -> Vec<u8> {
    let (major, minor) = schema.version;
    let uuid = schema.uuid.unwrap_or(Uuid([0; 16]));
    let mut out = Vec::with_capacity(text.len() + text.len() / 8);
    for content in text.as_bytes().chunks(packet_bytes.saturating_sub(HEADER).max(1)) {
        let bits = |bytes: usize| u32::try_from(bytes * 8).unwrap_or(u32::MAX);
        let size = bits(HEADER + content.len());
        let word = |n: u32| match schema.native_byte_order {
            ByteOrder::Little => n.to_le_bytes(),
            ByteOrder::Big => n.to_be_bytes(),
        };
        let checksum = 0;
        let start = [word(MAGIC).to_vec(), uuid.0.to_vec()].concat();
        out.extend_from_slice(&start);
        for n in [checksum, size, size] {
            out.extend_from_slice(&word(n));
        }
        let (compression, encryption, checksum_kind) = (0, 0, 0);
        out.extend([compression, encryption, checksum_kind, major as u8, minor as u8]);
        out.extend_from_slice(content);
    }
    out
}

/// The offset of a clock in seconds and cycles. Neither format has negative
/// cycles, nor CTF 2 a second of them.
pub(super) fn clock_offset(clock: &ClockClass) -> (i64, i64) {
    let (seconds, cycles) = (clock.offset_seconds, clock.offset_cycles);
    if u64::try_from(cycles).is_ok_and(|cycles| cycles < clock.frequency) {
        return (seconds, cycles);
    }
    let frequency = i128::from(clock.frequency.max(1));
    let all = i128::from(seconds) * frequency + i128::from(cycles);
    (all.div_euclid(frequency) as i64, all.rem_euclid(frequency) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_both_byte_orders() {
        let mut schema = Schema::new(Format::Ctf1);
        schema.uuid = Some(Uuid([7; 16]));
        let little = packetized_metadata(&schema, "abcde", HEADER + 3);
        assert_eq!(little.len(), 2 * HEADER + 5);
        assert_eq!(little[..4], [0x57, 0x1d, 0xd1, 0x75]);
        assert_eq!(little[24..28], (40u32 * 8).to_le_bytes());
        assert_eq!(little[28..32], (40u32 * 8).to_le_bytes());
        assert_eq!(little[32..40], [0, 0, 0, 1, 8, b'a', b'b', b'c']);
        assert_eq!(little[40 + 24..40 + 28], (39u32 * 8).to_le_bytes());
        schema.native_byte_order = ByteOrder::Big;
        let big = packetized_metadata(&schema, "abcde", 4096);
        assert_eq!(big[..4], [0x75, 0xd1, 0x1d, 0x57]);
        assert_eq!(big[24..28], (42u32 * 8).to_be_bytes());
    }
}
