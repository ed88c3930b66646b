//! The origins of wake-ups, and the kinds of waits that they end.

use std::fmt;

use lttv_state::kernel::{ExecutionMode, NameId, Process, Serial, SourceKind};

/// The cause of a wait, as far as its end shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Another thread, which woke the waiting one up.
    Thread,
    /// A disk: an interrupt that completed a request, or the softirq of block devices.
    Disk,
    /// A timer.
    Timer,
    /// The network.
    Network,
    /// Another interrupt, or one that was not recorded.
    Interrupt,
    /// Unknown: the trace does not contain the wake-up.
    Unknown,
    /// Unknown: the wait goes on after the end.
    Open,
}

/// The origin of a wake-up: a thread, or an interrupt on its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waker {
    /// The thread that ran on the CPU of the wake-up.
    pub thread: Serial,
    /// The mode of the thread: an interrupt has nothing to do with the thread it interrupts.
    pub mode: ExecutionMode,
    /// The name of the system call, interrupt or exception.
    pub submode: NameId,
    /// The cause of the wait that the wake-up ends.
    pub cause: Cause,
}

/// The softirqs of the kernel, by number.
const SOFTIRQS: [Cause; 9] = [
    Cause::Interrupt, // tasklets of high priority
    Cause::Timer,
    Cause::Network,
    Cause::Network,
    Cause::Disk,
    Cause::Disk,
    Cause::Interrupt, // tasklets
    Cause::Interrupt, // the scheduler
    Cause::Timer,
];

/// The vector of the local timer on x86.
const LOCAL_TIMER: u32 = 0xec;

impl Cause {
    /// All causes, in ascending order.
    pub const ALL: [Cause; 7] = [
        Cause::Thread,
        Cause::Disk,
        Cause::Timer,
        Cause::Network,
        Cause::Interrupt,
        Cause::Unknown,
        Cause::Open,
    ];

    /// Returns the name of the cause in results.
    pub const fn label(self) -> &'static str {
        match self {
            Cause::Thread => "thread",
            Cause::Disk => "disk",
            Cause::Timer => "timer",
            Cause::Network => "network",
            Cause::Interrupt => "interrupt",
            Cause::Unknown => "unknown",
            Cause::Open => "open",
        }
    }

    /// Returns the cause of a wait that ends while a process runs on the CPU of the wake-up.
    /// `completed` is the time of the last completion of a request to a disk on this CPU, in ns.
    fn of(running: &Process, completed: Option<i64>) -> Self {
        let frame = running.top();
        if !frame.mode().is_interrupt() {
            return match running.tid() {
                None => Cause::Unknown,
                // The idle process wakes up no others: an interrupt was not recorded.
                Some(0) => Cause::Interrupt,
                Some(_) => Cause::Thread,
            };
        }
        if completed.is_some_and(|time| frame.entry().as_ns() <= time) {
            return Cause::Disk;
        }
        match frame.source() {
            Some((SourceKind::Softirq, number)) => {
                SOFTIRQS.get(number as usize).copied().unwrap_or(Cause::Interrupt)
            }
            Some((SourceKind::Vector, LOCAL_TIMER)) => Cause::Timer,
            _ => Cause::Interrupt,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

impl Waker {
    /// Creates the origin of a wake-up from the process that runs on the CPU of its event.
    /// `completed` is the time of the last completion of a request to a disk there, in ns.
    pub(super) fn of(running: &Process, completed: Option<i64>) -> Self {
        Waker {
            thread: running.serial(),
            mode: running.mode(),
            submode: running.submode(),
            cause: Cause::of(running, completed),
        }
    }

    /// Returns `true` if an interrupt woke the thread up.
    pub fn is_interrupt(&self) -> bool {
        self.mode.is_interrupt()
    }
}
