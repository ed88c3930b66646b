//! What a history was built from.

use super::bits::{Bytes, put_varint};

/// A source of more bytes is shown by its checksum.
const MAX_SHOWN: usize = 32;

/// What a history was built from, and by what: two histories with the same
/// identity have the same states.
///
/// A file keeps it, so that one that was built from another trace, by another
/// version of an analysis, or with other options is not taken for the right
/// one: [`History::open_for`](super::History::open_for). One of the same input with
/// less of it can be [gone on with](super::Builder::extend).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// The name of the analysis.
    pub producer: String,
    /// Its version: a number that grows when it comes to other states.
    pub version: u32,
    /// A hash of its options, or any number that tells them apart.
    pub options: u64,
    /// A fingerprint of its input: whatever changes when the input does. Such
    /// as a trace's identifier and size, or a hash.
    pub source: Vec<u8>,
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?} version {} options {:x} source ",
            self.producer, self.version, self.options
        )?;
        match self.source.len() {
            0..=MAX_SHOWN => self.source.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
            len => write!(f, "of {len} bytes, CRC-32 {:08x}", crc32fast::hash(&self.source)),
        }
    }
}

impl Identity {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for bytes in [self.producer.as_bytes(), &self.source] {
            put_varint(out, bytes.len() as u64);
            out.extend_from_slice(bytes);
        }
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(&self.options.to_le_bytes());
    }

    pub(super) fn read(bytes: &mut Bytes<'_>) -> Option<Identity> {
        let mut next = || {
            let len = usize::try_from(bytes.varint()).ok()?;
            bytes.take(len).map(<[u8]>::to_vec)
        };
        let (producer, source) = (next()?, next()?);
        let producer = String::from_utf8(producer).ok()?;
        Some(Identity { producer, source, version: bytes.u32(), options: bytes.u64() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_source_is_shown_by_its_checksum() {
        let with = |source: &[u8]| Identity { source: source.into(), ..Identity::default() };
        assert!(with(&[0xab, 1]).to_string().ends_with(" source ab01"));
        let long = with(&[7; 6000]).to_string();
        assert!(long.contains(" source of 6000 bytes, CRC-32 "), "{long}");
        assert_ne!(long, with(&[8; 6000]).to_string());
    }
}
