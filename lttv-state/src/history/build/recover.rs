//! Reading of unfinished files.

use std::path::Path;

use ltt_read::Access;
use ltt_read::source::FileBytes;

use super::partial_file::partial_path;
use crate::history::block::bits::ByteReader;
use crate::history::block::{Block, BlockHead};
use crate::history::error::HistoryError;
use crate::history::file::index::{BlockEntry, BlockSequence};
use crate::history::file::presence::{PresenceBuilder, PresenceGroup};
use crate::history::file::spanning::SpanningTree;
use crate::history::file::{self, FrameKind};
use crate::history::query::history::{History, Parts, Store};
use crate::tree::Tree;

/// The complete blocks of an unfinished file.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) history: History,
    pub(crate) blocks: Vec<BlockEntry>,
    pub(crate) presence: PresenceBuilder,
    /// The length of the file up to the end of its last complete block, in bytes.
    pub(crate) len: u64,
}

impl Recovered {
    /// Reads the unfinished file of the history at `path`. Each block is checked against
    /// its checksum, since the last one may be incomplete.
    pub(crate) fn read(path: &Path) -> Result<Recovered, HistoryError> {
        // Others may truncate the file, so it must not be mapped.
        let path = partial_path(path);
        let source = FileBytes::open(&path, Access::Read);
        Recovered::of(source.map_err(|error| HistoryError::io(&path, error))?)
    }

    /// Reads the bytes of an unfinished file.
    pub(crate) fn of(source: FileBytes) -> Result<Recovered, HistoryError> {
        let bytes = source.bytes();
        let header = file::read_header(bytes)?;
        let mut sequence = BlockSequence::new(&header);
        let mut blocks = Vec::new();
        let mut presence = PresenceBuilder::default();
        while let Some((kind, content)) = file::frame_at(bytes, sequence.offset) {
            if kind != FrameKind::Block as u32 || !file::is_intact(bytes, &content) {
                break;
            }
            let head = BlockHead::read(&mut ByteReader::new(bytes, content.start));
            let bad = file::damaged("order of blocks", sequence.offset);
            let block = sequence.accept(sequence.offset, content, head).ok_or(bad)?;
            presence.push(&present(bytes, &block));
            blocks.push(block);
        }
        let mut history = History::from_parts(Parts {
            first: header.start,
            last: sequence.horizon,
            complete: false,
            identity: header.identity,
            blocks: blocks.clone(),
            presence: groups(&presence),
            spanning: SpanningTree::none(),
            mark: None,
            tree: Tree::new(),
            store: Store::File(source),
        });
        history.read_names()?;
        Ok(Recovered { history, blocks, presence, len: sequence.offset })
    }
}

/// Returns the presence bits of the attributes of a block.
fn present(file: &[u8], block: &BlockEntry) -> Vec<u64> {
    let data = file.get(block.content.clone()).unwrap_or_default();
    let words = (block.head.quarks as usize).div_ceil(64);
    let block = Block { head: &block.head, layout: &block.layout, data };
    (0..words).map(|at| block.present(at)).collect()
}

/// Returns the presence index of a history that has no stored one.
pub(crate) fn groups(presence: &PresenceBuilder) -> Vec<PresenceGroup> {
    presence.groups().map(|(rows, blocks)| PresenceGroup::in_memory(rows, blocks)).collect()
}

impl History {
    /// Reads the part of an unfinished history that was stored: all states up to its last
    /// complete block, where the returned history ends.
    ///
    /// `path` is the name that the finished file would have. If that file exists, it is
    /// opened. An unfinished file is read into memory, since a builder may continue it in
    /// the meantime.
    ///
    /// # Errors
    ///
    /// Returns an error if neither file exists, or if it is damaged before its last block.
    pub fn recover(path: impl AsRef<Path>) -> Result<History, HistoryError> {
        let path = path.as_ref();
        if path.exists() {
            return History::open(path);
        }
        match Recovered::read(path) {
            Ok(recovered) => Ok(recovered.history),
            // The file may have been finished in the meantime.
            Err(_) if path.exists() => History::open(path),
            Err(error) => Err(error),
        }
    }
}
