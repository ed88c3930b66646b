//! Reading of a time window for an analysis that follows the kernel state.

use std::cell::OnceCell;
use std::error::Error;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::{TimeSpan, Timestamp, Trace, TraceIndex};
use lttv_common::args::{Common, InputArgs};
use lttv_common::cache::{CacheArgs, KnownStates};
use lttv_common::cancel;
use lttv_common::host;
use lttv_common::kernel_hooks::{events_of, kernel_state, last_event};
use lttv_common::kernel_trace::{self, Use};
use lttv_common::losses::Losses;
use lttv_common::progress::Progress;
use lttv_common::report::{self, Interrupted, Report};
use lttv_common::table::Table;
use lttv_common::text::clock_text::{ClockStyle, ClockText};
use lttv_common::text_dump::notice_text::Warnings;
use lttv_common::text_dump::trace_name::{given_for, trace_name};
use lttv_common::time::Window;
use lttv_context::{
    Bounds, EndReason, Handle, ReadEnd, ReadError, Subscription, Traceset, TracesetContext,
};
use lttv_filter::{TraceTimes, Zone};
use lttv_state::analysis::{KernelAnalysis, read};
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::{KernelState, Transition};

/// The number of events between two updates of progress, notices and interrupts.
const BATCH: u64 = 1 << 14;

/// The traces of an analysis, and its window.
#[derive(Debug)]
pub struct Analysis {
    /// The traces.
    pub traceset: Traceset,
    /// The context: at first at the start of the traces.
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
    /// `true` while the context is at the start of the traces.
    is_at_start: bool,
    /// The errors of a [run](Self::run), the number of further ones, and that of omitted notices.
    damage: Option<(Vec<ltt_read::Error>, u64, u64)>,
    losses: OnceCell<Losses>,
    events: u64,
    states: KnownStates,
}

impl Analysis {
    /// Opens the traces. The states in the cache are used, and others are added to it.
    ///
    /// # Errors
    ///
    /// If no trace can be opened, if none has the events that the command needs, or if the window is
    /// wrong or outside of the traces.
    pub fn open(
        input: &InputArgs,
        cache: Option<&CacheArgs>,
        report: &mut Report,
        needs: Option<&Use>,
    ) -> Result<Self, Box<dyn Error>> {
        let traceset = input.open(report)?;
        let serves = match needs {
            Some(needs) => kernel_trace::require_one(&traceset, needs, report)?,
            None => vec![true; traceset.traces().len()],
        };
        let window = input.window(traceset.traces())?;
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(kernel_state(traceset.traces()));
        let cancel = cancel::on_interrupt()?;
        let warnings = warnings(input, traceset.traces())?;
        let progress = Progress::new(false);
        let cache = cache.and_then(|args| args.cache(CacheArgs::LIMIT));
        let states = KnownStates::of(cache, &traceset);
        Ok(Analysis {
            traceset,
            context,
            kernel,
            window,
            spans: OnceCell::new(),
            serves,
            warnings,
            progress,
            cancel,
            is_at_start: true,
            damage: None,
            losses: OnceCell::new(),
            events: 0,
            states,
        })
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
                let span =
                    serves.then(|| TraceTimes::of(std::slice::from_ref(trace)).events()).flatten();
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
        self.context.state().seek_checkpoint(time);
        let bounds = Bounds::all().until_start_of(time);
        self.is_at_start = false;
        let Analysis { context, progress, warnings, cancel, .. } = self;
        let each = |context: &mut _| update(context, progress, warnings, cancel);
        let read = context.state().replay_steps(&bounds, BATCH, each);
        match is_interrupted(&read, cancel) {
            true => Err(Interrupted { events: self.events }),
            false => Ok(()),
        }
    }

    /// Narrows the window to a part of it.
    pub fn narrow(&mut self, part: TimeSpan) {
        self.window = Window { begin: Some(part.start), end: Some(part.end) };
        self.spans = OnceCell::new();
        self.losses = OnceCell::new();
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

    /// Reads the window for an analysis, on a number of threads. The state is then that at its end.
    /// After an interrupt, the result is that up to there.
    pub fn run<A: KernelAnalysis>(
        &mut self,
        threads: usize,
        filters: Option<KernelFilters>,
        analysis: A,
    ) -> (A::Output, Result<(), Interrupted>) {
        let (output, is_stopped) = self.run_within(self.window, threads, filters, analysis);
        let read = if is_stopped { Err(self.interrupted()) } else { Ok(()) };
        (output, read)
    }

    /// Reads from the start of the window up to a time for an analysis, on a number of threads, like
    /// [`run`](Self::run). The window remains.
    pub fn run_until<A: KernelAnalysis>(
        &mut self,
        end: Timestamp,
        threads: usize,
        analysis: A,
    ) -> (A::Output, Result<(), Interrupted>) {
        let window = Window { end: Some(end), ..self.window };
        let (output, is_stopped) = self.run_within(window, threads, None, analysis);
        let read = if is_stopped { Err(Interrupted { events: self.events }) } else { Ok(()) };
        (output, read)
    }

    /// Reads a window for an analysis. Returns the result, and `true` after an interrupt.
    fn run_within<A: KernelAnalysis>(
        &mut self,
        window: Window,
        threads: usize,
        filters: Option<KernelFilters>,
        analysis: A,
    ) -> (A::Output, bool) {
        // The state before the first events has been looked up.
        let kernel = match std::mem::replace(&mut self.is_at_start, false) {
            true => mem::take(&mut self.context.extensions_mut()[self.kernel]),
            false => kernel_state(self.traceset.traces()),
        };
        let Analysis { progress, warnings, cancel, damage, states, .. } = self;
        let is_first = damage.is_none();
        let read = read(&self.traceset)
            .kernel(kernel)
            .window(window.range())
            .threads(threads)
            .cancel(cancel)
            .progress(|context| {
                progress.update(context.merge().progress());
                for notice in context.take_notices().iter().filter(|_| is_first) {
                    report::line(&warnings.text(notice));
                }
            });
        let read = match filters {
            Some(filters) => read.filter(filters),
            None => read,
        };
        let found = read.saved(states.states()).run(analysis);
        // Another run reads a part of the same window.
        damage.get_or_insert((found.errors, found.errors_omitted, found.notices_omitted));
        self.context.extensions_mut()[self.kernel] = found.kernel;
        if is_first {
            self.events += found.events;
        }
        (found.output, found.is_stopped)
    }

    /// Ends the window with the last event that was read.
    fn interrupted(&mut self) -> Interrupted {
        let last = last_event(self.state());
        self.window.end = Some(self.window.end.map_or(last, |end| end.min(last)));
        self.spans = OnceCell::new();
        Interrupted { events: self.events }
    }

    fn read_within(&mut self, bounds: Bounds) -> Result<(), Interrupted> {
        self.is_at_start = false;
        let Analysis { context, progress, warnings, cancel, .. } = self;
        let each = |context: &mut _| update(context, progress, warnings, cancel);
        let read = context.read_steps(&bounds, BATCH, each);
        self.events += read.as_ref().map_or(0, |end| end.events);
        match is_interrupted(&read, &self.cancel) {
            true => Err(Interrupted { events: self.events }),
            false => Ok(()),
        }
    }

    /// Returns the flag that stops a read, which an interrupt by the user sets.
    pub(crate) fn stop_flag(&self) -> Arc<AtomicBool> {
        self.cancel.clone()
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
        self.states.store(&self.traceset);
        let context = &mut self.context;
        let (errors, errors_omitted, notices_omitted) = self.damage.take().unwrap_or_else(|| {
            (
                context.take_errors(),
                context.merge().errors_omitted(),
                context.merge().notices_omitted(),
            )
        });
        report.notices_omitted(notices_omitted);
        report.errors(&errors, errors_omitted);
        // The events of filtered reads are not those of the window.
        report.losses(self.losses(), None);
        let Analysis { traceset, context, .. } = self;
        host::forget_at_end((traceset, context));
    }
}

fn warnings(input: &InputArgs, traces: &[Arc<Trace>]) -> Result<Warnings, Box<dyn Error>> {
    let paths = input.paths()?;
    let name = |trace: &Arc<Trace>| {
        trace_name(trace.schema(), given_for(trace.path(), &paths), trace.paths())
    };
    let names: Vec<String> = traces.iter().map(name).collect();
    let zone: Zone = input.zone();
    Ok(Warnings::new(ClockText::new(ClockStyle::Seconds, zone), traces, &names))
}

/// Shows progress and notices after a step of a read. Breaks after an interrupt by the user.
fn update(
    context: &mut TracesetContext<'_>,
    progress: &mut Progress,
    warnings: &mut Warnings,
    cancelled: &AtomicBool,
) -> ControlFlow<()> {
    progress.update(context.merge().progress());
    for notice in context.take_notices() {
        report::line(&warnings.text(&notice));
    }
    cancel::unless(cancelled)
}

/// Returns `true` if a read was ended by the user, not by a hook. Its bounds contain no position that
/// could be stale.
fn is_interrupted(read: &Result<ReadEnd, ReadError>, cancel: &AtomicBool) -> bool {
    let is_stopped = read.as_ref().is_ok_and(|end| end.reason == EndReason::Stopped);
    is_stopped && cancel.load(Ordering::Relaxed)
}
