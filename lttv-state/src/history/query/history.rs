//! The history that readers use: its blocks, and access to each column chunk.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::source::FileBytes;
use ltt_read::{Access, Timestamp};

use super::text_cache::TextCache;
use crate::history::block::Block;
use crate::history::block::bits::mask;
use crate::history::block::column_chunk::ColumnChunk;
use crate::history::block::names;
use crate::history::block::raw_value::{Kind, RawValue, value_of};
use crate::history::error::HistoryError;
use crate::history::file::index::{self, BlockEntry};
use crate::history::file::lazy_frame::LazyFrame;
use crate::history::file::presence::{GROUP_BLOCKS, PresenceGroup};
use crate::history::file::resume_note::ResumeNote;
use crate::history::file::spanning::{SpanningPath, SpanningTree};
use crate::history::file::{self, FRAME_HEAD};
use crate::history::identity::HistoryIdentity;
use crate::history::time::{end_after, last_before};
use crate::tree::{Quark, Tree};
use crate::value::StateValue;

/// The storage of the blocks.
#[derive(Debug)]
pub(crate) enum Store {
    /// All in one file, one after the other.
    File(FileBytes),
    /// Each frame by itself in memory.
    Memory(Vec<Arc<[u8]>>),
    /// Each frame by itself in a growing file with this path.
    Growing(Vec<Arc<LazyFrame>>, PathBuf),
}

impl Store {
    /// Returns the bytes that contain a block's content.
    #[inline(always)]
    fn backing(&self, block: usize) -> &[u8] {
        match self {
            Store::File(source) => source.bytes(),
            Store::Memory(frames) => frames.get(block).map_or(&[], |frame| frame),
            Store::Growing(frames, _) => frames.get(block).map_or(&[], |frame| frame.bytes()),
        }
    }

    /// Returns the bytes that contain a block's content, read from the file if necessary.
    fn load(&self, block: usize) -> Result<&[u8], HistoryError> {
        if let Store::Growing(frames, path) = self
            && let Some(frame) = frames.get(block)
        {
            return frame.load().map_err(|error| HistoryError::Io { path: path.clone(), error });
        }
        Ok(self.backing(block))
    }

    #[inline(always)]
    fn file(&self) -> &[u8] {
        match self {
            Store::File(source) => source.bytes(),
            Store::Memory(_) | Store::Growing(..) => &[],
        }
    }
}

/// The parts that a history is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) store: Store,
    /// The first and the last time of the history, in ns.
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) complete: bool,
    pub(crate) identity: HistoryIdentity,
    pub(crate) blocks: Vec<BlockEntry>,
    pub(crate) presence: Vec<PresenceGroup>,
    pub(crate) spanning: SpanningTree,
    pub(crate) mark: Option<ResumeNote>,
    pub(crate) tree: Tree,
}

#[derive(Debug)]
struct Inner {
    parts: Parts,
    /// The horizon of each block, in ns.
    horizons: Vec<i64>,
    texts: TextCache,
    /// For each block, whether its checksum has been verified.
    verified: Box<[AtomicBool]>,
}

/// The states of all attributes over a span of time.
///
/// A [`Builder`](crate::history::Builder) creates it, or it is read from a file. It never
/// changes: clones are cheap and share everything, and any number of threads can query it
/// at the same time. See the [module](crate::history) for the available queries.
///
/// All methods that read blocks can return [`HistoryError::Damaged`].
#[derive(Debug, Clone)]
pub struct History {
    inner: Arc<Inner>,
}

impl History {
    /// Opens a finished file and maps it into memory.
    ///
    /// Only the index and the names are read at once. Blocks are read when they are needed.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, is not a history, is unfinished, or is
    /// damaged in the parts read so far.
    pub fn open(path: impl AsRef<Path>) -> Result<History, HistoryError> {
        History::open_with(path, Access::default())
    }

    /// Opens a finished file, with a choice of how to access its bytes.
    ///
    /// Mapping is safe as long as only builders write the file: they replace a finished file
    /// as a whole, by renaming.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, access: Access) -> Result<History, HistoryError> {
        let path = path.as_ref();
        let source = FileBytes::open(path, access);
        History::of_source(source.map_err(|error| HistoryError::io(path, error))?)
    }

    /// Opens a finished file, like [`open`](Self::open), if its identity is `expected`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open); and [`HistoryError::Stale`] if the file was
    /// built from something else.
    pub fn open_for(
        path: impl AsRef<Path>,
        expected: &HistoryIdentity,
    ) -> Result<History, HistoryError> {
        let history = History::open(path)?;
        if history.identity() != expected {
            let (expected, found) = (expected.clone().into(), history.identity().clone().into());
            return Err(HistoryError::Stale { expected, found });
        }
        Ok(history)
    }

    /// Reads a history from the bytes of a finished file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<History, HistoryError> {
        History::of_source(FileBytes::in_memory(bytes))
    }

    pub(crate) fn of_source(source: FileBytes) -> Result<History, HistoryError> {
        let header = file::read_header(source.bytes())?;
        let index = index::read(source.bytes(), &header)?;
        let mut history = History::from_parts(Parts {
            store: Store::File(source),
            first: header.start,
            last: index.end,
            complete: true,
            identity: header.identity,
            blocks: index.blocks,
            presence: index.presence,
            spanning: index.spanning,
            mark: index.mark,
            tree: Tree::new(),
        });
        history.read_names()?;
        Ok(history)
    }

    pub(crate) fn from_parts(parts: Parts) -> History {
        let horizons = parts.blocks.iter().map(|block| block.head.horizon).collect();
        let texts = TextCache::of(&parts.blocks);
        // Blocks in memory come from this process and need no verification.
        let is_verified = matches!(parts.store, Store::Memory(_));
        let verified = parts.blocks.iter().map(|_| AtomicBool::new(is_verified)).collect();
        History { inner: Arc::new(Inner { parts, horizons, texts, verified }) }
    }

    /// Reads the names of all attributes into the tree. The history must not have been
    /// cloned.
    pub(crate) fn read_names(&mut self) -> Result<(), HistoryError> {
        let mut tree = Tree::new();
        for at in 0..self.inner.parts.blocks.len() {
            let entry = &self.inner.parts.blocks[at];
            if entry.head.quarks == entry.head.first_quark {
                continue;
            }
            let block = self.block(at)?;
            let names = block.data.get(block.layout.names.clone()).unwrap_or_default();
            names::read(names, &mut tree, block.head.quarks as usize)
                .ok_or_else(|| self.damaged(at, "names"))?;
        }
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.parts.tree = tree;
        }
        Ok(())
    }

    /// Returns a cursor over the intervals that span a block, and others.
    pub(crate) fn spanning_path(&self, block: usize) -> SpanningPath<'_> {
        let Parts { store, spanning, .. } = &self.inner.parts;
        spanning.path(store.file(), block)
    }

    /// Marks the history as complete. It must not have been cloned.
    pub(crate) fn into_complete(mut self, spanning: SpanningTree) -> History {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.parts.complete = true;
            inner.parts.spanning = spanning;
        }
        self
    }

    /// Returns the tree of attributes. Their quarks are below its [length](Tree::len).
    pub fn tree(&self) -> &Tree {
        &self.inner.parts.tree
    }

    /// Returns the start of the history: its first time.
    pub fn start(&self) -> Timestamp {
        Timestamp::from_ns(self.first())
    }

    /// Returns the end of the history. Its states last until before this time, or until this
    /// time if it is [`Timestamp::MAX`].
    pub fn end(&self) -> Timestamp {
        end_after(self.last())
    }

    /// Returns the first time of the history, in ns.
    #[inline(always)]
    pub(crate) fn first(&self) -> i64 {
        self.inner.parts.first
    }

    /// Returns the last time of the history, in ns.
    #[inline(always)]
    pub(crate) fn last(&self) -> i64 {
        self.inner.parts.last
    }

    /// Returns `true` if the builder closed the history, and `false` if it is a snapshot of
    /// an unfinished one.
    pub fn is_complete(&self) -> bool {
        self.inner.parts.complete
    }

    /// Returns the identity: the producer and the source of the history.
    pub fn identity(&self) -> &HistoryIdentity {
        &self.inner.parts.identity
    }

    /// Returns the producer's note, with which it can resume when its source has grown: see
    /// [`Builder::set_resume_note`](crate::history::Builder::set_resume_note). `None` if there is no note.
    pub fn resume_note(&self) -> Option<&ResumeNote> {
        self.inner.parts.mark.as_ref()
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.inner.parts.blocks.len()
    }

    /// Returns the number of intervals: those that ended before the end of the history, and
    /// one more for each attribute.
    pub fn intervals_count(&self) -> u64 {
        // In damaged data the numbers may be anything.
        let blocks = self.inner.parts.blocks.iter();
        blocks.fold(self.tree().len() as u64, |all, block| all.saturating_add(block.head.intervals))
    }

    /// Compares every block with its checksum.
    ///
    /// # Errors
    ///
    /// Returns [`HistoryError::Damaged`] for the first block that differs, and [`HistoryError::Io`] if a
    /// block cannot be read.
    pub fn verify(&self) -> Result<(), HistoryError> {
        (0..self.blocks()).try_for_each(|block| self.block(block).map(|_| ()))
    }

    pub(crate) fn damaged(&self, block: usize, what: &'static str) -> HistoryError {
        let offset = self.inner.parts.blocks.get(block).map_or(0, |entry| entry.offset);
        HistoryError::Damaged { what, block: Some(block), offset }
    }

    /// Checks that a time is in the history, and returns it in ns.
    pub(crate) fn check_time(&self, time: Timestamp) -> Result<i64, HistoryError> {
        match (self.first()..=self.last()).contains(&time.as_ns()) {
            true => Ok(time.as_ns()),
            false => Err(self.out_of_range(time)),
        }
    }

    /// Checks that a range is in the history, and returns its first and its last time, in
    /// ns. `None` if the range is empty.
    pub(crate) fn check_range(
        &self,
        range: &Range<Timestamp>,
    ) -> Result<Option<(i64, i64)>, HistoryError> {
        let Some(last) = last_before(range.end).filter(|_| !range.is_empty()) else {
            return Ok(None);
        };
        if range.start < self.start() {
            return Err(self.out_of_range(range.start));
        }
        if range.end > self.end() {
            return Err(self.out_of_range(range.end));
        }
        Ok(Some((range.start.as_ns(), last.min(self.last()))))
    }

    #[cold]
    fn out_of_range(&self, time: Timestamp) -> HistoryError {
        HistoryError::OutOfRange { time, start: self.start(), end: self.end() }
    }

    pub(crate) fn check_quark(&self, quark: Quark) -> Result<(), HistoryError> {
        match self.tree().contains(quark) {
            true => Ok(()),
            false => Err(HistoryError::UnknownQuark(quark)),
        }
    }

    /// Returns the index of the first block that can contain an interval with time `t`: the
    /// intervals of earlier blocks ended before. It is the number of blocks for times past
    /// the last horizon.
    pub(crate) fn block_index_at(&self, t: i64) -> usize {
        self.inner.horizons.partition_point(|horizon| *horizon <= t)
    }

    /// Returns [`block_index_at`](Self::block_index_at) of a time that is not before
    /// `block`, and probably in it or in the next one.
    #[inline(always)]
    pub(crate) fn block_from(&self, block: usize, t: i64) -> usize {
        match self.inner.horizons.get(block..) {
            Some([this, ..]) if *this > t => block,
            Some([_, next, ..]) if *next > t => block + 1,
            _ => self.block_index_at(t),
        }
    }

    /// Returns a view of a block, whose checksum is verified on its first use.
    #[inline(always)]
    pub(crate) fn block(&self, index: usize) -> Result<Block<'_>, HistoryError> {
        let Some(entry) = self.inner.parts.blocks.get(index) else {
            return Err(self.damaged(index, "missing block"));
        };
        if !self.inner.verified[index].load(Ordering::Acquire) {
            self.verify_block(index, entry)?;
        }
        let backing = self.inner.parts.store.backing(index);
        match backing.get(entry.content.clone()) {
            Some(data) => Ok(Block { head: &entry.head, layout: &entry.layout, data }),
            None => Err(self.damaged(index, "missing bytes")),
        }
    }

    #[cold]
    fn verify_block(&self, index: usize, entry: &BlockEntry) -> Result<(), HistoryError> {
        let backing = self.inner.parts.store.load(index)?;
        if !file::is_intact(backing, &entry.content) {
            return Err(self.damaged(index, "checksum"));
        }
        self.inner.verified[index].store(true, Ordering::Release);
        Ok(())
    }

    /// Iterates over the frames of all blocks that end before a time, as they are in the
    /// file.
    pub(crate) fn frames_before(
        &self,
        t: i64,
    ) -> impl Iterator<Item = Result<&[u8], HistoryError>> {
        let count = self.inner.horizons.partition_point(|horizon| *horizon < t);
        (0..count).map(|index| self.frame(index))
    }

    /// Iterates over the frames of all blocks, as they are in the file.
    pub(crate) fn frames(&self) -> impl Iterator<Item = Result<&[u8], HistoryError>> {
        (0..self.blocks()).map(|index| self.frame(index))
    }

    /// Returns the frame of a block, as it is in the file.
    fn frame(&self, index: usize) -> Result<&[u8], HistoryError> {
        self.block(index)?;
        let content = self.inner.parts.blocks[index].content.clone();
        let frame = content.start.checked_sub(FRAME_HEAD).map(|start| start..content.end);
        let frame = frame.and_then(|at| self.inner.parts.store.backing(index).get(at));
        frame.ok_or_else(|| self.damaged(index, "missing bytes"))
    }

    /// Returns the column chunk of an attribute in a block that has one according to the
    /// index.
    #[inline(always)]
    pub(crate) fn chunk(
        &self,
        block: usize,
        quark: Quark,
    ) -> Result<ColumnChunk<'_>, HistoryError> {
        match self.block(block)?.chunk(quark.index()) {
            Some(Some(chunk)) => Ok(chunk),
            Some(None) => Err(self.damaged(block, "column chunk")),
            None => Err(self.damaged(block, "missing column chunk")),
        }
    }

    /// Returns the first block from `from` on that has a column chunk of an attribute.
    #[inline(always)]
    pub(crate) fn next_block_with(&self, quark: Quark, from: usize) -> Option<usize> {
        let parts = &self.inner.parts;
        let mut in_range = u64::MAX << (from % GROUP_BLOCKS);
        for (i, group) in parts.presence.iter().enumerate().skip(from / GROUP_BLOCKS) {
            let row = group.row(parts.store.file(), quark.index()) & in_range;
            if row != 0 {
                return Some(i * GROUP_BLOCKS + row.trailing_zeros() as usize);
            }
            in_range = u64::MAX;
        }
        None
    }

    /// Returns the last block before `before` that has a column chunk of an attribute.
    #[inline(always)]
    pub(crate) fn last_block_with(&self, quark: Quark, before: usize) -> Option<usize> {
        let parts = &self.inner.parts;
        let mut in_range = mask((before % GROUP_BLOCKS) as u32);
        let groups = &parts.presence[..parts.presence.len().min(before / GROUP_BLOCKS + 1)];
        for (i, group) in groups.iter().enumerate().rev() {
            if i < before / GROUP_BLOCKS {
                in_range = u64::MAX;
            }
            let row = group.row(parts.store.file(), quark.index()) & in_range;
            if row != 0 {
                return Some(i * GROUP_BLOCKS + row.ilog2() as usize);
            }
        }
        None
    }

    #[inline(always)]
    fn text(&self, id: u64) -> Option<&[u8]> {
        let (block, place) = self.inner.texts.find(id)?;
        self.block(block).ok()?.text(u32::try_from(place).ok()?)
    }

    /// Returns the value that a raw value from `block` represents.
    #[inline(always)]
    pub(crate) fn value(
        &self,
        raw: RawValue,
        block: usize,
    ) -> Result<StateValue<'_>, HistoryError> {
        match self.try_value(raw) {
            Some(value) => Ok(value),
            None => Err(self.bad_value(raw, block)),
        }
    }

    /// Returns the value that a raw value represents. `None` if there is no such value.
    #[inline(always)]
    pub(crate) fn try_value(&self, raw: RawValue) -> Option<StateValue<'_>> {
        if raw.kind != Kind::Str {
            return value_of(raw, |id| self.text(id));
        }
        match self.inner.texts.cached(raw.bits) {
            Some(text) => Some(StateValue::Str(text)),
            None => self.stored_text(raw.bits).map(StateValue::Str),
        }
    }

    /// Reads a text from its block, and caches it.
    #[inline(never)]
    fn stored_text(&self, id: u64) -> Option<&str> {
        let text = std::str::from_utf8(self.text(id)?).ok()?;
        self.inner.texts.insert(id, text);
        Some(text)
    }

    /// Returns the reason why a raw value from `block` represents no value.
    #[cold]
    pub(crate) fn bad_value(&self, raw: RawValue, block: usize) -> HistoryError {
        // The text may be in another block, which may be the damaged one.
        match self.inner.texts.find(raw.bits).map(|(block, _)| self.block(block)) {
            Some(Err(error)) => error,
            _ => self.damaged(block, "value"),
        }
    }

    /// Calls `f` with all texts and blobs, in the order of their numbers, until it fails.
    pub(crate) fn for_each_text(
        &self,
        mut f: impl FnMut(&[u8]) -> Option<u64>,
    ) -> Result<(), HistoryError> {
        for at in self.inner.texts.blocks() {
            let block = self.block(at)?;
            for place in 0..block.head.texts {
                let text = block.text(place).ok_or_else(|| self.damaged(at, "text"))?;
                f(text).ok_or(HistoryError::TooManyTexts)?;
            }
        }
        Ok(())
    }
}
