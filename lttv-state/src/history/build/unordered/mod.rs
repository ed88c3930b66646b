//! The builder of histories from intervals in any order of time.
//!
//! Intervals are sorted by `sorter`, in files if there are many of them, and then passed to
//! an ordinary builder.

mod run_file;
mod sorter;

use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use ltt_read::Timestamp;

use super::builder::Builder;
use super::intervals::interval_limits;
use super::partial_file::{PartialFile, checked_partial};
use super::settings::Settings;
use super::states::States;
use crate::history::error::HistoryError;
use crate::history::query::history::History;
use crate::history::time::{end_after, last_before};
use crate::tree::{Quark, Tree};
use crate::value::StateValue;

use sorter::{Record, Sorter};

/// The default memory for intervals, in bytes.
const MEMORY: usize = 64 << 20;

/// A builder of histories that takes intervals in any order of time.
///
/// Intervals wait until the history is [closed](Self::close). Beyond a [limit of
/// memory](Self::set_memory_limit), they wait in a file beside the history, which is removed
/// in any case. Attributes and distinct texts stay in memory, as in a [`Builder`].
///
/// A time of an attribute that no interval contains is null. Two intervals of one attribute
/// must not overlap: [`HistoryError::Overlap`] names the attribute and both intervals.
///
/// ```
/// # use lttv_state::history::{IntervalBuilder, Settings, Timestamp};
/// # use lttv_state::value::StateValue;
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("rooms.history");
/// let hour = Timestamp::from_ns;
/// let mut builder = IntervalBuilder::create(&path, Settings::default())?;
/// let (blue, red) = (builder.add("rooms/blue")?, builder.add("rooms/red")?);
/// builder.add_interval(red, hour(14)..hour(15), "team")?;
/// builder.add_interval(blue, hour(10)..hour(12), "visit")?;
/// builder.add_interval(red, hour(9)..hour(10), "team")?;
/// let history = builder.close(hour(8)..hour(18))?;
///
/// assert_eq!(history.at(red, hour(9))?.value, StateValue::Str("team"));
/// assert_eq!(history.at(red, hour(10))?.end, hour(14));
/// assert_eq!(history.state_at(hour(12))?[blue.index()].value, StateValue::Null);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct IntervalBuilder {
    /// The path of the history; `None` if it stays in memory.
    path: Option<PathBuf>,
    settings: Settings,
    /// The attributes and texts. They have no values yet.
    states: States,
    sorter: Sorter,
    /// The first and the last time of all intervals, in ns.
    limits: Option<(i64, i64)>,
}

impl IntervalBuilder {
    /// Creates a builder of a history in a file. An existing file is replaced when the
    /// history is closed. The settings for reordering have no effect.
    ///
    /// # Errors
    ///
    /// Returns [`HistoryError::NotAFile`] if `path` names something other than a file, such
    /// as a directory; and an error if its directory does not exist.
    pub fn create(path: impl AsRef<Path>, settings: Settings) -> Result<Self, HistoryError> {
        let path = path.as_ref();
        checked_partial(path)?;
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        std::fs::metadata(directory).map_err(|error| HistoryError::io(directory, error))?;
        Ok(Self::new(Some(path.to_owned()), directory.to_owned(), settings))
    }

    /// Creates a builder of a history in memory. Intervals beyond the limit of memory wait in
    /// a file in the directory for temporary files.
    pub fn in_memory(settings: Settings) -> Self {
        Self::new(None, std::env::temp_dir(), settings)
    }

    /// Sets the memory in which intervals wait, in bytes: 64 MiB by default. Beyond it they
    /// wait in a file, where each takes 29 bytes. Buffers of up to 64 KiB are used in
    /// addition.
    ///
    /// ```
    /// # use lttv_state::history::{HistoryError, IntervalBuilder, Settings, Timestamp};
    /// # let ns = Timestamp::from_ns;
    /// let mut builder = IntervalBuilder::in_memory(Settings::default());
    /// builder.set_memory_limit(0);
    /// let quark = builder.add("parity")?;
    /// for n in (0..10_000).rev() {
    ///     builder.add_interval(quark, ns(n)..ns(n + 1), n % 2)?;
    /// }
    /// let history = builder.close(ns(0)..ns(10_000))?;
    /// assert_eq!(history.at(quark, ns(7777))?.value, 1_i64.into());
    /// # Ok::<(), HistoryError>(())
    /// ```
    pub fn set_memory_limit(&mut self, bytes: usize) {
        self.sorter.set_memory(bytes);
    }

    /// Returns the attributes.
    pub fn tree(&self) -> &Tree {
        self.states.tree()
    }

    /// Returns the attribute at a path from the root, which is added if it does not exist.
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

    /// Returns the child of `parent` with this exact name, which is added if it does not
    /// exist.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tree::add_child`].
    pub fn add_child(&mut self, parent: Quark, name: &str) -> Result<Quark, HistoryError> {
        self.states.add_child(parent, name)
    }

    /// Adds an interval: the value of an attribute over a time range, which contains its
    /// start but not its end. ([`Timestamp::MAX`] as an end is included.)
    ///
    /// # Errors
    ///
    /// Returns [`HistoryError::EmptyInterval`] if the range is empty; an error if the
    /// attribute does not exist; and an error if the file of waiting intervals cannot be
    /// written. An overlap with another interval is found when the history is closed.
    pub fn add_interval<'v>(
        &mut self,
        quark: Quark,
        range: Range<Timestamp>,
        value: impl Into<StateValue<'v>>,
    ) -> Result<(), HistoryError> {
        let (start, last) = interval_limits(&range)?;
        if !self.states.tree().contains(quark) {
            return Err(HistoryError::UnknownQuark(quark));
        }
        let raw = self.states.encode(value.into())?;
        self.sorter.push(Record { start, quark, last, raw })?;
        let (first, latest) = self.limits.unwrap_or((start, last));
        self.limits = Some((first.min(start), latest.max(last)));
        Ok(())
    }

    /// Returns the number of intervals.
    pub fn len(&self) -> u64 {
        self.sorter.len()
    }

    /// Returns `true` if there are no intervals.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the time from the earliest start to the latest end of all intervals. `None` if
    /// there are none.
    pub fn span(&self) -> Option<Range<Timestamp>> {
        let (first, last) = self.limits?;
        Some(Timestamp::from_ns(first)..end_after(last))
    }

    /// Builds the history over a span of time, such as [`span`](Self::span).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`close_with`](Self::close_with).
    pub fn close(self, span: Range<Timestamp>) -> Result<History, HistoryError> {
        self.close_with(span, |_, _| ControlFlow::Continue(()))
    }

    /// Builds the history over a span of time, and calls `progress` regularly with the
    /// number of steps done and with that of all steps. `progress` can cancel the work with
    /// [`ControlFlow::Break`].
    ///
    /// After an error, neither a temporary nor an unfinished file remains, and an earlier
    /// file at the path is unchanged.
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # use lttv_state::history::{HistoryError, IntervalBuilder, Settings, Timestamp};
    /// # let ns = Timestamp::from_ns;
    /// let mut builder = IntervalBuilder::in_memory(Settings::default());
    /// let quark = builder.add("a")?;
    /// builder.add_interval(quark, ns(5)..ns(9), 1)?;
    /// let cancelled = builder.close_with(ns(0)..ns(9), |done, all| {
    ///     println!("{done} of {all}");
    ///     ControlFlow::Break(())
    /// });
    /// assert!(matches!(cancelled, Err(HistoryError::Cancelled)));
    /// # Ok::<(), HistoryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`HistoryError::Overlap`] if two intervals of one attribute overlap;
    /// [`HistoryError::TimeRegress`] or [`HistoryError::EndsTooEarly`] if an interval is not
    /// within the span; [`HistoryError::Cancelled`]; [`HistoryError::Busy`] if another
    /// builder is building the history; and an error if a file cannot be read or written.
    pub fn close_with(
        self,
        span: Range<Timestamp>,
        mut progress: impl FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<History, HistoryError> {
        let IntervalBuilder { path, settings, states, sorter, limits } = self;
        let Range { start, end } = span;
        let (first, latest) = limits.unwrap_or((start.as_ns(), start.as_ns()));
        if first < start.as_ns() {
            let time = Timestamp::from_ns(first);
            return Err(HistoryError::TimeRegress { time, earliest: start });
        }
        if last_before(end).is_none_or(|last| last < latest) {
            let last = Timestamp::from_ns(latest);
            return Err(HistoryError::EndsTooEarly { end, last });
        }
        let mut sorted = sorter.sorted(&mut progress)?;
        let mut builder = match &path {
            Some(path) => Builder::create(path, start, settings)?,
            None => Builder::in_memory_with(start, settings),
        };
        builder.take_names(states);
        let added = (|| {
            while let Some(Record { start, quark, last, raw }) = sorted.next(&mut progress)? {
                builder.add_sorted_interval(quark, start, last, raw)?;
            }
            Ok(())
        })();
        if let Err(error) = added {
            // The first error is the cause.
            let _ = builder.abandon();
            return Err(error);
        }
        builder.close(end).inspect_err(|_| {
            if let Some(Ok(partial)) = path.as_deref().map(PartialFile::resume) {
                let _ = partial.remove();
            }
        })
    }

    fn new(path: Option<PathBuf>, directory: PathBuf, settings: Settings) -> Self {
        // The start is not used: the states have no values.
        let states = States::new(0, settings.block_intervals);
        let sorter = Sorter::new(directory, MEMORY);
        IntervalBuilder { path, settings, states, sorter, limits: None }
    }
}
