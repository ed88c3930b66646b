//! Reading of a time window for an analysis that follows the kernel state.

use std::cell::OnceCell;
use std::error::Error;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::tz::TimeZone;
use ltt_read::{TimeSpan, Timestamp, Trace, TraceIndex};
use lttv_common::args::{Common, InputArgs};
use lttv_common::cancel;
use lttv_common::kernel_hooks::{events_of, kernel_state, last_event};
use lttv_common::kernel_trace::{self, Use};
use lttv_common::losses::Losses;
use lttv_common::progress::Progress;
use lttv_common::report::{self, Interrupted, Report};
use lttv_common::table::Table;
use lttv_common::text_dump::clock_text::{ClockStyle, ClockText};
use lttv_common::text_dump::notice_text::Warnings;
use lttv_common::text_dump::trace_name::{given_for, trace_name};
use lttv_common::time::{Window, event_span};
use lttv_context::{
    Bounds, EndReason, Handle, ReadEnd, SliceThreads, StalePosition, Subscription, Traceset,
    TracesetContext,
};
use lttv_hooks::Flow;
use lttv_state::kernel::{KernelState, Transition};

/// The number of events between two updates of progress, notices and interrupts.
const BATCH: u64 = 1 << 14;

/// The traces of an analysis, with the kernel state at the start of its window.
#[derive(Debug)]
pub struct Analysis {
    /// The traces.
    pub traceset: Traceset,
    /// The context: at first at the start of the window.
    pub context: TracesetContext<'static>,
    /// The kernel state.
    pub kernel: Handle<KernelState>,
    /// The window.
    pub window: Window,
    /// The part of the window from the first to the last event of each trace; `None` for a trace
    /// without events in the window or without the needed ones. Computed when it is needed, since
    /// the last events have to be read.
    spans: OnceCell<Vec<Option<TimeSpan>>>,
    /// `true` for each trace with the needed events.
    serves: Vec<bool>,
    warnings: Warnings,
    progress: Progress,
    cancel: Arc<AtomicBool>,
    /// The context that has read the traces for several threads, in place of `context`.
    reader: Option<TracesetContext<'static>>,
    losses: OnceCell<Losses>,
    events: u64,
}

impl Analysis {
    /// Opens the traces, and computes the state at the start of the window.
    ///
    /// # Errors
    ///
    /// If no trace can be opened, if none has the events that the command needs, if the window is
    /// wrong or outside of the traces, or after an interrupt by the user.
    pub fn open(
        input: &InputArgs,
        report: &mut Report,
        needs: Option<&Use>,
    ) -> Result<Self, Box<dyn Error>> {
        Ok(Self::open_with(input, report, needs, |_, _| ())?.0)
    }

    /// Opens the traces, attaches extensions that need all events, and computes the state at the
    /// start of the window.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`open`](Self::open).
    pub fn open_with<T>(
        input: &InputArgs,
        report: &mut Report,
        needs: Option<&Use>,
        attach: impl FnOnce(&mut TracesetContext<'static>, Handle<KernelState>) -> T,
    ) -> Result<(Self, T), Box<dyn Error>> {
        let traceset = input.open(report)?;
        let serves = match needs {
            Some(needs) => kernel_trace::require_one(&traceset, needs, report)?,
            None => vec![true; traceset.traces().len()],
        };
        let window = input.window(traceset.traces())?;
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(kernel_state(traceset.traces()));
        let attached = attach(&mut context, kernel);
        let cancel = cancel::on_interrupt()?;
        let warnings = warnings(input, traceset.traces())?;
        let progress = Progress::new(false);
        let mut analysis = Analysis {
            traceset,
            context,
            kernel,
            window,
            spans: OnceCell::new(),
            serves,
            warnings,
            progress,
            cancel,
            reader: None,
            losses: OnceCell::new(),
            events: 0,
        };
        if let Some(begin) = window.begin {
            analysis.replay(begin)?;
        }
        Ok((analysis, attached))
    }

    /// Returns the part of the window in which a trace has events; `None` if there is none, or if
    /// the trace lacks the needed events.
    pub fn span(&self, trace: TraceIndex) -> Option<TimeSpan> {
        *self.all_spans().get(trace.0)?
    }

    /// Returns the part of the window in which each trace has events, by trace index.
    pub(crate) fn all_spans(&self) -> &[Option<TimeSpan>] {
        self.spans.get_or_init(|| {
            let span = |(trace, serves): (&Arc<Trace>, &bool)| {
                let span = serves.then(|| event_span(std::slice::from_ref(trace))).flatten();
                span.and_then(|span| self.window.part_of(span))
            };
            self.traceset.traces().iter().zip(&self.serves).map(span).collect()
        })
    }

    /// Iterates over the traces with events in the window.
    pub fn spans(&self) -> impl Iterator<Item = (TraceIndex, TimeSpan)> {
        (0..)
            .map(TraceIndex)
            .zip(self.all_spans())
            .filter_map(|(trace, span)| Some((trace, (*span)?)))
    }

    /// Returns the kernel state of the current position.
    pub fn state(&self) -> &KernelState {
        &self.context.extensions()[self.kernel]
    }

    /// Returns the event types whose transition is `wanted`, for hooks after the state.
    pub fn events_of(&self, wanted: impl Fn(Transition) -> bool) -> Vec<Subscription> {
        events_of(&self.context, self.kernel, wanted)
    }

    /// Seeks a time, with the state there.
    ///
    /// # Errors
    ///
    /// After an interrupt by the user.
    pub fn replay(&mut self, time: Timestamp) -> Result<(), Interrupted> {
        self.context.seek_checkpoint(time);
        let bounds = Bounds::all().until_start_of(time).events(BATCH);
        self.advance(|context| match context.replay_state(&bounds) {
            Ok(end) => end.reason,
            // The bounds contain no position that could be refused.
            Err(_) => EndReason::EndOfTraceset,
        })
    }

    /// Narrows the window to a part of it, and seeks its start, with the state there.
    ///
    /// # Errors
    ///
    /// After an interrupt by the user.
    pub fn narrow(&mut self, part: TimeSpan) -> Result<(), Interrupted> {
        self.window = Window { begin: Some(part.start), end: Some(part.end) };
        self.spans = OnceCell::new();
        self.losses = OnceCell::new();
        self.replay(part.start)
    }

    /// Reads up to the start of a time, and calls the hooks.
    ///
    /// # Errors
    ///
    /// After an interrupt by the user.
    pub fn read_until(&mut self, time: Timestamp) -> Result<(), Interrupted> {
        self.read_within(Bounds::all().until_start_of(time))
    }

    /// Reads to the end of the window, and calls the hooks.
    ///
    /// # Errors
    ///
    /// After an interrupt by the user. The window then ends with the last event that was read.
    pub fn read(&mut self) -> Result<(), Interrupted> {
        let bounds = self.window.bounds();
        let read = self.read_within(match self.window.begin {
            Some(begin) => bounds.since(begin),
            None => bounds,
        });
        read.map_err(|_| self.interrupted())
    }

    /// Reads the whole traces on several threads, by a function that is called with a context at their
    /// start, the state there, and a function to be called after each slice. The state is then that
    /// at their end. After an interrupt, the result is that up to there.
    pub fn read_in_slices<T: Default>(
        &mut self,
        threads: usize,
        read: impl FnOnce(
            &mut TracesetContext<'static>,
            KernelState,
            SliceThreads,
            &mut dyn FnMut(&mut TracesetContext<'static>) -> Flow,
        ) -> Result<(T, KernelState, ReadEnd), StalePosition>,
    ) -> (T, Result<(), Interrupted>) {
        let mut reader = TracesetContext::new(&self.traceset);
        let kernel = std::mem::take(&mut self.context.extensions_mut()[self.kernel]);
        let Analysis { progress, warnings, cancel, .. } = self;
        let mut passed = |reader: &mut TracesetContext<'static>| {
            progress.update(reader.merge().progress());
            for notice in reader.take_notices() {
                report::line(&warnings.text(&notice));
            }
            match cancel.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let read = read(&mut reader, kernel, SliceThreads::new(threads), &mut passed);
        self.reader = Some(reader);
        // Whole traces are read without a position that could be refused.
        let Ok((result, kernel, end)) = read else { return (T::default(), Ok(())) };
        self.context.extensions_mut()[self.kernel] = kernel;
        self.events += end.events;
        let is_whole = end.reason != EndReason::Stopped;
        (result, if is_whole { Ok(()) } else { Err(self.interrupted()) })
    }

    /// Ends the window with the last event that was read.
    fn interrupted(&mut self) -> Interrupted {
        let last = last_event(self.state());
        self.window.end = Some(self.window.end.map_or(last, |end| end.min(last)));
        self.spans = OnceCell::new();
        Interrupted { events: self.events }
    }

    fn read_within(&mut self, bounds: Bounds) -> Result<(), Interrupted> {
        let bounds = bounds.max_examined(BATCH);
        let mut events = 0;
        let read = self.advance(|context| match context.read(&bounds) {
            Ok(end) => {
                events += end.events;
                end.reason
            }
            Err(_) => EndReason::EndOfTraceset,
        });
        self.events += events;
        read.map_err(|_| Interrupted { events: self.events })
    }

    /// Calls `chunk` until it comes to another end than that of its number of events.
    fn advance(
        &mut self,
        mut chunk: impl FnMut(&mut TracesetContext<'static>) -> EndReason,
    ) -> Result<(), Interrupted> {
        loop {
            let reason = chunk(&mut self.context);
            self.progress.update(self.context.merge().progress());
            for notice in self.context.take_notices() {
                report::line(&self.warnings.text(&notice));
            }
            if !matches!(reason, EndReason::EventCount | EndReason::ExaminedCount) {
                return Ok(());
            }
            if self.cancel.load(Ordering::Relaxed) {
                return Err(Interrupted { events: self.events });
            }
        }
    }

    /// Returns the number of events that were read.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Returns the last event's time, for statistics of what was read before an interrupt.
    pub fn last_event(&self) -> Timestamp {
        last_event(self.state())
    }

    /// Returns the losses in the window.
    pub fn losses(&self) -> &Losses {
        self.losses.get_or_init(|| Losses::of(self.traceset.traces(), self.window))
    }

    /// Writes the selected parts of tables, and of the table of losses.
    ///
    /// # Errors
    ///
    /// If a selected table or column does not exist, or if the output cannot be written.
    pub fn write(&self, common: &Common, tables: Vec<Table>) -> Result<(), Box<dyn Error>> {
        common.write_with(self.losses(), tables, self.traceset.traces())
    }

    /// Reports damage and losses.
    pub fn finish(mut self, report: &mut Report) {
        let context = self.reader.as_mut().unwrap_or(&mut self.context);
        report.notices_omitted(context.merge().notices_omitted());
        let errors = context.take_errors();
        report.errors(&errors, context.errors_omitted());
        // The events of filtered reads are not those of the window.
        self.losses().report(report, None);
        let Analysis { traceset, context, reader, .. } = self;
        // Leaked, since the process ends with them: dropping all that was found takes time.
        mem::forget((traceset, context, reader));
    }
}

fn warnings(input: &InputArgs, traces: &[Arc<Trace>]) -> Result<Warnings, Box<dyn Error>> {
    let paths = input.paths()?;
    let name = |trace: &Arc<Trace>| {
        trace_name(trace.schema(), given_for(trace.path(), &paths), trace.paths())
    };
    let names: Vec<String> = traces.iter().map(name).collect();
    let zone: TimeZone = input.zone();
    Ok(Warnings::new(ClockText::new(ClockStyle::Seconds, zone), traces, &names))
}
