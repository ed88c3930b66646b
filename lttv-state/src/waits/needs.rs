//! The events that wait graphs need.

use super::recorded::{TIMER_ENTRIES, TIMER_EXITS, WAKING};
use crate::kernel::Transition::*;
use crate::kernel::needs::EventKind::{Named, Transition, Without};
use crate::kernel::needs::Need;

/// The needs of wait graphs and critical paths, the most important first.
pub const NEEDS: &[Need] = &[
    Need::all(&[Transition(Switch)], "sched_switch", "there are no timelines").required(),
    Need::all(
        &[Transition(Wakeup)],
        "sched_waking, sched_wakeup_new",
        "the causes of all waits are unknown",
    ),
    // Wake-ups on the CPU of the woken thread do not show a waker on another CPU.
    Need::any(
        &[Named(WAKING), Without(Wakeup)],
        "sched_waking",
        "threads that woke others on other CPUs are unknown",
    ),
    // Without forks, thread ids that are used again continue the old timeline.
    Need::all(
        &[Transition(Fork)],
        "sched_process_fork",
        "the time of threads before their first event is unknown",
    ),
    Need::all(
        &[Transition(IrqEntry), Transition(IrqExit)],
        "irq_handler_entry, irq_handler_exit",
        "waits for devices have no exact cause",
    ),
    Need::all(
        &[Transition(SoftirqEntry), Transition(SoftirqExit)],
        "irq_softirq_entry, irq_softirq_exit",
        "waits for timers, disks and the network have no exact cause",
    ),
    Need::all(
        &[Transition(SoftirqRaise)],
        "irq_softirq_raise",
        "packets within the host do not lead to their sender",
    ),
    Need::all(
        &[Named(TIMER_ENTRIES), Named(TIMER_EXITS)],
        "timer_hrtimer_expire_entry, timer_hrtimer_expire_exit",
        "some waits for timers have another cause",
    ),
    Need::all(
        &[Transition(BlockComplete)],
        "block_rq_complete",
        "some waits for disks have another cause",
    ),
    PACKETS,
    Need::all(
        &[Transition(SyscallEntry), Transition(SyscallExit)],
        "syscall_entry_*, syscall_exit_*",
        "running threads are not told to be in system calls",
    ),
];

/// The sends and receives of packets.
pub(super) const PACKETS: Need = Need::all(
    &[Named(&["net_dev_queue"]), Named(&["net_if_receive_skb", "netif_receive_skb"])],
    "net_dev_queue, net_if_receive_skb",
    "packets between hosts do not lead to their sender",
);
