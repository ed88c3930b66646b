//! State histories: the value of each attribute over time.
//!
//! # Model
//!
//! Each attribute has a value at each time of the history. Times are [`Timestamp`]s, from any
//! origin and in any unit. An [`Interval`] is a range of time in which one attribute has one
//! value. The intervals of an attribute follow each other without gap or overlap: where one
//! ends, the next one starts.
//!
//! Ranges of time, intervals and whole histories contain their start, and do not contain
//! their end. [`Timestamp::MAX`] is the one exception: as an end it is included, since no
//! later end exists. A change at that time can thus be stored and found.
//!
//! # Building and querying
//!
//! A [`Builder`] takes changes, or intervals with a known end, and stores intervals, in memory
//! or in a file. An [`IntervalBuilder`] takes intervals in any order of time. A [`History`]
//! answers queries on all of them:
//!
//! | query | method |
//! |---|---|
//! | all attributes at a time | [`state_at`](History::state_at), [`for_each_at`](History::for_each_at) |
//! | one attribute at a time | [`at`](History::at) |
//! | some attributes at some times | [`for_each_at_times`](History::for_each_at_times) |
//! | attributes at times that depend on each other | [`forward_reader`](History::forward_reader) |
//! | some attributes over a time range, every interval or one for each pixel | [`for_each_in`](History::for_each_in) |
//! | intervals of one attribute, forward or backward | [`intervals`](History::intervals) |
//! | the first or the last time with a value | [`first_with`](History::first_with), [`last_with`](History::last_with) |
//! | all attributes that match a pattern at a time | [`state_matching`](History::state_matching) |
//! | total duration of each value | [`durations`](History::durations) |
//!
//! A [`History`] never changes. It can be cloned cheaply and queried from many threads at
//! the same time, without locks. [`Live`] returns successive histories to other threads
//! while a builder continues. When the source of a finished file has grown,
//! [`Builder::extend`] continues the file.
//!
//! # Storage
//!
//! Intervals are stored in *blocks*, in the order in which they end. Within a block they
//! are stored by column: each attribute has a *column chunk*, in which an interval takes
//! only the bytes that its end time and value need. End times are compressed with the
//! Elias–Fano split and sorted into buckets of time. A query for one attribute at one time
//! therefore reads one or two blocks, and needs few steps to find the attribute and the
//! time.
//!
//! The index of a file lists the blocks that contain each attribute. It also contains a
//! segment tree of the intervals that span whole blocks, so that the state of all
//! attributes is read sequentially.
//!
//! A finished file is mapped into memory and read in place. Only texts are copied, when each
//! is first used, so that they are checked to be UTF-8 only once. Of the first 65 536 texts,
//! those of up to 128 bytes are copied, which takes at most 12 MB.
//!
//! Every block has a checksum, which is verified when the block is first used. Damaged data
//! leads to [`HistoryError::Damaged`].
//!
//! # Several processes
//!
//! A file is built under another name, and locked. Further builders of the same file get
//! [`HistoryError::Busy`]. The lock is advisory and ends with its process, so that an
//! unfinished file can be resumed or replaced after its builder was killed. A builder
//! checks what it wrote, and that the file is still its own, before it replaces a finished
//! file by renaming. Readers that opened the old file keep it. Growing files are read, not
//! mapped, so that no change of such a file can end a process that reads it.
//!
//! ```
//! use lttv_state::history::{Builder, History, Settings, Timestamp};
//! use lttv_state::value::StateValue;
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("cars.history");
//!
//! let ns = Timestamp::from_ns;
//! let mut builder = Builder::create(&path, ns(0), Settings::default())?;
//! let light = builder.add("crossing/light")?;
//! for cycle in 0..100 {
//!     builder.set(light, ns(cycle * 60), "green")?;
//!     builder.set(light, ns(cycle * 60 + 40), "red")?;
//! }
//! builder.close(ns(6_000))?;
//!
//! let history = History::open(&path)?;
//! assert_eq!(history.at(light, ns(1_230))?.value, StateValue::Str("green"));
//! let red: Vec<_> = history
//!     .intervals(light, ns(0)..ns(300))?
//!     .filter(|interval| interval.as_ref().is_ok_and(|i| i.value == "red".into()))
//!     .collect::<Result<_, _>>()?;
//! assert_eq!(red.len(), 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block;
mod build;
mod error;
mod file;
mod identity;
mod query;
mod time;

pub use ltt_read::{Access, Timestamp};

pub use build::builder::Builder;
#[cfg(feature = "kernel")]
pub(crate) use build::draft::{Changes, Draft, Store};
pub use build::live::Live;
pub use build::settings::Settings;
pub use build::states::Text;
pub use build::unordered::IntervalBuilder;
pub use error::HistoryError;
pub use file::resume_note::ResumeNote;
pub use identity::HistoryIdentity;
pub use query::durations::ValueDuration;
pub use query::forward_reader::ForwardReader;
pub use query::history::History;
pub use query::intervals::Intervals;

use crate::tree::Quark;
use crate::value::StateValue;

/// A value that an attribute has for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interval<'a> {
    /// The attribute.
    pub quark: Quark,
    /// The first time at which the attribute has the value.
    pub start: Timestamp,
    /// The end of the interval: the start of the next one, or the end of the history. The
    /// attribute has the value until before this time, or also at this time if it is
    /// [`Timestamp::MAX`] and no other interval starts there.
    pub end: Timestamp,
    /// The value.
    pub value: StateValue<'a>,
}

impl<'a> Interval<'a> {
    /// Creates an interval from its first and its last time, in ns.
    #[inline(always)]
    pub(crate) fn new(quark: Quark, first: i64, last: i64, value: StateValue<'a>) -> Self {
        Interval { quark, start: Timestamp::from_ns(first), end: time::end_after(last), value }
    }

    /// Returns the time from the start to the end of the interval, in ns.
    pub fn duration(&self) -> u64 {
        self.end.since(self.start)
    }
}
