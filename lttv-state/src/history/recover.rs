//! What can be read of a file that was not finished.

use std::path::Path;

use super::bits::Bytes;
use super::block::{Block, BlockHead};
use super::error::Error;
use super::file::{self, BlockEntry, Chain, FrameKind};
use super::lasting::Lasting;
use super::reader::{History, Parts, Store};
use super::rows::{Group, GrowingRows};
use super::sink::partial_path;
use super::source::{Access, Source};
use crate::tree::Tree;

/// The whole blocks of an unfinished file.
#[derive(Debug)]
pub(super) struct Recovered {
    pub(super) history: History,
    pub(super) blocks: Vec<BlockEntry>,
    pub(super) rows: GrowingRows,
    /// The file's length up to its last whole block, in bytes.
    pub(super) len: u64,
}

impl Recovered {
    /// Reads the unfinished file that would have become `path`. Its last block
    /// may be torn, so that each one is checked before it counts.
    pub(super) fn read(path: &Path) -> Result<Recovered, Error> {
        // Others may truncate the file: it must not be mapped.
        Recovered::of(Source::open(&partial_path(path), Access::Read)?)
    }

    /// The same of the bytes of an unfinished file.
    pub(super) fn of(source: Source) -> Result<Recovered, Error> {
        let bytes = source.bytes();
        let header = file::read_header(bytes)?;
        let mut chain = Chain::new(&header);
        let mut blocks = Vec::new();
        let mut rows = GrowingRows::default();
        while let Some((kind, content)) = file::frame_at(bytes, chain.offset) {
            if kind != FrameKind::Block as u32 || !file::is_intact(bytes, &content) {
                break;
            }
            let head = BlockHead::read(&mut Bytes::new(bytes, content.start));
            let bad = file::damaged("order of blocks", chain.offset);
            let block = chain.accept(chain.offset, content, head).ok_or(bad)?;
            rows.push(&present(bytes, &block));
            blocks.push(block);
        }
        let mut history = History::from_parts(Parts {
            start: header.start,
            end: chain.horizon,
            complete: false,
            identity: header.identity,
            blocks: blocks.clone(),
            groups: groups(&rows),
            lasting: Lasting::none(),
            mark: None,
            tree: Tree::new(),
            store: Store::File(source),
        });
        history.read_names()?;
        Ok(Recovered { history, blocks, rows, len: chain.offset })
    }
}

/// The bits that say which attributes have a run in a block.
fn present(file: &[u8], block: &BlockEntry) -> Vec<u64> {
    let data = file.get(block.content.clone()).unwrap_or_default();
    let words = (block.head.quarks as usize).div_ceil(64);
    let block = Block { head: &block.head, layout: &block.layout, data };
    (0..words).map(|at| block.present(at)).collect()
}

/// The groups of a history in memory.
pub(super) fn groups(rows: &GrowingRows) -> Vec<Group> {
    rows.groups().map(|(rows, blocks)| Group::in_memory(rows, blocks)).collect()
}
