//! Collection of an analysis on several threads, in slices of time that start from checkpoints of the
//! state.

use ltt_read::{Error, Timestamp};
use lttv_context::{
    Bounds, CheckpointPolicy, ParallelReader, TimeSlice, Traceset, TracesetContext,
};

use crate::last_event::last_event;

/// The parts of an analysis, one for each slice.
pub(crate) struct InSlices<P> {
    /// The parts in time order.
    pub(crate) parts: Vec<P>,
    /// The errors met while reading. They do not depend on the number of threads.
    pub(crate) errors: Vec<Error>,
    /// The number of further errors.
    pub(crate) errors_omitted: u64,
}

/// The bounds of a slice in each trace: a slice may start or end after the end of a trace.
pub(crate) struct SliceTimes<'s> {
    start: Timestamp,
    end: Option<Timestamp>,
    /// The time of the last event of each trace.
    last: &'s [Timestamp],
}

impl SliceTimes<'_> {
    /// Returns the time at which the slice starts in a trace.
    pub(crate) fn start(&self, trace: usize) -> Timestamp {
        self.start.min(self.last[trace])
    }

    /// Returns the time at which the slice ends in a trace; `None` for the last slice.
    pub(crate) fn end(&self, trace: usize) -> Option<Timestamp> {
        self.end.map(|end| end.min(self.last[trace]))
    }

    /// Returns the time at which the slice ends in a trace: that of its last event for the last slice.
    #[cfg(feature = "latency")]
    pub(crate) fn end_or_last(&self, trace: usize) -> Timestamp {
        self.end(trace).unwrap_or(self.last[trace])
    }
}

/// Reads a traceset twice: a first pass follows the state only and saves checkpoints, from which
/// threads then collect one slice of time each.
///
/// `attach` attaches what keeps the state to a context. `collect` starts a collection in the context of a slice, which has the
/// state at its start, calls its last argument to read the slice, and returns the part.
pub(crate) fn in_slices<H: Copy, P: Send>(
    traceset: &Traceset,
    threads: usize,
    attach: impl Fn(&mut TracesetContext<'_>) -> H + Sync,
    collect: impl Fn(&mut TracesetContext<'_>, H, &SliceTimes<'_>, Read<'_, '_>) -> P + Sync,
) -> InSlices<P> {
    let mut first = TracesetContext::new(traceset);
    attach(&mut first);
    first.set_checkpoint_policy(CheckpointPolicy::default());
    // The bounds contain no position that could be stale.
    let _ = first.replay_state(&Bounds::all());
    let checkpoints = first.checkpoints().clone();
    // The first pass meets all errors.
    let (errors, errors_omitted) = (first.take_errors(), first.errors_omitted());
    drop(first);
    let last: Vec<Timestamp> = traceset.traces().iter().map(last_event).collect();
    let read = ParallelReader::new(traceset).threads(threads).run(|slice| {
        let mut context = slice.context();
        let handle = attach(&mut context);
        // The checkpoints fit this context, which has the same extensions. Without them, everything
        // before the slice would be replayed.
        let _ = context.set_checkpoints(checkpoints.clone());
        context.seek_time_with_state(slice.start());
        let times = SliceTimes { start: slice.start(), end: slice.end(), last: &last };
        collect(&mut context, handle, &times, Read(slice))
    });
    InSlices { parts: read.results, errors, errors_omitted }
}

/// A slice to be read.
pub(crate) struct Read<'s, 't>(&'s mut TimeSlice<'t>);

impl Read<'_, '_> {
    /// Delivers the events of the slice to the hooks of its context.
    pub(crate) fn run(self, context: &mut TracesetContext<'_>) {
        let read = self.0.read(context);
        debug_assert!(read.is_ok(), "the state is that at the start of the slice");
    }
}
