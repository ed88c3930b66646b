//! The events that analyses need, and what their results lack without them.
//!
//! Each analysis has a list of its [`Need`]s, such as [`NEEDS`].
//! [`RecordedEvents`] tells which of them a trace meets.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use ltt_read::Trace;

use super::extension::KernelState;
use super::rule::has_events;
use super::transition::{self, Transition};

/// Events that an analysis needs or can use.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::kernel;
/// use lttv_state::kernel::needs::RecordedEvents;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/ust");
/// let traceset = Traceset::open(path)?;
/// let recorded = RecordedEvents::of(&traceset.traces()[0]);
/// let required = recorded.missing(kernel::NEEDS).find(|need| need.is_required).unwrap();
/// assert_eq!(required.to_string(), "sched_switch");
/// assert_eq!(required.consequence, "there are no threads");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Need {
    /// The names of the events or contexts, as LTTng 2 records them.
    pub events: &'static str,
    /// The consequence for the results if the events are missing.
    pub consequence: &'static str,
    /// `true` if there are no results at all without the events.
    pub is_required: bool,
    condition: Condition,
}

/// The condition for which a trace meets a need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    All(&'static [EventKind]),
    Any(&'static [EventKind]),
}

/// Events of one kind, whatever their tracer calls them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// Events that change the kernel state in a way.
    Transition(Transition),
    /// Events with one of some names, without the system that perf puts before a name.
    Named(&'static [&'static str]),
    /// No events that change the kernel state in a way.
    Without(Transition),
    /// Events with one of some fields in their contexts.
    WithContext(&'static [&'static str]),
}

impl Need {
    /// Creates the need for events of all the given kinds. It is not a required one.
    pub const fn all(
        kinds: &'static [EventKind],
        events: &'static str,
        consequence: &'static str,
    ) -> Self {
        Need { events, consequence, is_required: false, condition: Condition::All(kinds) }
    }

    /// Creates the need for events of at least one of the given kinds. It is not a required one.
    pub const fn any(
        kinds: &'static [EventKind],
        events: &'static str,
        consequence: &'static str,
    ) -> Self {
        Need { events, consequence, is_required: false, condition: Condition::Any(kinds) }
    }

    /// Makes it a required need.
    pub const fn required(self) -> Self {
        Need { is_required: true, ..self }
    }

    /// Returns `true` if there are the events, given the kinds of events that there are.
    pub(crate) fn is_met(&self, has: impl Fn(EventKind) -> bool) -> bool {
        match self.condition {
            Condition::All(kinds) => kinds.iter().all(|kind| has(*kind)),
            Condition::Any(kinds) => kinds.iter().any(|kind| has(*kind)),
        }
    }

    /// Returns `true` if events of one of several kinds suffice.
    pub fn is_any(&self) -> bool {
        matches!(self.condition, Condition::Any(_))
    }

    /// Returns the names of the events in [`events`](Self::events), as LTTng 2 enables them; `*` stands for any text.
    ///
    /// ```
    /// use lttv_state::kernel;
    ///
    /// let calls = &kernel::NEEDS[1];
    /// assert_eq!(calls.names(), ["syscall_entry_*", "syscall_exit_*"]);
    /// assert_eq!(calls.kernel_names("syscall_exit_*")[0], "raw_syscalls:sys_exit");
    /// ```
    pub fn names(&self) -> Vec<&'static str> {
        let words = self.events.split([' ', ',', '(', ')']);
        words.filter(|word| word.contains(['_', ':'])).collect()
    }

    /// Returns the events of the kernel's own tracers, ftrace and perf, that stand for one of the
    /// [names](Self::names), as patterns of `SYSTEM:NAME`. The first one that a kernel has suffices. Events that only
    /// LTTng records have none.
    pub fn kernel_names(&self, name: &str) -> Vec<String> {
        let (Condition::All(kinds) | Condition::Any(kinds)) = self.condition;
        let named = kinds.iter().find_map(|kind| match kind {
            EventKind::Named(names) if names.contains(&name) => Some(*names),
            _ => None,
        });
        match named {
            Some(names) => names.iter().map(|name| format!("*:{name}")).collect(),
            None => transition::kernel_names(name).map(str::to_owned).collect(),
        }
    }

    /// Returns the events of some needs, separated by commas.
    pub fn list<'n>(needs: impl IntoIterator<Item = &'n Need>) -> String {
        let mut names: Vec<&str> = Vec::new();
        for name in needs.into_iter().map(|need| need.events) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    }
}

/// Writes the names of the events.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.events)
    }
}

/// The kinds of events that a trace has, as far as its tracer describes what it records, and otherwise those that
/// occur: see [`Trace::may_have_events`].
#[derive(Debug, Clone, Default)]
pub struct RecordedEvents {
    /// The trace, whose events are read when they are needed.
    trace: Option<Arc<Trace>>,
    /// The transitions and the names that it describes.
    transitions: BTreeSet<Transition>,
    names: HashSet<Box<str>>,
    contexts: HashSet<Arc<str>>,
}

impl RecordedEvents {
    /// Returns the kinds of events of a trace.
    pub fn of(trace: &Arc<Trace>) -> Self {
        let names = trace.schema().event_types.iter().map(|of| without_system(of.name()).into());
        let schema = trace.schema();
        let of_streams = schema.stream_classes.iter().map(|of| &of.common_context);
        let of_types = schema.event_types.iter().map(|of| &of.specific_context);
        let members = of_streams.chain(of_types).flatten().flat_map(|context| context.members());
        RecordedEvents {
            trace: Some(trace.clone()),
            transitions: KernelState::kinds(trace),
            names: names.collect(),
            contexts: members.map(|member| member.name.clone()).collect(),
        }
    }

    /// Returns `true` if the trace has events of a kind.
    pub fn has(&self, kind: EventKind) -> bool {
        match kind {
            // It is known only if there are contexts in place of switches.
            EventKind::Transition(of @ Transition::Context) => self.transitions.contains(&of),
            EventKind::Transition(of) => {
                self.transitions.contains(&of)
                    && self.trace.as_ref().is_some_and(|trace| has_events(trace, of))
            }
            EventKind::Without(of) => !self.has(EventKind::Transition(of)),
            EventKind::WithContext(names) => names.iter().any(|of| self.contexts.contains(*of)),
            EventKind::Named(names) => {
                let are_described = names.iter().any(|name| self.names.contains(*name));
                let has_some = |trace: &Arc<Trace>| {
                    trace.may_have_events(|id| {
                        names.contains(&without_system(trace.event_type(id).name()))
                    })
                };
                are_described && self.trace.as_ref().is_some_and(has_some)
            }
        }
    }

    /// Returns `true` if events of the trace change the kernel state.
    pub fn has_kernel(&self) -> bool {
        !self.transitions.is_empty()
    }

    /// Returns `true` if the trace meets a need.
    pub fn meets(&self, need: &Need) -> bool {
        need.is_met(|kind| self.has(kind))
    }

    /// Iterates over the needs that the trace does not meet.
    pub fn missing<'n>(&self, needs: &'n [Need]) -> impl Iterator<Item = &'n Need> {
        needs.iter().filter(|need| !self.meets(need))
    }
}

/// Returns the name of an event type without the system that perf puts before it.
pub(crate) fn without_system(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, name)| name)
}

/// The needs of the kernel state, and of statistics and histories of it.
pub const NEEDS: &[Need] = &[
    Need::all(&[EventKind::Transition(Transition::Switch)], "sched_switch", "there are no threads")
        .required(),
    Need::all(
        &[
            EventKind::Transition(Transition::SyscallEntry),
            EventKind::Transition(Transition::SyscallExit),
        ],
        "syscall_entry_*, syscall_exit_*",
        "the time in system calls is not told from that of programs",
    ),
    Need::all(
        &[EventKind::Transition(Transition::IrqEntry), EventKind::Transition(Transition::IrqExit)],
        "irq_handler_entry, irq_handler_exit",
        "the time of interrupts counts as that of the interrupted threads",
    ),
    Need::all(
        &[
            EventKind::Transition(Transition::SoftirqEntry),
            EventKind::Transition(Transition::SoftirqExit),
        ],
        "irq_softirq_entry, irq_softirq_exit",
        "the time of softirqs counts as that of the interrupted threads",
    ),
    Need::all(
        &[EventKind::Transition(Transition::ProcessState)],
        "lttng_statedump_process_state",
        "threads that do not run have no name, and parents are unknown",
    ),
];
