//! Packetized metadata (CTF 1.8.3 section 7.1, CTF 2 section "metadata stream").
//!
//! A metadata stream is plain text or a sequence of packets, each with a header, text and
//! padding. The byte order of the magic number applies to all headers.
//!
//! The header of CTF 1.8 has 37 bytes. CTF 2 has two forms: the same 37 bytes with
//! version 2.0, as LTTng writes them, and the header of CTF2-PMETA-1.0, with three more
//! reserved bytes and the size of the header in bits: at least 44 bytes.

use std::borrow::Cow;

use super::{Diagnostic, MetadataError, Span};
use crate::base::uuid::Uuid;
use crate::schema::ByteOrder;

const MAGIC: u32 = 0x75d1_1d57;
const HEADER_SIZE: usize = 37;
/// The minimum size of a header of CTF2-PMETA-1.0, in bytes.
const LONG_HEADER_SIZE: usize = 44;
/// The offset of the header size in a header of CTF2-PMETA-1.0.
const LONG_HEADER_SIZE_AT: usize = 40;

/// The used fields of a packet header.
#[derive(Clone, Copy)]
struct Header {
    uuid: Uuid,
    version: (u8, u8),
    /// The size of the header in bytes.
    size: usize,
    /// The size of header and text in bytes.
    content_size: usize,
    /// The size of header, text and padding in bytes.
    packet_size: usize,
}

/// The text of a metadata file.
#[derive(Debug)]
pub(super) struct Unpacked<'a> {
    /// The text: up to the damage, if there is some.
    pub(super) text: Cow<'a, str>,
    /// The reason why the text ends too early. Its place is the end of the text.
    pub(super) damage: Option<MetadataError>,
}

/// Returns the text of a metadata file, unpacked if it is packetized.
pub(super) fn unpack(bytes: &[u8]) -> Result<Unpacked<'_>, MetadataError> {
    if bytes.is_empty() {
        return Err(error("the metadata is empty".into()));
    }
    // Comments and strings may contain invalid UTF-8; the parsers reject replacement
    // characters elsewhere.
    let mut damage = None;
    let mut text = match byte_order(bytes) {
        Some(byte_order) => {
            let (text, failed) = unpack_packets(bytes, byte_order);
            let text = String::from_utf8(text)
                .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
            damage = failed.map(|(packet, offset, message)| {
                let message = format!("metadata packet {packet} at byte {offset}: {message}");
                let end = Span::new(text.len(), text.len());
                MetadataError::new(&text, vec![Diagnostic::error(end, message)])
            });
            Cow::Owned(text)
        }
        None => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            // Sound text takes much less time than to look for what is not.
            std::str::from_utf8(bytes)
                .map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
        }
    };
    if let Some(at) = memchr::memchr(0, text.as_bytes()) {
        let message = "null character in metadata text";
        let null = vec![Diagnostic::error(Span::new(at, at + 1), message)];
        damage = Some(MetadataError::new(&text, null));
        match &mut text {
            Cow::Borrowed(text) => *text = &text[..at],
            Cow::Owned(text) => text.truncate(at),
        }
    }
    match damage {
        damage if !text.trim_ascii().is_empty() => Ok(Unpacked { text, damage }),
        Some(damage) => Err(damage),
        None => Err(error("the metadata has no text".into())),
    }
}

/// Returns the first bytes of a metadata stream that is still being written, up to the end of
/// its last whole packet. Text that is not packetized is returned completely.
pub(super) fn whole_packets(bytes: &[u8]) -> &[u8] {
    let Some(byte_order) = byte_order(bytes) else { return bytes };
    let mut end = 0;
    while let Some(packet) = bytes.get(end..).filter(|packet| packet.len() >= HEADER_SIZE) {
        match header(packet, byte_order) {
            Ok(header) if header.packet_size <= packet.len() => end += header.packet_size,
            Ok(_) => break,
            // The parser reports the error.
            Err(_) => return bytes,
        }
    }
    &bytes[..end]
}

fn error(message: String) -> MetadataError {
    MetadataError::new("", vec![Diagnostic::error(Span::default(), message)])
}

/// Returns the byte order of packet headers, or `None` if the file is not packetized.
fn byte_order(bytes: &[u8]) -> Option<ByteOrder> {
    let magic = bytes.first_chunk()?;
    if u32::from_le_bytes(*magic) == MAGIC {
        Some(ByteOrder::Little)
    } else if u32::from_be_bytes(*magic) == MAGIC {
        Some(ByteOrder::Big)
    } else {
        None
    }
}

/// The number of a packet, its offset, and what is wrong with it.
type PacketFault = (usize, usize, String);

/// Concatenates the texts of all packets, up to the first fault, which is returned with them. Of a
/// packet that the file cuts, its part of the text is included.
fn unpack_packets(bytes: &[u8], byte_order: ByteOrder) -> (Vec<u8>, Option<PacketFault>) {
    let mut text = Vec::with_capacity(bytes.len());
    let mut first: Option<Header> = None;
    let mut offset = 0;
    for number in 1.. {
        let packet = &bytes[offset..];
        if packet.is_empty() {
            break;
        }
        let header = match header(packet, byte_order) {
            Ok(header) => header,
            Err(message) => return (text, Some((number, offset, message))),
        };
        let first = *first.get_or_insert(header);
        if header.uuid != first.uuid {
            let message = format!("UUID {} differs from {} of packet 1", header.uuid, first.uuid);
            return (text, Some((number, offset, message)));
        }
        if header.version != first.version {
            let ((a, b), (c, d)) = (header.version, first.version);
            let message = format!("version {a}.{b} differs from {c}.{d} of packet 1");
            return (text, Some((number, offset, message)));
        }
        let Some(content) = packet.get(header.size..header.content_size) else {
            let missing = header.content_size - packet.len();
            let message = format!("the file ends {missing} bytes before the end of the text");
            text.extend_from_slice(packet.get(header.size..).unwrap_or_default());
            return (text, Some((number, offset, message)));
        };
        text.extend_from_slice(content);
        // A file that ends within the padding of its last packet is complete.
        offset += header.packet_size.min(packet.len());
    }
    (text, None)
}

/// Reads and checks the header of a packet.
fn header(packet: &[u8], byte_order: ByteOrder) -> Result<Header, String> {
    let Some(header) = packet.first_chunk::<HEADER_SIZE>() else {
        return Err(format!(
            "the header has {HEADER_SIZE} bytes, but the file ends after {}",
            packet.len()
        ));
    };
    let u32_at = |at: usize| {
        let bytes = packet.get(at..).and_then(|rest| rest.first_chunk()).copied();
        match byte_order {
            ByteOrder::Little => u32::from_le_bytes(bytes.unwrap_or_default()),
            ByteOrder::Big => u32::from_be_bytes(bytes.unwrap_or_default()),
        }
    };
    if u32_at(0) != MAGIC {
        return Err(format!("expected magic number {MAGIC:#x}, found {:#x}", u32_at(0)));
    }
    let size_at = |at, what| match u32_at(at) {
        bits if bits % 8 != 0 => Err(format!("the {what} size, {bits} bits, is not whole bytes")),
        bits => Ok(bits as usize / 8),
    };
    let content_size = size_at(24, "content")?;
    let packet_size = size_at(28, "packet")?;
    let [compression, encryption, checksum, major, minor] =
        [header[32], header[33], header[34], header[35], header[36]];
    if !matches!((major, minor), (1, 8) | (2, _)) {
        return Err(format!("expected version 1.8 or 2.0, found {major}.{minor}"));
    }
    for (what, scheme) in
        [("compression", compression), ("encryption", encryption), ("checksum", checksum)]
    {
        if scheme != 0 {
            return Err(format!("{what} scheme {scheme} is not supported"));
        }
    }
    if content_size < HEADER_SIZE {
        return Err(format!(
            "a content size of {content_size} bytes is less than the header's {HEADER_SIZE}"
        ));
    }
    if packet_size < content_size {
        return Err(format!(
            "a packet size of {packet_size} bytes is less than the content's {content_size}"
        ));
    }
    let size = match major == 2 && is_long(packet, content_size) {
        true => size_at(LONG_HEADER_SIZE_AT, "header")?,
        false => HEADER_SIZE,
    };
    if size != HEADER_SIZE && !(LONG_HEADER_SIZE..=content_size).contains(&size) {
        return Err(format!(
            "a header size of {size} bytes is not between {LONG_HEADER_SIZE} and the content's \
             {content_size}"
        ));
    }
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&header[4..20]);
    Ok(Header { uuid: Uuid(uuid), version: (major, minor), size, content_size, packet_size })
}

/// Returns `true` if a packet of CTF 2 metadata has the header of CTF2-PMETA-1.0. Text
/// contains no null characters, and the header size contains at least one.
fn is_long(packet: &[u8], content_size: usize) -> bool {
    let more = packet.get(HEADER_SIZE..LONG_HEADER_SIZE);
    content_size >= LONG_HEADER_SIZE && more.is_some_and(|more| more.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(byte_order: ByteOrder, text: &str, padding: usize) -> Vec<u8> {
        let content = (HEADER_SIZE + text.len()) * 8;
        let u32 = |n: usize| match byte_order {
            ByteOrder::Little => (n as u32).to_le_bytes(),
            ByteOrder::Big => (n as u32).to_be_bytes(),
        };
        let mut packet = u32(MAGIC as usize).to_vec();
        packet.extend([7; 16]);
        packet.extend([0; 4]);
        packet.extend(u32(content));
        packet.extend(u32(content + padding * 8));
        packet.extend([0, 0, 0, 1, 8]);
        packet.extend(text.as_bytes());
        packet.resize(packet.len() + padding, 0);
        packet
    }

    fn message(bytes: &[u8]) -> String {
        let error = unpack(bytes).map_or_else(Some, |unpacked| unpacked.damage);
        error.unwrap().diagnostics[0].diagnostic.message.clone()
    }

    #[test]
    fn plain_text() {
        assert_eq!(unpack(b"/* CTF 1.8 */ x").unwrap().text, "/* CTF 1.8 */ x");
        assert_eq!(unpack(b"\xef\xbb\xbftrace").unwrap().text, "trace");
        assert_eq!(unpack(b"\"\xff\"").unwrap().text, "\"\u{fffd}\"");
        assert_eq!(message(b""), "the metadata is empty");
        assert_eq!(message(b" \n"), "the metadata has no text");
        let error = unpack(b"a\nb\0").unwrap().damage.unwrap();
        assert_eq!((error.diagnostics[0].place.line, error.diagnostics[0].place.column), (2, 2));
    }

    #[test]
    fn packets_of_both_byte_orders() {
        for byte_order in [ByteOrder::Little, ByteOrder::Big] {
            let mut bytes = packet(byte_order, "tra", 5);
            bytes.extend(packet(byte_order, "", 3));
            bytes.extend(packet(byte_order, "ce", 0));
            assert_eq!(unpack(&bytes).unwrap().text, "trace");
        }
    }

    /// Builds a packet of CTF2-PMETA-1.0, with `extra` more header bytes.
    fn long_packet(byte_order: ByteOrder, text: &str, extra: usize, padding: usize) -> Vec<u8> {
        let u32 = |n: usize| match byte_order {
            ByteOrder::Little => (n as u32).to_le_bytes(),
            ByteOrder::Big => (n as u32).to_be_bytes(),
        };
        let content = 44 + extra + text.len();
        let mut packet = u32(0x75d1_1d57).to_vec();
        packet.extend([7; 16]); // UUID
        packet.extend([0xab; 4]); // checksum, to be ignored
        packet.extend(u32(8 * content));
        packet.extend(u32(8 * (content + padding)));
        packet.extend([0, 0, 0, 2, 0]); // schemes, version
        packet.extend([0xff, 0, 0xff]); // reserved
        packet.extend(u32(8 * (44 + extra)));
        packet.extend(vec![b'!'; extra]);
        packet.extend(text.as_bytes());
        packet.resize(packet.len() + padding, 0);
        packet
    }

    #[test]
    fn packets_of_ctf2_pmeta_are_unpacked() {
        for byte_order in [ByteOrder::Little, ByteOrder::Big] {
            let mut bytes = long_packet(byte_order, "\u{1e}{ \"ty", 0, 3);
            bytes.extend(long_packet(byte_order, "", 0, 9));
            bytes.extend(long_packet(byte_order, "pe\" }", 5, 0));
            assert_eq!(unpack(&bytes).unwrap().text, "\u{1e}{ \"type\" }");
        }
    }

    #[test]
    fn packets_of_ctf2_with_the_header_of_ctf_1_8_are_unpacked() {
        for text in ["", "\u{1e}{}", "\u{1e}{ \"type\": \"preamble\", \"version\": 2 }"] {
            let mut bytes = packet(ByteOrder::Little, text, 20);
            (bytes[35], bytes[36]) = (2, 0);
            bytes.extend(long_packet(ByteOrder::Little, "{}", 0, 0));
            assert_eq!(unpack(&bytes).unwrap().text, format!("{text}{{}}"));
        }
    }

    #[test]
    fn invalid_header_sizes_are_errors() {
        let good = long_packet(ByteOrder::Little, "text", 0, 0);
        for (bits, expected) in [
            (0, "a header size of 0 bytes is not between 44 and the content's 48"),
            (353, "the header size, 353 bits, is not whole bytes"),
            (8 * 43, "a header size of 43 bytes is not between 44 and the content's 48"),
            (8 * 49, "a header size of 49 bytes is not between 44 and the content's 48"),
        ] {
            let mut bytes = good.clone();
            bytes[40..44].copy_from_slice(&u32::to_le_bytes(bits));
            assert_eq!(message(&bytes), format!("metadata packet 1 at byte 0: {expected}"));
        }
    }

    #[test]
    fn truncation_outside_of_padding_is_an_error() {
        let one = packet(ByteOrder::Little, "trace", 4);
        let two = [one.clone(), one.clone()].concat();
        for len in 4..two.len() {
            if (one.len() - 4..=one.len()).contains(&len) || len >= two.len() - 4 {
                assert!(
                    unpack(&two[..len]).unwrap().damage.is_none(),
                    "{len}: only padding is cut"
                );
                continue;
            }
            let text = message(&two[..len]);
            let expected = match len < one.len() {
                true => "metadata packet 1 at byte 0: the ",
                false => "metadata packet 2 at byte 46: the ",
            };
            assert!(text.starts_with(expected), "{len}: {text}");
        }
    }

    #[test]
    fn wrong_headers() {
        let good = packet(ByteOrder::Little, "trace", 1);
        for (at, value, expected) in [
            (24, 0x51, "the content size, 337 bits, is not whole bytes"),
            (24, 0x20, "a content size of 4 bytes is less than the header's 37"),
            (28, 0x5a, "the packet size, 346 bits, is not whole bytes"),
            (28, 0x48, "a packet size of 41 bytes is less than the content's 42"),
            (32, 1, "compression scheme 1 is not supported"),
            (33, 2, "encryption scheme 2 is not supported"),
            (34, 3, "checksum scheme 3 is not supported"),
            (35, 3, "expected version 1.8 or 2.0, found 3.8"),
            (36, 7, "expected version 1.8 or 2.0, found 1.7"),
        ] {
            let mut bytes = good.clone();
            bytes[at] = value;
            bytes[25] = u8::from(at != 24 || value != 0x20);
            assert_eq!(message(&bytes), format!("metadata packet 1 at byte 0: {expected}"));
        }
        for (at, expected) in [(0, "expected magic number 0x75d11d57"), (4, "UUID 08070707-")] {
            let mut bytes = [good.clone(), good.clone()].concat();
            bytes[good.len() + at] = 8;
            let text = message(&bytes);
            assert!(text.starts_with("metadata packet 2 at byte 43: "), "{text}");
            assert!(text.contains(expected), "{text}");
        }
    }
}
