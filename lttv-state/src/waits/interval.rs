//! Intervals of timelines, and the form in which they are stored.

use ltt_read::Timestamp;

use super::cause::{Cause, PackedSource, WakeSource};
use super::graph::TimelineId;
use crate::kernel::NameId;

/// The state of a thread in an interval of its timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ThreadState {
    /// Unknown: events were lost, or the trace says nothing of this time.
    Unknown,
    /// The thread runs on a CPU, or an interrupt runs there in its place.
    Running,
    /// The thread is able to run, and waits for a CPU since it was switched out.
    Preempted,
    /// The thread is able to run, and waits for a CPU since its wake-up.
    Woken,
    /// The thread waits for something to happen.
    Blocked(Cause),
}

impl ThreadState {
    /// Returns the cause for which the thread is blocked; `None` if it is not.
    pub const fn cause(self) -> Option<Cause> {
        match self {
            ThreadState::Blocked(cause) => Some(cause),
            _ => None,
        }
    }

    /// Returns the name of the state in results: `running`, `blocked:timer` and so on.
    pub const fn label(self) -> &'static str {
        match self {
            ThreadState::Unknown => "unknown",
            ThreadState::Running => "running",
            ThreadState::Preempted => "preempted",
            ThreadState::Woken => "woken",
            ThreadState::Blocked(cause) => match cause {
                Cause::Task => "blocked:task",
                Cause::Timer => "blocked:timer",
                Cause::Block => "blocked:block",
                Cause::Network => "blocked:network",
                Cause::Irq => "blocked:irq",
                Cause::Softirq => "blocked:softirq",
                Cause::Ipi => "blocked:ipi",
                Cause::Interrupt => "blocked:interrupt",
                Cause::Unknown => "blocked:unknown",
                Cause::Open => "blocked:open",
            },
        }
    }
}

impl std::fmt::Display for ThreadState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.label())
    }
}

/// An interval of a timeline: a thread in one state. It includes its start and excludes its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interval {
    /// The start.
    pub start: Timestamp,
    /// The end. Intervals that have not ended where the graph ends, end there.
    pub end: Timestamp,
    /// The state.
    pub state: ThreadState,
    /// The number of the CPU on which the thread runs; `None` in other states.
    pub cpu: Option<u32>,
    /// The system call in which the thread is blocked; [`NameId::EMPTY`] if there is none, or if
    /// system calls were not recorded.
    pub call: NameId,
    /// The source of the wake-up that ended the interval.
    pub source: WakeSource,
    /// The thread that ended the interval, if one did.
    pub link: Option<Link>,
}

impl Interval {
    /// Returns the length in ns.
    pub fn time(&self) -> u64 {
        self.end.as_ns().abs_diff(self.start.as_ns())
    }
}

/// A link from the thread that ended a wait to the end of that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Link {
    /// The timeline of the thread that ended the wait. It may be of another host.
    pub from: TimelineId,
    /// The time at which the thread did so: for a wake-up the end of the wait, for a packet the
    /// time at which it was sent.
    pub time: Timestamp,
    /// The kind of the link.
    pub kind: LinkKind,
}

/// The kind of a [`Link`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub enum LinkKind {
    /// One thread woke the other.
    WakeUp,
    /// One thread sent a packet for which the other waited.
    Network,
}

/// An interval as it is stored, in 16 bytes. It starts where the one before it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct StoredInterval {
    pub(super) end: i64,
    /// By state: the CPU, the number of the link, or the source of the wake-up.
    value: u32,
    /// The form in 8 bits and the system call in 24 bits.
    form_and_call: u32,
}

/// A link as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct StoredLink {
    pub(super) time: i64,
    pub(super) from: TimelineId,
    pub(super) kind: LinkKind,
    pub(super) source: PackedSource,
}

/// The form of a stored interval: what its value means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Unknown,
    /// On the CPU with a number.
    Running(u32),
    Preempted,
    Woken,
    /// Blocked, and not woken by a thread.
    Blocked(Cause, PackedSource),
    /// Blocked until the thread of the link with a number ended the wait.
    Linked(Cause, u32),
    /// The timeline has no interval here: its thread had ended, and was mentioned again.
    Gap,
}

const CALL_BITS: u32 = 24;
const LINKED: u32 = 0x80;
const BLOCKED: u32 = 0x10;

impl StoredInterval {
    /// Creates an interval that ends at a time, in ns.
    pub(super) fn new(end: i64, form: Form, call: NameId) -> Self {
        let (code, value) = match form {
            Form::Unknown => (0, 0),
            Form::Running(cpu) => (1, cpu),
            Form::Preempted => (2, 0),
            Form::Woken => (3, 0),
            Form::Gap => (4, 0),
            Form::Blocked(cause, source) => (BLOCKED | cause as u32, source.bits()),
            Form::Linked(cause, link) => (LINKED | BLOCKED | cause as u32, link),
        };
        let call = call.index() as u32;
        let call = if call >> CALL_BITS == 0 { call } else { 0 };
        StoredInterval { end, value, form_and_call: code << CALL_BITS | call }
    }

    pub(super) fn form(self) -> Form {
        let code = self.form_and_call >> CALL_BITS;
        if code & BLOCKED != 0 {
            let cause = Cause::ALL[(code & 0xf) as usize % Cause::ALL.len()];
            return match code & LINKED != 0 {
                true => Form::Linked(cause, self.value),
                false => Form::Blocked(cause, PackedSource::from_bits(self.value)),
            };
        }
        match code {
            1 => Form::Running(self.value),
            2 => Form::Preempted,
            3 => Form::Woken,
            4 => Form::Gap,
            _ => Form::Unknown,
        }
    }

    pub(super) fn call(self) -> NameId {
        NameId::at(self.form_and_call & ((1 << CALL_BITS) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_survive_storing() {
        let mut forms = vec![Form::Unknown, Form::Running(3), Form::Running(u32::MAX)];
        forms.extend([Form::Preempted, Form::Woken, Form::Gap]);
        for cause in Cause::ALL {
            forms.push(Form::Blocked(cause, PackedSource::irq(7)));
            forms.push(Form::Linked(cause, u32::MAX));
        }
        for form in forms {
            for call in [NameId::EMPTY, NameId::at((1 << CALL_BITS) - 1)] {
                let stored = StoredInterval::new(i64::MIN, form, call);
                assert_eq!((stored.form(), stored.call()), (form, call));
            }
            let too_large = StoredInterval::new(0, form, NameId::at(1 << CALL_BITS));
            assert_eq!((too_large.form(), too_large.call()), (form, NameId::EMPTY));
        }
        assert_eq!(size_of::<StoredInterval>(), 16);
        assert!(size_of::<StoredLink>() <= 24);
    }
}
