//! The families of durations.

use super::needs::*;
use crate::kernel::needs::Need;

/// A family of durations: what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Family {
    /// From the first wake-up of a thread that neither runs nor was preempted to its switch-in.
    WakeUp,
    /// From the switch-out of a thread that is still runnable to its switch-in.
    Preemption,
    /// From the entry to the exit of a system call.
    Syscall,
    /// From the entry to the exit of the handler of a device interrupt.
    HardIrq,
    /// From the entry to the exit of the handler of a processor's own interrupt.
    Vector,
    /// From the entry to the exit of the handler of a softirq.
    Softirq,
    /// From the first raise of a softirq on a CPU to the entry of its handler.
    SoftirqRaise,
    /// From the insertion of a request into the queue of a disk to its issue.
    DiskQueue,
    /// From the issue of a request to a disk to its last completion.
    DiskDevice,
    /// System calls that open files.
    FileOpen,
    /// System calls that read from files and sockets.
    FileRead,
    /// System calls that write to files and sockets.
    FileWrite,
    /// System calls that flush files to disks.
    FileSync,
    /// System calls that wait for a futex.
    Futex,
    /// Sections that programs [mark](crate::kernel::Transition::Marker) by texts in the form of Android.
    Marker,
    /// Periods that the caller has [defined](super::Period).
    Period,
    /// From the switch-in of a thread to its switch-out.
    Run,
    /// From the switch-out of a thread that is not runnable to its next wake-up.
    Blocked,
}

impl Family {
    /// All families.
    pub const ALL: [Family; 18] = [
        Family::WakeUp,
        Family::Preemption,
        Family::Syscall,
        Family::HardIrq,
        Family::Vector,
        Family::Softirq,
        Family::SoftirqRaise,
        Family::DiskQueue,
        Family::DiskDevice,
        Family::FileOpen,
        Family::FileRead,
        Family::FileWrite,
        Family::FileSync,
        Family::Futex,
        Family::Marker,
        Family::Period,
        Family::Run,
        Family::Blocked,
    ];

    /// The families of durations that should be short: all without runs and waits, which come last in
    /// [`ALL`](Self::ALL).
    pub const LATENCIES: [Family; 16] = {
        let mut families = [Family::WakeUp; 16];
        let mut at = 0;
        while at < families.len() {
            families[at] = Self::ALL[at];
            at += 1;
        }
        families
    };

    /// The families whose spans are system calls.
    pub(crate) const CALLS: [Family; 6] = [
        Family::Syscall,
        Family::FileOpen,
        Family::FileRead,
        Family::FileWrite,
        Family::FileSync,
        Family::Futex,
    ];

    /// Returns the key of the family in options and results, such as `wake-up`.
    pub const fn key(self) -> &'static str {
        match self {
            Family::WakeUp => "wake-up",
            Family::Preemption => "preemption",
            Family::Syscall => "syscall",
            Family::HardIrq => "irq",
            Family::Vector => "vector",
            Family::Softirq => "softirq",
            Family::SoftirqRaise => "softirq-raise",
            Family::DiskQueue => "disk-queue",
            Family::DiskDevice => "disk",
            Family::FileOpen => "open",
            Family::FileRead => "read",
            Family::FileWrite => "write",
            Family::FileSync => "sync",
            Family::Futex => "futex",
            Family::Period => "period",
            Family::Marker => "marker",
            Family::Run => "run",
            Family::Blocked => "blocked",
        }
    }

    /// Returns the title of the family, such as `System calls`.
    pub const fn title(self) -> &'static str {
        match self {
            Family::WakeUp => "Wake-up latencies",
            Family::Preemption => "Waits after preemption",
            Family::Syscall => "System calls",
            Family::HardIrq => "Interrupt handlers",
            Family::Vector => "Handlers of interrupt vectors",
            Family::Softirq => "Softirq handlers",
            Family::SoftirqRaise => "Raise latencies of softirqs",
            Family::DiskQueue => "Disk requests in queues",
            Family::DiskDevice => "Disk requests in devices",
            Family::FileOpen => "Files opened",
            Family::FileRead => "Reads",
            Family::FileWrite => "Writes",
            Family::FileSync => "Flushes of files",
            Family::Futex => "Futex waits",
            Family::Period => "Periods",
            Family::Marker => "Markers of programs",
            Family::Run => "Runs on CPUs",
            Family::Blocked => "Waits for something to happen",
        }
    }

    /// Returns the events that begin and end the durations. A trace that lacks one of them has no
    /// figures of the family.
    pub const fn needs(self) -> &'static [Need] {
        match self {
            Family::WakeUp | Family::Blocked => &[WAKE_UP, SWITCH],
            Family::Preemption | Family::Run => &[SWITCH],
            Family::Syscall
            | Family::FileOpen
            | Family::FileRead
            | Family::FileWrite
            | Family::FileSync => &[CALL_ENTRY, CALL_EXIT],
            Family::Futex => &[CALL_ENTRY, CALL_EXIT, FUTEX_ENTRY],
            Family::HardIrq => &[IRQ_ENTRY, IRQ_EXIT],
            Family::Vector => &[VECTOR_ENTRY, VECTOR_EXIT],
            Family::Softirq => &[SOFTIRQ_ENTRY, SOFTIRQ_EXIT],
            Family::SoftirqRaise => &[SOFTIRQ_RAISE, SOFTIRQ_ENTRY],
            Family::DiskQueue => &[BLOCK_INSERT, BLOCK_ISSUE],
            Family::DiskDevice => &[BLOCK_ISSUE, BLOCK_COMPLETE],
            Family::Period => &[],
            Family::Marker => &[MARKER],
        }
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.key())
    }
}
