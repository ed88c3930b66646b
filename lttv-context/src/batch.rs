//! Reads a traceset once, for everybody who wants it.
//!
//! A [`Batch`] is the heart of a program without a user interface: analyses add
//! their hooks and state, whoever they are, and then all of them get all events,
//! or those of a stretch of time, in one pass.
//!
//! ```
//! use lttv_context::Traceset;
//! use lttv_context::batch::{Batch, Outcome};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let mut switches = 0;
//! let mut batch = Batch::new(Traceset::open(path)?);
//! batch.hooks.on_event("sched_switch", |_| switches += 1);
//! let end = batch.run(|report| eprintln!("{} of {} bytes", report.done, report.total));
//! drop(batch);
//! assert_eq!((end.outcome, end.events, switches), (Outcome::Complete, 6087, 497));
//! # Ok::<(), ltt_read::Error>(())
//! ```
//!
//! # Cancelling
//!
//! What is called with each report may return a [`Flow`]: to
//! break means to cancel. So a flag that a signal or another thread sets is looked
//! at every few thousand events:
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use std::sync::atomic::{AtomicBool, Ordering};
//! # use lttv_context::Traceset;
//! # use lttv_context::batch::{Batch, Outcome};
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! # let mut batch = Batch::new(Traceset::open(path)?).report_every(100);
//! let cancel = AtomicBool::new(true);
//! let end = batch.run(|_| match cancel.load(Ordering::Relaxed) {
//!     true => ControlFlow::Break(()),
//!     false => ControlFlow::Continue(()),
//! });
//! assert_eq!((end.outcome, end.events), (Outcome::Cancelled, 100));
//! # Ok::<(), ltt_read::Error>(())
//! ```

use std::mem::take;

use ltt_read::{Error, Merge, Notice, Timestamp};
use lttv_hooks::{Flow, Verdict};

use crate::bounds::{Bounds, EndReason, ReadEnd};
use crate::context::TracesetContext;
use crate::hook_set::HookSet;
use crate::traceset::Traceset;

/// Events between two reports, unless told otherwise: well below 10 ms for most
/// hooks, and too many for reports to cost anything.
const REPORT_EVERY: u64 = 1 << 14;

/// One pass over a traceset, or a stretch of it, with the hooks of all who want
/// it. See the [module](crate::batch) for examples.
#[derive(Debug)]
#[non_exhaustive]
pub struct Batch<'h> {
    /// The traceset, where extensions and data are attached.
    pub context: TracesetContext<'h>,
    /// The hooks for events, and for before and after.
    pub hooks: HookSet<'h>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
    report_every: u64,
}

/// How far a batch is.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// Events delivered so far.
    pub events: u64,
    /// Bytes read so far, of those that are to be.
    pub done: u64,
    /// Bytes to be read: of all tracefiles, those of the stretch of time, and
    /// what has to be read before it for the state of extensions.
    pub total: u64,
    /// What was noticed since the last report.
    pub notices: Vec<Notice>,
}

/// What came of a batch.
#[derive(Debug)]
#[non_exhaustive]
pub struct BatchEnd {
    /// Events delivered, whether or not a hook was called for them.
    pub events: u64,
    /// Why it ended.
    pub outcome: Outcome,
    /// What could not be read. All the rest was.
    pub errors: Vec<Error>,
    /// How many errors more were met, but not kept: see [`Merge::errors_omitted`].
    pub errors_omitted: u64,
    /// How many notices came up, but were not kept: see [`Merge::notices_omitted`].
    pub notices_omitted: u64,
}

/// Why a batch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// There was no more to read.
    Complete,
    /// A hook asked to stop; its event was delivered.
    Stopped,
    /// The receiver of reports cancelled it.
    Cancelled,
}

impl<'h> Batch<'h> {
    /// Over a whole traceset, without hooks.
    pub fn new(traceset: impl Into<Traceset>) -> Self {
        Batch {
            context: TracesetContext::new(traceset),
            hooks: HookSet::new(),
            from: None,
            until: None,
            report_every: REPORT_EVERY,
        }
    }

    /// Deliver events at this time or later. Where extensions are
    /// attached they get the events before it too, so that their state is right.
    #[must_use]
    pub fn from(self, time: Timestamp) -> Self {
        Batch { from: Some(time), ..self }
    }

    /// Deliver events before this time.
    #[must_use]
    pub fn until(self, time: Timestamp) -> Self {
        Batch { until: Some(time), ..self }
    }

    /// Report, and look whether to cancel, after so many events; 16384 if not
    /// told.
    #[must_use]
    pub fn report_every(self, events: u64) -> Self {
        Batch { report_every: events.max(1), ..self }
    }

    /// Calls the hooks before, delivers the events, and calls the hooks after,
    /// these also if it was cancelled. It reports on the way, and at the end.
    ///
    /// It can be run again: the state of extensions begins anew, plain data and
    /// what hooks hold stay as they are.
    pub fn run<V: Verdict>(&mut self, mut watch: impl FnMut(Report) -> V) -> BatchEnd {
        let (errors, notices) = (self.context.errors_omitted(), self.context.notices_omitted());
        let id = self.context.begin(take(&mut self.hooks));
        let mut pass = Pass {
            end: self.bytes_at_end(),
            begin: 0,
            events: 0,
            watch: &mut |report| watch(report).flow(),
        };
        let outcome = self.read(&mut pass);
        // Nobody is asked any more whether to go on.
        _ = pass.report(&mut self.context);
        let events = pass.events;
        self.hooks = self.context.end(id).unwrap_or_default();
        BatchEnd {
            events,
            outcome,
            errors: self.context.drain_errors(),
            errors_omitted: self.context.errors_omitted() - errors,
            notices_omitted: self.context.notices_omitted() - notices,
        }
    }

    fn read(&mut self, pass: &mut Pass<'_>) -> Outcome {
        match self.from {
            None => self.context.seek_begin(),
            Some(from) if self.context.extensions().keep_state() => {
                self.context.seek_checkpoint(from);
            }
            Some(from) => self.context.seek_time(from),
        }
        pass.begin = self.context.progress().0;
        if let Some(from) = self.from.filter(|_| self.context.extensions().keep_state()) {
            let before = Bounds::all().until(from).events(self.report_every);
            let outcome = pass.go(&mut self.context, |context| {
                loop {
                    match context.replay(&before).ok()? {
                        // Whoever wants to stop means events that are delivered.
                        ReadEnd { reason: EndReason::Stopped, .. } => continue,
                        read => break Some(ReadEnd { events: 0, ..read }),
                    }
                }
            });
            if outcome != Outcome::Complete {
                return outcome;
            }
        }
        let bounds = Bounds::all().looks(self.report_every);
        let bounds = match self.from {
            Some(from) => bounds.since(from),
            None => bounds,
        };
        let bounds = match self.until {
            Some(until) => bounds.until(until),
            None => bounds,
        };
        pass.go(&mut self.context, |context| context.middle(&bounds).ok())
    }

    /// Bytes of all tracefiles before the end.
    fn bytes_at_end(&self) -> u64 {
        let Some(until) = self.until else { return self.context.progress().1 };
        let mut merge = Merge::new(self.context.traceset().traces());
        merge.seek(until);
        merge.progress().0
    }
}

/// A batch under way.
struct Pass<'w> {
    /// Bytes of all tracefiles that lie before what is to be read.
    begin: u64,
    /// The same with what is to be read.
    end: u64,
    /// Events delivered.
    events: u64,
    watch: &'w mut dyn FnMut(Report) -> Flow,
}

impl Pass<'_> {
    /// Reads chunk by chunk, and reports after each.
    fn go<'h>(
        &mut self,
        context: &mut TracesetContext<'h>,
        mut chunk: impl FnMut(&mut TracesetContext<'h>) -> Option<ReadEnd>,
    ) -> Outcome {
        loop {
            // Bounds of a time and a number are never refused.
            let Some(read) = chunk(context) else { return Outcome::Complete };
            self.events += read.events;
            match read.reason {
                EndReason::EventCount | EndReason::LookCount => {}
                EndReason::Stopped => return Outcome::Stopped,
                EndReason::EndOfTraceset | EndReason::EndTime | EndReason::EndPosition => {
                    return Outcome::Complete;
                }
            }
            if self.report(context).is_break() {
                return Outcome::Cancelled;
            }
        }
    }

    fn report(&mut self, context: &mut TracesetContext<'_>) -> Flow {
        let total = self.end.saturating_sub(self.begin);
        // Packets are entered whole, so that the last ones may reach beyond.
        let done = context.progress().0.saturating_sub(self.begin).min(total);
        let notices = context.drain_notices();
        (self.watch)(Report { events: self.events, done, total, notices })
    }
}
