//! A CPU: what runs on it, and the interrupts in which it is.

use super::super::cause::PackedSource;
use super::super::graph::TimelineId;

/// The greatest number of nested interrupts that are followed on a CPU.
const MAX_DEPTH: usize = 64;

/// A CPU.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Cpu {
    /// The thread or idle task that runs on it; `None` if that is unknown.
    pub(super) current: Option<TimelineId>,
    /// The timeline of its idle task.
    pub(super) idle: Option<TimelineId>,
    pub(super) has_switched: bool,
    pub(super) contexts: Vec<Context>,
    /// The sender of the packet that was received last, and has woken no thread yet.
    pub(super) received: Option<Sender>,
    /// The threads that raised the softirqs for sent and received packets, before these start.
    pub(super) raised: [Option<Sender>; 2],
}

/// A thread that sent something, and the time at which it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::waits) struct Sender {
    pub(in crate::waits) thread: TimelineId,
    pub(in crate::waits) time: i64,
}

/// The kind of an interrupt in which a CPU is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::waits) enum ContextKind {
    Irq,
    Softirq(u32),
    /// The expiry of a high-resolution timer.
    Timer,
    /// An interrupt of the processor itself; `true` for that of its timer.
    Vector(bool),
}

/// An interrupt in which a CPU is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Context {
    pub(super) kind: ContextKind,
    pub(super) source: PackedSource,
    /// The block device of which a request was completed within.
    pub(super) completed: Option<PackedSource>,
    /// The thread that raised a softirq of the network.
    pub(super) raiser: Option<Sender>,
}

impl ContextKind {
    /// Returns `true` if an exit event of another kind belongs to an interrupt of this one.
    fn is_left_by(self, exit: ContextKind) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&exit)
    }
}

impl Cpu {
    /// Enters an interrupt. Returns `false` if there are too many.
    pub(super) fn enter(&mut self, kind: ContextKind, source: PackedSource) -> bool {
        let raiser = match kind {
            ContextKind::Softirq(number) => self.raised(number).and_then(Option::take),
            _ => None,
        };
        if self.contexts.len() >= MAX_DEPTH {
            return false;
        }
        self.contexts.push(Context { kind, source, completed: None, raiser });
        true
    }

    /// Leaves the innermost interrupt. Returns `false` if it is of another kind.
    pub(super) fn leave(&mut self, kind: ContextKind) -> bool {
        let fits = self.contexts.last().is_some_and(|top| top.kind.is_left_by(kind));
        if fits {
            self.contexts.pop();
        }
        fits
    }

    /// Returns the thread that raised a softirq, if that is one of the network.
    pub(super) fn raised(&mut self, softirq: u32) -> Option<&mut Option<Sender>> {
        self.raised.get_mut(softirq.checked_sub(NET_TX)? as usize)
    }
}

/// The number of the softirq for sent packets; that for received ones is the next.
const NET_TX: u32 = 2;
