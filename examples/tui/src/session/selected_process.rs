//! The process that the user has selected.

use lttv_requests::views::ProcessKey;
use lttv_state::kernel::Tid;

/// A process that the user has selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedProcess {
    /// The key of its row.
    pub key: ProcessKey,
    /// Its thread id; `None` if it is unknown.
    pub tid: Option<Tid>,
    /// Its label, as in `cat (215)`.
    pub label: String,
}
