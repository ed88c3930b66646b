//! The index of a finished file, which locates its blocks.
//!
//! ```text
//! i64      end of the history, in ns
//! u32      number of attributes
//! u32      number of blocks
//! entries  for each block: u64 offset of its frame in the file, u64 length of its content,
//!          and its head
//! presence for each group of 64 blocks: see `presence`
//! tree     intervals that span whole blocks: see `spanning`
//! note     up to the end of the index, absent if empty: see `resume_note`
//! ```

use std::ops::Range;

use super::presence::{self, GROUP_BLOCKS, PresenceBuilder, PresenceGroup};
use super::resume_note::ResumeNote;
use super::spanning::SpanningTree;
use super::{END_MAGIC, FRAME_HEAD, FrameKind, Header, TRAILER, damaged, frame_at, is_intact};
use crate::history::block::bits::ByteReader;
use crate::history::block::{BlockHead, Layout};
use crate::history::error::HistoryError;

/// The location and the head of a block.
#[derive(Debug, Clone)]
pub(crate) struct BlockEntry {
    /// The offset of its frame in the file, in bytes.
    pub(crate) offset: u64,
    /// The range of its content in the bytes that the history is read from: the file, or a
    /// single frame.
    pub(crate) content: Range<usize>,
    pub(crate) head: BlockHead,
    pub(crate) layout: Layout,
}

pub(crate) fn write(
    out: &mut Vec<u8>,
    end: i64,
    quarks: usize,
    blocks: &[BlockEntry],
    presence: &PresenceBuilder,
    spanning: impl FnOnce(&mut Vec<u8>),
    mark: Option<&ResumeNote>,
) {
    out.extend_from_slice(&end.to_le_bytes());
    out.extend_from_slice(&(quarks as u32).to_le_bytes());
    out.extend_from_slice(&(blocks.len() as u32).to_le_bytes());
    for block in blocks {
        out.extend_from_slice(&block.offset.to_le_bytes());
        out.extend_from_slice(&(block.content.len() as u64).to_le_bytes());
        block.head.write(out);
    }
    for (rows, blocks) in presence.groups() {
        super::presence::write(out, rows, blocks, quarks);
    }
    spanning(out);
    if let Some(mark) = mark {
        mark.write(out);
    }
}

/// The decoded index of a finished file.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) end: i64,
    pub(crate) blocks: Vec<BlockEntry>,
    pub(crate) presence: Vec<PresenceGroup>,
    pub(crate) spanning: SpanningTree,
    pub(crate) mark: Option<ResumeNote>,
}

pub(crate) fn read(file: &[u8], header: &Header) -> Result<Index, HistoryError> {
    let trailer_at = file.len().checked_sub(TRAILER).filter(|at| *at >= header.len);
    let trailer_at = trailer_at.ok_or(HistoryError::Unfinished)?;
    let mut bytes = ByteReader::new(file, trailer_at);
    if bytes.take(8) != Some(&END_MAGIC) {
        return Err(HistoryError::Unfinished);
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
    parse(file, content, header, blocks_end).ok_or(bad)
}

fn parse(file: &[u8], content: Range<usize>, header: &Header, blocks_end: u64) -> Option<Index> {
    const ENTRY: usize = 16 + BlockHead::LEN;
    let mut bytes = ByteReader::new(&file[..content.end], content.start);
    let end = bytes.u64() as i64;
    let (quarks, count) = (bytes.u32() as usize, bytes.u32() as usize);
    let mut blocks = Vec::new();
    // The number of blocks is checked against the size of the index before memory is
    // allocated.
    ByteReader { ..bytes }.take(count.checked_mul(ENTRY)?)?;
    blocks.reserve_exact(count);
    let mut sequence = BlockSequence::new(header);
    for _ in 0..count {
        let (offset, len) = (bytes.u64(), usize::try_from(bytes.u64()).ok()?);
        let start = usize::try_from(offset).ok()?.checked_add(FRAME_HEAD)?;
        let content = start..start.checked_add(len)?;
        let head = BlockHead::read(&mut bytes);
        blocks.push(sequence.accept(offset, content, head)?);
    }
    if sequence.offset != blocks_end || sequence.quarks as usize != quarks || end < sequence.horizon
    {
        return None;
    }
    let mut groups = Vec::new();
    for group in 0..count.div_ceil(GROUP_BLOCKS) {
        let blocks = (count - group * GROUP_BLOCKS).min(GROUP_BLOCKS);
        groups.push(PresenceGroup::in_file(bytes.at, blocks, quarks));
        bytes.take(presence::stride(blocks).checked_mul(quarks)?)?;
    }
    let spanning = SpanningTree::parse(&mut bytes, header.start)?;
    let mark = match file.get(bytes.at..content.end)? {
        [] => None,
        mark => Some(ResumeNote::read(mark)?),
    };
    Some(Index { end, blocks, presence: groups, spanning, mark })
}

/// A check that each block continues where the previous one ended: in the file, in time,
/// and in the numbers of attributes and texts.
#[derive(Debug)]
pub(crate) struct BlockSequence {
    /// The offset of the next block's frame, in bytes.
    pub(crate) offset: u64,
    pub(crate) horizon: i64,
    quarks: u32,
    texts: u32,
}

impl BlockSequence {
    pub(crate) fn new(header: &Header) -> BlockSequence {
        BlockSequence { offset: header.len as u64, horizon: header.start, quarks: 0, texts: 0 }
    }

    pub(crate) fn accept(
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
