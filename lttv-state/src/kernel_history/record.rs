//! Recording of the kernel history of a whole traceset.

use std::mem::take;
use std::ops::ControlFlow;
use std::path::Path;

use ltt_read::Timestamp;
use lttv_context::{
    Bounds, EndReason, Fingerprint, Handle, SliceThreads, Traceset, TracesetContext,
};

use super::extend::{Existing, MarkWriter, resume_or_extend};
use super::slices::InSlices;
use super::snapshot::Snapshot;
use super::writer::KernelHistory;
use crate::history::{Builder, History, HistoryError, HistoryIdentity, Live, Settings};
use crate::kernel::{self, KernelState};

/// The number of events between two reports of progress.
const STEP: u64 = 1 << 16;

/// The version of the attributes: increased whenever the same states lead to other
/// attributes.
const VERSION: u32 = 3;

/// The destination of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryTarget<'p> {
    /// A history in memory, without a file.
    Memory,
    /// A history in a file.
    ///
    /// If the file contains an unfinished history of the same traces, it is continued; the
    /// traces are read from the start nevertheless. If it contains a finished history of
    /// these traces before they grew, the settled part is kept. In this case only later
    /// events are read, if the feature `checkpoint-files` is enabled now and was enabled
    /// when the file was written; without it all events are read. Any other content is
    /// replaced once the new history is complete: [`Recorded::rebuilt`] contains the
    /// reason.
    File(&'p Path),
    /// A history in a file, computed from the start. An existing file is replaced once the
    /// new history is complete.
    Replace(&'p Path),
}

/// A recorded history, with the errors met while reading the traces.
#[derive(Debug)]
#[must_use = "`errors` tells whether the read met damage"]
#[non_exhaustive]
pub struct Recorded {
    /// The history of all traces.
    pub history: History,
    /// The number of events that were read.
    pub events: u64,
    /// The time before which the file's previous content was kept; `None` if the history
    /// was computed from the start.
    pub kept: Option<Timestamp>,
    /// The reason why the file's previous content was replaced, such as [`HistoryError::Stale`] if
    /// it is the history of other traces or of other content of these traces; `None` if
    /// there was no previous content, or if it was continued.
    pub rebuilt: Option<HistoryError>,
    /// The errors met while reading the part that was not kept.
    pub errors: Vec<ltt_read::Error>,
    /// The number of further errors that are not in `errors`, see
    /// [`Merge::errors_omitted`](ltt_read::Merge::errors_omitted).
    pub errors_omitted: u64,
    /// The notices of the same part: see [`Merge::notices`](ltt_read::Merge::notices).
    pub notices: Vec<ltt_read::Notice>,
    /// The number of further notices that are not in `notices`.
    pub notices_omitted: u64,
}

impl Recorded {
    /// Returns the identity of a history that [`record`] would create now. This reads the
    /// whole traces; [`open`] compares identities without that.
    pub fn identity(traceset: &Traceset) -> HistoryIdentity {
        identity_of(Fingerprint::of(traceset).into_bytes())
    }
}

/// Returns the identity of a history recorded by this version from traces with a
/// fingerprint.
fn identity_of(source: Vec<u8>) -> HistoryIdentity {
    HistoryIdentity {
        producer: "kernel state".into(),
        version: VERSION << 16 | kernel::VERSION,
        options: 0,
        source,
    }
}

/// Opens the history that [`record`] stored of a traceset.
///
/// The traces are compared as described at [`Fingerprint`], also concerning the cost:
/// traces that were only copied or touched are equal.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use lttv_context::Traceset;
/// use lttv_state::kernel_history::{HistoryTarget, open, record};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("history");
/// let traceset = Traceset::open(path)?;
/// let recorded = record(&traceset, HistoryTarget::File(&file), |_| ControlFlow::Continue(()))?;
/// assert!(recorded.errors.is_empty());
/// // Later:
/// let history = open(&file, &traceset)?;
/// # assert!(history.end() > history.start());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns the errors of [`History::open`], and [`HistoryError::Stale`] if the file contains the
/// history of other traces, of other content of these traces or of these traces before they
/// grew, or if it was written by another version of this crate.
pub fn open(path: impl AsRef<Path>, traceset: &Traceset) -> Result<History, HistoryError> {
    let history = History::open(path)?;
    let source = Fingerprint::from_bytes(&history.identity().source).into_current_bytes(traceset);
    let expected = identity_of(source);
    match *history.identity() == expected {
        true => Ok(history),
        false => {
            let found = history.identity().clone().into();
            Err(HistoryError::Stale { expected: expected.into(), found })
        }
    }
}

/// Reads a whole traceset and stores its kernel states.
///
/// `progress` is called with the number of bytes that have been read and the total number.
/// If it returns `Break`, a file remains unfinished.
///
/// # Errors
///
/// Returns an error if storing fails, [`HistoryError::Unfinished`] if `progress` returned `Break`,
/// and [`HistoryError::Busy`] if the file is being written already.
pub fn record(
    traceset: &Traceset,
    target: HistoryTarget<'_>,
    progress: impl FnMut((u64, u64)) -> ControlFlow<()>,
) -> Result<Recorded, HistoryError> {
    record_live(traceset, target, |_| (), progress)
}

/// Reads a whole traceset and stores its kernel states, like [`record`], and lets other threads
/// query the part of the history that exists so far.
///
/// `started` is called once, before the first event, with the handle of these queries.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use lttv_context::Traceset;
/// use lttv_state::kernel_history::{HistoryTarget, record_live};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let mut live = None;
/// let started = |handle| live = Some(handle);
/// let goes_on = |_| ControlFlow::Continue(());
/// assert!(record_live(&traceset, HistoryTarget::Memory, started, goes_on)?.errors.is_empty());
/// assert!(live.is_some_and(|live| live.latest().is_complete()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns the errors of [`record`].
pub fn record_live(
    traceset: &Traceset,
    target: HistoryTarget<'_>,
    started: impl FnOnce(Live),
    progress: impl FnMut((u64, u64)) -> ControlFlow<()>,
) -> Result<Recorded, HistoryError> {
    record_on(SliceThreads::new(1), traceset, target, started, progress)
}

/// Reads a whole traceset and stores its kernel states, like [`record_live`], on several threads: one
/// reads events, one follows the state, and one stores its changes. The history does not depend on
/// their number. A growing traceset is read on one thread.
///
/// # Errors
///
/// Returns the errors of [`record`].
pub fn record_on(
    threads: SliceThreads,
    traceset: &Traceset,
    target: HistoryTarget<'_>,
    started: impl FnOnce(Live),
    progress: impl FnMut((u64, u64)) -> ControlFlow<()>,
) -> Result<Recorded, HistoryError> {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let settings = Settings { identity: Recorded::identity(traceset), ..Settings::default() };
    let start = KernelHistory::start_of(context.contexts());
    let (mut builder, rebuilt) = match target {
        HistoryTarget::Memory => (Builder::in_memory_with(start, settings), None),
        HistoryTarget::Replace(path) => (Builder::create(path, start, settings)?, None),
        HistoryTarget::File(path) => {
            let initial: Vec<_> =
                context.extensions()[kernel].traces().map(Snapshot::from_state).collect();
            match resume_or_extend(path, traceset, &settings, start, &initial)? {
                Existing::Usable(builder) => (*builder, None),
                Existing::None => (Builder::create(path, start, settings)?, None),
                Existing::Unusable(error) => (Builder::create(path, start, settings)?, Some(error)),
            }
        }
    };
    let kept = Some(builder.earliest()).filter(|earliest| *earliest > start);
    started(builder.live()?);
    let writer = context.attach(KernelHistory::new(kernel, builder));
    let marker = match target {
        HistoryTarget::Memory => MarkWriter::default(),
        HistoryTarget::File(_) | HistoryTarget::Replace(_) => MarkWriter::new(&mut context, writer),
    };
    let mut recording = Recording { context, kernel, writer, marker, progress };
    let read = match threads.threads() > 1 && !traceset.is_growing() {
        true => recording.read_in_slices(threads)?,
        false => recording.read()?,
    };
    let history = KernelHistory::finish(&mut recording.context, writer)?;
    let ReadEvents { events, errors, errors_omitted, notices, notices_omitted } = read;
    Ok(Recorded {
        history,
        events,
        kept,
        rebuilt,
        errors,
        errors_omitted,
        notices,
        notices_omitted,
    })
}

/// A history that is being recorded.
struct Recording<P> {
    context: TracesetContext<'static>,
    kernel: Handle<KernelState>,
    writer: Handle<KernelHistory>,
    marker: MarkWriter,
    progress: P,
}

/// The events that were read, and the errors and notices met.
struct ReadEvents {
    events: u64,
    errors: Vec<ltt_read::Error>,
    errors_omitted: u64,
    notices: Vec<ltt_read::Notice>,
    notices_omitted: u64,
}

impl ReadEvents {
    /// Takes the errors and notices of a context that has read a number of events.
    fn of(context: &mut TracesetContext<'_>, events: u64) -> Self {
        ReadEvents {
            events,
            errors: context.take_errors(),
            errors_omitted: context.merge().errors_omitted(),
            notices: context.take_notices(),
            notices_omitted: context.merge().notices_omitted(),
        }
    }

    /// Adds the errors and notices of a context that continued where the one of these ended. What both
    /// have met at the same place is kept once.
    fn followed_by(mut self, next: ReadEvents) -> Self {
        for error in next.errors {
            let is_known = |known: &ltt_read::Error| known.place() == error.place();
            if error.place().is_none() || !self.errors.iter().any(is_known) {
                self.errors.push(error);
            }
        }
        for notice in next.notices {
            if !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
        }
        self.events += next.events;
        self.errors_omitted += next.errors_omitted;
        self.notices_omitted += next.notices_omitted;
        self
    }
}

impl<P: FnMut((u64, u64)) -> ControlFlow<()>> Recording<P> {
    /// Returns the bounds up to the next mark, or to the end.
    fn bounds(&self) -> Bounds {
        self.marker.next().map_or(Bounds::all(), |time| Bounds::all().until_start_of(time))
    }

    /// Reads all events on this thread.
    fn read(&mut self) -> Result<ReadEvents, HistoryError> {
        let mut events = 0;
        // These bounds contain no position that could be stale.
        loop {
            let bounds = self.bounds().events(STEP);
            let Ok(read) = self.context.state().replay(&bounds) else { break };
            events += read.events;
            if self.context.extensions()[self.writer].error().is_some() {
                break;
            }
            match read.reason {
                EndReason::EndTime | EndReason::EndOfTraceset => {
                    let position = self.context.position();
                    self.marker.write(&mut self.context, self.writer, &position)?;
                    if read.reason == EndReason::EndOfTraceset {
                        break;
                    }
                }
                _ => {
                    let ltt_read::Progress { done, total } = self.context.merge().progress();
                    if (self.progress)((done, total)).is_break() {
                        return Err(HistoryError::Unfinished);
                    }
                }
            }
        }
        Ok(ReadEvents::of(&mut self.context, events))
    }

    /// Reads all events in slices. The context only keeps the state at marks and at the end.
    fn read_in_slices(&mut self, threads: SliceThreads) -> Result<ReadEvents, HistoryError> {
        let mut reader = TracesetContext::new(self.context.traceset());
        // The position is one of the same traceset.
        let _ = reader.seek_position(&self.context.position());
        let mut events = 0;
        loop {
            let bounds = self.bounds();
            let extensions = self.context.extensions_mut();
            let kernel = take(&mut extensions[self.kernel]);
            let storing = extensions[self.writer].take_storing().ok_or(HistoryError::Closed)?;
            let (analysis, mut state, mut stored) =
                InSlices::new(reader.contexts(), kernel, storing);
            let mut is_stopped = false;
            let passed = |reader: &mut TracesetContext<'_>| {
                let ltt_read::Progress { done, total } = reader.merge().progress();
                let flow = (self.progress)((done, total));
                is_stopped = flow.is_break();
                flow
            };
            let result = (&mut state, &mut stored);
            let read = reader.read_analysis(&analysis, result, &bounds, threads, passed);
            let (kernel, storing) = state.into_parts(stored);
            let extensions = self.context.extensions_mut();
            extensions[self.kernel] = kernel;
            extensions[self.writer].put_storing(storing);
            // These bounds contain no position that could be stale.
            let Ok(read) = read else { break };
            events += read.events;
            if extensions[self.writer].error().is_some() {
                break;
            }
            if is_stopped {
                return Err(HistoryError::Unfinished);
            }
            self.marker.write(&mut self.context, self.writer, &reader.position())?;
            if read.reason == EndReason::EndOfTraceset {
                break;
            }
        }
        // The context has met damage, too, when it found the first events.
        let start = ReadEvents::of(&mut self.context, 0);
        Ok(start.followed_by(ReadEvents::of(&mut reader, events)))
    }
}
