//! The hooks that record events.

use std::sync::Arc;

use ltt_read::TraceIndex;
use ltt_read::schema::EventTypeId;
use lttv_context::{Contexts, Handle, Subscription, TracesetContext};

use super::events::{Layout, RecordedEvents};
use crate::kernel::KernelState;
use crate::kernel::rule::{Rule, cpu_field};

/// The rules for the event types of a traceset, with which events are recorded and applied.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    /// The rules, by trace and event type.
    rules: Arc<Vec<Vec<Option<Recorded>>>>,
}

/// A rule, and how its fields are recorded.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    pub(super) rule: Rule,
    pub(super) layout: Layout,
}

impl Recorder {
    /// Creates a recorder for the traces of a context, and the state before their first event.
    pub(crate) fn new(contexts: &Contexts, mut kernel: KernelState) -> (Self, KernelState) {
        let rules = kernel.prepare(contexts).into_iter().map(|rules| {
            let recorded = |rule: Rule| Recorded { layout: Layout::of(&rule), rule };
            rules.into_iter().map(|rule| rule.map(recorded)).collect()
        });
        (Recorder { rules: Arc::new(rules.collect()) }, kernel)
    }

    /// Adds hooks that record all events in the slice of a handle.
    pub(crate) fn attach<S: AsMut<RecordedEvents> + 'static>(
        &self,
        context: &mut TracesetContext<'_>,
        slice: Handle<S>,
    ) {
        self.attach_for(context, slice, |_, _| true);
    }

    /// Adds hooks that record the events that change the state in the slice of a handle.
    pub(crate) fn attach_changes<S: AsMut<RecordedEvents> + 'static>(
        &self,
        context: &mut TracesetContext<'_>,
        slice: Handle<S>,
    ) {
        self.attach_for(context, slice, |_, rule| rule.is_some());
    }

    fn attach_for<S: AsMut<RecordedEvents> + 'static>(
        &self,
        context: &mut TracesetContext<'_>,
        slice: Handle<S>,
        is_wanted: impl Fn(EventTypeId, Option<&Recorded>) -> bool,
    ) {
        let traces: Vec<_> = context.traceset().traces().to_vec();
        for (index, trace) in traces.iter().enumerate() {
            let types = (0..trace.schema().event_types.len() as u32).map(EventTypeId);
            let index = TraceIndex(index);
            for id in types.filter(|id| is_wanted(*id, self.rule(index, *id))) {
                let events = Subscription::to_type(index, id);
                if let Some(Recorded { rule, layout }) = self.rule(index, id).cloned() {
                    context.on_event(events, move |call| {
                        let at = (call.tracefile.number(), call.time().as_ns());
                        if let Some(slice) = call.extensions.get_mut(slice) {
                            slice.as_mut().push_change((&rule, &layout), at, &call.event);
                        }
                    });
                } else {
                    let cpu = cpu_field(trace, id);
                    context.on_event(events, move |call| {
                        let at = (call.tracefile.number(), call.time().as_ns());
                        if let Some(slice) = call.extensions.get_mut(slice) {
                            slice.as_mut().push_other(&cpu, at, &call.event);
                        }
                    });
                }
            }
        }
    }

    /// Returns the rule for an event type; `None` if its events do not change the state.
    #[inline]
    pub(super) fn rule(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Recorded> {
        self.rules.get(trace.0)?.get(event_type.index())?.as_ref()
    }
}
