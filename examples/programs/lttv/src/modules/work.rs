//! Data that modules share besides attributes and options.

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ltt_read::Timestamp;
use lttv_common::kernel_hooks::{kernel_state, last_event};
use lttv_common::kernel_trace::{self, Use};
use lttv_common::report::Report;
use lttv_common::settings;
use lttv_common::table::{Table, TextStyle};
use lttv_common::text::output::Output;
use lttv_common::time::{Window, clock_of};
use lttv_context::framework::{Batch, BatchEnd, BatchOutcome};
use lttv_context::{EventCall, Handle, Subscription, TimeSpan, Traceset};
use lttv_filter::{TraceTimes, Zone};
use lttv_hooks::{Flow, IntoFlow};
use lttv_state::analysis::{Attached, attach};
use lttv_state::kernel::KernelState;
use lttv_state::stats::{Statistics, StatisticsAnalysis};

use super::Results;
use super::chosen::Chosen;
use super::print::{self, Style};

/// The work of a session: one read of a traceset.
#[derive(Debug)]
pub struct Work {
    /// The traces and the hooks of the read.
    pub batch: Batch<'static>,
    /// The result of the read; `None` before it.
    pub end: Option<BatchEnd>,
    /// The messages to standard error.
    pub report: Report,
    /// The errors that made results incomplete.
    pub failures: Vec<Box<dyn Error>>,
    /// A flag that ends the read early when it is set.
    pub cancel: Arc<AtomicBool>,
    /// The modules given on the command line, with the events that their results follow from.
    pub(crate) loaded: Vec<(String, Results)>,
    /// The names of the traces in messages, by trace index.
    pub(super) names: Vec<String>,
    /// The time zone of times that are parsed and printed.
    pub(super) zone: Zone,
    /// `true` once the state is that of the start of the read.
    is_at_begin: bool,
    /// The window of the read, both times inclusive.
    pub(crate) window: Window,
    /// The time span of the read; `None` if no event has a time.
    pub(super) span: Option<TimeSpan>,
    /// The events that text filters select.
    pub(super) chosen: Rc<Chosen>,
    /// `true` if a module has the traces read.
    pub(super) reads: bool,
    /// The destination of results.
    pub(super) output: Rc<RefCell<Output>>,
    /// The format of results.
    pub(super) style: Style,
    /// `true` if the output starts with the list of events of a JSON object.
    pub(super) lists_events: bool,
    /// The statistics, once a module collects them.
    statistics: Option<Attached<StatisticsAnalysis>>,
}

impl Work {
    /// Creates the work of an empty traceset, with output to standard output.
    pub(crate) fn new(report: Report) -> Self {
        Work {
            report,
            batch: Batch::new(Traceset::new()),
            end: None,
            failures: Vec::new(),
            cancel: Arc::default(),
            loaded: Vec::new(),
            names: Vec::new(),
            zone: Zone::UTC,
            is_at_begin: false,
            window: Window::default(),
            span: None,
            chosen: Rc::default(),
            reads: false,
            output: Rc::new(RefCell::new(Output::stdout())),
            style: Style::default(),
            lists_events: false,
            statistics: None,
        }
    }

    /// Returns the time that a read has reached which ended before its window; `None` if it did not.
    pub fn interrupted_at(&mut self) -> Option<Timestamp> {
        let end = self.end.as_ref()?;
        let is_complete = end.outcome == BatchOutcome::Complete;
        if is_complete { None } else { self.batch.context.position().time() }
    }

    /// Returns, for each trace, the part of the read from its first to its last event; `None` for
    /// a trace without events in it.
    pub fn spans(&self) -> Vec<Option<TimeSpan>> {
        let is_whole = self.end.as_ref().is_none_or(|end| end.outcome == BatchOutcome::Complete);
        let context = &self.batch.context;
        let kernel = context.extensions().find().filter(|_| !is_whole);
        let last = kernel.map(|kernel| last_event(&context.extensions()[kernel]));
        let last = last.unwrap_or(Timestamp::MAX);
        let read = Window { end: Some(self.window.end.unwrap_or(last).min(last)), ..self.window };
        let traces = context.traceset().traces().iter();
        traces
            .map(|trace| read.part_of(TraceTimes::of(std::slice::from_ref(trace)).events()?))
            .collect()
    }

    /// Returns `true` if several traces have events in the read, so that tables have a column for
    /// their numbers.
    pub fn has_traces(&self) -> bool {
        self.spans().iter().flatten().count() > 1
    }

    /// Returns the window of the read, both times inclusive.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Returns the format of results.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Returns the destination of results.
    pub fn output(&self) -> Rc<RefCell<Output>> {
        Rc::clone(&self.output)
    }

    /// Appends tables to the output, as text.
    pub fn print(&self, tables: &[Table]) {
        let clock = clock_of(settings::current().clock(), self.batch.context.traceset().traces());
        let style = TextStyle { width: None, clock, ..TextStyle::of_output(self.zone.clone()) };
        print::tables(&mut self.output.borrow_mut(), &style, tables);
    }

    /// Returns the handle of the kernel state, and attaches it if it is not yet attached.
    /// For legacy traces it is the state of LTTV, which did not look ahead.
    pub fn kernel(&mut self) -> Handle<KernelState> {
        let context = &mut self.batch.context;
        if let Some(known) = context.extensions().find() {
            return known;
        }
        let state = kernel_state(context.traceset().traces());
        context.attach(state)
    }

    /// Returns `true` if a trace has the events that a module needs; otherwise reports that none
    /// has.
    pub fn has(&mut self, needs: &Use) -> bool {
        match kernel_trace::require(self.batch.context.traceset(), needs) {
            Ok(_) => true,
            Err(missing) => {
                self.failures.push(missing.into());
                false
            }
        }
    }

    /// Returns the handle of the kernel state, which is that of the start of the read: results
    /// start with it.
    pub fn kernel_at_begin(&mut self) -> Handle<KernelState> {
        let kernel = self.kernel();
        let is_there = self.is_at_begin && self.batch.context.is_state_current();
        if let Some(begin) = self.window.begin.filter(|_| !is_there) {
            self.batch.context.state().seek_time(begin);
            self.is_at_begin = true;
        }
        kernel
    }

    /// Returns the handle of the statistics, which all modules share, and attaches them if they are
    /// not yet attached.
    pub fn statistics(&mut self) -> Attached<StatisticsAnalysis> {
        if let Some(known) = self.statistics {
            return known;
        }
        let kernel = self.kernel_at_begin();
        let context = &mut self.batch.context;
        let statistics = attach(context, kernel, self.window.range(), StatisticsAnalysis::new());
        self.statistics = Some(statistics);
        statistics
    }

    /// Returns the statistics of the window, or of the part of it that was read before an interrupt.
    pub fn statistics_of(&mut self, statistics: Attached<StatisticsAnalysis>) -> Statistics {
        let reached = self.interrupted_at();
        let extensions = self.batch.context.extensions_mut();
        match reached {
            Some(time) => statistics.take_until(extensions, time),
            None => statistics.take(extensions),
        }
    }

    /// Adds a hook for the events that pass the text filters.
    pub fn on_chosen<V: IntoFlow>(
        &mut self,
        events: impl Into<Subscription>,
        mut hook: impl FnMut(&mut EventCall<'_, 'static>) -> V + 'static,
    ) {
        let chosen = Rc::clone(&self.chosen);
        self.batch.hooks.on_event(events, move |call| match chosen.has(call) {
            true => hook(call).into_flow(),
            false => Flow::Continue(()),
        });
    }
}
