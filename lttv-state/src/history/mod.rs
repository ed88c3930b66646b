//! The history of attributes: what value each one had, and when.
//!
//! # Model
//!
//! Each attribute has a value at each time, from the first to the last of the
//! history. Times are whole ns in an `i64`, from whatever origin. An
//! [`Interval`] is a span of time, first and last time included, in which one
//! attribute has one value; the intervals of an attribute follow each other
//! without gap or overlap: where one ends at `t`, the next begins at `t + 1`.
//!
//! # Building and asking
//!
//! A [`Builder`] takes changes and stores intervals, in memory or in a file. A
//! [`History`] answers, from either:
//!
//! | question | method |
//! |---|---|
//! | all attributes at a time | [`state_at`](History::state_at), [`all_at`](History::all_at) |
//! | one attribute at a time | [`at`](History::at) |
//! | some attributes at some times | [`at_times`](History::at_times) |
//! | some attributes over a time, every interval or one a pixel | [`over`](History::over) |
//! | one attribute's intervals, from either side | [`intervals`](History::intervals) |
//! | what comes next, what was before | [`next_change`](History::next_change), [`previous_change`](History::previous_change) |
//! | when a value was first or last there | [`first_with`](History::first_with), [`last_with`](History::last_with) |
//! | all attributes that fit a pattern at a time | [`matching_at`](History::matching_at) |
//! | how long each value lasted | [`durations`](History::durations), [`durations_of`](History::durations_of) |
//! | least, greatest and mean of numbers | [`numbers`](History::numbers) |
//!
//! When what it was built from has grown, [`Builder::extend`] goes on with a finished
//! file. But a [`History`] does not change. It can be cloned for little and asked from many
//! threads at once; nothing locks. [`Live`] gives other threads one after
//! the other while a builder goes on.
//!
//! # Storage
//!
//! Intervals are stored in *blocks* of many, in the order in which they end. In
//! a block each attribute has a *run* of its own: an entry for each interval, with its
//! end and its value in as few bytes as these need, sorted into buckets of time. An index
//! tells which blocks have an attribute. So one attribute at one time is found in one
//! block, or two, and neither time nor attribute needs more than a few steps to find. What
//! lasts over whole blocks is noted once more in the index, so that the state of all
//! attributes is read in a row. Finished files are mapped and read in place: there is
//! nothing to unpack. Of texts, the first 65 536 are copied when each is first asked for, but none of
//! more than 128 bytes, so that it is known to be UTF-8: this takes 12 MB at most.
//!
//! Every block has a checksum, which is checked when the block is first used.
//! Damage gives [`Error::Damaged`], not a wrong answer.
//!
//! # Several processes
//!
//! A file is built under another name, and locked: one builder at a time, others get
//! [`Error::Busy`] at once. The lock is an advisory one, which ends with its process; so
//! what a killed builder left can be resumed or replaced. A builder checks what it wrote,
//! and that the file is still its own, before it replaces a finished file by renaming.
//! Whoever has opened the old one keeps it. Growing files are read, not mapped, so that
//! nothing that happens to them ends a process that reads.
//!
//! ```
//! use lttv_state::history::{Builder, History, Settings};
//! use lttv_state::value::Value;
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("cars.history");
//!
//! let mut builder = Builder::create(&path, 0, Settings::default())?;
//! let light = builder.add("crossing/light")?;
//! for cycle in 0..100 {
//!     builder.set(light, cycle * 60, "green")?;
//!     builder.set(light, cycle * 60 + 40, "red")?;
//! }
//! builder.close(5_999)?;
//!
//! let history = History::open(&path)?;
//! assert_eq!(history.at(light, 1_230)?.value, Value::Str("green"));
//! let red: Vec<_> = history
//!     .intervals(light, 0..=300)?
//!     .filter(|interval| interval.as_ref().is_ok_and(|i| i.value == "red".into()))
//!     .collect::<Result<_, _>>()?;
//! assert_eq!(red.len(), 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bits;
mod block;
mod builder;
mod changes;
mod code;
mod crossing;
mod cursor;
mod cut;
mod durations;
mod ends;
mod error;
mod file;
mod identity;
mod lasting;
mod live;
mod mark;
mod names;
mod ongoing;
mod piece;
mod query;
mod reader;
mod recover;
mod reorder;
mod resume;
mod rows;
mod run;
mod settings;
mod sink;
mod source;
mod state;
mod storing;
mod summary;
mod symbols;
mod texts;

pub use builder::Builder;
pub use changes::Text;
pub use durations::{Duration, Numbers};
pub use error::Error;
pub use identity::Identity;
pub use live::Live;
pub use mark::Mark;
pub use query::Intervals;
pub use reader::History;
pub use settings::Settings;
pub use source::Access;

use crate::tree::Quark;
use crate::value::Value;

/// A value that an attribute has for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interval<'a> {
    /// The attribute.
    pub quark: Quark,
    /// The first time at which it has the value, in ns.
    pub start: i64,
    /// The last time at which it has the value, in ns; never before `start`.
    pub end: i64,
    /// The value.
    pub value: Value<'a>,
}

impl Interval<'_> {
    /// How long it lasts, in ns: at least 1.
    pub fn duration(&self) -> u64 {
        (self.end.wrapping_sub(self.start) as u64).saturating_add(1)
    }
}
