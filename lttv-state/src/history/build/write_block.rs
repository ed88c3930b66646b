//! Writing of blocks, and publishing them to readers.

use std::sync::{Arc, PoisonError, RwLock};

use ltt_read::Timestamp;

use super::builder::Builder;
use super::partial_file::Output;
use crate::history::block::BlockHead;
use crate::history::error::HistoryError;
use crate::history::file::index::BlockEntry;
use crate::history::file::resume_note::ResumeNote;
use crate::history::file::spanning::SpanningTree;
use crate::history::file::{self, FRAME_HEAD, FrameKind};
use crate::history::query::history::{History, Parts, Store};

impl Builder {
    /// Returns a handle by which other threads can query the blocks written so far.
    ///
    /// The blocks of a growing file are read when they are first used, and then kept in
    /// memory until the file is finished and mapped. A growing file is not mapped, so that
    /// nothing that other processes do to it can end this one.
    ///
    /// # Errors
    ///
    /// Returns an error if an earlier write failed.
    pub fn live(&mut self) -> Result<Live, HistoryError> {
        let shared = match &self.live {
            Some(shared) => shared.clone(),
            None => Arc::new(RwLock::new(self.snapshot(self.horizon)?)),
        };
        self.live = Some(shared.clone());
        Ok(Live { shared })
    }

    /// Writes a block of all changes up to [`now`](Self::now), which makes them visible to
    /// readers in other threads. In a file, they then survive the end of this program; the
    /// call does not wait until they are on disk. Blocks are also written whenever there is
    /// enough for one. Many small blocks make the history larger and slower.
    ///
    /// The state that readers have seen must not change, so the next change must be later
    /// than `now`.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails.
    pub fn flush(&mut self) -> Result<(), HistoryError> {
        if self.has_unwritten_changes() {
            self.write_block()?;
            self.now_is_published = true;
        }
        Ok(())
    }

    /// Stores a note for [extending](Self::extend) this history when its source has grown.
    /// It can contain, for example, the state of the producer, which then need not read its
    /// source from the start. All that happened before `time` must have been added.
    ///
    /// Only the last note is kept. Changes that wait to be put in order are applied, and
    /// then all is written as by [`flush`](Self::flush), so notes should be rare. `time` is
    /// best chosen such that nothing before it is likely to be added to the source any more.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`flush`](Self::flush).
    pub fn set_resume_note(&mut self, time: Timestamp, note: &[u8]) -> Result<(), HistoryError> {
        self.apply_waiting()?;
        self.flush()?;
        self.mark = Some(ResumeNote { time, horizon: self.horizon, note: note.to_vec() });
        Ok(())
    }

    /// Returns the last note of [`set_resume_note`](Self::set_resume_note). In a history that was
    /// [extended](Self::extend), it is the note of the file, if it is valid there.
    pub fn resume_note(&self) -> Option<&ResumeNote> {
        self.mark.as_ref()
    }

    pub(crate) fn set_mark(&mut self, mark: ResumeNote) {
        self.mark = Some(mark);
    }

    pub(crate) fn has_unwritten_changes(&self) -> bool {
        !self.current.is_unchanged()
            || self.tree.len() > self.stored_quarks
            || self.pool.len() > self.stored_texts
    }

    pub(crate) fn write_block(&mut self) -> Result<(), HistoryError> {
        if self.failed {
            return Err(HistoryError::Failed);
        }
        let head = BlockHead {
            base: self.horizon,
            horizon: self.now,
            first_quark: self.stored_quarks as u32,
            first_text: self.stored_texts as u32,
            ..BlockHead::default()
        };
        self.presence.push(self.current.changed());
        let block = self.blocks.len() as u32;
        let Builder { current, tree, pool, frame, spanning, .. } = self;
        let head = file::frame(frame, FrameKind::Block, |out| {
            current.write_block(out, tree, pool, head, |first| spanning.add(block, first))
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
        let Some(layout) = crate::history::block::Layout::of(&head, len) else {
            self.failed = true;
            return Err(file::damaged("block that was just written", offset));
        };
        self.blocks.push(BlockEntry { offset, content, head, layout });
        self.horizon = self.now;
        (self.stored_quarks, self.stored_texts) = (self.tree.len(), self.pool.len());
        self.stored_text_bytes = self.pool.byte_len();
        if let Some(live) = &self.live {
            let history = self.snapshot(self.now)?;
            *live.write().unwrap_or_else(PoisonError::into_inner) = history;
        }
        Ok(())
    }

    /// Stores the frame. Returns its offset, and the length of its content, both in bytes.
    pub(crate) fn store(&mut self) -> Result<(u64, usize), HistoryError> {
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
                let offset = file.len;
                if let Err(error) = file.write(&self.frame) {
                    self.failed = true;
                    return Err(error);
                }
                offset
            }
        };
        Ok((offset, len))
    }

    /// Returns the blocks written so far as a history whose last time is `last`, in ns.
    pub(crate) fn snapshot(&self, last: i64) -> Result<History, HistoryError> {
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
                Store::Growing(file.frames.clone(), file.partial.clone())
            }
        };
        Ok(History::from_parts(Parts {
            store,
            first: self.start,
            last,
            complete: false,
            identity: self.settings.identity.clone(),
            blocks,
            presence: super::recover::groups(&self.presence),
            spanning: SpanningTree::none(),
            mark: self.mark.clone(),
            tree: self.tree.clone(),
        }))
    }
}

/// A handle by which other threads query a history that is being built.
///
/// ```
/// # use lttv_state::history::{Builder, Timestamp};
/// let ns = Timestamp::from_ns;
/// let mut builder = Builder::in_memory(ns(0));
/// let quark = builder.add("a")?;
/// let live = builder.live()?;
/// builder.set(quark, ns(10), 1)?;
/// builder.flush()?;
/// std::thread::spawn(move || {
///     let history = live.latest();
///     assert_eq!(history.end(), ns(11));
///     assert_eq!(history.at(quark, ns(10)).unwrap().value, 1.into());
/// })
/// .join()
/// .unwrap();
/// # Ok::<(), lttv_state::history::HistoryError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Live {
    shared: Arc<RwLock<History>>,
}

impl Live {
    /// Returns the history up to the last block. It ends right after the last change in that
    /// block, contains all changes up to there, and does not change any more. After the
    /// builder has closed the history, it is the complete one.
    pub fn latest(&self) -> History {
        self.shared.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
