//! The events that a trace records, as far as the wait graph can use them.

use ltt_read::Trace;
use ltt_read::schema::EventTypeId;

use super::machine::ContextKind;
use crate::kernel::{KernelState, Rule, Transition};

/// Events that make a wait graph more complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NeededEvents {
    /// Context switches: without them there is no timeline.
    Switches,
    /// Wake-ups: without them the cause of each wait is unknown.
    WakeUps,
    /// Wake-ups on the CPU of the waker. Those on the CPU of the woken thread do not show the
    /// waker if it is on another CPU.
    Waking,
    /// Forks: without them threads that begin in the trace have an unknown past, and thread ids
    /// that are used again continue the old timeline.
    Forks,
    /// The handlers of device interrupts: without them the causes of waits for devices are unknown,
    /// and waits for packets of the same host do not lead to their sender.
    Interrupts,
    /// Softirqs: without them many waits for timers, disks and the network have another cause.
    Softirqs,
    /// The raise of softirqs: without it waits for packets of the same host do not lead to their
    /// sender.
    SoftirqRaises,
    /// The expiry of high-resolution timers.
    Timers,
    /// The completion of requests to block devices.
    BlockCompletions,
    /// The sends and receives of packets: without them waits do not lead to other hosts.
    Packets,
}

impl NeededEvents {
    /// All kinds of events, the most important first.
    pub const ALL: [NeededEvents; 10] = [
        NeededEvents::Switches,
        NeededEvents::WakeUps,
        NeededEvents::Waking,
        NeededEvents::Forks,
        NeededEvents::Interrupts,
        NeededEvents::Softirqs,
        NeededEvents::SoftirqRaises,
        NeededEvents::Timers,
        NeededEvents::BlockCompletions,
        NeededEvents::Packets,
    ];

    /// Returns the names of the events, as LTTng 2 records them.
    pub const fn names(self) -> &'static str {
        match self {
            NeededEvents::Switches => "sched_switch",
            NeededEvents::WakeUps => "sched_waking, sched_wakeup_new",
            NeededEvents::Waking => "sched_waking",
            NeededEvents::Forks => "sched_process_fork",
            NeededEvents::Interrupts => "irq_handler_entry, irq_handler_exit",
            NeededEvents::Softirqs => "irq_softirq_entry, irq_softirq_exit",
            NeededEvents::SoftirqRaises => "irq_softirq_raise",
            NeededEvents::Timers => "timer_hrtimer_expire_entry, timer_hrtimer_expire_exit",
            NeededEvents::BlockCompletions => "block_rq_complete",
            NeededEvents::Packets => "net_dev_queue, net_if_receive_skb",
        }
    }

    /// Returns what is missing in results without the events.
    pub const fn consequence(self) -> &'static str {
        match self {
            NeededEvents::Switches => "there are no timelines",
            NeededEvents::WakeUps => "the causes of all waits are unknown",
            NeededEvents::Waking => "threads that woke others on other CPUs are unknown",
            NeededEvents::Forks => "the time of threads before their first event is unknown",
            NeededEvents::Interrupts => "waits for devices have no exact cause",
            NeededEvents::Softirqs => "waits for timers, disks and the network have no exact cause",
            NeededEvents::SoftirqRaises => "packets within the host do not lead to their sender",
            NeededEvents::Timers => "some waits for timers have another cause",
            NeededEvents::BlockCompletions => "some waits for disks have another cause",
            NeededEvents::Packets => "packets between hosts do not lead to their sender",
        }
    }
}

/// The use of an event type.
#[derive(Debug)]
pub(super) enum EventUse {
    Switch,
    Waking,
    WakeUp,
    Fork,
    Dump,
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
    pub(super) fn of(trace: &Trace, is_packet: impl Fn(EventTypeId) -> bool) -> Self {
        let types = (0..trace.schema().event_types.len()).map(|at| {
            let id = EventTypeId(at as u32);
            let name = trace.event_type(id).name();
            let name = name.split_once(':').map_or(name, |(_, name)| name).into();
            RecordedType { id, name, rule: Rule::of(trace, id), is_packet: is_packet(id) }
        });
        match KernelState::follows(trace) {
            true => Recorded { types: types.collect() },
            false => Recorded::default(),
        }
    }

    fn has(&self, transition: Transition) -> bool {
        let mut rules = self.types.iter().filter_map(|of| of.rule.as_ref());
        rules.any(|rule| rule.transition == transition)
    }

    fn has_name(&self, names: &[&str]) -> bool {
        self.types.iter().any(|of| names.contains(&&*of.name))
    }

    /// Returns `true` if the trace records the start and the end of interrupts of a transition. An
    /// interrupt without an end would never be left.
    fn has_both(&self, entry: Transition, exit: Transition) -> bool {
        self.has(entry) && self.has(exit)
    }

    pub(super) fn has_interrupts(&self) -> bool {
        self.has_both(Transition::IrqEntry, Transition::IrqExit)
    }

    fn has_waking(&self) -> bool {
        self.has_name(&["sched_waking", "sched_ttwu", "sched_try_wakeup"])
    }

    fn has_timers(&self) -> bool {
        self.has_name(&TIMER_ENTRIES) && self.has_name(&TIMER_EXITS)
    }

    /// Returns the events that the trace lacks.
    pub(super) fn missing(&self) -> Vec<NeededEvents> {
        let has = |of: &NeededEvents| match of {
            NeededEvents::Switches => self.has(Transition::Switch),
            NeededEvents::WakeUps => self.has(Transition::Wakeup),
            NeededEvents::Waking => self.has_waking() || !self.has(Transition::Wakeup),
            NeededEvents::Forks => self.has(Transition::Fork),
            NeededEvents::Interrupts => self.has_interrupts(),
            NeededEvents::Softirqs => {
                self.has_both(Transition::SoftirqEntry, Transition::SoftirqExit)
            }
            NeededEvents::SoftirqRaises => self.has(Transition::SoftirqRaise),
            NeededEvents::Timers => self.has_timers(),
            NeededEvents::BlockCompletions => self.has(Transition::BlockComplete),
            NeededEvents::Packets => self.types.iter().any(|of| of.is_packet),
        };
        NeededEvents::ALL.into_iter().filter(|of| !has(of)).collect()
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
            Wakeup if self.has_waking() => EventUse::Other,
            Wakeup => EventUse::WakeUp,
            Fork => EventUse::Fork,
            ProcessState => EventUse::Dump,
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
        let has_timers = self.has_timers();
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

const TIMER_ENTRIES: [&str; 2] = ["timer_hrtimer_expire_entry", "hrtimer_expire_entry"];
const TIMER_EXITS: [&str; 2] = ["timer_hrtimer_expire_exit", "hrtimer_expire_exit"];
