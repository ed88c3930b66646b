//! What modules share besides attributes and options.

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jiff::tz::TimeZone;
use ltt_read::Timestamp;
use ltt_read::schema::{EventTypeId, Format};
use lttv_context::batch::{Batch, BatchEnd};
use lttv_context::{EventCall, Handle, Subscription, TimeSpan, Traceset};
use lttv_hooks::{Flow, Priority, Verdict};
use lttv_state::kernel::{KernelState, Transition};

use super::chosen::Chosen;
use super::print::Style;
use crate::report::Report;
use crate::text_dump::output::Output;

const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// The work of a session: one pass over a traceset.
#[derive(Debug)]
pub struct Work {
    /// What is to be read, and for whom.
    pub batch: Batch<'static>,
    /// What came of it.
    pub end: Option<BatchEnd>,
    /// What is said on standard error.
    pub report: Report,
    /// Why results are missing.
    pub failures: Vec<Box<dyn Error>>,
    /// To be set when reading should end early.
    pub cancel: Arc<AtomicBool>,
    /// The modules that were asked for by name.
    pub loaded: Vec<String>,
    /// Names of the traces, for messages.
    pub(super) names: Vec<String>,
    /// The time zone of times given and printed.
    pub(super) zone: TimeZone,
    /// When reading begins, if not with the first event.
    pub(super) begin: Option<Timestamp>,
    /// The time that is read.
    pub(super) span: Option<TimeSpan>,
    /// Which events text filters choose.
    pub(super) chosen: Rc<Chosen>,
    /// Where everything is printed.
    pub(super) output: Rc<RefCell<Output>>,
    /// How results are printed.
    pub(super) style: Style,
}

impl Work {
    /// Nothing to be read yet; printed to standard output.
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
            output: Rc::new(RefCell::new(Output::stdout())),
            style: Style::default(),
        }
    }

    /// The kernel's state, followed from now on if it was not yet. With old traces
    /// it is LTTV's, which knew nothing in advance.
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

    /// Adds a hook for all events that mean certain things to the kernel's state,
    /// called when that is the state after them.
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

    /// Adds a hook for those events that pass the text filter.
    pub(super) fn on_chosen<V: Verdict>(
        &mut self,
        events: impl Into<Subscription>,
        mut hook: impl FnMut(&mut EventCall<'_, 'static>) -> V + 'static,
    ) {
        let chosen = Rc::clone(&self.chosen);
        self.batch.hooks.on_event(events, move |call| match chosen.has(call) {
            true => hook(call).flow(),
            false => Flow::Continue(()),
        });
    }
}
