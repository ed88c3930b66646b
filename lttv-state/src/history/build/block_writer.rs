//! Writing of blocks and of the index, and publishing of blocks to readers.

use std::sync::Arc;

use super::clock::Clock;
use super::live::Live;
use super::partial_file::PartialFile;
use super::recover::{Recovered, groups};
use super::states::States;
use crate::history::block::Layout;
use crate::history::error::HistoryError;
use crate::history::file::index::{self, BlockEntry};
use crate::history::file::presence::PresenceBuilder;
use crate::history::file::resume_note::ResumeNote;
use crate::history::file::spanning::{SpanningTree, SpanningTreeBuilder};
use crate::history::file::{self, FRAME_HEAD, FrameKind};
use crate::history::identity::HistoryIdentity;
use crate::history::query::history::{History, Parts, Store};
use crate::tree::Tree;

/// The destination of frames.
#[derive(Debug)]
pub(super) enum Output {
    /// A list of frames.
    Memory(Vec<Arc<[u8]>>),
    File(PartialFile),
}

/// The blocks of a history that is being built, and what the index contains of them.
pub(super) struct BlockWriter {
    identity: HistoryIdentity,
    output: Output,
    blocks: Vec<BlockEntry>,
    presence: PresenceBuilder,
    spanning: SpanningTreeBuilder,
    note: Option<ResumeNote>,
    /// The last frame, kept to be reused.
    frame: Vec<u8>,
    /// A write failed, after which the content of the file is unknown.
    failed: bool,
    live: Option<Live>,
}

impl std::fmt::Debug for BlockWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockWriter").field("blocks", &self.blocks.len()).finish_non_exhaustive()
    }
}

impl BlockWriter {
    pub(super) fn new(identity: HistoryIdentity, output: Output) -> BlockWriter {
        BlockWriter {
            identity,
            output,
            blocks: Vec::new(),
            presence: PresenceBuilder::default(),
            spanning: SpanningTreeBuilder::default(),
            note: None,
            frame: Vec::new(),
            failed: false,
            live: None,
        }
    }

    /// Continues after the blocks of a file.
    pub(super) fn restore(&mut self, recovered: Recovered) -> Result<(), HistoryError> {
        let Recovered { history, blocks, presence, .. } = recovered;
        for block in 0..blocks.len() {
            history.first_intervals(block, |entry| self.spanning.add(block as u32, entry))?;
        }
        (self.blocks, self.presence) = (blocks, presence);
        Ok(())
    }

    pub(super) fn note(&self) -> Option<&ResumeNote> {
        self.note.as_ref()
    }

    pub(super) fn set_note(&mut self, note: ResumeNote) {
        self.note = Some(note);
    }

    /// Returns a handle by which other threads can query the blocks written so far.
    pub(super) fn live(&mut self, tree: &Tree, clock: &Clock) -> Result<Live, HistoryError> {
        let live = match &self.live {
            Some(live) => live.clone(),
            None => Live::new(self.snapshot(tree, clock.start(), clock.horizon())?),
        };
        self.live = Some(live.clone());
        Ok(live)
    }

    /// Writes a block of all changes that are not in blocks yet.
    pub(super) fn write(
        &mut self,
        states: &mut States,
        clock: &mut Clock,
    ) -> Result<(), HistoryError> {
        if self.failed {
            return Err(HistoryError::Failed);
        }
        self.presence.push(states.changed());
        let block = self.blocks.len() as u32;
        let BlockWriter { frame, spanning, .. } = self;
        let head = file::frame(frame, FrameKind::Block, |out| {
            let first = |first| spanning.add(block, first);
            states.write_block(out, clock.horizon(), clock.now(), first)
        });
        let (offset, len) = self.store()?;
        let start = match &self.output {
            Output::Memory(_) => FRAME_HEAD,
            Output::File(_) => offset as usize + FRAME_HEAD,
        };
        let content = start..start + len;
        if let Output::File(file) = &mut self.output {
            file.add_frame(offset, &self.frame);
        }
        // The layout of a block just written is always valid.
        let Some(layout) = Layout::of(&head, len) else {
            self.failed = true;
            return Err(file::damaged("block that was just written", offset));
        };
        self.blocks.push(BlockEntry { offset, content, head, layout });
        clock.all_written();
        states.all_written();
        if let Some(live) = &self.live {
            live.publish(self.snapshot(states.tree(), clock.start(), clock.now())?);
        }
        Ok(())
    }

    /// Stores the frame. Returns its offset, and the length of its content, both in bytes.
    fn store(&mut self) -> Result<(u64, usize), HistoryError> {
        let len = self.frame.len() - FRAME_HEAD;
        let offset = match &mut self.output {
            Output::Memory(frames) => {
                let offset = self
                    .blocks
                    .last()
                    .map_or(0, |last| last.offset + (last.content.len() + FRAME_HEAD) as u64);
                frames.push(self.frame.as_slice().into());
                offset
            }
            Output::File(file) => {
                let offset = file.len();
                if let Err(error) = file.write(&self.frame) {
                    self.failed = true;
                    return Err(error);
                }
                offset
            }
        };
        Ok((offset, len))
    }

    /// Returns the blocks written so far as a history from `first` to `last`, its last time,
    /// in ns.
    fn snapshot(&self, tree: &Tree, first: i64, last: i64) -> Result<History, HistoryError> {
        if self.failed {
            return Err(HistoryError::Failed);
        }
        let mut blocks = self.blocks.clone();
        let store = match &self.output {
            Output::Memory(frames) => Store::Memory(frames.clone()),
            Output::File(file) => {
                for block in &mut blocks {
                    block.content = FRAME_HEAD..FRAME_HEAD + block.content.len();
                }
                Store::Growing(file.frames().to_vec(), file.partial_path().to_owned())
            }
        };
        Ok(History::from_parts(Parts {
            store,
            first,
            last,
            complete: false,
            identity: self.identity.clone(),
            blocks,
            presence: groups(&self.presence),
            spanning: SpanningTree::none(),
            mark: self.note.clone(),
            tree: tree.clone(),
        }))
    }

    /// Finishes a history from `first` to `last`, its last time, in ns. All changes have to
    /// be in blocks.
    pub(super) fn finish(
        mut self,
        states: &States,
        first: i64,
        last: i64,
    ) -> Result<History, HistoryError> {
        let history = match self.output {
            Output::Memory(_) => {
                let mut spanning = Vec::new();
                self.spanning.write(&mut spanning, first, self.blocks.len(), states.entries(last));
                let spanning = SpanningTree::in_memory(spanning, first);
                self.snapshot(states.tree(), first, last)?.into_complete(spanning)
            }
            Output::File(_) => {
                self.write_index(states, first, last)?;
                let BlockWriter { identity, output, blocks, .. } = &mut self;
                let output = std::mem::replace(output, Output::Memory(Vec::new()));
                let Output::File(file) = output else { return Err(HistoryError::Failed) };
                // Other processes may have written to the file. A finished file is replaced
                // only by what was built.
                let history = History::of_source(file.map()?)?;
                let is_right = (history.first(), history.last()) == (first, last)
                    && history.identity() == identity
                    && history.blocks() == blocks.len();
                if !is_right {
                    return Err(HistoryError::Replaced(file.partial_path().to_owned()));
                }
                history.verify()?;
                file.finish()?;
                history
            }
        };
        if let Some(live) = &self.live {
            live.publish(history.clone());
        }
        Ok(history)
    }

    /// Writes the index and the trailer of a file, and waits until they are on disk.
    fn write_index(&mut self, states: &States, first: i64, last: i64) -> Result<(), HistoryError> {
        if self.failed {
            return Err(HistoryError::Failed);
        }
        let BlockWriter { frame, blocks, presence, spanning, note, .. } = self;
        file::frame(frame, FrameKind::Index, |out| {
            let spanning = |out: &mut Vec<u8>| {
                spanning.write(out, first, blocks.len(), states.entries(last));
            };
            let quarks = states.tree().len();
            index::write(out, last, quarks, blocks, presence, spanning, note.as_ref());
        });
        let (index, _) = self.store()?;
        let Output::File(file) = &mut self.output else { return Ok(()) };
        let trailer = file::trailer(index, file.len());
        file.write(&trailer)?;
        file.sync()
    }

    /// Removes the unfinished file.
    pub(super) fn abandon(self) -> Result<(), HistoryError> {
        match self.output {
            Output::Memory(_) => Ok(()),
            Output::File(file) => file.remove(),
        }
    }
}
