//! The events that statistics of disks need.

use crate::kernel;
use crate::kernel::Transition::{BlockComplete, BlockIssue, Context, Switch};
use crate::kernel::needs::EventKind::Transition;
use crate::kernel::needs::Need;

/// The needs of statistics. Those of [disks](DISK_NEEDS) differ. Contexts tell the threads of events and
/// system calls where there are no switches, and no CPU time.
pub const NEEDS: &[Need] = &[
    Need::any(
        &[Transition(Switch), Transition(Context)],
        "sched_switch or the context tid",
        "there are no threads",
    )
    .required(),
    Need::all(&[Transition(Switch)], "sched_switch", "the CPU times of threads are unknown"),
    kernel::NEEDS[1],
    kernel::NEEDS[2],
    kernel::NEEDS[3],
    kernel::NEEDS[4],
];

/// The needs of the statistics of disks.
pub const DISK_NEEDS: &[Need] = &[
    Need::all(&[Transition(BlockIssue)], "block_rq_issue", "there are no requests").required(),
    Need::all(&[Transition(BlockComplete)], "block_rq_complete", "requests do not end").required(),
    Need::all(&[Transition(Switch)], "sched_switch", "the threads that wait are unknown"),
];
