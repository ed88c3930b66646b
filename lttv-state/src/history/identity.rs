//! The identity of a history: its producer and its source.

use super::block::bits::{ByteReader, put_varint};

/// The greatest length of a source that is displayed in full, in bytes.
const MAX_SHOWN: usize = 32;

/// The producer and the source of a history. Two histories with the same identity have the
/// same states.
///
/// A file stores it, so that a history of another trace, of another version of an analysis,
/// or with other options is not taken for the expected one: see
/// [`History::open_for`](super::History::open_for). A history of the same source in an
/// earlier, shorter state can be [extended](super::Builder::extend).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HistoryIdentity {
    /// The name of the analysis that built the history.
    pub producer: String,
    /// The version of the analysis: a number that increases whenever its states change.
    pub version: u32,
    /// A hash of the analysis's options, or any other number that distinguishes them.
    pub options: u64,
    /// A fingerprint of the input, which changes whenever the input does: for example a
    /// trace's identifier and size, or a hash.
    pub source: Vec<u8>,
}

impl std::fmt::Display for HistoryIdentity {
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

impl HistoryIdentity {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for bytes in [self.producer.as_bytes(), &self.source] {
            put_varint(out, bytes.len() as u64);
            out.extend_from_slice(bytes);
        }
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(&self.options.to_le_bytes());
    }

    pub(crate) fn read(bytes: &mut ByteReader<'_>) -> Option<HistoryIdentity> {
        let mut next = || {
            let len = usize::try_from(bytes.varint()).ok()?;
            bytes.take(len).map(<[u8]>::to_vec)
        };
        let (producer, source) = (next()?, next()?);
        let producer = String::from_utf8(producer).ok()?;
        Some(HistoryIdentity { producer, source, version: bytes.u32(), options: bytes.u64() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_source_is_shown_by_its_checksum() {
        let with =
            |source: &[u8]| HistoryIdentity { source: source.into(), ..HistoryIdentity::default() };
        assert!(with(&[0xab, 1]).to_string().ends_with(" source ab01"));
        let long = with(&[7; 6000]).to_string();
        assert!(long.contains(" source of 6000 bytes, CRC-32 "), "{long}");
        assert_ne!(long, with(&[8; 6000]).to_string());
    }
}
