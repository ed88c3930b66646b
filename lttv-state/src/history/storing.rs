//! What a builder was told becomes blocks.

use std::sync::PoisonError;

use super::block::BlockHead;
use super::builder::Builder;
use super::error::Error;
use super::file::{self, BlockEntry, FRAME_HEAD, FrameKind};
use super::lasting::Lasting;
use super::mark::Mark;
use super::reader::{History, Parts, Store};
use super::sink::Sink;

impl Builder {
    /// Makes all changes up to [`now`](Self::now) visible to readers in other
    /// threads, and, in a file, safe from the end of this program; it does not
    /// wait until the system has put them on disk. Blocks are written when there
    /// is enough for one anyway: asking for many small ones makes the history
    /// greater and slower.
    ///
    /// What readers have seen must not change: the next change comes later than
    /// `now`.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn flush(&mut self) -> Result<(), Error> {
        if self.has_news() {
            self.write_block()?;
            self.now_is_settled = true;
        }
        Ok(())
    }

    /// Notes something for whoever [goes on](Self::extend) with this history when its
    /// source has grown: such as the state of what makes the changes, so that it need not
    /// read its source from the begin. All that happened before `time`, in ns, has been
    /// told. Only the last note is kept. Changes that wait to be brought into order
    /// are made first; and then all is written, as by [`flush`](Self::flush), so that
    /// there should not be many marks.
    ///
    /// Best made at a time before which the source is not likely to get anything more.
    ///
    /// # Errors
    ///
    /// As [`flush`](Self::flush).
    pub fn mark(&mut self, time: i64, note: &[u8]) -> Result<(), Error> {
        self.settle()?;
        self.flush()?;
        self.mark = Some(Mark { time, horizon: self.horizon, note: note.to_vec() });
        Ok(())
    }

    /// The last [mark](Self::mark); in a history that was [extended](Self::extend), that
    /// of the file, if it is of use there.
    pub fn marked(&self) -> Option<&Mark> {
        self.mark.as_ref()
    }

    pub(super) fn keep_mark(&mut self, mark: Mark) {
        self.mark = Some(mark);
    }

    pub(super) fn has_news(&self) -> bool {
        !self.ongoing.is_untouched()
            || self.tree.len() > self.quarks
            || self.pool.len() > self.texts
    }

    pub(super) fn write_block(&mut self) -> Result<(), Error> {
        if self.failed {
            return Err(Error::Failed);
        }
        let head = BlockHead {
            base: self.horizon,
            horizon: self.now,
            first_quark: self.quarks as u32,
            first_text: self.texts as u32,
            ..BlockHead::default()
        };
        self.rows.push(self.ongoing.touched());
        let block = self.blocks.len() as u32;
        let Builder { ongoing, tree, pool, frame, lasting, .. } = self;
        let head = file::frame(frame, FrameKind::Block, |out| {
            ongoing.write_block(out, tree, pool, head, |first| lasting.ends(block, first))
        });
        let (offset, len) = self.store()?;
        let start = match &self.sink {
            Sink::Memory(_) => FRAME_HEAD,
            Sink::File(_) => offset as usize + FRAME_HEAD,
        };
        let content = start..start + len;
        if let Sink::File(file) = &mut self.sink {
            file.add_piece(offset, &self.frame);
        }
        // It was just made, so it has a layout.
        let Some(layout) = super::block::Layout::of(&head, len) else {
            self.failed = true;
            return Err(file::damaged("block that was just written", offset));
        };
        self.blocks.push(BlockEntry { offset, content, head, layout });
        self.horizon = self.now;
        (self.quarks, self.texts) = (self.tree.len(), self.pool.len());
        self.text_bytes = self.pool.byte_len();
        if let Some(live) = &self.live {
            let history = self.snapshot(self.now)?;
            *live.write().unwrap_or_else(PoisonError::into_inner) = history;
        }
        Ok(())
    }

    /// Stores the frame; returns where it is, and the length of its content.
    pub(super) fn store(&mut self) -> Result<(u64, usize), Error> {
        let len = self.frame.len() - FRAME_HEAD;
        let offset = match &mut self.sink {
            Sink::Memory(frames) => {
                let offset = self
                    .blocks
                    .last()
                    .map_or(0, |last| last.offset + (last.content.len() + FRAME_HEAD) as u64);
                frames.push(self.frame.as_slice().into());
                offset
            }
            Sink::File(file) => {
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

    /// What is in blocks, as a history that ends at `end`.
    pub(super) fn snapshot(&self, end: i64) -> Result<History, Error> {
        if self.failed {
            return Err(Error::Failed);
        }
        let mut blocks = self.blocks.clone();
        let store = match &self.sink {
            Sink::Memory(frames) => Store::Frames(frames.clone()),
            Sink::File(file) => {
                for block in &mut blocks {
                    block.content = FRAME_HEAD..FRAME_HEAD + block.content.len();
                }
                Store::Pieces(file.pieces.clone(), file.partial.clone())
            }
        };
        Ok(History::from_parts(Parts {
            store,
            start: self.start,
            end,
            complete: false,
            identity: self.settings.identity.clone(),
            blocks,
            groups: super::recover::groups(&self.rows),
            lasting: Lasting::none(),
            mark: self.mark.clone(),
            tree: self.tree.clone(),
        }))
    }
}
