//! The meaning of the events of each type for latencies, with the fields that it is read from.

use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::{Trace, TraceIndex};

use lttv_filter::recorded_word;

use super::families::Families;
use super::family::Family;
use super::file_calls::{FutexUse, file_family};
use super::inputs::{Input, RecordedEvent};
use crate::kernel::{KernelState, NameId, Transition, thread_of_event};

/// The meaning of the events of a type, resolved once for each type.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one for each event type, in a box")]
pub(crate) enum Action {
    Switch {
        priority: Option<Input>,
    },
    Wake {
        /// The thread that wakes the other one.
        thread: Option<Input>,
    },
    Fork,
    /// A thread exits.
    ThreadExit,
    Entry(Box<Entry>),
    Exit {
        /// The name of the system call; [`NameId::EMPTY`] if the event does not name it.
        name: NameId,
        result: Option<Input>,
        thread: Option<Input>,
    },
    HandlerEntry {
        kind: Handler,
        number: Input,
        name: Option<Input>,
    },
    HandlerExit {
        kind: Handler,
        /// The number; without it the innermost handler of the kind ends.
        number: Option<Input>,
    },
    Raise {
        number: Input,
    },
    Request {
        step: Step,
        fields: RequestFields,
    },
    /// A program writes a text.
    Marker {
        text: Input,
        thread: Option<Input>,
    },
    /// An event that only tells of lost events and of threads that are gone.
    Other,
}

/// The entry of a system call.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The name; [`NameId::EMPTY`] if the event has a number, from which the kernel state knows it.
    pub(crate) name: NameId,
    pub(crate) thread: Option<Input>,
    pub(crate) descriptor: Option<Input>,
    /// The descriptor that is written to, if the call copies from one to another.
    pub(crate) target: Option<Input>,
    /// The fields of a call about futexes; of an event with a number those of any call, of which few are about futexes.
    pub(crate) futex: Option<Futex>,
}

/// The fields of a system call about futexes.
#[derive(Debug, Clone)]
pub(crate) struct Futex {
    /// The address; `None` of a call that waits for one of several futexes, whose array is not
    /// recorded.
    pub(crate) address: Option<Input>,
    /// The operation, or the flags of a system call of one operation.
    pub(crate) operation: Option<Input>,
    /// The use of the futex, if the system call has only one operation.
    pub(crate) only: Option<FutexUse>,
}

/// The kind of an interrupt handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Handler {
    Irq,
    Vector,
    Softirq,
}

impl Handler {
    pub(crate) fn family(self) -> Family {
        match self {
            Handler::Irq => Family::HardIrq,
            Handler::Vector => Family::Vector,
            Handler::Softirq => Family::Softirq,
        }
    }
}

/// A step in the life of a disk request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Insert,
    Issue,
    Complete,
}

/// The fields of a disk request.
#[derive(Debug, Clone)]
pub(crate) struct RequestFields {
    pub(crate) device: Input,
    pub(crate) sector: Input,
    pub(crate) sectors: Option<Input>,
    pub(crate) kind: Option<Input>,
    /// The thread of the event.
    pub(crate) thread: Option<Input>,
}

impl Action {
    /// Returns what the events of a type mean; `None` if they have no meaning.
    pub(crate) fn of(
        kernel: &KernelState,
        trace: &Trace,
        index: TraceIndex,
        id: EventTypeId,
    ) -> Option<Action> {
        let transition = kernel.transition(index, id)?;
        let field = |name: &str| trace.field(id, Scope::Payload, name).map(Input::new);
        let first = |names: &[&str]| names.iter().find_map(|name| field(name));
        let thread = || recorded_word(trace, id, "tid").map(Input::new);
        let name = kernel.name_of_type(index, id);
        let mut action = match transition {
            Transition::Switch => Action::Switch { priority: field("next_prio") },
            Transition::Wakeup => Action::Wake { thread: thread() },
            Transition::Fork => Action::Fork,
            Transition::Exit => Action::ThreadExit,
            Transition::SyscallEntry => {
                let text = kernel.trace(index).map_or("", |state| state.name(name));
                Action::Entry(Box::new(Entry {
                    name,
                    thread: thread(),
                    descriptor: match file_family(text) {
                        Some(Family::FileOpen) => None,
                        _ => first(&["fd", "fildes", "sockfd", "in_fd", "fd_in", "fdin"]),
                    },
                    target: first(&["out_fd", "fd_out", "fdout"]),
                    futex: match name == NameId::EMPTY {
                        true => field("args").map(Futex::of_registers),
                        false => Futex::of(text, field),
                    },
                }))
            }
            Transition::SyscallExit => {
                Action::Exit { name, result: field("ret"), thread: thread() }
            }
            Transition::IrqEntry => Action::HandlerEntry {
                kind: Handler::Irq,
                number: first(&["irq", "irq_id"])?,
                name: field("name").map(Input::text),
            },
            Transition::IrqExit => {
                Action::HandlerExit { kind: Handler::Irq, number: first(&["irq", "irq_id"]) }
            }
            Transition::VectorEntry => {
                Action::HandlerEntry { kind: Handler::Vector, number: field("vector")?, name: None }
            }
            Transition::VectorExit => {
                Action::HandlerExit { kind: Handler::Vector, number: field("vector") }
            }
            Transition::SoftirqEntry => Action::HandlerEntry {
                kind: Handler::Softirq,
                number: first(&["vec", "softirq_id"])?,
                name: None,
            },
            Transition::SoftirqExit => Action::HandlerExit {
                kind: Handler::Softirq,
                number: first(&["vec", "softirq_id"]),
            },
            Transition::SoftirqRaise => Action::Raise { number: first(&["vec", "softirq_id"])? },
            Transition::BlockInsert => Self::request(Step::Insert, field, thread()),
            Transition::BlockIssue => Self::request(Step::Issue, field, thread()),
            Transition::BlockComplete => Self::request(Step::Complete, field, thread()),
            Transition::Marker => Action::Marker {
                text: field("buf")?.text(),
                thread: thread_of_event(trace, id).map(Input::new),
            },
            _ => Action::Other,
        };
        for (place, input) in (0..).zip(action.inputs_mut()) {
            input.place = place;
        }
        Some(action)
    }

    /// Returns `true` if the events can begin or end a span.
    #[inline]
    pub(crate) fn has_place(&self) -> bool {
        !matches!(self, Action::Fork | Action::ThreadExit | Action::Other)
    }

    /// Returns `true` if the events begin or end spans of families, or tell whose spans they are.
    pub(crate) fn serves(&self, families: Families) -> bool {
        let waits = [Family::WakeUp, Family::Blocked, Family::Futex];
        match self {
            // They tell which thread runs.
            Action::Switch { .. } | Action::Fork | Action::Other => true,
            Action::Wake { .. } => families.contains_any(&waits),
            Action::Entry(_) | Action::Exit { .. } => families.contains_any(&Family::CALLS),
            Action::ThreadExit => {
                families.contains_any(&Family::CALLS) || families.contains(Family::Marker)
            }
            Action::Marker { .. } => families.contains(Family::Marker),
            // They tell what woke a thread.
            Action::HandlerEntry { kind, .. } | Action::HandlerExit { kind, .. } => {
                let handlers = [Family::HardIrq, Family::Vector, Family::Softirq];
                families.contains_any(&waits)
                    || families.contains_any(&handlers)
                    || *kind == Handler::Softirq && families.contains(Family::SoftirqRaise)
            }
            Action::Raise { .. } => families.contains(Family::SoftirqRaise),
            Action::Request { .. } => {
                families.contains_any(&[Family::DiskQueue, Family::DiskDevice])
            }
        }
    }

    /// Returns the fields that the action reads, in the order of their places.
    fn inputs_mut(&mut self) -> Vec<&mut Input> {
        let inputs: Vec<Option<&mut Input>> = match self {
            Action::Switch { priority } => vec![priority.as_mut()],
            Action::Entry(entry) => {
                let Entry { thread, descriptor, target, futex, .. } = &mut **entry;
                let mut inputs = vec![thread.as_mut(), descriptor.as_mut(), target.as_mut()];
                if let Some(Futex { address, operation, .. }) = futex {
                    inputs.extend([address.as_mut(), operation.as_mut()]);
                }
                inputs
            }
            Action::Exit { result, thread, .. } => vec![result.as_mut(), thread.as_mut()],
            Action::HandlerEntry { number, name, .. } => vec![Some(number), name.as_mut()],
            Action::HandlerExit { number, .. } => vec![number.as_mut()],
            Action::Raise { number } => vec![Some(number)],
            Action::Marker { text, thread } => vec![Some(text), thread.as_mut()],
            Action::Request { fields, .. } => {
                let RequestFields { device, sector, sectors, kind, thread } = fields;
                let more = [sectors.as_mut(), kind.as_mut(), thread.as_mut()];
                [Some(device), Some(sector)].into_iter().chain(more).collect()
            }
            Action::Wake { thread } => vec![thread.as_mut()],
            Action::Fork | Action::ThreadExit | Action::Other => Vec::new(),
        };
        inputs.into_iter().flatten().collect()
    }

    /// Returns copies of the fields that the action reads, in the order of their places.
    pub(crate) fn inputs(&self) -> Vec<Input> {
        self.clone().inputs_mut().into_iter().map(|input| input.clone()).collect()
    }

    fn request(step: Step, field: impl Fn(&str) -> Option<Input>, thread: Option<Input>) -> Action {
        let (Some(device), Some(sector)) = (field("dev"), field("sector")) else {
            return Action::Other;
        };
        let (sectors, kind) = (field("nr_sector"), field("rwbs").map(Input::operation));
        Action::Request { step, fields: RequestFields { device, sector, sectors, kind, thread } }
    }
}

impl Entry {
    /// Returns the fields of a call with this name, if it is about futexes.
    #[inline]
    pub(crate) fn futex_of(&self, call: &str) -> Option<&Futex> {
        match (&self.futex, call) {
            (futex, _) if self.name != NameId::EMPTY => futex.as_ref(),
            (Some(futex), "futex" | "futex_time64") => Some(futex),
            (Some(_), "futex_waitv") => Some(&Futex::ANY_OF_SEVERAL),
            _ => None,
        }
    }
}

impl Futex {
    /// The fields of a call that waits for one of several futexes.
    const ANY_OF_SEVERAL: Futex =
        Futex { address: None, operation: None, only: Some(FutexUse::Wait) };

    /// Returns the fields of a call whose arguments are recorded as an array: those of `futex`.
    fn of_registers(registers: Input) -> Futex {
        let (address, operation) = (registers.clone().element(0), registers.element(1));
        Futex { address: Some(address), operation: Some(operation), only: None }
    }

    /// Returns the fields of a system call, if it waits for futexes or wakes their waiters.
    fn of(name: &str, field: impl Fn(&str) -> Option<Input>) -> Option<Futex> {
        let (only, operation) = match name {
            "futex" | "futex_time64" => (None, Some(field("op")?)),
            "futex_wait" => (Some(FutexUse::Wait), field("flags")),
            "futex_waitv" => {
                return Some(Futex::ANY_OF_SEVERAL);
            }
            "futex_wake" => (Some(FutexUse::Wake), field("flags")),
            _ => return None,
        };
        Some(Futex { address: Some(field("uaddr")?), operation, only })
    }
}

/// Reads an integer of 32 bits; `u32::MAX` if it is larger.
#[inline]
pub(crate) fn number(event: &RecordedEvent<'_>, input: &Input) -> Option<u32> {
    Some(u32::try_from(event.integer(input)?).unwrap_or(u32::MAX))
}
