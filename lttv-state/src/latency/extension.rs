//! Latencies as an extension of a context.

use std::any::type_name;
use std::sync::Arc;

use crc32fast::Hasher as Crc32;
use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Trace, TraceIndex};
use lttv_context::{Extension, ExtensionIdentity, Handle, Setup, Subscription, TraceContext};
use lttv_hooks::Priority;

use super::action::Action;
use super::collector::Collector;
use super::family::Family;
use super::machine::Machine;
use super::outcome::At;
use super::period;
use super::settings::Settings;
use crate::kernel::KernelState;

/// The priority of the hooks: after the kernel state, before hooks that may read the results.
pub(super) const AFTER_STATE: Priority = match Priority::new(30) {
    Ok(priority) => priority,
    Err(_) => Priority::DEFAULT,
};

/// The latencies of all traces of a context.
#[derive(Debug)]
pub(super) struct Latencies {
    pub(super) kernel: Handle<KernelState>,
    pub(super) settings: Settings,
    pub(super) traces: Vec<TraceLatencies>,
}

/// The latencies of a trace.
#[derive(Debug, Clone)]
pub(super) struct TraceLatencies {
    pub(super) trace: Arc<Trace>,
    pub(super) machine: Machine,
    pub(super) collector: Collector,
    /// The events that each family lacks.
    pub(super) missing: Vec<(Family, Vec<&'static str>)>,
}

/// The open calls, requests and waits of all traces, in a checkpoint.
#[derive(Debug)]
pub(super) struct Saved(Vec<Machine>);

impl Latencies {
    pub(super) fn new(kernel: Handle<KernelState>, settings: Settings) -> Self {
        Latencies { kernel, settings, traces: Vec::new() }
    }

    /// Starts to collect at a time; what was collected so far is dropped. `begin` returns the time
    /// from which on time counts in each trace, in ns.
    pub(super) fn restart(&mut self, begin: impl Fn(usize) -> i64) {
        let top = self.settings.top;
        for (index, of) in self.traces.iter_mut().enumerate() {
            of.collector = Collector::new(top, begin(index));
        }
    }
}

impl TraceLatencies {
    /// Creates the latencies of a trace before its first event, with the actions of its event types.
    pub(super) fn new(
        kernel: &KernelState,
        trace: &TraceContext,
        top: usize,
    ) -> (Self, Vec<(EventTypeId, Action)>) {
        let (index, trace) = (trace.index(), trace.trace());
        let types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
        let actions = types.filter_map(|id| Some((id, Action::of(kernel, trace, index, id)?)));
        let actions: Vec<_> = actions.collect();
        let begin = kernel.trace(index).map_or(0, |state| state.start_time().as_ns());
        let latencies = TraceLatencies {
            trace: trace.clone(),
            machine: Machine::default(),
            collector: Collector::new(top, begin),
            missing: missing(kernel, index, &actions),
        };
        (latencies, actions)
    }
}

/// Returns the families for which a trace lacks events, each with the events.
fn missing(
    kernel: &KernelState,
    index: TraceIndex,
    actions: &[(EventTypeId, Action)],
) -> Vec<(Family, Vec<&'static str>)> {
    let has = |transition| {
        let is_it = |(id, action): &(EventTypeId, Action)| {
            kernel.transition(index, *id) == Some(transition) && !matches!(action, Action::Other)
        };
        actions.iter().any(is_it)
    };
    let has_futexes = actions.iter().any(|(_, action)| match action {
        Action::Entry(entry) => entry.futex.is_some(),
        _ => false,
    });
    let missing = Family::ALL.into_iter().map(|family| {
        let needs = family.needs().iter().filter(|(transition, _)| !has(*transition));
        let mut events: Vec<_> = needs.map(|(_, event)| *event).collect();
        if family == Family::Futex && events.is_empty() && !has_futexes {
            events.push("syscall_entry_futex");
        }
        (family, events)
    });
    missing.filter(|(_, events)| !events.is_empty()).collect()
}

impl Extension for Latencies {
    type Checkpoint = Saved;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let kernel = setup.extensions[handle].kernel;
        let top = setup.extensions[handle].settings.top;
        let contexts = setup.contexts;
        for trace in contexts.traces() {
            let index = trace.index();
            let Some(state) = setup.extensions.get(kernel) else { return };
            let (of_trace, actions) = TraceLatencies::new(state, trace, top);
            setup.extensions[handle].traces.push(of_trace);
            // Before the hooks of periods, which follow in the order of registration.
            for (id, action) in actions {
                let events = Subscription::to_type(index, id).priority(AFTER_STATE);
                let action = Box::new(action);
                setup.hooks.on_event(events, move |call| {
                    let is_on = call.reaches_all_hooks();
                    let pair = call.extensions.get_pair_mut(handle, kernel);
                    let Some((latencies, kernel)) = pair else { return };
                    latencies.apply(kernel, index, &action, &call.event, is_on);
                });
            }
        }
        let periods = setup.extensions[handle].settings.periods.clone();
        let all = periods.clone();
        period::install(kernel, &all, setup, move |call, found| {
            let index = call.trace.index();
            let latencies = call.extensions.get_mut(handle);
            let Some(of) = latencies.and_then(|of| of.traces.get_mut(index.0)) else { return };
            for found in &found {
                of.collector.is_on = found.counts;
                of.machine.apply_period(&periods, found, &mut of.collector);
            }
        });
    }

    fn identity(&self) -> ExtensionIdentity {
        let mut hasher = Crc32::new();
        hasher.update(self.settings.periods.identity().as_bytes());
        let (name, version) = (type_name::<Self>(), 1);
        ExtensionIdentity { name, version, options: hasher.finalize().into() }
    }

    fn reset(&mut self) {
        for of in &mut self.traces {
            of.machine = Machine::default();
        }
    }

    fn save(&self) -> Saved {
        Saved(self.traces.iter().map(|of| of.machine.clone()).collect())
    }

    fn restore(&mut self, saved: &Saved) {
        for (of, saved) in self.traces.iter_mut().zip(&saved.0) {
            of.machine.clone_from(saved);
        }
    }

    fn checkpoint_bytes(saved: &Saved, _: Option<&Saved>) -> usize {
        saved.0.iter().map(|machine| size_of::<Machine>() + machine.bytes()).sum()
    }
}

impl Latencies {
    /// Applies an event, after the kernel state has.
    #[inline]
    fn apply(
        &mut self,
        kernel: &KernelState,
        index: TraceIndex,
        action: &Action,
        event: &Event<'_>,
        is_on: bool,
    ) {
        let (Some(of), Some(state)) = (self.traces.get_mut(index.0), kernel.trace(index)) else {
            return;
        };
        let effect = state.effect();
        let Some(cpu) = effect.cpu() else { return };
        let at = At::new(cpu, effect.place(), effect.time().as_ns(), event);
        of.collector.is_on = is_on;
        of.machine.apply(state, action, event, &at, &mut of.collector);
    }
}
