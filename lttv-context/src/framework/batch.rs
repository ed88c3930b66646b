//! Reading a traceset once for any number of analyses.

use std::mem::take;

use ltt_read::{Error, Merge, Notice, Timestamp};
use lttv_hooks::{Flow, IntoFlow};

use crate::bounds::{Bounds, EndReason, ReadEnd};
use crate::context::{ReadError, TracesetContext};
use crate::hooks::{HookError, HookSet};
use crate::traceset::Traceset;

/// The default number of events between two reports. It takes most hooks well below 10 ms, and
/// is large enough to make the cost of reports negligible.
const REPORT_EVERY: u64 = 1 << 14;

/// A single pass over a traceset, or over a time range of it, with the hooks of several
/// analyses.
///
/// This is the core of a program without a user interface. Analyses add their hooks and
/// state independently of each other, and one pass then delivers all events, or those of a time
/// range, to all of them.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_context::framework::{Batch, BatchOutcome};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut switches = 0;
/// let mut batch = Batch::new(Traceset::open(path)?);
/// batch.hooks.on_event("sched_switch", |_| switches += 1);
/// let end = batch.run(|report| eprintln!("{} of {} bytes", report.done, report.total));
/// drop(batch);
/// assert_eq!((end.outcome, end.events, switches), (BatchOutcome::Complete, 6087, 497));
/// # Ok::<(), ltt_read::Error>(())
/// ```
///
/// # Cancelling
///
/// The function that is called with each report may return a [`Flow`]. `Break` cancels the
/// batch. A flag that a signal handler or another thread sets is thus checked every few
/// thousand events:
///
/// ```
/// # use std::ops::ControlFlow;
/// # use std::sync::atomic::{AtomicBool, Ordering};
/// # use lttv_context::Traceset;
/// # use lttv_context::framework::{Batch, BatchOutcome};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// # let mut batch = Batch::new(Traceset::open(path)?).report_every(100);
/// let cancel = AtomicBool::new(true);
/// let end = batch.run(|_| match cancel.load(Ordering::Relaxed) {
///     true => ControlFlow::Break(()),
///     false => ControlFlow::Continue(()),
/// });
/// assert_eq!((end.outcome, end.events), (BatchOutcome::Cancelled, 100));
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Batch<'h> {
    /// The context, to which extensions and data are attached.
    pub context: TracesetContext<'h>,
    /// The hooks for events, and the hooks before and after reading.
    pub hooks: HookSet<'h>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
    report_every: u64,
}

/// The progress of a batch.
#[derive(Debug)]
#[non_exhaustive]
pub struct BatchProgress {
    /// The number of events delivered so far.
    pub events: u64,
    /// The number of bytes read so far, of `total`.
    pub done: u64,
    /// The number of bytes to read in all tracefiles: those of the time range, and those before it
    /// that the state of extensions needs.
    pub total: u64,
    /// The notices since the last report.
    pub notices: Vec<Notice>,
}

/// The result of a batch.
#[derive(Debug)]
#[must_use = "`errors` tells whether the read met damage"]
#[non_exhaustive]
pub struct BatchEnd {
    /// The number of events delivered, whether or not a hook was called for them.
    pub events: u64,
    /// The reason for the end.
    pub outcome: BatchOutcome,
    /// The error of the hook that stopped the batch, if it returned one.
    pub hook_error: Option<Box<HookError>>,
    /// The errors met while reading. Everything else was read.
    pub errors: Vec<Error>,
    /// The number of omitted errors: see [`Merge::errors_omitted`].
    pub errors_omitted: u64,
    /// The number of omitted notices: see [`Merge::notices_omitted`].
    pub notices_omitted: u64,
}

/// The reason for the end of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchOutcome {
    /// The traceset or its time range was read to the end.
    Complete,
    /// A hook returned `Break` or an error. Its event was delivered.
    Stopped,
    /// The function that receives the reports returned `Break`.
    Cancelled,
}

impl<'h> Batch<'h> {
    /// Creates a batch over a whole traceset, without hooks.
    pub fn new(traceset: impl Into<Traceset>) -> Self {
        Batch {
            context: TracesetContext::new(traceset),
            hooks: HookSet::new(),
            from: None,
            until: None,
            report_every: REPORT_EVERY,
        }
    }

    /// Sets the start of the time range: events at this time or later are delivered. Attached
    /// extensions also receive the events before it, so that their state is right.
    #[must_use]
    pub fn since(self, time: Timestamp) -> Self {
        Batch { from: Some(time), ..self }
    }

    /// Sets the end of the time range: events before this time are delivered.
    #[must_use]
    pub fn until(self, time: Timestamp) -> Self {
        Batch { until: Some(time), ..self }
    }

    /// Sets the number of events between two reports, and thus between two chances to cancel. The
    /// default is 16384, and 0 counts as 1.
    #[must_use]
    pub fn report_every(self, events: u64) -> Self {
        Batch { report_every: events.max(1), ..self }
    }

    /// Calls the hooks before reading, delivers the events, and calls the hooks after reading, also
    /// if the batch is cancelled. `watch` receives reports on the way and a last one at the end.
    ///
    /// A batch can be run again. The state of extensions is reset then; plain data and the state of
    /// hooks stay as they are.
    pub fn run<V: IntoFlow>(&mut self, mut watch: impl FnMut(BatchProgress) -> V) -> BatchEnd {
        let (errors, notices) =
            (self.context.merge().errors_omitted(), self.context.merge().notices_omitted());
        let id = self.context.begin_read(take(&mut self.hooks));
        let mut pass = Pass {
            end: self.bytes_at_end(),
            begin: 0,
            events: 0,
            hook_error: None,
            watch: &mut |report| watch(report).into_flow(),
        };
        let outcome = self.read(&mut pass);
        // The result of the last report cannot cancel anything.
        _ = pass.report(&mut self.context);
        let (events, hook_error) = (pass.events, pass.hook_error);
        self.hooks = self.context.end_read(id).unwrap_or_default();
        BatchEnd {
            events,
            outcome,
            hook_error,
            errors: self.context.take_errors(),
            errors_omitted: self.context.merge().errors_omitted() - errors,
            notices_omitted: self.context.merge().notices_omitted() - notices,
        }
    }

    fn read(&mut self, pass: &mut Pass<'_>) -> BatchOutcome {
        match self.from {
            None => self.context.seek_time(Timestamp::MIN),
            Some(from) if self.context.extensions().keep_state() => {
                self.context.state().seek_checkpoint(from);
            }
            Some(from) => self.context.seek_time(from),
        }
        pass.begin = self.context.merge().progress().done;
        if let Some(from) = self.from.filter(|_| self.context.extensions().keep_state()) {
            let before = Bounds::all().until(from).events(self.report_every);
            let outcome = pass.read_chunks(&mut self.context, |context| {
                loop {
                    match context.state().replay(&before)? {
                        // Only a hook for a delivered event may stop the batch.
                        ReadEnd { reason: EndReason::Stopped, .. } => continue,
                        read => break Ok(ReadEnd { events: 0, ..read }),
                    }
                }
            });
            if outcome != BatchOutcome::Complete {
                return outcome;
            }
        }
        let bounds = Bounds::all().max_examined(self.report_every);
        let bounds = match self.from {
            Some(from) => bounds.since(from),
            None => bounds,
        };
        let bounds = match self.until {
            Some(until) => bounds.until(until),
            None => bounds,
        };
        pass.read_chunks(&mut self.context, |context| context.read(&bounds))
    }

    /// Returns the number of bytes of all tracefiles before the end of the time range.
    fn bytes_at_end(&self) -> u64 {
        let Some(until) = self.until else { return self.context.merge().progress().total };
        let mut merge = Merge::new(self.context.traceset().traces());
        merge.seek(until);
        merge.progress().done
    }
}

/// The progress of a running batch.
struct Pass<'w> {
    /// The number of bytes of all tracefiles before the start of the read.
    begin: u64,
    /// The number of bytes of all tracefiles before the end of the read.
    end: u64,
    /// The number of events delivered.
    events: u64,
    hook_error: Option<Box<HookError>>,
    watch: &'w mut dyn FnMut(BatchProgress) -> Flow,
}

impl Pass<'_> {
    /// Reads chunk by chunk, and reports after each chunk.
    fn read_chunks<'h>(
        &mut self,
        context: &mut TracesetContext<'h>,
        mut chunk: impl FnMut(&mut TracesetContext<'h>) -> Result<ReadEnd, ReadError>,
    ) -> BatchOutcome {
        loop {
            let read = match chunk(context) {
                Ok(read) => read,
                Err(ReadError::Hook(error)) => {
                    self.events += error.read.events;
                    self.hook_error = Some(error);
                    return BatchOutcome::Stopped;
                }
                // Bounds without a position are never refused.
                Err(ReadError::Stale(_)) => return BatchOutcome::Complete,
            };
            self.events += read.events;
            match read.reason {
                EndReason::EventCount | EndReason::ExaminedCount => {}
                EndReason::Stopped => return BatchOutcome::Stopped,
                EndReason::Pending
                | EndReason::EndOfTraceset
                | EndReason::EndTime
                | EndReason::EndPosition => return BatchOutcome::Complete,
            }
            if self.report(context).is_break() {
                return BatchOutcome::Cancelled;
            }
        }
    }

    fn report(&mut self, context: &mut TracesetContext<'_>) -> Flow {
        let total = self.end.saturating_sub(self.begin);
        // Packets are entered whole, so the last ones may extend past the end.
        let done = context.merge().progress().done.saturating_sub(self.begin).min(total);
        let notices = context.take_notices();
        (self.watch)(BatchProgress { events: self.events, done, total, notices })
    }
}
