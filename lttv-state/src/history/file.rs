//! History files: what is around the blocks.
//!
//! All numbers are little-endian.
//!
//! ```text
//! header   8 bytes  89 4c 53 48 0d 0a 1a 0a
//!          u32      format, 5
//!          u32      length of the rest of the header
//!          u32      CRC-32 of format, that length and the rest
//!          rest     i64 start of the history, identity
//! frames   u32      CRC-32 of the rest of the frame
//!          u32      kind: 1 a block, 2 the index
//!          u64      length of the content
//!          content
//! trailer  8 bytes  0a 1a 0a 0d 48 53 4c 89
//!          u64      where the index frame begins
//!          u64      length of the file
//!          u32      CRC-32 of these two
//! ```
//! A file grows by whole frames, and is whole if it ends with a trailer. Each
//! byte is covered by a check: one that changes is found when its frame is
//! first used.
//!
//! ```text
//! index    i64  end of the history
//!          u32  attributes, u32 blocks
//!          for each block: u64 where its frame begins, u64 its content's
//!               length, and its head
//!          for each 64 blocks: their rows, see `rows`
//!          intervals that last over whole blocks, see `lasting`
//!          if there is one, the mark: i64 time, i64 time up to which all was stored,
//!               varint length of the note, LZ4 note
//! ```

use std::ops::Range;

use super::bits::Bytes;
use super::block::{BlockHead, Layout};
use super::error::Error;
use super::identity::Identity;
use super::lasting::Lasting;
use super::mark::Mark;
use super::rows::{self, GROUP, Group, GrowingRows};

const MAGIC: [u8; 8] = *b"\x89LSH\r\n\x1a\n";
const END_MAGIC: [u8; 8] = *b"\n\x1a\n\rHSL\x89";
const FORMAT: u32 = 5;
pub(super) const FRAME_HEAD: usize = 16;
const TRAILER: usize = 28;
const FIXED_HEADER: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    Block = 1,
    Index = 2,
}

/// A block of a history: where it is, and its head.
#[derive(Debug, Clone)]
pub(super) struct BlockEntry {
    /// Where its frame begins.
    pub(super) offset: u64,
    /// Its content in the bytes that it is read from.
    pub(super) content: Range<usize>,
    pub(super) head: BlockHead,
    pub(super) layout: Layout,
}

pub(super) fn damaged(what: &'static str, offset: u64) -> Error {
    Error::Damaged { what, block: None, offset }
}

/// The header of a file: start of the history and identity.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) start: i64,
    pub(super) identity: Identity,
    pub(super) len: usize,
}

pub(super) fn write_header(start: i64, identity: &Identity) -> Vec<u8> {
    let mut rest = start.to_le_bytes().to_vec();
    identity.write(&mut rest);
    let mut checked = FORMAT.to_le_bytes().to_vec();
    checked.extend_from_slice(&(rest.len() as u32).to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&checked);
    hasher.update(&rest);
    [&MAGIC[..], &checked, &hasher.finalize().to_le_bytes(), &rest].concat()
}

pub(super) fn read_header(file: &[u8]) -> Result<Header, Error> {
    let Some(fixed) = file.get(..FIXED_HEADER) else {
        return Err(match file.len() {
            0 => Error::Unfinished,
            len if MAGIC.starts_with(&file[..len.min(8)]) => Error::Unfinished,
            _ => Error::NotAHistory,
        });
    };
    if fixed[..8] != MAGIC {
        return Err(Error::NotAHistory);
    }
    let mut bytes = Bytes::new(file, 8);
    let (format, rest_len, check) = (bytes.u32(), bytes.u32() as usize, bytes.u32());
    if format != FORMAT {
        return Err(Error::Version { found: format, known: FORMAT });
    }
    let rest = bytes.take(rest_len).ok_or(Error::Unfinished)?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&fixed[8..16]);
    hasher.update(rest);
    if hasher.finalize() != check {
        return Err(damaged("header", 0));
    }
    let mut bytes = Bytes::new(rest, 0);
    let start = bytes.u64() as i64;
    let identity = Identity::read(&mut bytes).ok_or(damaged("identity", 0))?;
    Ok(Header { start, identity, len: FIXED_HEADER + rest_len })
}

/// Makes a frame: `write` appends its content.
pub(super) fn frame<R>(
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

/// A frame's kind and content, unchecked. None if it is not all there.
pub(super) fn frame_at(file: &[u8], at: u64) -> Option<(u32, Range<usize>)> {
    let at = usize::try_from(at).ok()?;
    file.get(at..at.checked_add(FRAME_HEAD)?)?;
    let mut bytes = Bytes::new(file, at + 4);
    let (kind, len) = (bytes.u32(), usize::try_from(bytes.u64()).ok()?);
    let content = bytes.at..bytes.at.checked_add(len)?;
    (content.end <= file.len()).then_some((kind, content))
}

/// Whether a frame is what was written, given where its content is.
pub(super) fn is_intact(file: &[u8], content: &Range<usize>) -> bool {
    let Some(start) = content.start.checked_sub(FRAME_HEAD) else { return false };
    let Some(frame) = file.get(start..content.end) else { return false };
    crc32fast::hash(&frame[4..]) == Bytes::new(frame, 0).u32()
}

pub(super) fn write_index(
    out: &mut Vec<u8>,
    end: i64,
    quarks: usize,
    blocks: &[BlockEntry],
    rows: &GrowingRows,
    lasting: impl FnOnce(&mut Vec<u8>),
    mark: Option<&Mark>,
) {
    out.extend_from_slice(&end.to_le_bytes());
    out.extend_from_slice(&(quarks as u32).to_le_bytes());
    out.extend_from_slice(&(blocks.len() as u32).to_le_bytes());
    for block in blocks {
        out.extend_from_slice(&block.offset.to_le_bytes());
        out.extend_from_slice(&(block.content.len() as u64).to_le_bytes());
        block.head.write(out);
    }
    for (rows, blocks) in rows.groups() {
        rows::write(out, rows, blocks, quarks);
    }
    lasting(out);
    if let Some(mark) = mark {
        mark.write(out);
    }
}

pub(super) fn trailer(index: u64, len_before: u64) -> Vec<u8> {
    let mut numbers = index.to_le_bytes().to_vec();
    numbers.extend_from_slice(&(len_before + TRAILER as u64).to_le_bytes());
    let check = crc32fast::hash(&numbers);
    [&END_MAGIC[..], &numbers, &check.to_le_bytes()].concat()
}

/// What the index of a finished file says.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) end: i64,
    pub(super) blocks: Vec<BlockEntry>,
    pub(super) groups: Vec<Group>,
    pub(super) lasting: Lasting,
    pub(super) mark: Option<Mark>,
}

pub(super) fn read_index(file: &[u8], header: &Header) -> Result<Index, Error> {
    let trailer_at = file.len().checked_sub(TRAILER).filter(|at| *at >= header.len);
    let trailer_at = trailer_at.ok_or(Error::Unfinished)?;
    let mut bytes = Bytes::new(file, trailer_at);
    if bytes.take(8) != Some(&END_MAGIC) {
        return Err(Error::Unfinished);
    }
    let (index_at, len, check) = (bytes.u64(), bytes.u64(), bytes.u32());
    if crc32fast::hash(&file[trailer_at + 8..trailer_at + 24]) != check {
        return Err(damaged("trailer", trailer_at as u64));
    }
    if len != file.len() as u64 {
        return Err(damaged("length of the file", trailer_at as u64));
    }
    let bad = damaged("index", index_at);
    let Some((kind, content)) = frame_at(file, index_at) else { return Err(bad) };
    let whole = kind == FrameKind::Index as u32 && content.end == trailer_at;
    if !whole || !is_intact(file, &content) {
        return Err(bad);
    }
    let blocks_end = index_at;
    parse_index(file, content, header, blocks_end).ok_or(bad)
}

fn parse_index(
    file: &[u8],
    content: Range<usize>,
    header: &Header,
    blocks_end: u64,
) -> Option<Index> {
    const ENTRY: usize = 16 + BlockHead::LEN;
    let mut bytes = Bytes::new(&file[..content.end], content.start);
    let end = bytes.u64() as i64;
    let (quarks, count) = (bytes.u32() as usize, bytes.u32() as usize);
    let mut blocks = Vec::new();
    // So many entries must be there before memory is made for them.
    Bytes { ..bytes }.take(count.checked_mul(ENTRY)?)?;
    blocks.reserve_exact(count);
    let mut chain = Chain::new(header);
    for _ in 0..count {
        let (offset, len) = (bytes.u64(), usize::try_from(bytes.u64()).ok()?);
        let start = usize::try_from(offset).ok()?.checked_add(FRAME_HEAD)?;
        let content = start..start.checked_add(len)?;
        let head = BlockHead::read(&mut bytes);
        blocks.push(chain.accept(offset, content, head)?);
    }
    if chain.offset != blocks_end || chain.quarks as usize != quarks || end < chain.horizon {
        return None;
    }
    let mut groups = Vec::new();
    for group in 0..count.div_ceil(GROUP) {
        let blocks = (count - group * GROUP).min(GROUP);
        groups.push(Group::in_file(bytes.at, blocks, quarks));
        bytes.take(rows::stride(blocks).checked_mul(quarks)?)?;
    }
    let lasting = Lasting::parse(&mut bytes, header.start)?;
    let mark = match file.get(bytes.at..content.end)? {
        [] => None,
        mark => Some(Mark::read(mark)?),
    };
    Some(Index { end, blocks, groups, lasting, mark })
}

/// Checks that blocks follow each other as they should.
#[derive(Debug)]
pub(super) struct Chain {
    /// Where the next block begins.
    pub(super) offset: u64,
    pub(super) horizon: i64,
    quarks: u32,
    texts: u32,
}

impl Chain {
    pub(super) fn new(header: &Header) -> Chain {
        Chain { offset: header.len as u64, horizon: header.start, quarks: 0, texts: 0 }
    }

    pub(super) fn accept(
        &mut self,
        offset: u64,
        content: Range<usize>,
        head: BlockHead,
    ) -> Option<BlockEntry> {
        let follows = offset == self.offset
            && head.base == self.horizon
            && head.horizon >= head.base
            && head.first_quark == self.quarks
            && head.quarks >= head.first_quark
            && head.first_text == self.texts;
        if !follows {
            return None;
        }
        let layout = Layout::of(&head, content.len())?;
        self.offset = content.end as u64;
        self.horizon = head.horizon;
        self.quarks = head.quarks;
        self.texts = head.first_text.checked_add(head.texts)?;
        Some(BlockEntry { offset, content, head, layout })
    }
}
