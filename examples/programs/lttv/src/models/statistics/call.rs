//! A system call whose time is looked at.

use std::collections::BTreeSet;

use ltt_read::{TimeSpan, TraceIndex};
use lttv_state::kernel::{Serial, Tid};
use lttv_state::stats::TraceStatistics;

/// A system call of a thread, within a window.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) trace: TraceIndex,
    pub(crate) name: String,
    pub(crate) process: Serial,
    pub(crate) tid: Option<Tid>,
    pub(crate) pid: Option<Tid>,
    pub(crate) command: String,
    /// The time from its entry, or the start of the window, to its exit, or the end of the window.
    pub(crate) span: TimeSpan,
    /// `true` if it returned in the window.
    pub(crate) returned: bool,
}

impl Call {
    /// Returns the CPUs that executed the thread of the call, from the statistics of its time.
    pub(crate) fn cpus(&self, statistics: &TraceStatistics) -> BTreeSet<u32> {
        let leaves = statistics.leaves().filter(|(key, _)| key.process == self.process);
        leaves.map(|(key, _)| key.cpu).collect()
    }

    /// Returns the time from its start to its end, in ns.
    pub(crate) fn time(&self) -> u64 {
        self.span.end.since(self.span.start)
    }
}
