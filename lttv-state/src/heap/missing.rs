//! The events and contexts that a trace lacks for heaps.

use crate::kernel::needs::Need;

/// The need for allocations.
pub const ALLOCATIONS: Need =
    Need::all(&[], "lttng_ust_libc:malloc (or calloc, …)", "there are no blocks").required();

/// The need for frees.
pub const FREES: Need = Need::all(&[], "lttng_ust_libc:free", "all blocks stay live");

/// The need for processes in events.
pub const PROCESSES: Need = Need::all(
    &[],
    "the context vpid",
    "figures of the heap are not to be trusted if several processes were traced",
);

/// The things that a trace lacks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Missing {
    pub(super) allocations: bool,
    pub(super) frees: bool,
    /// `true` if events contain no process: the blocks of one overwrite and free those of others.
    pub(super) processes: bool,
}

impl Default for Missing {
    fn default() -> Self {
        Missing { allocations: true, frees: true, processes: false }
    }
}

impl Missing {
    /// Returns the needs that the trace does not meet.
    pub(super) fn needs(self) -> Vec<Need> {
        let needs =
            [(self.allocations, ALLOCATIONS), (self.frees, FREES), (self.processes, PROCESSES)];
        needs.into_iter().filter(|(is_missing, _)| *is_missing).map(|(_, need)| need).collect()
    }
}
