//! The builder of histories: its settings, its attributes, and its end.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use ltt_read::Timestamp;

use super::current_state::CurrentState;
use super::partial_file::{self, Output, PartialFile};
use super::reorder::ReorderBuffer;
use crate::history::Interval;
use crate::history::block::raw_value::{RawInterval, TextPool};
use crate::history::error::HistoryError;
use crate::history::file::index::{self, BlockEntry};
use crate::history::file::presence::PresenceBuilder;
use crate::history::file::resume_note::ResumeNote;
use crate::history::file::source::{Access, Source};
use crate::history::file::spanning::{SpanningTree, SpanningTreeBuilder};
use crate::history::file::{self, FrameKind};
use crate::history::identity::HistoryIdentity;
use crate::history::query::history::History;
use crate::history::time::last_before;
use crate::tree::{Quark, Tree};

type Observer = Box<dyn FnMut(&Interval<'_>) + Send>;

/// The settings of a [`Builder`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The producer and the source of the history.
    pub identity: HistoryIdentity,
    /// The greatest time by which a change may come after a later one, in ns. A change
    /// waits until it is older than that, and queries do not see it before. 0 means that
    /// changes come in the order of time, and none wait.
    pub reorder_window: u64,
    /// The greatest number of changes that wait. Beyond it, the oldest are taken to be in
    /// order before the window is over.
    pub reorder_limit: usize,
    /// The number of intervals in a block, from 1 to 16 777 216. A block takes about 64
    /// bytes of memory per interval while it is built. Larger blocks make the file smaller,
    /// and lose more if the program is killed. `None` means 12 for each attribute, but at
    /// least 196 608 and at most 1 572 864.
    pub block_intervals: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            identity: HistoryIdentity::default(),
            reorder_window: 0,
            reorder_limit: 1 << 20,
            block_intervals: None,
        }
    }
}

impl Settings {
    pub(crate) fn block_intervals(&self, quarks: usize) -> usize {
        match self.block_intervals {
            Some(intervals) => intervals.clamp(1, 1 << 24) as usize,
            None => (12 * quarks).clamp(3 << 16, 3 << 19),
        }
    }
}

/// A builder of histories: it takes changes and stores the intervals between them.
///
/// A change at time `t` is in effect from `t`, inclusive, to the next change of the same
/// attribute. Setting the value that an attribute has already is no change. Of several
/// changes of an attribute at the same time, only the last is kept. An attribute is null
/// before its first change. Changes come in the order of time, unless
/// [`Settings::reorder_window`] permits some disorder.
///
/// Intervals are stored in blocks as the history grows. Other threads can query them
/// through [`live`](Self::live) in the meantime. Memory grows with the number of attributes
/// and of distinct texts, and by a few bytes for each attribute that changes in a block,
/// but not with the number of changes.
///
/// A history in a file is built under the file's name followed by `.partial`, and gets its
/// name when it is [closed](Self::close), so that a file with the right name is always
/// complete. The unfinished file is locked: a second builder of the same history, in this
/// process or another, is refused with [`HistoryError::Busy`]. If the program ends before the
/// history is closed, [`resume`](Self::resume) continues it, and
/// [`History::recover`](History::recover) reads the blocks that were written.
///
/// ```
/// # use lttv_state::history::{Builder, Timestamp};
/// # use lttv_state::value::StateValue;
/// let ns = Timestamp::from_ns;
/// let mut builder = Builder::in_memory(ns(0));
/// let stack = builder.add("threads/1/calls")?;
/// builder.push(stack, ns(10), "main")?;
/// builder.push(stack, ns(20), "read")?;
/// builder.pop(stack, ns(30))?;
/// let history = builder.close(ns(100))?;
///
/// let second = history.tree().find(stack, "2")?.unwrap();
/// assert_eq!(history.at(second, ns(25))?.value, StateValue::Str("read"));
/// assert_eq!(history.at(second, ns(30))?.value, StateValue::Null);
/// assert_eq!(history.at(stack, ns(30))?.value, StateValue::I32(1));
/// # Ok::<(), lttv_state::history::HistoryError>(())
/// ```
pub struct Builder {
    pub(crate) start: i64,
    /// The time of the last change, in ns.
    pub(crate) now: i64,
    /// The time up to which all changes are in blocks, in ns.
    pub(crate) horizon: i64,
    /// Readers may have seen the state at `now`, so the next change must be later.
    pub(crate) now_is_published: bool,
    pub(crate) settings: Settings,
    /// The number of logged intervals that make a block.
    pub(crate) limit: usize,
    pub(crate) tree: Tree,
    pub(crate) current: CurrentState,
    pub(crate) pool: TextPool,
    /// The number of texts in blocks, their total size in bytes, and the number of
    /// attributes in blocks.
    pub(crate) stored_texts: usize,
    pub(crate) stored_text_bytes: usize,
    pub(crate) stored_quarks: usize,
    pub(crate) reorder: Option<ReorderBuffer>,
    pub(crate) output: Output,
    pub(crate) blocks: Vec<BlockEntry>,
    pub(crate) presence: PresenceBuilder,
    pub(crate) spanning: SpanningTreeBuilder,
    pub(crate) mark: Option<ResumeNote>,
    pub(crate) frame: Vec<u8>,
    /// A write failed, after which the content of the file is unknown.
    pub(crate) failed: bool,
    pub(crate) live: Option<Arc<RwLock<History>>>,
    pub(crate) observer: Option<Observer>,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("Builder");
        debug.field("start", &self.start).field("now", &self.now);
        debug.field("attributes", &self.tree.len()).field("blocks", &self.blocks.len());
        debug.finish_non_exhaustive()
    }
}

impl Builder {
    /// Creates a builder of a history that starts at `start` and stays in memory.
    pub fn in_memory(start: Timestamp) -> Builder {
        Builder::in_memory_with(start, Settings::default())
    }

    /// Creates a builder of a history that starts at `start` and stays in memory, with
    /// settings.
    pub fn in_memory_with(start: Timestamp, settings: Settings) -> Builder {
        Builder::new(start.as_ns(), settings, Output::Memory(Vec::new()))
    }

    /// Creates a builder of a history that starts at `start` and is stored in a file.
    /// An existing file at `path` is replaced when the history is closed, not before.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be created; [`HistoryError::NotAFile`] if `path` names
    /// something other than a file, such as a directory; [`HistoryError::Busy`] if the history is
    /// being built already.
    pub fn create(
        path: impl AsRef<Path>,
        start: Timestamp,
        settings: Settings,
    ) -> Result<Builder, HistoryError> {
        let start = start.as_ns();
        let header = file::write_header(start, &settings.identity);
        let output = PartialFile::create(path.as_ref(), &header)?;
        Ok(Builder::new(start, settings, Output::File(output)))
    }

    pub(crate) fn new(start: i64, settings: Settings, output: Output) -> Builder {
        let reorder = (settings.reorder_window > 0)
            .then(|| ReorderBuffer::new(settings.reorder_window, settings.reorder_limit));
        Builder {
            start,
            now: start,
            horizon: start,
            now_is_published: false,
            limit: settings.block_intervals(0),
            settings,
            tree: Tree::new(),
            current: CurrentState::new(start),
            pool: TextPool::default(),
            stored_texts: 0,
            stored_text_bytes: 0,
            stored_quarks: 0,
            reorder,
            output,
            blocks: Vec::new(),
            presence: PresenceBuilder::default(),
            spanning: SpanningTreeBuilder::default(),
            mark: None,
            frame: Vec::new(),
            failed: false,
            live: None,
            observer: None,
        }
    }

    /// Sets a function that is called with every interval as soon as it has ended, in the
    /// order of ends. When the history is closed, it is called with the last interval of
    /// each attribute, in the order of quarks.
    pub fn observe(&mut self, observer: impl FnMut(&Interval<'_>) + Send + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// Returns the tree of the attributes added so far.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the attribute at `path`, which is added if it does not exist. See
    /// [`tree`](crate::tree) for paths.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tree::add`].
    pub fn add(&mut self, path: &str) -> Result<Quark, HistoryError> {
        self.add_below(Quark::ROOT, path)
    }

    /// Returns the attribute at `path` below `base`, which is added if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tree::add`].
    pub fn add_below(&mut self, base: Quark, path: &str) -> Result<Quark, HistoryError> {
        let added = self.tree.add(base, path);
        self.attributes_added();
        Ok(added?)
    }

    /// Returns the child of `parent` with this exact name, in which no character is
    /// special. It is added if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tree::add_child`].
    pub fn add_child(&mut self, parent: Quark, name: &str) -> Result<Quark, HistoryError> {
        let added = self.tree.add_child(parent, name);
        self.attributes_added();
        Ok(added?)
    }

    /// Adjusts the state and the size of blocks after attributes were added.
    fn attributes_added(&mut self) {
        self.current.grow(self.tree.len());
        self.limit = self.settings.block_intervals(self.tree.len());
    }

    /// Returns the start of the history: its first time.
    pub fn start(&self) -> Timestamp {
        Timestamp::from_ns(self.start)
    }

    /// Returns the time of the last change, or the start if there was none. Changes that
    /// wait to be put in order do not count.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_ns(self.now)
    }

    /// Returns the earliest time at which a change is still possible. A
    /// [resumed](Self::resume) history continues there. It is [`now`](Self::now), since
    /// more changes can happen at that time; or 1 ns later if readers may have seen the
    /// state at `now`. It is the start if the history has no block yet.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, Settings, Timestamp};
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("h");
    /// let ns = Timestamp::from_ns;
    /// let mut builder = Builder::create(&path, ns(0), Settings::default())?;
    /// let quark = builder.add("a")?;
    /// builder.set(quark, ns(10), 1)?;
    /// assert_eq!(builder.earliest(), ns(10));
    /// builder.flush()?;
    /// assert_eq!(builder.earliest(), ns(11));
    /// builder.set(quark, ns(20), 2)?;
    /// drop(builder); // The change at 20 was not in a block yet.
    ///
    /// let mut builder = Builder::resume(&path, Settings::default())?;
    /// assert_eq!(builder.earliest(), ns(11));
    /// builder.set(quark, ns(20), 2)?;
    /// builder.close(ns(30))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn earliest(&self) -> Timestamp {
        Timestamp::from_ns(self.now.saturating_add(self.now_is_published.into()))
    }

    /// Returns the present state of an attribute: its value and the time since which it has
    /// been unchanged. [`now`](Self::now) is the last time in the interval.
    ///
    /// # Errors
    ///
    /// Returns an error if the attribute does not exist.
    pub fn ongoing(&self, quark: Quark) -> Result<Interval<'_>, HistoryError> {
        let (start, raw) = self.current.get(quark).ok_or(HistoryError::UnknownQuark { quark })?;
        Ok(Interval::new(quark, start, self.now, self.pool.value(raw)))
    }

    /// Closes the history at `end`. All attributes keep their values until before this time,
    /// which must be after the last change and after the start: a history that contains a
    /// change at time `t` ends 1 ns later at the earliest. An end of [`Timestamp::MAX`] is
    /// included, so that changes at this time are possible.
    ///
    /// Changes that wait to be put in order are applied first. A file is checked against
    /// what was written before it replaces another one.
    ///
    /// # Errors
    ///
    /// Returns [`HistoryError::EndsTooEarly`] if there are changes at `end` or after it;
    /// and an error if writing fails, or if the unfinished file was damaged, removed or
    /// replaced. The file then remains unfinished.
    pub fn close(self, end: Timestamp) -> Result<History, HistoryError> {
        let last = self.reorder.as_ref().map_or(self.now, |r| r.latest().max(self.now));
        match last_before(end).filter(|end| *end >= last) {
            Some(end) => self.close_after(end),
            None => Err(HistoryError::EndsTooEarly { end, last: Timestamp::from_ns(last) }),
        }
    }

    /// Closes the history, whose last time is `end`, in ns.
    fn close_after(mut self, end: i64) -> Result<History, HistoryError> {
        self.apply_waiting()?;
        if self.has_unwritten_changes() {
            self.write_block()?;
        }
        if let Some(observer) = &mut self.observer {
            for entry in self.current.entries(end) {
                observer(&interval(&self.pool, entry));
            }
        }
        let quarks = self.tree.len();
        if let Output::File(_) = self.output {
            if self.failed {
                return Err(HistoryError::Failed);
            }
            let Builder { frame, blocks, presence, spanning, mark, current, start, .. } = &mut self;
            file::frame(frame, FrameKind::Index, |out| {
                let spanning = |out: &mut Vec<u8>| {
                    spanning.write(out, *start, blocks.len(), current.entries(end));
                };
                index::write(out, end, quarks, blocks, presence, spanning, mark.as_ref());
            });
            let (index, _) = self.store()?;
            let Output::File(mut file) = self.output else { return Err(HistoryError::Failed) };
            let trailer = file::trailer(index, file.len);
            file.write(&trailer)?;
            file.sync()?;
            // Other processes may have written to the file. A finished file is replaced
            // only by what was built.
            let source = Source::of(&file.file, Access::Map);
            let history = source.map_err(|error| partial_file::io(&file.partial, error));
            let history = history.and_then(History::of_source)?;
            let is_right = (history.first(), history.last()) == (self.start, end)
                && *history.identity() == self.settings.identity
                && history.blocks() == self.blocks.len();
            if !is_right {
                return Err(HistoryError::Replaced { path: file.partial });
            }
            history.verify()?;
            file.finish()?;
            if let Some(live) = &self.live {
                *live.write().unwrap_or_else(PoisonError::into_inner) = history.clone();
            }
            return Ok(history);
        }
        let mut spanning = Vec::new();
        let open = self.current.entries(end);
        self.spanning.write(&mut spanning, self.start, self.blocks.len(), open);
        let spanning = SpanningTree::in_memory(spanning, self.start);
        let history = self.snapshot(end)?.into_complete(spanning);
        if let Some(live) = &self.live {
            *live.write().unwrap_or_else(PoisonError::into_inner) = history.clone();
        }
        Ok(history)
    }

    /// Discards the history and removes its unfinished file.
    ///
    /// A builder that is only dropped leaves the file, so that it can be
    /// [resumed](Self::resume).
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be removed.
    pub fn abandon(self) -> Result<(), HistoryError> {
        match self.output {
            Output::Memory(_) => Ok(()),
            Output::File(file) => file.remove(),
        }
    }
}

pub(crate) fn interval(pool: &TextPool, entry: RawInterval) -> Interval<'_> {
    let RawInterval { quark, start, end, raw } = entry;
    Interval::new(quark, start, end, pool.value(raw))
}
