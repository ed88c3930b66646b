//! The things that a trace lacks for call stacks.

use super::actions::TypeActions;
use super::thread::TraceProcess;

/// The things that a trace lacks for call stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missing {
    /// `true` if the trace declares no entries of functions, and no begins of pairs.
    pub entries: bool,
    /// `true` if the trace declares no exits of functions, and no ends of pairs: calls do not
    /// end.
    pub exits: bool,
    /// `true` if events contain no thread: those of all threads of a process, or of a CPU, are on
    /// one stack, which is wrong unless there is only one thread.
    pub threads: bool,
    /// `true` if events contain no process: equal addresses of several processes are one function,
    /// and equal thread ids one thread.
    pub processes: bool,
}

impl Default for Missing {
    fn default() -> Self {
        Missing { entries: true, exits: true, threads: false, processes: false }
    }
}

impl Missing {
    /// Returns `true` if the trace has calls.
    pub fn is_served(&self) -> bool {
        !self.entries
    }

    /// Takes note of an event type.
    pub(super) fn add(&mut self, actions: &TypeActions) {
        use super::actions::FunctionEvent::{Entry, Exit};
        if !actions.has_calls() {
            return;
        }
        self.entries &= actions.begins.is_empty() && !matches!(actions.function, Some(Entry(_)));
        self.exits &= actions.ends.is_empty() && !matches!(actions.function, Some(Exit(_)));
        self.threads |= !actions.identity.has_thread();
        self.processes |= !actions.identity.has_process();
    }

    /// Takes note of the environment, after all event types.
    pub(super) fn finish(&mut self, of_trace: &TraceProcess) {
        self.processes &= of_trace.process.is_none();
    }
}
