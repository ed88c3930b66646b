//! The recording of events.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Timestamp, TraceIndex, TracefileNumber};
use lttv_context::Contexts;

use super::events::{Layout, Marks, RecordedEvents};
use crate::kernel::KernelState;
use crate::kernel::rule::{CpuField, Rule, cpu_field};

/// The rules for the event types of a traceset, with which events are recorded and applied.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    /// The event types, by trace.
    types: Arc<Vec<Vec<RecordedType>>>,
    /// The index of the trace of each tracefile.
    traces: Arc<[usize]>,
}

/// The way in which events of a type are recorded.
#[derive(Debug, Clone)]
enum RecordedType {
    Change(Box<Recorded>),
    /// The events change no state. They have their CPU there.
    Other(CpuField),
}

/// A rule, and how its fields are recorded.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    pub(super) rule: Arc<Rule>,
    pub(super) layout: Layout,
}

impl Recorder {
    /// Creates a recorder for the traces of a context, and the state before their first event.
    pub(crate) fn new(contexts: &Contexts, mut kernel: KernelState) -> (Self, KernelState) {
        let rules = kernel.prepare(contexts).into_iter().zip(contexts.traces());
        let types = rules.map(|(rules, of)| {
            let ids = (0..).map(EventTypeId);
            let types = rules.into_iter().zip(ids).map(|(rule, id)| match rule {
                Some(rule) => {
                    let layout = Layout::of(&rule);
                    RecordedType::Change(Box::new(Recorded { rule, layout }))
                }
                None => RecordedType::Other(cpu_field(of.trace(), id)),
            });
            types.collect()
        });
        let types = Arc::new(types.collect());
        let traces = contexts.tracefiles().iter().map(|of| of.trace_index().0).collect();
        (Recorder { types, traces }, kernel)
    }

    /// Records an event; if it changes no state, only if all are wanted.
    #[inline]
    pub(crate) fn record<const EVERY: bool>(
        &self,
        recorded: &mut RecordedEvents,
        at: (TracefileNumber, Timestamp),
        event: &Event<'_>,
        marks: Marks,
    ) {
        let at = (at.0, at.1.as_ns());
        match self.recorded_type(at.0, event) {
            Some(RecordedType::Change(of)) => {
                recorded.push_change((&of.rule, &of.layout), at, event, marks);
            }
            Some(RecordedType::Other(cpu)) if EVERY => recorded.push_other(cpu, at, event, marks),
            _ => {}
        }
    }

    /// Returns the index of the trace of each tracefile.
    pub(crate) fn traces(&self) -> &[usize] {
        &self.traces
    }

    #[inline]
    fn recorded_type(
        &self,
        tracefile: TracefileNumber,
        event: &Event<'_>,
    ) -> Option<&RecordedType> {
        self.types.get(*self.traces.get(tracefile.0)?)?.get(event.type_id().index())
    }

    /// Returns the rule for an event type; `None` if its events do not change the state.
    #[inline]
    pub(super) fn rule(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Recorded> {
        match self.types.get(trace.0)?.get(event_type.index())? {
            RecordedType::Change(of) => Some(of),
            RecordedType::Other(_) => None,
        }
    }
}
