//! The process that the user has selected.

use ltt_read::Timestamp;
use lttv_requests::views::ProcessKey;
use lttv_state::kernel::Tid;
use lttv_state::waits::{TimelineId, WaitGraph};

/// A process that the user has selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedProcess {
    /// The key of its row.
    pub key: ProcessKey,
    /// Its thread id; `None` if it is unknown.
    pub tid: Option<Tid>,
    /// A time at which it exists, since thread ids are used again.
    pub time: Timestamp,
    /// Its label, as in `cat (215)`.
    pub label: String,
}

impl SelectedProcess {
    /// Returns its timeline in a wait graph; `None` if its thread id is unknown.
    pub fn timeline(&self, graph: &WaitGraph) -> Option<TimelineId> {
        graph.find(self.key.trace, self.tid?, self.time)
    }
}
