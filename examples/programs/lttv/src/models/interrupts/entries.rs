//! The running handlers whose entry events pass a filter.

use std::collections::BTreeMap;

use lttv_state::kernel::{Frame, Process, Serial};

/// The running handlers whose entry events pass a filter, by process. A handler is identified by
/// its depth on the stack of the process, and its start in ns.
#[derive(Debug, Clone, Default)]
pub(super) struct Entries(BTreeMap<Serial, Vec<(usize, i64)>>);

impl Entries {
    /// Records the entry of the innermost frame of a process, which passes or not.
    pub(super) fn entered(&mut self, process: &Process, passes: bool) {
        let depth = process.stack().len();
        let open = self.0.entry(process.serial()).or_default();
        // The exits of deeper frames were lost.
        open.retain(|of| of.0 < depth);
        if passes {
            open.push((depth, process.top().entry().as_ns()));
        }
        if open.is_empty() {
            self.0.remove(&process.serial());
        }
    }

    /// Records the end of the frame above the innermost one, which started at `begin` ns. Returns
    /// `true` if its entry passed.
    pub(super) fn ended(&mut self, process: &Process, begin: i64) -> bool {
        let Some(open) = self.0.get_mut(&process.serial()) else { return false };
        let depth = process.stack().len() + 1;
        open.retain(|of| of.0 <= depth);
        let passed = open.pop_if(|of| *of == (depth, begin)).is_some();
        if open.is_empty() {
            self.0.remove(&process.serial());
        }
        passed
    }

    /// Returns `true` if the entry of a frame at an index of the stack of a process passed.
    pub(super) fn has(&self, process: &Process, index: usize, frame: &Frame) -> bool {
        let open = self.0.get(&process.serial());
        open.is_some_and(|open| open.contains(&(index + 1, frame.entry().as_ns())))
    }
}
