//! The events that the kernel state is rebuilt from.

use super::transition::Transition::*;
use crate::needs::EventKind::Transition;
use crate::needs::Need;

/// The needs of the kernel state, and of statistics and histories of it.
pub const NEEDS: &[Need] = &[
    Need::all(&[Transition(Switch)], "sched_switch", "there are no threads").required(),
    Need::all(
        &[Transition(SyscallEntry), Transition(SyscallExit)],
        "syscall_entry_*, syscall_exit_*",
        "the time in system calls is not told from that of programs",
    ),
    Need::all(
        &[Transition(IrqEntry), Transition(IrqExit)],
        "irq_handler_entry, irq_handler_exit",
        "the time of interrupts counts as that of the interrupted threads",
    ),
    Need::all(
        &[Transition(SoftirqEntry), Transition(SoftirqExit)],
        "irq_softirq_entry, irq_softirq_exit",
        "the time of softirqs counts as that of the interrupted threads",
    ),
    Need::all(
        &[Transition(ProcessState)],
        "lttng_statedump_process_state",
        "threads that do not run have no name, and parents are unknown",
    ),
];
