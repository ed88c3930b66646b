//! The format of history files around their blocks: header, frames and trailer.
//!
//! `docs/history-format.md` describes the whole format. All integers are little-endian.
//!
//! ```text
//! header   8 bytes  89 4c 53 48 0d 0a 1a 0a
//!          u32      version of the format, 5
//!          u32      length of the rest of the header
//!          u32      CRC-32 of the version, that length and the rest
//!          rest     i64 start of the history, identity
//! frames   u32      CRC-32 of the rest of the frame
//!          u32      kind: 1 a block, 2 the index
//!          u64      length of the content
//!          content
//! trailer  8 bytes  0a 1a 0a 0d 48 53 4c 89
//!          u64      offset of the index frame
//!          u64      length of the file
//!          u32      CRC-32 of these two
//! ```
//! A file grows by whole frames, and is finished when it ends with a trailer. Each byte is
//! covered by a comparison or a checksum, so that a changed byte is found when its frame is
//! first used.
//!
//! This layer uses `block`.

pub(crate) mod index;
pub(crate) mod lazy_frame;
pub(crate) mod presence;
pub(crate) mod resume_note;
pub(crate) mod spanning;

use std::ops::Range;

use crate::history::block::bits::ByteReader;
use crate::history::error::HistoryError;
use crate::history::identity::HistoryIdentity;

const MAGIC: [u8; 8] = *b"\x89LSH\r\n\x1a\n";
const END_MAGIC: [u8; 8] = *b"\n\x1a\n\rHSL\x89";
const FORMAT: u32 = 5;
pub(crate) const FRAME_HEAD: usize = 16;
const TRAILER: usize = 28;
const FIXED_HEADER: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Block = 1,
    Index = 2,
}

pub(crate) fn damaged(what: &'static str, offset: u64) -> HistoryError {
    HistoryError::Damaged { what, block: None, offset }
}

/// The decoded header of a file.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) start: i64,
    pub(crate) identity: HistoryIdentity,
    pub(crate) len: usize,
}

pub(crate) fn write_header(start: i64, identity: &HistoryIdentity) -> Vec<u8> {
    let mut rest = start.to_le_bytes().to_vec();
    identity.write(&mut rest);
    let mut checked = FORMAT.to_le_bytes().to_vec();
    checked.extend_from_slice(&(rest.len() as u32).to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&checked);
    hasher.update(&rest);
    [&MAGIC[..], &checked, &hasher.finalize().to_le_bytes(), &rest].concat()
}

pub(crate) fn read_header(file: &[u8]) -> Result<Header, HistoryError> {
    let Some(fixed) = file.get(..FIXED_HEADER) else {
        return Err(match file.len() {
            0 => HistoryError::Unfinished,
            len if MAGIC.starts_with(&file[..len.min(8)]) => HistoryError::Unfinished,
            _ => HistoryError::NotAHistory,
        });
    };
    if fixed[..8] != MAGIC {
        return Err(HistoryError::NotAHistory);
    }
    let mut bytes = ByteReader::new(file, 8);
    let (format, rest_len, check) = (bytes.u32(), bytes.u32() as usize, bytes.u32());
    if format != FORMAT {
        return Err(HistoryError::Version { found: format, known: FORMAT });
    }
    let rest = bytes.take(rest_len).ok_or(HistoryError::Unfinished)?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&fixed[8..16]);
    hasher.update(rest);
    if hasher.finalize() != check {
        return Err(damaged("header", 0));
    }
    let mut bytes = ByteReader::new(rest, 0);
    let start = bytes.u64() as i64;
    let identity = HistoryIdentity::read(&mut bytes).ok_or(damaged("identity", 0))?;
    Ok(Header { start, identity, len: FIXED_HEADER + rest_len })
}

/// Replaces `out` with a frame whose content `write` appends.
pub(crate) fn frame<R>(
    out: &mut Vec<u8>,
    kind: FrameKind,
    write: impl FnOnce(&mut Vec<u8>) -> R,
) -> R {
    out.clear();
    out.extend_from_slice(&[0; FRAME_HEAD]);
    let result = write(out);
    let len = (out.len() - FRAME_HEAD) as u64;
    out[4..8].copy_from_slice(&(kind as u32).to_le_bytes());
    out[8..16].copy_from_slice(&len.to_le_bytes());
    let check = crc32fast::hash(&out[4..]);
    out[..4].copy_from_slice(&check.to_le_bytes());
    result
}

/// Returns the kind and the content range of the frame at byte `at`, without checking its
/// checksum. `None` if the frame is not complete.
pub(crate) fn frame_at(file: &[u8], at: u64) -> Option<(u32, Range<usize>)> {
    let at = usize::try_from(at).ok()?;
    file.get(at..at.checked_add(FRAME_HEAD)?)?;
    let mut bytes = ByteReader::new(file, at + 4);
    let (kind, len) = (bytes.u32(), usize::try_from(bytes.u64()).ok()?);
    let content = bytes.at..bytes.at.checked_add(len)?;
    (content.end <= file.len()).then_some((kind, content))
}

/// Checks a frame, given the range of its content, against its checksum.
pub(crate) fn is_intact(file: &[u8], content: &Range<usize>) -> bool {
    let Some(start) = content.start.checked_sub(FRAME_HEAD) else { return false };
    let Some(frame) = file.get(start..content.end) else { return false };
    crc32fast::hash(&frame[4..]) == ByteReader::new(frame, 0).u32()
}

pub(crate) fn trailer(index: u64, len_before: u64) -> Vec<u8> {
    let mut numbers = index.to_le_bytes().to_vec();
    numbers.extend_from_slice(&(len_before + TRAILER as u64).to_le_bytes());
    let check = crc32fast::hash(&numbers);
    [&END_MAGIC[..], &numbers, &check.to_le_bytes()].concat()
}
