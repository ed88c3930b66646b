//! Building a history.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use super::Interval;
use super::block::BlockHead;
use super::code::{Code, Kind, Pool};
use super::error::Error;
use super::file::{self, BlockEntry, FRAME_HEAD, FrameKind};
use super::identity::Identity;
use super::lasting::{Entry, GrowingLasting, Lasting};
use super::mark::Mark;
use super::ongoing::Ongoing;
use super::reader::{History, Parts, Store};
use super::recover::Recovered;
use super::reorder::{Action, Change, Reorder};
use super::rows::GrowingRows;
use super::sink::{FileSink, Sink};
use super::source::{Access, Source};
use crate::tree::{Quark, Tree};
use crate::value::Value;

/// No stack is deeper.
const STACK_LIMIT: u32 = 100_000;

/// New texts of so many bytes make a block, however few intervals there are.
const TEXT_BYTES_PER_BLOCK: usize = 16 << 20;

/// How a history is built.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// What the history is built from.
    pub identity: Identity,
    /// How far behind the latest change another one may come, in ns. Until a
    /// change is older than this, it waits, and is not yet seen by any query.
    /// 0: changes come in the order of time, and nothing waits.
    pub reorder_window: u64,
    /// The most changes that wait. If there are more, the oldest are taken to
    /// be in order even if the window is not over.
    pub reorder_limit: usize,
    /// How many intervals make a block. While it is built, a block takes about
    /// 64 bytes of memory per interval. Greater blocks make the file smaller,
    /// and lose more when the program is killed. `None`: 12 for each attribute,
    /// but at least 196 608 and at most 1 572 864.
    pub block_intervals: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            identity: Identity::default(),
            reorder_window: 0,
            reorder_limit: 1 << 20,
            block_intervals: None,
        }
    }
}

impl Settings {
    fn block_intervals(&self, quarks: usize) -> usize {
        match self.block_intervals {
            Some(intervals) => intervals.clamp(1, 1 << 24) as usize,
            None => (12 * quarks).clamp(3 << 16, 3 << 19),
        }
    }
}

/// A text that a [`Builder`] knows, to be set without being looked up: see
/// [`Builder::text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text(u64);

type Observer = Box<dyn FnMut(&Interval<'_>) + Send>;

/// Builds a history: takes changes, and stores the intervals between them.
///
/// A change at `t` holds from `t` on, `t` included, up to the next change of the
/// same attribute. Setting the value that an attribute has already is no change.
/// Of several changes of an attribute at one time, only the last is kept. Before
/// its first change an attribute is null. Times are in ns, from whatever origin;
/// changes come in the order of time, unless [`Settings::reorder_window`] allows
/// for some disorder.
///
/// What is built is stored in blocks, by and by. [`live`](Self::live) lets other
/// threads query it meanwhile. Memory grows with the number of attributes and of
/// different texts; and with blocks, by a few bytes for each attribute that changed in
/// one; not with changes.
///
/// A history in a file is built under the file's name with `.partial` behind
/// it, and gets its name when it is [closed](Self::close): so a file with the
/// right name is always whole. If the program ends before that, by whatever
/// way, [`resume`](Self::resume) goes on and
/// [`History::recover`](History::recover) reads what there is.
///
/// ```
/// # use lttv_state::history::Builder;
/// # use lttv_state::value::Value;
/// let mut builder = Builder::in_memory(0);
/// let stack = builder.add("threads/1/calls")?;
/// builder.push(stack, 10, "main")?;
/// builder.push(stack, 20, "read")?;
/// builder.pop(stack, 30)?;
/// let history = builder.close(100)?;
///
/// let second = history.tree().find(stack, "2")?.unwrap();
/// assert_eq!(history.at(second, 25)?.value, Value::Str("read"));
/// assert_eq!(history.at(second, 30)?.value, Value::Null);
/// assert_eq!(history.at(stack, 30)?.value, Value::I32(1));
/// # Ok::<(), lttv_state::history::Error>(())
/// ```
pub struct Builder {
    start: i64,
    /// The time of the last change.
    now: i64,
    /// All changes up to this time are in blocks.
    horizon: i64,
    /// There is no more change at `now` itself: readers know it already.
    now_is_settled: bool,
    settings: Settings,
    /// Intervals in the log that make a block.
    limit: usize,
    tree: Tree,
    ongoing: Ongoing,
    pool: Pool,
    /// Texts that are in blocks, and their bytes.
    texts: usize,
    text_bytes: usize,
    quarks: usize,
    reorder: Option<Reorder>,
    sink: Sink,
    blocks: Vec<BlockEntry>,
    rows: GrowingRows,
    lasting: GrowingLasting,
    mark: Option<Mark>,
    frame: Vec<u8>,
    /// A write failed: what is in the file is not known.
    failed: bool,
    live: Option<Arc<RwLock<History>>>,
    observer: Option<Observer>,
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
    /// A history that begins at `start` and stays in memory.
    pub fn in_memory(start: i64) -> Builder {
        Builder::in_memory_with(start, Settings::default())
    }

    /// As [`in_memory`](Self::in_memory), with settings.
    pub fn in_memory_with(start: i64, settings: Settings) -> Builder {
        Builder::new(start, settings, Sink::Memory(Vec::new()))
    }

    /// A history that begins at `start` and goes into a file. If there is one
    /// already, it is replaced when this one is closed, not before.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn create(
        path: impl AsRef<Path>,
        start: i64,
        settings: Settings,
    ) -> Result<Builder, Error> {
        let header = file::write_header(start, &settings.identity);
        let sink = FileSink::create(path.as_ref(), &header)?;
        Ok(Builder::new(start, settings, Sink::File(sink)))
    }

    /// Goes on with a history that was not closed: with all attributes, and the
    /// states as they were when its last block was written. All changes before
    /// [`earliest`](Self::earliest) are there; those from it on are to be made
    /// again. What is behind that block in the file is removed.
    ///
    /// # Errors
    ///
    /// If there is no such file, it is damaged before its last block, or it was
    /// built from something else than `settings` say.
    pub fn resume(path: impl AsRef<Path>, settings: Settings) -> Result<Builder, Error> {
        let path = path.as_ref();
        let recovered = Recovered::read(path)?;
        let found = recovered.history.identity();
        if *found != settings.identity {
            let (expected, found) = (settings.identity.into(), found.clone().into());
            return Err(Error::Stale { expected, found });
        }
        let sink = FileSink::resume(path, recovered.len)?;
        let history = &recovered.history;
        let mut builder = Builder::new(history.start(), settings, Sink::File(sink));
        builder.tree = history.tree().clone();
        builder.quarks = builder.tree.len();
        builder.ongoing.grow(builder.quarks);
        (builder.now, builder.horizon) = (history.end(), history.end());
        builder.now_is_settled = !recovered.blocks.is_empty();
        builder.limit = builder.settings.block_intervals(builder.quarks);
        history.texts(|text| builder.pool.intern(text))?;
        builder.texts = builder.pool.len();
        builder.text_bytes = builder.pool.byte_len();
        for quark in builder.tree.quarks() {
            let (start, code) = history.last_code(quark)?;
            builder.ongoing.restore(quark, start, code);
        }
        for block in 0..recovered.blocks.len() {
            history.first_ends(block, |entry| builder.lasting.ends(block as u32, entry))?;
        }
        builder.rows = recovered.rows;
        builder.blocks = recovered.blocks;
        Ok(builder)
    }

    fn new(start: i64, settings: Settings, sink: Sink) -> Builder {
        let reorder = (settings.reorder_window > 0)
            .then(|| Reorder::new(settings.reorder_window, settings.reorder_limit));
        Builder {
            start,
            now: start,
            horizon: start,
            now_is_settled: false,
            limit: settings.block_intervals(0),
            settings,
            tree: Tree::new(),
            ongoing: Ongoing::new(start),
            pool: Pool::default(),
            texts: 0,
            text_bytes: 0,
            quarks: 0,
            reorder,
            sink,
            blocks: Vec::new(),
            rows: GrowingRows::default(),
            lasting: GrowingLasting::default(),
            mark: None,
            frame: Vec::new(),
            failed: false,
            live: None,
            observer: None,
        }
    }

    /// Calls a function with every interval as soon as it has ended, in the
    /// order in which they end. Those that are still going on when the history
    /// is closed come then, in the order of quarks.
    pub fn observe(&mut self, observer: impl FnMut(&Interval<'_>) + Send + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// The attributes so far.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The attribute at `path`, added if it is not there. See
    /// [`tree`](crate::tree) for paths.
    ///
    /// # Errors
    ///
    /// As [`Tree::add`].
    pub fn add(&mut self, path: &str) -> Result<Quark, Error> {
        self.add_below(Quark::ROOT, path)
    }

    /// The attribute at `path` below `base`, added if it is not there.
    ///
    /// # Errors
    ///
    /// As [`Tree::add`].
    pub fn add_below(&mut self, base: Quark, path: &str) -> Result<Quark, Error> {
        let added = self.tree.add(base, path);
        self.grown();
        Ok(added?)
    }

    /// The child of `parent` with this very name, whatever is in it, added if
    /// it is not there.
    ///
    /// # Errors
    ///
    /// As [`Tree::add_child`].
    pub fn add_child(&mut self, parent: Quark, name: &str) -> Result<Quark, Error> {
        let added = self.tree.add_child(parent, name);
        self.grown();
        Ok(added?)
    }

    /// After attributes were added.
    fn grown(&mut self) {
        self.ongoing.grow(self.tree.len());
        self.limit = self.settings.block_intervals(self.tree.len());
    }

    /// The first time of the history, in ns.
    pub fn start(&self) -> i64 {
        self.start
    }

    /// The time of the last change, in ns; the start if there was none. Changes
    /// that wait to be brought into order do not count.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// The earliest time at which a change can still be made, in ns: this is
    /// where to go on when a history is [resumed](Self::resume). It is
    /// [`now`](Self::now), since more can happen at that time; or 1 later if
    /// readers know `now` already. In a history without any block nothing
    /// has happened yet, so that it is the start.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, Settings};
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("h");
    /// let mut builder = Builder::create(&path, 0, Settings::default())?;
    /// let quark = builder.add("a")?;
    /// builder.set(quark, 10, 1)?;
    /// assert_eq!(builder.earliest(), 10);
    /// builder.flush()?;
    /// assert_eq!(builder.earliest(), 11);
    /// builder.set(quark, 20, 2)?;
    /// drop(builder); // The change at 20 was not in a block yet.
    ///
    /// let mut builder = Builder::resume(&path, Settings::default())?;
    /// assert_eq!(builder.earliest(), 11);
    /// builder.set(quark, 20, 2)?;
    /// builder.close(30)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn earliest(&self) -> i64 {
        self.now.saturating_add(self.now_is_settled.into())
    }

    /// The state of an attribute now: since when, and what. Its end is
    /// [`now`](Self::now).
    ///
    /// # Errors
    ///
    /// If there is no such attribute.
    pub fn ongoing(&self, quark: Quark) -> Result<Interval<'_>, Error> {
        let (start, code) = self.ongoing.get(quark).ok_or(Error::UnknownQuark { quark })?;
        Ok(Interval { quark, start, end: self.now, value: self.pool.value(code) })
    }

    /// An attribute has a value from `t` on, in ns.
    ///
    /// # Errors
    ///
    /// If there is no such attribute, `t` is before the last change (or before
    /// the window for disorder), or writing fails. After a failure to write,
    /// nothing more can be added.
    #[inline]
    pub fn set<'v>(
        &mut self,
        quark: Quark,
        t: i64,
        value: impl Into<Value<'v>>,
    ) -> Result<(), Error> {
        let code = self.pool.code(value.into()).ok_or(Error::TooManyTexts)?;
        self.set_code(quark, t, code)
    }

    /// A text, for setting it many times: [`set_text`](Self::set_text) need not
    /// look it up.
    ///
    /// ```
    /// # use lttv_state::history::Builder;
    /// let mut builder = Builder::in_memory(0);
    /// let door = builder.add("house/door")?;
    /// let (open, closed) = (builder.text("open")?, builder.text("closed")?);
    /// for hour in 0..24 {
    ///     builder.set_text(door, hour * 60, open)?;
    ///     builder.set_text(door, hour * 60 + 5, closed)?;
    /// }
    /// assert_eq!(builder.close(1_439)?.at(door, 62)?.value, "open".into());
    /// # Ok::<(), lttv_state::history::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there are too many texts.
    pub fn text(&mut self, text: &str) -> Result<Text, Error> {
        self.pool.intern(text.as_bytes()).map(Text).ok_or(Error::TooManyTexts)
    }

    /// As [`set`](Self::set), with a text of this builder. (One of another builder
    /// may be any other text here, or be refused.)
    ///
    /// # Errors
    ///
    /// As [`set`](Self::set), and [`Error::UnknownText`].
    #[inline]
    pub fn set_text(&mut self, quark: Quark, t: i64, text: Text) -> Result<(), Error> {
        if text.0 >= self.pool.len() as u64 {
            return Err(Error::UnknownText);
        }
        self.set_code(quark, t, Code { kind: Kind::Str, bits: text.0 })
    }

    #[inline]
    fn set_code(&mut self, quark: Quark, t: i64, code: Code) -> Result<(), Error> {
        match self.reorder {
            None => {
                self.advance(t)?;
                self.set_now(quark, t, code)
            }
            Some(_) => self.delay(quark, t, Action::Set(code)),
        }
    }

    /// An attribute and all below it are null from `t` on, in ns. Their quarks
    /// stay what they are.
    ///
    /// # Errors
    ///
    /// As [`set`](Self::set).
    pub fn remove(&mut self, quark: Quark, t: i64) -> Result<(), Error> {
        self.change(quark, t, Action::Remove)
    }

    /// A value is on top of a stack from `t` on, in ns.
    ///
    /// The attribute itself tells how deep the stack is, as an `I32`, or null
    /// when it is empty. Its children `1`, `2` and so on are what is in the
    /// stack, `1` at the bottom; they are added as they are needed.
    ///
    /// # Errors
    ///
    /// As [`set`](Self::set); if the attribute's value is not a depth; if the
    /// stack is 100 000 deep already. With a window for disorder the latter two
    /// come later, at the call that makes the change take effect.
    pub fn push<'v>(
        &mut self,
        stack: Quark,
        t: i64,
        value: impl Into<Value<'v>>,
    ) -> Result<(), Error> {
        let code = self.pool.code(value.into()).ok_or(Error::TooManyTexts)?;
        self.change(stack, t, Action::Push(code))
    }

    /// The topmost value of a stack goes at `t`, in ns. If there is none, nothing
    /// happens: what was pushed may be older than the history.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub fn pop(&mut self, stack: Quark, t: i64) -> Result<(), Error> {
        self.change(stack, t, Action::Pop)
    }

    /// The value on top of a stack now; null if there is none.
    ///
    /// # Errors
    ///
    /// If there is no such attribute, or its value is not a depth.
    pub fn top(&self, stack: Quark) -> Result<Value<'_>, Error> {
        let top = match self.depth(stack)? {
            0 => None,
            depth => self.tree.child(stack, &depth.to_string()),
        };
        top.map_or(Ok(Value::Null), |top| Ok(self.ongoing(top)?.value))
    }

    fn change(&mut self, quark: Quark, t: i64, action: Action) -> Result<(), Error> {
        match self.reorder {
            None => {
                self.advance(t)?;
                self.apply(quark, t, action)
            }
            Some(_) => self.delay(quark, t, action),
        }
    }

    #[inline]
    fn set_now(&mut self, quark: Quark, t: i64, code: Code) -> Result<(), Error> {
        let ended = self.ongoing.set(quark, t, code).ok_or(Error::UnknownQuark { quark })?;
        if let (Some(ended), Some(observer)) = (ended, &mut self.observer) {
            observer(&interval(&self.pool, ended));
        }
        Ok(())
    }

    fn apply(&mut self, quark: Quark, t: i64, action: Action) -> Result<(), Error> {
        match action {
            Action::Set(code) => self.set_now(quark, t, code),
            Action::Remove => {
                self.set_now(quark, t, Code::NULL)?;
                let below: Vec<Quark> = self.tree.descendants(quark).collect();
                below.into_iter().try_for_each(|quark| self.set_now(quark, t, Code::NULL))
            }
            Action::Push(code) => {
                let depth = self.depth(quark)?;
                if depth >= STACK_LIMIT {
                    let path = self.tree.path(quark);
                    return Err(Error::StackTooDeep { path, limit: STACK_LIMIT });
                }
                let top = self.add_child(quark, &(depth + 1).to_string())?;
                self.set_now(top, t, code)?;
                self.set_now(quark, t, depth_code(depth + 1))
            }
            Action::Pop => {
                let depth = self.depth(quark)?;
                if depth == 0 {
                    return Ok(());
                }
                if let Some(top) = self.tree.child(quark, &depth.to_string()) {
                    self.set_now(top, t, Code::NULL)?;
                }
                self.set_now(quark, t, depth_code(depth - 1))
            }
        }
    }

    fn depth(&self, stack: Quark) -> Result<u32, Error> {
        match self.ongoing(stack)?.value {
            Value::Null => Ok(0),
            Value::I32(depth) if depth >= 0 => Ok(depth as u32),
            _ => Err(Error::NotAStack { path: self.tree.path(stack) }),
        }
    }

    fn delay(&mut self, quark: Quark, t: i64, action: Action) -> Result<(), Error> {
        self.check_time(t)?;
        if !self.tree.contains(quark) {
            return Err(Error::UnknownQuark { quark });
        }
        if let Some(reorder) = &mut self.reorder {
            reorder.push(t, quark, action);
        }
        while let Some(change) = self.reorder.as_mut().and_then(Reorder::pop_ready) {
            self.apply_delayed(change)?;
        }
        Ok(())
    }

    fn apply_delayed(&mut self, change: Change) -> Result<(), Error> {
        self.advance(change.t)?;
        self.apply(change.quark, change.t, change.action)
    }

    /// Time goes on to `t`: what happened at earlier times is settled.
    #[inline]
    fn advance(&mut self, t: i64) -> Result<(), Error> {
        if t != self.now || self.now_is_settled {
            self.check_time(t)?;
            let text_bytes = self.pool.byte_len() - self.text_bytes;
            if self.ongoing.waiting() >= self.limit || text_bytes > TEXT_BYTES_PER_BLOCK {
                self.write_block()?;
            }
            (self.now, self.now_is_settled) = (t, false);
        }
        Ok(())
    }

    /// Whether there can be a change at `t`.
    fn check_time(&self, t: i64) -> Result<(), Error> {
        let earliest = self.earliest();
        match t < earliest || (t == self.now && self.now_is_settled) {
            true => Err(Error::TimeRegress { t, earliest }),
            false => Ok(()),
        }
    }

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

    /// Makes all changes that wait.
    fn settle(&mut self) -> Result<(), Error> {
        while let Some(change) = self.reorder.as_mut().and_then(Reorder::pop) {
            self.apply_delayed(change)?;
        }
        Ok(())
    }

    fn has_news(&self) -> bool {
        !self.ongoing.is_untouched()
            || self.tree.len() > self.quarks
            || self.pool.len() > self.texts
    }

    fn write_block(&mut self) -> Result<(), Error> {
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
    fn store(&mut self) -> Result<(u64, usize), Error> {
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
    fn snapshot(&self, end: i64) -> Result<History, Error> {
        let store = match &self.sink {
            Sink::Memory(frames) => Store::Frames(frames.clone()),
            Sink::File(file) => {
                let source = Source::of(&file.file, Access::Map);
                Store::File(source.map_err(|source| Error::Io { path: PathBuf::new(), source })?)
            }
        };
        Ok(History::from_parts(Parts {
            store,
            start: self.start,
            end,
            complete: false,
            identity: self.settings.identity.clone(),
            blocks: self.blocks.clone(),
            groups: super::recover::groups(&self.rows),
            lasting: Lasting::none(),
            mark: self.mark.clone(),
            tree: self.tree.clone(),
        }))
    }

    /// Lets other threads query what is in blocks while this one goes on.
    ///
    /// # Errors
    ///
    /// If the file cannot be mapped.
    pub fn live(&mut self) -> Result<Live, Error> {
        let shared = match &self.live {
            Some(shared) => shared.clone(),
            None => Arc::new(RwLock::new(self.snapshot(self.horizon)?)),
        };
        self.live = Some(shared.clone());
        Ok(Live { shared })
    }

    /// Ends the history at `end`, in ns, which is the last time that it has
    /// states for. Changes that wait to be brought into order are made first.
    ///
    /// # Errors
    ///
    /// If there are changes after `end`, or writing fails. A file stays
    /// unfinished then.
    pub fn close(mut self, end: i64) -> Result<History, Error> {
        let last = self.reorder.as_ref().map_or(self.now, |r| r.latest().max(self.now));
        if end < last {
            return Err(Error::EndsTooEarly { end, last });
        }
        self.settle()?;
        if self.has_news() {
            self.write_block()?;
        }
        if let Some(observer) = &mut self.observer {
            for entry in self.ongoing.entries(end) {
                observer(&interval(&self.pool, entry));
            }
        }
        let quarks = self.tree.len();
        if let Sink::File(_) = self.sink {
            if self.failed {
                return Err(Error::Failed);
            }
            let Builder { frame, blocks, rows, lasting, mark, ongoing, start, .. } = &mut self;
            file::frame(frame, FrameKind::Index, |out| {
                let lasting = |out: &mut Vec<u8>| {
                    lasting.write(out, *start, blocks.len(), ongoing.entries(end));
                };
                file::write_index(out, end, quarks, blocks, rows, lasting, mark.as_ref());
            });
            let (index, _) = self.store()?;
            let Sink::File(mut file) = self.sink else { return Err(Error::Failed) };
            let trailer = file::trailer(index, file.len);
            file.write(&trailer)?;
            let history = History::open(file.finish()?)?;
            if let Some(live) = &self.live {
                *live.write().unwrap_or_else(PoisonError::into_inner) = history.clone();
            }
            return Ok(history);
        }
        let mut lasting = Vec::new();
        let open = self.ongoing.entries(end);
        self.lasting.write(&mut lasting, self.start, self.blocks.len(), open);
        let lasting = Lasting::in_memory(lasting, self.start);
        let history = self.snapshot(end)?.into_complete(lasting);
        if let Some(live) = &self.live {
            *live.write().unwrap_or_else(PoisonError::into_inner) = history.clone();
        }
        Ok(history)
    }

    /// Gives up: an unfinished file is removed.
    ///
    /// A builder that is merely dropped leaves the file, to be
    /// [resumed](Self::resume).
    ///
    /// # Errors
    ///
    /// If the file cannot be removed.
    pub fn abandon(self) -> Result<(), Error> {
        match self.sink {
            Sink::Memory(_) => Ok(()),
            Sink::File(file) => file.remove(),
        }
    }
}

fn depth_code(depth: u32) -> Code {
    match depth {
        0 => Code::NULL,
        depth => Code { kind: Kind::I32, bits: depth.into() },
    }
}

fn interval(pool: &Pool, entry: Entry) -> Interval<'_> {
    let Entry { quark, start, end, code } = entry;
    Interval { quark, start, end, value: pool.value(code) }
}

/// A history that is being built, seen from other threads.
///
/// ```
/// # use lttv_state::history::Builder;
/// let mut builder = Builder::in_memory(0);
/// let quark = builder.add("a")?;
/// let live = builder.live()?;
/// builder.set(quark, 10, 1)?;
/// builder.flush()?;
/// std::thread::spawn(move || {
///     let history = live.latest();
///     assert_eq!(history.end(), 10);
///     assert_eq!(history.at(quark, 10).unwrap().value, 1.into());
/// })
/// .join()
/// .unwrap();
/// # Ok::<(), lttv_state::history::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Live {
    shared: Arc<RwLock<History>>,
}

impl Live {
    /// What was built up to the last block. It is a history like any other, and
    /// does not change any more: it ends where the last block does, and has all
    /// changes up to there and none after. When the builder has closed the
    /// history, it is the whole of it.
    pub fn latest(&self) -> History {
        self.shared.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
