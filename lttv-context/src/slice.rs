//! Slices of time: what one thread reads at a time.

use ltt_read::{Error, Notice, Timestamp};

use crate::bounds::{Bounds, EndReason, ReadEnd};
use crate::context::TracesetContext;
use crate::traceset::Traceset;

/// A slice of time of a traceset. See [`Parallel`](crate::Parallel).
#[derive(Debug)]
pub struct Slice<'t> {
    traceset: &'t Traceset,
    number: usize,
    begin: Timestamp,
    end: Option<Timestamp>,
    /// What to deliver of what comes from its begin to its end.
    bounds: Bounds,
    pub(crate) report: Report,
}

/// What came of reading a slice.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) events: u64,
    pub(crate) stopped: bool,
    pub(crate) errors: Vec<Error>,
    pub(crate) errors_omitted: u64,
    pub(crate) notices: Vec<Notice>,
    pub(crate) notices_omitted: u64,
}

impl<'t> Slice<'t> {
    pub(crate) fn new(
        traceset: &'t Traceset,
        number: usize,
        begin: Timestamp,
        end: Option<Timestamp>,
        bounds: Bounds,
    ) -> Self {
        Slice { traceset, number, begin, end, bounds, report: Report::default() }
    }

    /// Its number among all, in the order of time.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The traceset.
    pub fn traceset(&self) -> &Traceset {
        self.traceset
    }

    /// The time that it begins at.
    pub fn begin(&self) -> Timestamp {
        self.begin
    }

    /// The time that it ends before; `None` for that of all events.
    pub fn end(&self) -> Option<Timestamp> {
        self.end
    }

    /// A context at its begin, to add hooks to.
    ///
    /// An extension that is attached to it has the state that it was made with, not that
    /// of the begin of the slice. [`read`](Self::read) refuses extensions that need that,
    /// unless a [checkpoint](TracesetContext::set_checkpoints) or the events before it have
    /// brought their state there, by
    /// [`seek_time_with_state`](TracesetContext::seek_time_with_state).
    pub fn context<'h>(&self) -> TracesetContext<'h> {
        let mut context = TracesetContext::new(self.traceset);
        if self.begin > Timestamp::MIN {
            context.seek_time(self.begin);
        }
        context
    }

    /// Delivers its events, in the context that it made. An event belongs to the slice in
    /// which it is delivered, even if it is late and its time is in another.
    ///
    /// # Errors
    ///
    /// If an extension is attached whose state depends on the events before the slice,
    /// and [is not that](TracesetContext::is_state_current) of its begin; then nothing is
    /// read.
    ///
    /// ```
    /// use lttv_context::{Extension, Handle, Parallel, Setup, Traceset};
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
    ///     // ...
    /// }
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let traceset = Traceset::open(path)?;
    /// let read = Parallel::new(&traceset).threads(2).slices(4).run(|slice| {
    ///     let mut context = slice.context();
    ///     let count = context.attach(Count(0));
    ///     // Without this only the first slice would be read.
    ///     context.seek_time_with_state(slice.begin());
    ///     slice.read(&mut context).map(|_| context.extensions()[count].0)
    /// });
    /// // Each has all events up to its end.
    /// assert_eq!(read.results.last(), Some(&Ok(6087)));
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn read(&mut self, context: &mut TracesetContext<'_>) -> Result<ReadEnd, MissingState> {
        if !context.is_state_current() {
            let extensions = context.extensions().in_need_of_state();
            if !extensions.is_empty() {
                return Err(MissingState { slice: self.number, begin: self.begin, extensions });
            }
        }
        let stale = ReadEnd { events: 0, reason: EndReason::EndOfTraceset };
        let (errors, notices) = (context.errors_omitted(), context.notices_omitted());
        let read = context.middle(&self.bounds).unwrap_or(stale); // there is no position in them
        self.report.events += read.events;
        self.report.stopped |= read.reason == EndReason::Stopped;
        self.report.errors.append(&mut context.drain_errors());
        self.report.errors_omitted += context.errors_omitted() - errors;
        self.report.notices.append(&mut context.drain_notices());
        self.report.notices_omitted += context.notices_omitted() - notices;
        Ok(read)
    }
}

/// Extensions that need the state of the begin of a slice do not have it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("slice {slice} was not read: {} without the state of its begin", extensions.join(", "))]
pub struct MissingState {
    /// The number of the slice.
    pub slice: usize,
    /// The time that it begins at.
    pub begin: Timestamp,
    /// The types of all extensions of its context that need an earlier state.
    pub extensions: Vec<&'static str>,
}
