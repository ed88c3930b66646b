//! The events that latencies need.

use crate::kernel::Transition::*;
use crate::kernel::needs::EventKind::{Named, Transition};
use crate::kernel::needs::Need;

/// The needs of latencies: events of any family, and those of the usual families.
pub const NEEDS: &[Need] = &[
    Need::any(
        &[
            Transition(Switch),
            Transition(SyscallEntry),
            Transition(IrqEntry),
            Transition(SoftirqEntry),
            Transition(BlockIssue),
            Transition(Marker),
        ],
        "sched_switch (or syscall_entry_*, irq_handler_entry, irq_softirq_entry, block_rq_issue, ftrace:print)",
        "there are no durations",
    )
    .required(),
    SWITCH,
    WAKE_UP,
    CALL_ENTRY,
    CALL_EXIT,
    IRQ_ENTRY,
    IRQ_EXIT,
    SOFTIRQ_RAISE,
    SOFTIRQ_ENTRY,
    SOFTIRQ_EXIT,
    BLOCK_INSERT,
    BLOCK_ISSUE,
    BLOCK_COMPLETE,
    Need::all(
        &[Transition(ProcessState)],
        "lttng_statedump_process_state",
        "some threads have no name",
    ),
];

pub(crate) const WAKE_UP: Need =
    Need::all(&[Transition(Wakeup)], "sched_waking", "there are no wake-up latencies");
pub(crate) const SWITCH: Need =
    Need::all(&[Transition(Switch)], "sched_switch", "there are no waits of threads for CPUs");
pub(crate) const MARKER: Need =
    Need::all(&[Transition(Marker)], "ftrace:print", "there are no markers of programs");
const CALLS: &str = "there are no durations of system calls, files and futexes";
pub(crate) const CALL_ENTRY: Need =
    Need::all(&[Transition(SyscallEntry)], "syscall_entry_*", CALLS);
pub(crate) const CALL_EXIT: Need = Need::all(&[Transition(SyscallExit)], "syscall_exit_*", CALLS);
pub(crate) const FUTEX_ENTRY: Need = Need::all(
    &[Named(&["syscall_entry_futex"])],
    "syscall_entry_futex",
    "there are no futex waits",
);
const IRQS: &str = "there are no durations of interrupt handlers";
pub(crate) const IRQ_ENTRY: Need = Need::all(&[Transition(IrqEntry)], "irq_handler_entry", IRQS);
pub(crate) const IRQ_EXIT: Need = Need::all(&[Transition(IrqExit)], "irq_handler_exit", IRQS);
const VECTORS: &str = "there are no durations of the handlers of interrupt vectors";
pub(crate) const VECTOR_ENTRY: Need =
    Need::all(&[Transition(VectorEntry)], "x86_irq_vectors_*_entry", VECTORS);
pub(crate) const VECTOR_EXIT: Need =
    Need::all(&[Transition(VectorExit)], "x86_irq_vectors_*_exit", VECTORS);
pub(crate) const SOFTIRQ_RAISE: Need = Need::all(
    &[Transition(SoftirqRaise)],
    "irq_softirq_raise",
    "there are no latencies of raised softirqs",
);
const SOFTIRQS: &str = "there are no durations of softirq handlers";
pub(crate) const SOFTIRQ_ENTRY: Need =
    Need::all(&[Transition(SoftirqEntry)], "irq_softirq_entry", SOFTIRQS);
pub(crate) const SOFTIRQ_EXIT: Need =
    Need::all(&[Transition(SoftirqExit)], "irq_softirq_exit", SOFTIRQS);
pub(crate) const BLOCK_INSERT: Need = Need::all(
    &[Transition(BlockInsert)],
    "block_rq_insert",
    "there are no times of disk requests in queues",
);
pub(crate) const BLOCK_ISSUE: Need = Need::all(
    &[Transition(BlockIssue)],
    "block_rq_issue",
    "there are no times of disk requests in queues and devices",
);
pub(crate) const BLOCK_COMPLETE: Need = Need::all(
    &[Transition(BlockComplete)],
    "block_rq_complete",
    "there are no times of disk requests in devices",
);
