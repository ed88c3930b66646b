//! Data that modules share besides attributes and options.

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jiff::tz::TimeZone;
use ltt_read::Timestamp;
use ltt_read::schema::{EventTypeId, Format};
use lttv_context::framework::{Batch, BatchEnd};
use lttv_context::{EventCall, Handle, Subscription, TimeSpan, Traceset};
use lttv_hooks::{Flow, IntoFlow, Priority};
use lttv_state::kernel::{KernelState, Transition};
use lttv_state::stats::StatisticsHandle;

use super::chosen::Chosen;
use super::print::Style;
use crate::report::Report;
use crate::text_dump::output::Output;

/// The priority of hooks that read the kernel state after each event.
const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

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
    /// The names of the modules given on the command line.
    pub loaded: Vec<String>,
    /// The names of the traces in messages, by trace index.
    pub(super) names: Vec<String>,
    /// The time zone of times that are parsed and printed.
    pub(super) zone: TimeZone,
    /// The start of the read; `None` for the first event.
    pub(super) begin: Option<Timestamp>,
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
    pub(super) statistics: Option<StatisticsHandle>,
}

impl Work {
    /// Creates the work of an empty traceset, with output to standard output.
    pub fn new(report: Report) -> Self {
        Work {
            report,
            batch: Batch::new(Traceset::new()),
            end: None,
            failures: Vec::new(),
            cancel: Arc::default(),
            loaded: Vec::new(),
            names: Vec::new(),
            zone: TimeZone::UTC,
            begin: None,
            span: None,
            chosen: Rc::default(),
            reads: false,
            output: Rc::new(RefCell::new(Output::stdout())),
            style: Style::default(),
            lists_events: false,
            statistics: None,
        }
    }

    /// Returns the handle of the kernel state, and attaches it if it is not yet attached.
    /// For legacy traces it is the state of LTTV, which did not look ahead.
    pub(super) fn kernel(&mut self) -> Handle<KernelState> {
        let context = &mut self.batch.context;
        if let Some(known) = context.extensions().find() {
            return known;
        }
        let mut traces = context.traceset().traces().iter();
        context.attach(match traces.any(|trace| trace.schema().format == Format::Legacy) {
            true => KernelState::new().without_looking_ahead(),
            false => KernelState::new(),
        })
    }

    /// Adds a hook for all events whose transition is `wanted`. It is called when the kernel
    /// state includes the event.
    pub(super) fn on_transitions(
        &mut self,
        wanted: fn(Transition) -> bool,
        hook: impl Fn(&mut EventCall<'_, 'static>) + Copy + 'static,
    ) {
        let kernel = self.kernel();
        let context = &self.batch.context;
        for trace in context.contexts().traces() {
            let types = 0..trace.trace().schema().event_types.len() as u32;
            for id in types.map(EventTypeId) {
                let transition = context.extensions()[kernel].transition(trace.index(), id);
                if transition.is_some_and(wanted) {
                    let events = Subscription::to_type(trace.index(), id).priority(AFTER_STATE);
                    self.batch.hooks.on_event(events, hook);
                }
            }
        }
    }

    /// Adds a hook for the events that pass the text filters.
    pub(super) fn on_chosen<V: IntoFlow>(
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
