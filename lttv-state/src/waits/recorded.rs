//! The events that a trace records, with their use in the wait graph.

use std::collections::HashSet;
use std::sync::Arc;

use ltt_read::Trace;
use ltt_read::schema::EventTypeId;

use super::machine::ContextKind;
use crate::kernel::needs::without_system;
use crate::kernel::{KernelState, Rule, Transition, has_events};

/// The use of an event type.
#[derive(Debug)]
pub(super) enum EventUse {
    Switch,
    Waking,
    WakeUp,
    Fork,
    Dump,
    DumpEnd,
    Raise,
    Irq,
    Softirq,
    Vector,
    Leave(ContextKind),
    Completed,
    /// The expiry of a high-resolution timer.
    TimerEntry,
    /// The end of that.
    TimerExit,
    /// A packet is sent or received.
    Packet,
    /// Only what the kernel state says of it.
    Other,
}

/// The event types of a trace.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    types: Vec<RecordedType>,
    /// The transitions of interrupts that have events.
    interrupts: HashSet<Transition>,
    has_waking: bool,
    has_timers: bool,
}

#[derive(Debug)]
struct RecordedType {
    id: EventTypeId,
    /// The name, without the system that perf puts before it.
    name: Box<str>,
    rule: Option<Rule>,
    is_packet: bool,
}

impl Recorded {
    /// Finds the event types of a trace. `is_packet` tells whether one is that of packets.
    pub(super) fn of(trace: &Arc<Trace>, is_packet: impl Fn(EventTypeId) -> bool) -> Self {
        if !KernelState::follows(trace) {
            return Recorded::default();
        }
        let types = (0..trace.schema().event_types.len()).map(|at| {
            let id = EventTypeId(at as u32);
            let name = trace.event_type(id).name();
            let name = without_system(name).into();
            RecordedType { id, name, rule: Rule::of(trace, id), is_packet: is_packet(id) }
        });
        let types: Vec<_> = types.collect();
        let has_name =
            |names: &[&str]| trace.may_have_events(|id| names.contains(&&*types[id.index()].name));
        use Transition::*;
        let interrupts = [IrqEntry, IrqExit, SoftirqExit, VectorExit];
        Recorded {
            interrupts: interrupts.into_iter().filter(|of| has_events(trace, *of)).collect(),
            has_waking: has_name(WAKING),
            has_timers: has_name(TIMER_ENTRIES) && has_name(TIMER_EXITS),
            types,
        }
    }

    fn has(&self, interrupts: Transition) -> bool {
        self.interrupts.contains(&interrupts)
    }

    /// Returns `true` if the trace records the start and the end of interrupts. One without an end would never
    /// be left.
    pub(super) fn has_interrupts(&self) -> bool {
        self.has(Transition::IrqEntry) && self.has(Transition::IrqExit)
    }

    /// Returns `true` if the trace records packets that can be matched.
    pub(super) fn has_packets(&self) -> bool {
        self.types.iter().any(|of| of.is_packet)
    }

    /// Returns the event types whose events change the kernel state, with their use and rule.
    pub(super) fn uses(&self) -> impl Iterator<Item = (EventTypeId, EventUse, &Rule)> {
        self.types.iter().filter_map(|of| {
            let rule = of.rule.as_ref()?;
            Some((of.id, self.use_of(&of.name, rule.transition), rule))
        })
    }

    fn use_of(&self, name: &str, transition: Transition) -> EventUse {
        use Transition::*;
        match transition {
            Switch => EventUse::Switch,
            Wakeup if name != "sched_wakeup" => EventUse::Waking,
            Wakeup if self.has_waking => EventUse::Other,
            Wakeup => EventUse::WakeUp,
            Fork => EventUse::Fork,
            ProcessState => EventUse::Dump,
            DumpEnd => EventUse::DumpEnd,
            SoftirqRaise => EventUse::Raise,
            IrqEntry if self.has(IrqExit) => EventUse::Irq,
            SoftirqEntry if self.has(SoftirqExit) => EventUse::Softirq,
            VectorEntry if self.has(VectorExit) => EventUse::Vector,
            IrqExit => EventUse::Leave(ContextKind::Irq),
            SoftirqExit => EventUse::Leave(ContextKind::Softirq(0)),
            VectorExit => EventUse::Leave(ContextKind::Vector(false)),
            BlockComplete => EventUse::Completed,
            _ => EventUse::Other,
        }
    }

    /// Returns the event types of high-resolution timers and packets, with their use.
    pub(super) fn others(&self) -> impl Iterator<Item = (EventTypeId, EventUse)> {
        let has_timers = self.has_timers;
        self.types.iter().filter_map(move |of| {
            let event_use = match &*of.name {
                name if has_timers && TIMER_ENTRIES.contains(&name) => EventUse::TimerEntry,
                name if has_timers && TIMER_EXITS.contains(&name) => EventUse::TimerExit,
                _ if of.is_packet => EventUse::Packet,
                _ => return None,
            };
            Some((of.id, event_use))
        })
    }
}

pub(super) const WAKING: &[&str] = &["sched_waking", "sched_ttwu", "sched_try_wakeup"];
pub(super) const TIMER_ENTRIES: &[&str] = &["timer_hrtimer_expire_entry", "hrtimer_expire_entry"];
pub(super) const TIMER_EXITS: &[&str] = &["timer_hrtimer_expire_exit", "hrtimer_expire_exit"];
