//! The events and contexts that a trace lacks for call stacks.

use super::actions::TypeActions;
use super::thread::TraceProcess;
use crate::kernel::needs::Need;

/// The need for entries of functions, or events that begin pairs.
pub const ENTRIES: Need = Need::all(
    &[],
    "lttng_ust_cyg_profile:func_entry (or that of lttng_ust_cyg_profile_fast, or ftrace:funcgraph_entry)",
    "there are no calls",
)
.required();

/// The need for exits of functions, or events that end pairs.
pub const EXITS: Need = Need::all(
    &[],
    "lttng_ust_cyg_profile:func_exit (or that of lttng_ust_cyg_profile_fast, or ftrace:funcgraph_exit)",
    "calls do not end, and have no durations",
);

/// The need for threads in events.
pub const THREADS: Need = Need::all(
    &[],
    "the context vtid",
    "the calls of all threads of a process, or of a CPU, are on one stack, which is wrong unless \
     there is one thread",
);

/// The need for processes in events.
pub const PROCESSES: Need = Need::all(
    &[],
    "the context vpid",
    "equal addresses of several processes are shown as one function, and equal thread ids as one \
     thread",
);

/// The things that a trace lacks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Missing {
    entries: bool,
    exits: bool,
    threads: bool,
    processes: bool,
}

impl Default for Missing {
    fn default() -> Self {
        Missing { entries: true, exits: true, threads: false, processes: false }
    }
}

impl Missing {
    /// Returns `true` if the trace has calls.
    pub(super) fn has_calls(self) -> bool {
        !self.entries
    }

    /// Returns the needs that the trace does not meet.
    pub(super) fn needs(self) -> Vec<Need> {
        let needs = [
            (self.entries, ENTRIES),
            (self.exits, EXITS),
            (self.threads, THREADS),
            (self.processes, PROCESSES),
        ];
        needs.into_iter().filter(|(is_missing, _)| *is_missing).map(|(_, need)| need).collect()
    }

    /// Takes note of an event type.
    pub(super) fn add(&mut self, actions: &TypeActions) {
        use super::actions::FunctionEvent::{Entry, Exit};
        if !actions.has_calls() {
            return;
        }
        let has_markers = actions.marker.is_some();
        self.entries &= actions.begins.is_empty()
            && !matches!(actions.function, Some(Entry(_)))
            && !has_markers;
        self.exits &=
            actions.ends.is_empty() && !matches!(actions.function, Some(Exit(_))) && !has_markers;
        self.threads |= !actions.identity.has_thread();
        self.processes |=
            !actions.identity.has_process() && !actions.is_of_kernel() && !has_markers;
    }

    /// Takes note of the environment, after all event types.
    pub(super) fn finish(&mut self, of_trace: &TraceProcess) {
        self.processes &= of_trace.process.is_none();
    }
}
