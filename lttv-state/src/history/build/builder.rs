//! The builder of histories.

use std::path::Path;

use ltt_read::Timestamp;

use super::block_writer::{BlockWriter, Output};
use super::clock::Clock;
use super::intervals::OpenIntervals;
use super::live::Live;
use super::partial_file::PartialFile;
use super::recover::Recovered;
use super::reorder::{Action, Change, ReorderBuffer};
use super::settings::Settings;
use super::states::{States, Text};
use crate::history::Interval;
use crate::history::block::raw_value::RawValue;
use crate::history::error::HistoryError;
use crate::history::file;
use crate::history::file::resume_note::ResumeNote;
use crate::history::query::history::History;
use crate::history::time::last_before;
use crate::tree::{Quark, Tree};
use crate::value::StateValue;

/// A builder of histories: it takes changes and stores the intervals between them.
///
/// A change at time `t` is in effect from `t`, inclusive, to the next change of the same
/// attribute. Setting the value that an attribute has already is no change. Of several
/// changes of an attribute at the same time, only the last is kept. An attribute is null
/// before its first change. Changes come in the order of time, unless
/// [`Settings::reorder_window`] permits some disorder.
///
/// [`add_interval`](Self::add_interval) adds a value with its start and its end. If intervals
/// come in no order of time, an [`IntervalBuilder`](crate::history::IntervalBuilder) sorts
/// them.
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
#[derive(Debug)]
pub struct Builder {
    pub(super) clock: Clock,
    pub(super) states: States,
    writer: BlockWriter,
    /// The changes that wait to be put in order, if some disorder is permitted.
    pub(super) reorder: Option<ReorderBuffer>,
    /// The intervals with a known end, once there are some.
    pub(super) open: Option<Box<OpenIntervals>>,
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

    /// Continues a history that was not closed, with all attributes, and with the states at
    /// the end of its last block. All changes before [`earliest`](Self::earliest) are
    /// stored; those from it on have to be made again. What follows the last complete block
    /// in the file is removed.
    ///
    /// # Errors
    ///
    /// Returns an error if the unfinished file does not exist, or is damaged before its
    /// last block; [`HistoryError::Stale`] if its identity differs from that in `settings`;
    /// [`HistoryError::Busy`] if another builder is writing it.
    pub fn resume(path: impl AsRef<Path>, settings: Settings) -> Result<Builder, HistoryError> {
        Builder::resume_locked(PartialFile::resume(path.as_ref())?, settings)
    }

    /// Continues a finished history whose source has grown, from a time `settled`
    /// before which nothing of the source is new.
    ///
    /// Blocks that end before that time are copied. The changes from
    /// [`earliest`](Self::earliest) on have to be made, including those that the file
    /// contains already, as with [`resume`](Self::resume). If the file has a
    /// [note](Self::set_resume_note) of a settled time, [`resume_note`](Self::resume_note) returns it, so that
    /// the source need not be read from its start. The file itself stays unchanged until
    /// this builder is closed.
    ///
    /// The identity in `settings` must have the same producer, version and options as the
    /// file, which is checked. Its source must be that of the file after it has grown,
    /// which the caller has to ensure.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, History, Settings, Timestamp};
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("h");
    /// let ns = Timestamp::from_ns;
    /// let mut builder = Builder::create(&path, ns(0), Settings::default())?;
    /// let door = builder.add("door")?;
    /// builder.set(door, ns(10), "open")?;
    /// builder.set_resume_note(ns(11), b"one line read")?;
    /// builder.set(door, ns(20), "closed")?;
    /// builder.close(ns(25))?;
    ///
    /// // There are more lines now, and the second one may be another.
    /// let mut builder = Builder::extend(&path, Settings::default(), ns(11))?;
    /// assert_eq!(builder.resume_note().expect("a note").note, b"one line read");
    /// assert_eq!(builder.earliest(), ns(11));
    /// builder.set(door, ns(30), "closed")?;
    /// let history = builder.close(ns(40))?;
    /// assert_eq!(history.at(door, ns(29))?.value, "open".into());
    /// assert_eq!(history.at(door, ns(30))?.value, "closed".into());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened, if a block to be copied is damaged,
    /// or if the new file cannot be written; [`HistoryError::Stale`] if the file is of another
    /// producer, version or options; [`HistoryError::Busy`] if another builder is writing it.
    pub fn extend(
        path: impl AsRef<Path>,
        settings: Settings,
        settled: Timestamp,
    ) -> Result<Builder, HistoryError> {
        let path = path.as_ref();
        let history = History::open(path)?;
        let (found, expected) = (history.identity(), &settings.identity);
        let same = found.producer == expected.producer
            && (found.version, found.options) == (expected.version, expected.options);
        if !same {
            let (expected, found) = (expected.clone().into(), found.clone().into());
            return Err(HistoryError::Stale { expected, found });
        }
        let header = file::write_header(history.first(), &settings.identity);
        let mut output = PartialFile::create(path, &header)?;
        for frame in history.frames_before(settled.as_ns()) {
            output.write(frame?)?;
        }
        let mut builder = Builder::resume_locked(output, settings)?;
        let now = builder.clock.now();
        let is_of_use = |note: &&ResumeNote| note.time <= settled && note.horizon <= now;
        if let Some(note) = history.resume_note().filter(is_of_use).cloned() {
            builder.writer.set_note(note);
        }
        Ok(builder)
    }

    /// Sets a function that is called with every interval as soon as it has ended, in the
    /// order of ends. When the history is closed, it is called with the last interval of
    /// each attribute, in the order of quarks.
    pub fn observe(&mut self, observer: impl FnMut(&Interval<'_>) + Send + 'static) {
        self.states.observe(Box::new(observer));
    }

    /// Returns the tree of the attributes added so far.
    pub fn tree(&self) -> &Tree {
        self.states.tree()
    }

    /// Returns the attribute at `path`, which is added if it does not exist. See
    /// [`tree`](crate::tree) for paths.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tree::add`].
    pub fn add(&mut self, path: &str) -> Result<Quark, HistoryError> {
        self.states.add(Quark::ROOT, path)
    }

    /// Returns the attribute at `path` below `base`, which is added if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tree::add`].
    pub fn add_below(&mut self, base: Quark, path: &str) -> Result<Quark, HistoryError> {
        self.states.add(base, path)
    }

    /// Returns the child of `parent` with this exact name, in which no character is
    /// special. It is added if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tree::add_child`].
    pub fn add_child(&mut self, parent: Quark, name: &str) -> Result<Quark, HistoryError> {
        self.states.add_child(parent, name)
    }

    /// Returns the attributes that exist [now](Self::now): those with a value other than null,
    /// and those above them. [`tree`](Self::tree) has all attributes so far instead.
    ///
    /// This takes time and memory for each attribute so far.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, HistoryError, Timestamp};
    /// # let ns = Timestamp::from_ns;
    /// let mut builder = Builder::in_memory(ns(0));
    /// let door = builder.add("house/door")?;
    /// builder.set(door, ns(10), "open")?;
    /// assert_eq!(builder.tree_now().len(), 2);
    /// builder.remove(door, ns(20))?;
    /// assert!(builder.tree_now().is_empty());
    /// # Ok::<(), HistoryError>(())
    /// ```
    pub fn tree_now(&self) -> Tree {
        self.states.tree_now()
    }

    /// Returns the start of the history: its first time.
    pub fn start(&self) -> Timestamp {
        Timestamp::from_ns(self.clock.start())
    }

    /// Returns the time of the last change, or the start if there was none. Changes that
    /// wait to be put in order do not count.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_ns(self.clock.now())
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
        self.clock.earliest()
    }

    /// Returns the present state of an attribute: its value and the time since which it has
    /// been unchanged. [`now`](Self::now) is the last time in the interval.
    ///
    /// # Errors
    ///
    /// Returns an error if the attribute does not exist.
    pub fn ongoing(&self, quark: Quark) -> Result<Interval<'_>, HistoryError> {
        self.states.ongoing(quark, self.clock.now())
    }

    /// Sets the value of an attribute from `time` on.
    ///
    /// # Errors
    ///
    /// Returns an error if the attribute does not exist, if `time` is before the last change
    /// (or before the reorder window), or if writing fails. After a failure to write,
    /// nothing more can be added.
    #[inline]
    pub fn set<'v>(
        &mut self,
        quark: Quark,
        time: Timestamp,
        value: impl Into<StateValue<'v>>,
    ) -> Result<(), HistoryError> {
        let raw = self.states.encode(value.into())?;
        self.set_raw(quark, time.as_ns(), raw)
    }

    /// Returns a handle of a text, which is added to the builder's pool. A text that is set
    /// many times needs only one lookup if it is set by [`set_text`](Self::set_text).
    ///
    /// ```
    /// # use lttv_state::history::{Builder, Timestamp};
    /// let minute = Timestamp::from_ns;
    /// let mut builder = Builder::in_memory(minute(0));
    /// let door = builder.add("house/door")?;
    /// let (open, closed) = (builder.text("open")?, builder.text("closed")?);
    /// for hour in 0..24 {
    ///     builder.set_text(door, minute(hour * 60), open)?;
    ///     builder.set_text(door, minute(hour * 60 + 5), closed)?;
    /// }
    /// let history = builder.close(minute(24 * 60))?;
    /// assert_eq!(history.at(door, minute(62))?.value, "open".into());
    /// # Ok::<(), lttv_state::history::HistoryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if there are too many texts.
    pub fn text(&mut self, text: &str) -> Result<Text, HistoryError> {
        self.states.text(text)
    }

    /// Sets the value of an attribute to a text of this builder, from `time` on. A text
    /// of another builder may be refused, or stand for any text of this one.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`set`](Self::set); and [`HistoryError::UnknownText`].
    #[inline]
    pub fn set_text(
        &mut self,
        quark: Quark,
        time: Timestamp,
        text: Text,
    ) -> Result<(), HistoryError> {
        let raw = self.states.encode_text(text)?;
        self.set_raw(quark, time.as_ns(), raw)
    }

    /// Sets an attribute and all below it to null from `time` on. Their quarks remain valid:
    /// setting one of them adds it again.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`set`](Self::set).
    pub fn remove(&mut self, quark: Quark, time: Timestamp) -> Result<(), HistoryError> {
        self.change(quark, time.as_ns(), Action::Remove)
    }

    /// Pushes a value onto a stack at a time.
    ///
    /// The value of the attribute itself is the depth of the stack, as an `I32`, or null if
    /// it is empty. Its children `1`, `2` and so on are the elements, with `1` at the
    /// bottom. They are added as needed.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`set`](Self::set). Returns an error if the attribute's value
    /// is not a depth, or if the stack has a depth of 100 000 already. With a reorder
    /// window, these two are returned by a later call, the one by which the change takes
    /// effect.
    pub fn push<'v>(
        &mut self,
        stack: Quark,
        time: Timestamp,
        value: impl Into<StateValue<'v>>,
    ) -> Result<(), HistoryError> {
        let raw = self.states.encode(value.into())?;
        self.change(stack, time.as_ns(), Action::Push(raw))
    }

    /// Removes the topmost value of a stack at a time. An empty stack stays empty: its
    /// values may have been pushed before the start of the history.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`push`](Self::push).
    pub fn pop(&mut self, stack: Quark, time: Timestamp) -> Result<(), HistoryError> {
        self.change(stack, time.as_ns(), Action::Pop)
    }

    /// Returns the value on top of a stack now. It is null if the stack is empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the attribute does not exist, or if its value is not a depth.
    pub fn top(&self, stack: Quark) -> Result<StateValue<'_>, HistoryError> {
        self.states.top(stack)
    }

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
        self.writer.live(self.states.tree(), &self.clock)
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
        self.end_intervals(self.clock.now())?;
        if self.states.has_unwritten() {
            self.write_block()?;
            self.clock.publish();
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
        let horizon = self.clock.horizon();
        self.writer.set_note(ResumeNote { time, horizon, note: note.to_vec() });
        Ok(())
    }

    /// Returns the last note of [`set_resume_note`](Self::set_resume_note). In a history that was
    /// [extended](Self::extend), it is the note of the file, if it is valid there.
    pub fn resume_note(&self) -> Option<&ResumeNote> {
        self.writer.note()
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
    pub fn close(mut self, end: Timestamp) -> Result<History, HistoryError> {
        let now = self.clock.now();
        let waiting = self.reorder.as_ref().map_or(now, ReorderBuffer::latest);
        let open = self.open.as_ref().and_then(|open| open.latest()).unwrap_or(now);
        let last_change = now.max(waiting).max(open);
        let Some(last) = last_before(end).filter(|last| *last >= last_change) else {
            let last = Timestamp::from_ns(last_change);
            return Err(HistoryError::EndsTooEarly { end, last });
        };
        self.apply_waiting()?;
        self.end_intervals(last)?;
        let Builder { mut clock, mut states, mut writer, .. } = self;
        if states.has_unwritten() {
            writer.write(&mut states, &mut clock)?;
        }
        states.observe_last(last);
        writer.finish(&states, clock.start(), last)
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
        self.writer.abandon()
    }

    fn new(start: i64, settings: Settings, output: Output) -> Builder {
        let Settings { identity, reorder_window, reorder_limit, block_intervals } = settings;
        Builder {
            clock: Clock::new(start),
            states: States::new(start, block_intervals),
            writer: BlockWriter::new(identity, output),
            reorder: (reorder_window > 0)
                .then(|| ReorderBuffer::new(reorder_window, reorder_limit)),
            open: None,
        }
    }

    #[inline]
    pub(super) fn set_raw(
        &mut self,
        quark: Quark,
        t: i64,
        raw: RawValue,
    ) -> Result<(), HistoryError> {
        match self.reorder {
            None => {
                self.advance(t)?;
                self.states.set(quark, t, raw)
            }
            Some(_) => self.delay(quark, t, Action::Set(raw)),
        }
    }

    fn change(&mut self, quark: Quark, t: i64, action: Action) -> Result<(), HistoryError> {
        match self.reorder {
            None => {
                self.advance(t)?;
                self.states.apply(quark, t, action)
            }
            Some(_) => self.delay(quark, t, action),
        }
    }

    pub(super) fn delay(
        &mut self,
        quark: Quark,
        t: i64,
        action: Action,
    ) -> Result<(), HistoryError> {
        self.clock.check(t)?;
        if !self.states.tree().contains(quark) {
            return Err(HistoryError::UnknownQuark(quark));
        }
        if let Some(reorder) = &mut self.reorder {
            reorder.push(t, quark, action);
        }
        while let Some(change) = self.reorder.as_mut().and_then(ReorderBuffer::pop_ready) {
            self.apply_delayed(change)?;
        }
        Ok(())
    }

    fn apply_delayed(&mut self, change: Change) -> Result<(), HistoryError> {
        let Change { t, quark, action, .. } = change;
        self.end_intervals_before(t)?;
        if let Action::Interval(raw, last) = action {
            return self.start_interval(quark, t, last, raw);
        }
        self.advance(t)?;
        self.states.apply(quark, t, action)
    }

    /// Applies all changes that wait to be put in order.
    fn apply_waiting(&mut self) -> Result<(), HistoryError> {
        while let Some(change) = self.reorder.as_mut().and_then(ReorderBuffer::pop) {
            self.apply_delayed(change)?;
        }
        Ok(())
    }

    /// Advances the time to `t`, in ns. A block is written first if there is enough for one.
    #[inline]
    pub(super) fn advance(&mut self, t: i64) -> Result<(), HistoryError> {
        if !self.clock.is_at(t) {
            self.clock.check(t)?;
            if self.states.fill_a_block() {
                self.write_block()?;
            }
            self.clock.advance(t);
        }
        Ok(())
    }

    fn write_block(&mut self) -> Result<(), HistoryError> {
        self.writer.write(&mut self.states, &mut self.clock)
    }

    /// Continues a history in a file that is locked.
    fn resume_locked(mut file: PartialFile, settings: Settings) -> Result<Builder, HistoryError> {
        let recovered = Recovered::of(file.map()?)?;
        let history = &recovered.history;
        if *history.identity() != settings.identity {
            let found = history.identity().clone().into();
            return Err(HistoryError::Stale { expected: settings.identity.into(), found });
        }
        file.truncate(recovered.len)?;
        for (block, frame) in recovered.blocks.iter().zip(history.frames()) {
            file.add_frame(block.offset, frame?);
        }
        let mut builder = Builder::new(history.first(), settings, Output::File(file));
        let has_blocks = !recovered.blocks.is_empty();
        builder.clock = Clock::resumed(history.first(), history.last(), has_blocks);
        builder.states.restore(history)?;
        builder.writer.restore(recovered)?;
        Ok(builder)
    }
}
