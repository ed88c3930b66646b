//! Slices of time: the parts of a traceset that are read in parallel.

use ltt_read::{Error, Notice, Timestamp};

use crate::bounds::{Bounds, EndReason};
use crate::context::{ReadError, TracesetContext};
use crate::hooks::HookError;
use crate::traceset::Traceset;

/// A slice of time of a traceset, which one thread reads at a time. See
/// [`ParallelReader`](crate::ParallelReader).
#[derive(Debug)]
pub struct TimeSlice<'t> {
    traceset: &'t Traceset,
    number: usize,
    /// The time that is sought.
    begin: Timestamp,
    end: Option<Timestamp>,
    /// The bounds of the read of this slice.
    bounds: Bounds,
    pub(crate) report: Report,
}

/// The result of reading a slice, apart from that of its hooks.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) events: u64,
    pub(crate) stopped: bool,
    pub(crate) hook_error: Option<Box<HookError>>,
    pub(crate) errors: Vec<Error>,
    pub(crate) errors_omitted: u64,
    pub(crate) notices: Vec<Notice>,
    pub(crate) notices_omitted: u64,
}

impl<'t> TimeSlice<'t> {
    pub(crate) fn new(
        traceset: &'t Traceset,
        number: usize,
        begin: Timestamp,
        end: Option<Timestamp>,
        bounds: Bounds,
    ) -> Self {
        TimeSlice { traceset, number, begin, end, bounds, report: Report::default() }
    }

    /// Returns the number of the slice among all slices in time order, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the traceset that the slice belongs to.
    pub fn traceset(&self) -> &Traceset {
        self.traceset
    }

    /// Returns the time at which the slice starts.
    pub fn start(&self) -> Timestamp {
        self.begin
    }

    /// Returns the time before which the slice ends, or `None` if it extends to the end of the
    /// traceset.
    pub fn end(&self) -> Option<Timestamp> {
        self.end
    }

    /// Creates a context at the start of the slice, for the caller to add hooks to. It reads no event after
    /// the slice, whatever the bounds of a read.
    ///
    /// An extension that is attached to it has its initial state, not the state at the start of the
    /// slice. [`read`](Self::read) refuses extensions that need the latter unless it has been
    /// computed by [`ContextState::seek_time`](crate::ContextState::seek_time), from a
    /// [checkpoint](crate::ContextState::set_checkpoints) or from the events before the slice.
    pub fn context<'h>(&self) -> TracesetContext<'h> {
        let mut context = TracesetContext::new(self.traceset);
        if self.begin > Timestamp::MIN {
            context.seek_time(self.begin);
        }
        context.confine(self.bounds.clone());
        context
    }

    /// Delivers the events of the slice to the hooks of a context that [`context`](Self::context)
    /// created, and returns their number, like [`TracesetContext::read`] with [`Bounds::all`]. Errors are moved to the
    /// [`ParallelResult`](crate::ParallelResult). An event belongs to the slice in which it is delivered, even if it is out of order
    /// and its time lies in another slice.
    ///
    /// # Errors
    ///
    /// Returns [`MissingState`] if an attached extension needs the state that results from the
    /// events before the slice, and the state of extensions [is not
    /// current](TracesetContext::is_state_current). Nothing is read then.
    ///
    /// ```
    /// use lttv_context::{Extension, Handle, ParallelReader, Setup, Traceset};
    ///
    /// /// Counts events.
    /// struct Count(u64);
    ///
    /// impl Extension for Count {
    ///     type Checkpoint = u64;
    ///
    ///     fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
    ///         setup.hooks.on_event("*", move |call| call.extensions[handle].0 += 1);
    ///     }
    /// #   fn reset(&mut self) {
    /// #       self.0 = 0;
    /// #   }
    /// #   fn save(&self) -> u64 {
    /// #       self.0
    /// #   }
    /// #   fn restore(&mut self, saved: &u64) {
    /// #       self.0 = *saved;
    /// #   }
    /// #   fn checkpoint_bytes(_: &u64, _: Option<&u64>) -> usize {
    /// #       size_of::<u64>()
    /// #   }
    ///     // ...
    /// }
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let traceset = Traceset::open(path)?;
    /// let read = ParallelReader::new(&traceset).threads(2).slices(4).run(|slice| {
    ///     let mut context = slice.context();
    ///     let count = context.attach(Count(0));
    ///     // Without this only the first slice would be read.
    ///     context.state().seek_time(slice.start());
    ///     slice.read(&mut context).map(|_| context.extensions()[count].0)
    /// });
    /// // Each has all events up to its end.
    /// assert_eq!(read.results.last(), Some(&Ok(6087)));
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn read(&mut self, context: &mut TracesetContext<'_>) -> Result<u64, MissingState> {
        if !context.is_state_current() {
            let extensions = context.extensions().needing_earlier_state();
            if !extensions.is_empty() {
                return Err(MissingState { slice: self.number, start: self.start(), extensions });
            }
        }
        let (errors, notices) =
            (context.merge().errors_omitted(), context.merge().notices_omitted());
        let events = match context.read(&self.bounds) {
            Ok(read) => {
                self.report.stopped |= read.reason == EndReason::Stopped;
                read.events
            }
            Err(ReadError::Hook(error)) => {
                self.report.stopped = true;
                let events = error.read.events;
                self.report.hook_error.get_or_insert(error);
                events
            }
            // There is no position in the bounds that could be stale.
            Err(ReadError::Stale(_)) => 0,
        };
        self.report.events += events;
        self.report.errors.append(&mut context.take_errors());
        self.report.errors_omitted += context.merge().errors_omitted() - errors;
        self.report.notices.append(&mut context.take_notices());
        self.report.notices_omitted += context.merge().notices_omitted() - notices;
        Ok(events)
    }
}

/// An error for a slice whose extensions lack the state at its start.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("slice {slice} was not read: no state at its start for {}", extensions.join(", "))]
#[non_exhaustive]
pub struct MissingState {
    /// The number of the slice.
    pub slice: usize,
    /// The time at which the slice starts.
    pub start: Timestamp,
    /// The type names of all extensions of the context that need an earlier state.
    pub extensions: Vec<&'static str>,
}

ltt_read::debug_as_chain!(MissingState);
