//! The events that statistics of disks need.

use crate::kernel::Transition::{BlockComplete, BlockIssue, Switch};
use crate::kernel::needs::EventKind::Transition;
use crate::kernel::needs::Need;

/// The needs of the statistics of disks. Those of all others are [`kernel::NEEDS`](crate::kernel::NEEDS).
pub const DISK_NEEDS: &[Need] = &[
    Need::all(&[Transition(BlockIssue)], "block_rq_issue", "there are no requests").required(),
    Need::all(&[Transition(BlockComplete)], "block_rq_complete", "requests do not end").required(),
    Need::all(&[Transition(Switch)], "sched_switch", "the threads that wait are unknown"),
];
