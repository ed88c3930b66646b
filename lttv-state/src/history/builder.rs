//! Building a history.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use super::Interval;
use super::code::Pool;
use super::error::Error;
use super::file::{self, BlockEntry, FrameKind};
use super::lasting::{Entry, GrowingLasting, Lasting};
use super::mark::Mark;
use super::ongoing::Ongoing;
use super::reader::History;
use super::reorder::Reorder;
use super::rows::GrowingRows;
use super::settings::Settings;
use super::sink::{self, FileSink, Sink};
use super::source::{Access, Source};
use crate::tree::{Quark, Tree};

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
/// A history in a file is built under the file's name with `.partial` after
/// it, and gets its name when it is [closed](Self::close): so a file with the
/// right name is always whole. The unfinished file is locked: a second builder of the
/// same history is refused ([`Error::Busy`]), in this process or another. If the program ends before that, by whatever
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
    pub(super) start: i64,
    /// The time of the last change.
    pub(super) now: i64,
    /// All changes up to this time are in blocks.
    pub(super) horizon: i64,
    /// There is no more change at `now` itself: readers know it already.
    pub(super) now_is_settled: bool,
    pub(super) settings: Settings,
    /// Intervals in the log that make a block.
    pub(super) limit: usize,
    pub(super) tree: Tree,
    pub(super) ongoing: Ongoing,
    pub(super) pool: Pool,
    /// Texts that are in blocks, and their bytes.
    pub(super) texts: usize,
    pub(super) text_bytes: usize,
    pub(super) quarks: usize,
    pub(super) reorder: Option<Reorder>,
    pub(super) sink: Sink,
    pub(super) blocks: Vec<BlockEntry>,
    pub(super) rows: GrowingRows,
    pub(super) lasting: GrowingLasting,
    pub(super) mark: Option<Mark>,
    pub(super) frame: Vec<u8>,
    /// A write failed: what is in the file is not known.
    pub(super) failed: bool,
    pub(super) live: Option<Arc<RwLock<History>>>,
    pub(super) observer: Option<Observer>,
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
    /// If the file cannot be created; [`Error::NotAFile`] if `path` names something
    /// else than a file, such as a directory; [`Error::Busy`] if the history is being
    /// built already.
    pub fn create(
        path: impl AsRef<Path>,
        start: i64,
        settings: Settings,
    ) -> Result<Builder, Error> {
        let header = file::write_header(start, &settings.identity);
        let sink = FileSink::create(path.as_ref(), &header)?;
        Ok(Builder::new(start, settings, Sink::File(sink)))
    }

    pub(super) fn new(start: i64, settings: Settings, sink: Sink) -> Builder {
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

    /// Ends the history at `end`, in ns, which is the last time that it has
    /// states for. Changes that wait to be brought into order are made first.
    ///
    /// # Errors
    ///
    /// If there are changes after `end`, or writing fails. What was written is checked
    /// before it replaces another file: so also if it was damaged, removed or replaced.
    /// A file stays unfinished then.
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
            file.sync()?;
            // Other processes may have written to it, too: a file is not replaced by one
            // that is not what was built.
            let source = Source::of(&file.file, Access::Map);
            let history = source.map_err(|source| sink::io(&file.partial, source));
            let history = history.and_then(History::of_source)?;
            let is_right = (history.start(), history.end()) == (self.start, end)
                && *history.identity() == self.settings.identity
                && history.blocks() == self.blocks.len();
            if !is_right {
                return Err(Error::Replaced { path: file.partial });
            }
            history.verify()?;
            file.finish()?;
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

pub(super) fn interval(pool: &Pool, entry: Entry) -> Interval<'_> {
    let Entry { quark, start, end, code } = entry;
    Interval { quark, start, end, value: pool.value(code) }
}
