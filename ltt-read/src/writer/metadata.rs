//! Metadata files: a schema as text, plain or in packets.

use super::error::WriteError;
use super::roles::has_role;
use super::{ctf2, tsdl};
use crate::base::uuid::Uuid;
use crate::schema::{ByteOrder, Format, Role, Schema, Scope};

/// The magic number of metadata packets, in CTF 1.8 and CTF 2.
const MAGIC: u32 = 0x75D1_1D57;
/// The size of a metadata packet header of CTF 1.8, in bytes.
const HEADER: usize = 37;
/// The size of a metadata packet header of CTF2-PMETA-1.0, in bytes. After the fields of
/// CTF 1.8, it has three reserved bytes and the header size.
const HEADER_OF_CTF2: usize = 44;

/// Prints the metadata text of a schema: TSDL for CTF 1.8, a JSON text sequence for CTF
/// 2.
///
/// # Errors
///
/// Returns [`WriteError::Inexpressible`] if the format cannot express a part of the
/// schema, or if a field has the role of a timestamp and its stream class no default clock:
/// readers could not compute its times.
pub fn metadata_text(schema: &Schema) -> Result<String, WriteError> {
    check_clocks(schema)?;
    match schema.format {
        Format::Ctf1 => tsdl::print(schema),
        Format::Ctf2 => ctf2::print(schema),
        Format::Legacy | Format::Ftrace | Format::Perf => Err(WriteError::Inexpressible {
            place: "schema".to_owned(),
            format: "a metadata language",
            what: "a schema of another format than CTF".to_owned(),
        }),
    }
}

/// Returns an error if timestamps have no clock.
fn check_clocks(schema: &Schema) -> Result<(), WriteError> {
    let format = match schema.format {
        Format::Ctf1 => "TSDL",
        Format::Ctf2 => "CTF 2",
        // It has no metadata.
        Format::Legacy | Format::Ftrace | Format::Perf => return Ok(()),
    };
    for stream in &schema.stream_classes {
        let clock = stream.default_clock.and_then(|clock| schema.clocks.get(clock as usize));
        let scopes = [
            (Scope::PacketHeader, &schema.packet_header),
            (Scope::PacketContext, &stream.packet_context),
            (Scope::EventHeader, &stream.event_header),
        ];
        for (scope, class) in scopes {
            let timed = [Role::ClockTimestamp, Role::PacketEndTimestamp];
            if clock.is_none() && timed.iter().any(|role| has_role(class.as_deref(), *role)) {
                return Err(WriteError::Inexpressible {
                    place: format!("stream class {}: {}", stream.id, scope.ctf2_name()),
                    format,
                    what: "timestamps without a default clock".to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// The size of a metadata packet in bytes, as LTTng writes it.
const PACKET: usize = 4096;

/// Prints the metadata text of a schema in packets.
pub(super) fn packed_metadata(schema: &Schema) -> Result<Vec<u8>, WriteError> {
    Ok(packetized_metadata(schema, &metadata_text(schema)?, PACKET))
}

/// Splits metadata text into packets of at most `packet_bytes` bytes each: packets of CTF
/// 1.8, or of CTF2-PMETA-1.0 for a schema of CTF 2.
pub fn packetized_metadata(schema: &Schema, text: &str, packet_bytes: usize) -> Vec<u8> {
    let (major, minor) = schema.version;
    let uuid = schema.uuid.unwrap_or(Uuid([0; 16]));
    let header = if schema.format == Format::Ctf2 { HEADER_OF_CTF2 } else { HEADER };
    let mut out = Vec::with_capacity(text.len() + text.len() / 8);
    for content in text.as_bytes().chunks(packet_bytes.saturating_sub(header).max(1)) {
        let bits = |bytes: usize| u32::try_from(bytes * 8).unwrap_or(u32::MAX);
        let size = bits(header + content.len());
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
        if header == HEADER_OF_CTF2 {
            out.extend([0; 3]);
            out.extend_from_slice(&word(bits(header)));
        }
        out.extend_from_slice(content);
    }
    out
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

    #[test]
    fn packets_of_ctf2_have_the_header_that_is_specified() {
        for (order, word) in [
            (ByteOrder::Little, u32::to_le_bytes as fn(u32) -> [u8; 4]),
            (ByteOrder::Big, u32::to_be_bytes),
        ] {
            let mut schema = Schema::new(Format::Ctf2);
            (schema.uuid, schema.native_byte_order) = (Some(Uuid([7; 16])), order);
            let packets = packetized_metadata(&schema, "\u{1e}{}abc", 44 + 4);
            let one = |text: &[u8]| {
                let bits = word(8 * (44 + text.len() as u32));
                let start = [word(0x75d1_1d57), [7; 4], [7; 4], [7; 4], [7; 4], [0; 4], bits, bits];
                let end = [&[0, 0, 0, 2, 0, 0, 0, 0][..], &word(352), text].concat();
                [start.concat(), end].concat()
            };
            assert_eq!(packets, [one(b"\x1e{}a"), one(b"bc")].concat());
            let read = crate::metadata::parse(&packets).unwrap_err();
            let read = read.diagnostics.iter().map(|d| d.line.as_str()).collect::<String>();
            assert!(read.contains("{}abc"), "{read}");
        }
    }
}
