//! Cuts in the order of all events of a traceset.

use std::cmp::Ordering;
use std::sync::Arc;

use ltt_read::{Event, Position, Timestamp};

use crate::traceset::{Generation, Traceset};

/// A place between two events of a traceset.
///
/// Plain data: it may be kept, sent to other threads, and sought in any context
/// of the same traceset. Positions of one traceset are ordered as its events are,
/// and comparing them takes the same time for any number of tracefiles. Those of
/// different tracesets, or of one before and after a change, do not compare.
///
/// ```
/// use lttv_context::{Bounds, TracesetContext, Traceset, TracesetPosition};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let mut context = TracesetContext::new(&traceset);
/// let begin = context.position();
/// context.middle(&Bounds::all().events(10))?;
/// let tenth = context.position();
/// assert!(begin < tenth && tenth < TracesetPosition::end(&traceset));
///
/// context.seek_position(&begin)?;
/// let read = context.middle(&Bounds::all().until_position(&tenth))?;
/// assert_eq!(read.events, 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TracesetPosition {
    generation: Generation,
    /// That of the next event, [`END`] after the last.
    key: Key,
    latest: Latest,
    /// Where all tracefiles stand.
    tracefiles: Arc<[Position]>,
}

/// What is known of the times of all events before a place: none is later than
/// this. `None` if there are no events. [`UNKNOWN`] does not tell them from those
/// after it.
pub(crate) type Latest = Option<i64>;

/// No place is known to be the begin of a time if this is before it.
pub(crate) const UNKNOWN: Latest = Some(i64::MAX);

/// Time and tracefile number of an event: its order but for its place in the
/// tracefile.
///
/// The time is that of *delivery*: where the clock of a tracefile goes back, the
/// events after that are delivered at once, as if they had the time from which it
/// went back. So positions are ordered even there.
pub(crate) type Key = (i64, u32);

/// The time of an event as part of its key.
#[inline(always)]
pub(crate) fn time_of(event: &Event<'_>) -> i64 {
    event.timestamp().map_or(i64::MIN, Timestamp::ns)
}

/// Behind all events.
const END: Key = (i64::MAX, u32::MAX);

impl TracesetPosition {
    pub(crate) fn new(
        generation: Generation,
        key: Option<Key>,
        latest: Latest,
        tracefiles: impl Into<Arc<[Position]>>,
    ) -> Self {
        let (key, tracefiles) = (key.unwrap_or(END), tracefiles.into());
        TracesetPosition { generation, key, latest, tracefiles }
    }

    /// Behind the last event of a traceset: the greatest of its positions.
    pub fn end(traceset: &Traceset) -> Self {
        let tracefiles: usize = traceset.traces().iter().map(|t| t.tracefiles().len()).sum();
        Self::new(traceset.generation(), None, UNKNOWN, vec![Position::END; tracefiles])
    }

    /// Whether it is behind the last event.
    pub fn is_end(&self) -> bool {
        self.key == END
    }

    /// The time of the next event, or that of the one before it if that is
    /// later; `None` at the end. [`Timestamp::MIN`] if the next has none.
    pub fn time(&self) -> Option<Timestamp> {
        (!self.is_end()).then(|| Timestamp::from_ns(self.key.0))
    }

    /// Whether it is known to be where seeking a time leads to: all events before
    /// it are before that time, none after it is.
    ///
    /// That is known of positions met while reading, from what was read; after
    /// seeking a time, of times from that one on.
    ///
    /// ```
    /// # use lttv_context::{Bounds, TracesetContext, Traceset};
    /// # use ltt_read::Timestamp;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// assert!(context.position().is_start_of(Timestamp::MIN));
    /// context.middle(&Bounds::all().events(10))?;
    /// let tenth = context.position();
    /// let time = tenth.time().expect("there are more");
    /// assert!(tenth.is_start_of(time));
    /// assert!(!tenth.is_start_of(Timestamp::from_ns(time.ns() + 1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_start_of(&self, time: Timestamp) -> bool {
        self.latest.is_none_or(|latest| latest < time.ns())
            && self.time().is_none_or(|next| time <= next)
    }

    /// Which traceset it is of.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Whether it can be one of so many tracefiles.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn fits(&self, tracefiles: usize) -> bool {
        let next = self.is_end() || (self.key.1 as usize) < tracefiles;
        next && self.tracefiles.len() == tracefiles
    }

    pub(crate) fn key(&self) -> Key {
        self.key
    }

    pub(crate) fn latest(&self) -> Latest {
        self.latest
    }

    pub(crate) fn tracefiles(&self) -> &[Position] {
        &self.tracefiles
    }

    /// Where the tracefile of the next event stands.
    pub(crate) fn place(&self) -> Option<&Position> {
        self.tracefiles.get(self.key.1 as usize)
    }
}

impl PartialEq for TracesetPosition {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for TracesetPosition {
    /// `None` if they are not of the same traceset.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self.generation != other.generation {
            return None;
        }
        // What comes next decides where all the others stand.
        Some(self.key.cmp(&other.key).then_with(|| self.place().cmp(&other.place())))
    }
}

/// A position is of another traceset, or of this one before a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the position is of {position:?}, the traceset is now {traceset:?}")]
pub struct StalePosition {
    /// What the position is of.
    pub position: Generation,
    /// What the traceset is.
    pub traceset: Generation,
}
