//! A history as it is read: its blocks, and the way to each of its runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Interval;
use super::block::Block;
use super::code::{Code, Kind, value_of};
use super::cursor::Cursor;
use super::error::Error;
use super::file::{self, BlockEntry, FRAME_HEAD};
use super::identity::Identity;
use super::lasting::{Lasting, Over};
use super::mark::Mark;
use super::names;
use super::piece::Piece;
use super::recover::Recovered;
use super::rows::{GROUP, Group};
use super::run::Run;
use super::source::{Access, Source};
use super::texts::Texts;
use crate::tree::{Quark, Tree};
use crate::value::Value;

/// Where the bytes of the blocks are.
#[derive(Debug)]
pub(super) enum Store {
    /// One behind the other in a file.
    File(Source),
    /// Each for itself in memory.
    Frames(Vec<Arc<[u8]>>),
    /// Each for itself in a file that still grows, and has this name.
    Pieces(Vec<Arc<Piece>>, PathBuf),
}

impl Store {
    /// The bytes that a block's content is in.
    #[inline(always)]
    fn around(&self, block: usize) -> &[u8] {
        match self {
            Store::File(source) => source.bytes(),
            Store::Frames(frames) => frames.get(block).map_or(&[], |frame| frame),
            Store::Pieces(pieces, _) => pieces.get(block).map_or(&[], |piece| piece.bytes()),
        }
    }

    /// The same, where the content may have to be read first.
    fn load(&self, block: usize) -> Result<&[u8], Error> {
        if let Store::Pieces(pieces, path) = self
            && let Some(piece) = pieces.get(block)
        {
            return piece.load().map_err(|source| Error::Io { path: path.clone(), source });
        }
        Ok(self.around(block))
    }

    #[inline(always)]
    fn file(&self) -> &[u8] {
        match self {
            Store::File(source) => source.bytes(),
            Store::Frames(_) | Store::Pieces(..) => &[],
        }
    }
}

/// What a history is made of.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) store: Store,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) complete: bool,
    pub(super) identity: Identity,
    pub(super) blocks: Vec<BlockEntry>,
    pub(super) groups: Vec<Group>,
    pub(super) lasting: Lasting,
    pub(super) mark: Option<Mark>,
    pub(super) tree: Tree,
}

#[derive(Debug)]
struct Inner {
    parts: Parts,
    /// Horizon of each block.
    horizons: Vec<i64>,
    texts: Texts,
    /// Blocks whose checksums were found right.
    verified: Box<[AtomicBool]>,
}

/// The states of all attributes over a time.
///
/// Made by a [`Builder`](super::Builder), or read from a file. It never changes:
/// clones are cheap and share everything, and any number of threads may ask at
/// once. See the [module](super) for what it answers.
///
/// All methods that look into blocks may return [`Error::Damaged`].
#[derive(Debug, Clone)]
pub struct History {
    inner: Arc<Inner>,
}

impl History {
    /// Opens a finished file and maps it.
    ///
    /// What is read at once is the index and the names; blocks are read as they
    /// are needed.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not a history, is not whole, or is damaged
    /// where it was read so far.
    pub fn open(path: impl AsRef<Path>) -> Result<History, Error> {
        History::open_with(path, Access::default())
    }

    /// As [`open`](Self::open), with a choice how to reach the file's bytes.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, access: Access) -> Result<History, Error> {
        History::of_source(Source::open(path.as_ref(), access)?)
    }

    /// As [`open`](Self::open), and refuses a file that was built from something
    /// else than `expected`.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and [`Error::Stale`].
    pub fn open_for(path: impl AsRef<Path>, expected: &Identity) -> Result<History, Error> {
        let history = History::open(path)?;
        if history.identity() != expected {
            let (expected, found) = (expected.clone().into(), history.identity().clone().into());
            return Err(Error::Stale { expected, found });
        }
        Ok(history)
    }

    /// A history from the bytes of a finished file.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<History, Error> {
        History::of_source(Source::in_memory(bytes))
    }

    /// What was stored of a history whose builder did not come to its end: all
    /// states up to its last whole block, where the history ends.
    ///
    /// `path` is the name that the file would have got. If the file was finished
    /// after all, it is opened. An unfinished file is read into memory, since its builder
    /// may go on with it meanwhile, or another one.
    ///
    /// # Errors
    ///
    /// If there is neither, or it is damaged before its last block.
    pub fn recover(path: impl AsRef<Path>) -> Result<History, Error> {
        let path = path.as_ref();
        if path.exists() {
            return History::open(path);
        }
        match Recovered::read(path) {
            Ok(recovered) => Ok(recovered.history),
            // Just now it may have been finished.
            Err(_) if path.exists() => History::open(path),
            Err(error) => Err(error),
        }
    }

    pub(super) fn of_source(source: Source) -> Result<History, Error> {
        let header = file::read_header(source.bytes())?;
        let index = file::read_index(source.bytes(), &header)?;
        let mut history = History::from_parts(Parts {
            store: Store::File(source),
            start: header.start,
            end: index.end,
            complete: true,
            identity: header.identity,
            blocks: index.blocks,
            groups: index.groups,
            lasting: index.lasting,
            mark: index.mark,
            tree: Tree::new(),
        });
        history.read_names()?;
        Ok(history)
    }

    pub(super) fn from_parts(parts: Parts) -> History {
        let horizons = parts.blocks.iter().map(|block| block.head.horizon).collect();
        let texts = Texts::of(&parts.blocks);
        // What is in memory never left it.
        let known = matches!(parts.store, Store::Frames(_));
        let verified = parts.blocks.iter().map(|_| AtomicBool::new(known)).collect();
        History { inner: Arc::new(Inner { parts, horizons, texts, verified }) }
    }

    /// Reads the names of all attributes into the tree; nobody else has this
    /// history yet.
    pub(super) fn read_names(&mut self) -> Result<(), Error> {
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

    /// What is known of the intervals that last over a block.
    pub(super) fn lasting_over(&self, block: usize) -> Over<'_> {
        let Parts { store, lasting, .. } = &self.inner.parts;
        lasting.over(store.file(), block)
    }

    /// The same history, known to be whole; nobody else has it yet.
    pub(super) fn into_complete(mut self, lasting: Lasting) -> History {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.parts.complete = true;
            inner.parts.lasting = lasting;
        }
        self
    }

    /// The attributes. Their quarks are less than its [length](Tree::len).
    pub fn tree(&self) -> &Tree {
        &self.inner.parts.tree
    }

    /// The first time, in ns.
    pub fn start(&self) -> i64 {
        self.inner.parts.start
    }

    /// The last time, in ns.
    pub fn end(&self) -> i64 {
        self.inner.parts.end
    }

    /// Whether the builder closed it. Otherwise it is what was there at some
    /// time while it was built.
    pub fn is_complete(&self) -> bool {
        self.inner.parts.complete
    }

    /// What it was built from.
    pub fn identity(&self) -> &Identity {
        &self.inner.parts.identity
    }

    /// What its producer noted, to be able to go on if the source grows: see
    /// [`Builder::mark`](super::Builder::mark).
    pub fn mark(&self) -> Option<&Mark> {
        self.inner.parts.mark.as_ref()
    }

    /// How many blocks it has.
    pub fn blocks(&self) -> usize {
        self.inner.parts.blocks.len()
    }

    /// How many intervals it has: those that ended before its last time, and
    /// one more for each attribute.
    pub fn intervals_count(&self) -> u64 {
        // Damage could make them anything.
        let blocks = self.inner.parts.blocks.iter();
        blocks.fold(self.tree().len() as u64, |all, block| all.saturating_add(block.head.intervals))
    }

    /// Checks every block against its checksum.
    ///
    /// # Errors
    ///
    /// If one is damaged.
    pub fn verify(&self) -> Result<(), Error> {
        (0..self.blocks()).try_for_each(|block| self.block(block).map(|_| ()))
    }

    pub(super) fn damaged(&self, block: usize, what: &'static str) -> Error {
        let offset = self.inner.parts.blocks.get(block).map_or(0, |entry| entry.offset);
        Error::Damaged { what, block: Some(block), offset }
    }

    pub(super) fn check_time(&self, t: i64) -> Result<(), Error> {
        let (start, end) = (self.start(), self.end());
        match (start..=end).contains(&t) {
            true => Ok(()),
            false => Err(Error::OutOfRange { t, start, end }),
        }
    }

    pub(super) fn check_quark(&self, quark: Quark) -> Result<(), Error> {
        match self.tree().contains(quark) {
            true => Ok(()),
            false => Err(Error::UnknownQuark { quark }),
        }
    }

    /// The first block that may have intervals with time `t`: all that is in
    /// earlier ones ended before.
    pub(super) fn block_at(&self, t: i64) -> usize {
        self.inner.horizons.partition_point(|horizon| *horizon <= t)
    }

    /// The same, for a time that is not before a block's: it is likely to be in it, or in
    /// the next one.
    #[inline(always)]
    pub(super) fn block_at_or_behind(&self, block: usize, t: i64) -> usize {
        match self.inner.horizons.get(block..) {
            Some([this, ..]) if *this > t => block,
            Some([_, next, ..]) if *next > t => block + 1,
            _ => self.block_at(t),
        }
    }

    /// A block whose checksum is right.
    #[inline(always)]
    pub(super) fn block(&self, index: usize) -> Result<Block<'_>, Error> {
        let Some(entry) = self.inner.parts.blocks.get(index) else {
            return Err(self.damaged(index, "missing block"));
        };
        if !self.inner.verified[index].load(Ordering::Acquire) {
            self.verify_block(index, entry)?;
        }
        let around = self.inner.parts.store.around(index);
        match around.get(entry.content.clone()) {
            Some(data) => Ok(Block { head: &entry.head, layout: &entry.layout, data }),
            None => Err(self.damaged(index, "missing bytes")),
        }
    }

    #[cold]
    fn verify_block(&self, index: usize, entry: &BlockEntry) -> Result<(), Error> {
        let around = self.inner.parts.store.load(index)?;
        if !file::is_intact(around, &entry.content) {
            return Err(self.damaged(index, "wrong checksum"));
        }
        self.inner.verified[index].store(true, Ordering::Release);
        Ok(())
    }

    /// The frames of all blocks that end before a time, as they are in the file.
    pub(super) fn frames_before(&self, t: i64) -> impl Iterator<Item = Result<&[u8], Error>> {
        let count = self.inner.horizons.partition_point(|horizon| *horizon < t);
        (0..count).map(|index| self.frame(index))
    }

    /// The frames of all blocks.
    pub(super) fn frames(&self) -> impl Iterator<Item = Result<&[u8], Error>> {
        (0..self.blocks()).map(|index| self.frame(index))
    }

    /// The frame of a block, as it is in the file.
    fn frame(&self, index: usize) -> Result<&[u8], Error> {
        self.block(index)?;
        let content = self.inner.parts.blocks[index].content.clone();
        let frame = content.start.checked_sub(FRAME_HEAD).map(|start| start..content.end);
        let frame = frame.and_then(|at| self.inner.parts.store.around(index).get(at));
        frame.ok_or_else(|| self.damaged(index, "missing bytes"))
    }

    /// The run of an attribute in a block that has one, as the index says.
    #[inline(always)]
    pub(super) fn run(&self, block: usize, quark: Quark) -> Result<Run<'_>, Error> {
        match self.block(block)?.run(quark.index()) {
            Some(Some(run)) => Ok(run),
            Some(None) => Err(self.damaged(block, "run")),
            None => Err(self.damaged(block, "run that the index knows")),
        }
    }

    /// The first block from `from` on that has a run of an attribute.
    #[inline(always)]
    pub(super) fn next_with_run(&self, quark: Quark, from: usize) -> Option<usize> {
        let parts = &self.inner.parts;
        let mut mask = u64::MAX << (from % GROUP);
        for (i, group) in parts.groups.iter().enumerate().skip(from / GROUP) {
            let row = group.row(parts.store.file(), quark.index()) & mask;
            if row != 0 {
                return Some(i * GROUP + row.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// The last block before `before` that has a run of an attribute.
    #[inline(always)]
    pub(super) fn last_with_run(&self, quark: Quark, before: usize) -> Option<usize> {
        let parts = &self.inner.parts;
        let mut mask = super::bits::mask((before % GROUP) as u32);
        let groups = &parts.groups[..parts.groups.len().min(before / GROUP + 1)];
        for (i, group) in groups.iter().enumerate().rev() {
            if i < before / GROUP {
                mask = u64::MAX;
            }
            let row = group.row(parts.store.file(), quark.index()) & mask;
            if row != 0 {
                return Some(i * GROUP + row.ilog2() as usize);
            }
        }
        None
    }

    #[inline(always)]
    fn text(&self, id: u64) -> Option<&[u8]> {
        let (block, place) = self.inner.texts.find(id)?;
        self.block(block).ok()?.text(u32::try_from(place).ok()?)
    }

    /// The value of a code that a run in `block` has.
    #[inline(always)]
    pub(super) fn value(&self, code: Code, block: usize) -> Result<Value<'_>, Error> {
        match self.known_value(code) {
            Some(value) => Ok(value),
            None => Err(self.bad_value(code, block)),
        }
    }

    /// The same. None if there is no such value.
    #[inline(always)]
    pub(super) fn known_value(&self, code: Code) -> Option<Value<'_>> {
        if code.kind != Kind::Str {
            return value_of(code, |id| self.text(id));
        }
        match self.inner.texts.copied(code.bits) {
            Some(text) => Some(Value::Str(text)),
            None => self.stored_text(code.bits).map(Value::Str),
        }
    }

    /// A text as it is in its block.
    #[inline(never)]
    fn stored_text(&self, id: u64) -> Option<&str> {
        let text = std::str::from_utf8(self.text(id)?).ok()?;
        self.inner.texts.copy(id, text);
        Some(text)
    }

    /// Why a code in `block` has no value.
    #[cold]
    pub(super) fn bad_value(&self, code: Code, block: usize) -> Error {
        // The text's block may be another one, and be damaged.
        match self.inner.texts.find(code.bits).map(|(block, _)| self.block(block)) {
            Some(Err(error)) => error,
            _ => self.damaged(block, "value"),
        }
    }

    /// All texts and blobs, in the order of their numbers, until `f` fails.
    pub(super) fn texts(&self, mut f: impl FnMut(&[u8]) -> Option<u64>) -> Result<(), Error> {
        for at in self.inner.texts.blocks() {
            let block = self.block(at)?;
            for place in 0..block.head.texts {
                let text = block.text(place).ok_or_else(|| self.damaged(at, "text"))?;
                f(text).ok_or(Error::TooManyTexts)?;
            }
        }
        Ok(())
    }

    /// One interval, as [`state_at`](Self::state_at) gives them for all.
    ///
    /// # Errors
    ///
    /// If the attribute or the time is not in the history.
    pub fn at(&self, quark: Quark, t: i64) -> Result<Interval<'_>, Error> {
        self.check_quark(quark)?;
        self.check_time(t)?;
        Cursor::new(self, quark, t)?.interval()
    }
}
