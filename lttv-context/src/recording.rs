//! Traces that are being recorded, from their source to what reads them.

use std::path::Path;
use std::time::{Duration, Instant};

#[cfg(feature = "live")]
use ltt_read::live::{LiveError, LiveReader, LiveState};
use ltt_read::{Error, Follower, Merge};

use crate::context::{GrowthError, TracesetContext};
use crate::traceset::Traceset;

/// Traces that are being recorded: directories or recordings of perf that grow, or a live session (feature `live`). It owns the
/// growing traceset, and hands what is new to a context, a scheduler, or any other type that can
/// [`Grow`].
///
/// Nothing here waits or starts a thread: the caller decides when to look for more.
///
/// ```
/// use std::thread;
/// use std::time::Duration;
///
/// use lttv_context::{Bounds, Recording, RecordingState, TracesetContext};
///
/// # let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut recording = Recording::follow([directory]);
/// let mut context = TracesetContext::new(recording.traceset());
/// # recording.fetch(Duration::ZERO)?;
/// # recording.complete()?; // a test has to end
/// loop {
///     match recording.poll(Duration::from_millis(50), &mut context)? {
///         RecordingState::Idle => thread::sleep(Duration::from_millis(20)),
///         RecordingState::Busy => _ = context.read(&Bounds::all())?,
///         RecordingState::Ended => break,
///     }
/// }
/// assert_eq!(context.watermark(), None); // everything is final
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Recording {
    source: Source,
    traceset: Traceset,
    /// `true` if the source has ended.
    has_ended: bool,
    /// `true` if the reader was handed the complete traceset.
    is_delivered: bool,
    /// The error of the source, which the next call returns.
    failure: Option<RecordingError>,
}

/// A source of traces that grow.
#[derive(Debug)]
enum Source {
    Follower(Box<Follower>),
    #[cfg(feature = "live")]
    Live(Box<LiveReader>),
}

/// The state of a [`Recording`] after a look at it.
// Exhaustive: a caller has to tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordingState {
    /// There is nothing new: the caller should wait a little.
    Idle,
    /// There is something new, or there was no time to look at everything.
    Busy,
    /// The recording has ended, and everything is final.
    Ended,
}

impl RecordingState {
    /// Returns `true` if more may follow.
    pub fn is_open(self) -> bool {
        self != RecordingState::Ended
    }
}

/// A reader of a growing traceset, which a [`Recording`] hands what is new. A program implements it for
/// a type with everything that grows:
///
/// ```
/// use ltt_read::Merge;
/// use lttv_context::{Grow, GrowthError, Traceset, TracesetContext};
///
/// struct Named<'h> {
///     context: TracesetContext<'h>,
///     paths: Vec<String>,
/// }
///
/// impl Grow for Named<'_> {
///     fn continue_with(&mut self, traceset: &Traceset) -> Result<(), GrowthError> {
///         let new = traceset.traces().iter().skip(self.paths.len());
///         self.paths.extend(new.map(|trace| trace.path().display().to_string()));
///         self.context.continue_with(traceset)
///     }
///
///     fn merge(&self) -> Option<&Merge> {
///         Some(self.context.merge())
///     }
/// }
/// ```
pub trait Grow {
    /// Continues with a later state of the traceset.
    ///
    /// # Errors
    ///
    /// A [`GrowthError`] if something cannot be prepared for new parts of the traces.
    fn continue_with(&mut self, traceset: &Traceset) -> Result<(), GrowthError>;

    /// Returns the merge that reads: the data that it has delivered is forgotten. `None` if all
    /// data has to stay in memory, because something else will read it.
    fn merge(&self) -> Option<&Merge>;
}

impl Grow for TracesetContext<'_> {
    fn continue_with(&mut self, traceset: &Traceset) -> Result<(), GrowthError> {
        self.continue_with(traceset)
    }

    fn merge(&self) -> Option<&Merge> {
        Some(self.merge())
    }
}

impl Grow for Merge {
    fn continue_with(&mut self, traceset: &Traceset) -> Result<(), GrowthError> {
        self.continue_with(traceset.traces());
        Ok(())
    }

    fn merge(&self) -> Option<&Merge> {
        Some(self)
    }
}

impl Recording {
    /// Follows all traces that are or will be at or below some directories: see [`Follower`], which
    /// can also be converted to a recording. It ends by [`complete`](Self::complete), and at the
    /// [end of recordings of perf](Follower::has_ended).
    pub fn follow<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Recording {
        Follower::new(paths).into()
    }

    fn new(source: Source) -> Recording {
        Recording {
            source,
            traceset: Traceset::growing(),
            has_ended: false,
            is_delivered: false,
            failure: None,
        }
    }

    /// Forgets the data that a reader has read, fetches what is new, and lets the reader continue
    /// with it. A live session is fetched for about `limit`; a follower reads what is there.
    ///
    /// If the result is [`RecordingState::Busy`], the reader should read what is final. The end of the
    /// recording and errors of the source are returned by the call after the one that met them, so that
    /// nothing fetched before remains unread.
    ///
    /// # Errors
    ///
    /// Those of [`fetch`](Self::fetch), and [`RecordingError::Growth`] if the reader cannot continue.
    pub fn poll(
        &mut self,
        limit: Duration,
        reader: &mut impl Grow,
    ) -> Result<RecordingState, RecordingError> {
        if let Some(merge) = reader.merge() {
            self.release(merge);
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if self.is_delivered {
            return Ok(RecordingState::Ended);
        }
        let fetched = self.fetch(limit);
        let is_idle = matches!(fetched, Ok(RecordingState::Idle));
        self.failure = fetched.err();
        if is_idle {
            return Ok(RecordingState::Idle);
        }
        reader.continue_with(self.traceset()).map_err(RecordingError::Growth)?;
        self.is_delivered = self.has_ended;
        Ok(RecordingState::Busy)
    }

    /// Fetches what is new, without letting anything continue with it: see [`poll`](Self::poll). The
    /// clock is read for the [limit of silence](Follower::with_silence) of a follower.
    ///
    /// # Errors
    ///
    /// [`RecordingError::Read`], and the variant `Live` with the feature `live`.
    pub fn fetch(&mut self, limit: Duration) -> Result<RecordingState, RecordingError> {
        if self.has_ended {
            return Ok(RecordingState::Ended);
        }
        let state = match &mut self.source {
            Source::Follower(follower) => {
                match (follower.poll(Instant::now())?, follower.has_ended()) {
                    (_, true) => RecordingState::Ended,
                    (true, false) => RecordingState::Busy,
                    (false, false) => RecordingState::Idle,
                }
            }
            #[cfg(feature = "live")]
            Source::Live(reader) => match reader.poll(limit)? {
                LiveState::Idle => RecordingState::Idle,
                LiveState::Busy => RecordingState::Busy,
                LiveState::Ended => RecordingState::Ended,
            },
        };
        #[cfg(not(feature = "live"))]
        let _ = limit;
        self.has_ended = !state.is_open();
        Ok(state)
    }

    /// Ends the recording: everything that was fetched is final. A live session is detached, and
    /// ends in one of the next calls.
    ///
    /// # Errors
    ///
    /// [`RecordingError::Read`] as [`Follower::complete`]. The recording has ended nevertheless.
    pub fn complete(&mut self) -> Result<(), RecordingError> {
        match &mut self.source {
            Source::Follower(follower) => {
                self.has_ended = true;
                follower.complete()?;
            }
            #[cfg(feature = "live")]
            Source::Live(reader) => reader.client().detach(),
        }
        Ok(())
    }

    /// Returns the traceset with what was fetched so far. It is complete when the recording has
    /// ended.
    pub fn traceset(&mut self) -> &Traceset {
        if self.traceset.is_growing() {
            self.traceset.continue_with(match &mut self.source {
                Source::Follower(follower) => follower.traces(),
                #[cfg(feature = "live")]
                Source::Live(reader) => reader.traces(),
            });
            if self.has_ended {
                self.traceset.complete();
            }
        }
        &self.traceset
    }

    /// Forgets the data that a merge has delivered, as [`poll`](Self::poll) does.
    pub fn release(&mut self, merge: &Merge) {
        match &mut self.source {
            Source::Follower(follower) => follower.release(merge),
            #[cfg(feature = "live")]
            Source::Live(reader) => reader.release(merge),
        }
    }

    /// Returns the reasons why metadata cannot be parsed as far as it has been written. A caller
    /// that leaves a recording before its end should report them, since the events of these traces were not
    /// delivered.
    pub fn metadata_errors(&mut self) -> Vec<&Error> {
        match &mut self.source {
            Source::Follower(follower) => follower.metadata_errors().collect(),
            #[cfg(feature = "live")]
            Source::Live(reader) => reader.client().metadata_errors().collect(),
        }
    }

    /// Returns the live reader, to reconnect it or for what its client tells. `None` for
    /// directories.
    #[cfg(feature = "live")]
    pub fn live(&mut self) -> Option<&mut LiveReader> {
        match &mut self.source {
            Source::Follower(_) => None,
            Source::Live(reader) => Some(reader),
        }
    }
}

impl From<Follower> for Recording {
    fn from(follower: Follower) -> Recording {
        Recording::new(Source::Follower(Box::new(follower)))
    }
}

#[cfg(feature = "live")]
impl From<LiveReader> for Recording {
    fn from(reader: LiveReader) -> Recording {
        Recording::new(Source::Live(Box::new(reader)))
    }
}

/// An error from following a recording.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// A file or directory cannot be read. All others are followed, so that the caller may go on.
    #[error(transparent)]
    Read(#[from] Error),
    /// The live session cannot be read any further, unless its reader
    /// [reconnects](LiveReader::reconnect).
    #[cfg(feature = "live")]
    #[error(transparent)]
    Live(#[from] LiveError),
    /// The reader cannot be prepared for new parts of the traces.
    #[error(transparent)]
    Growth(GrowthError),
}

ltt_read::debug_as_chain!(RecordingError);
