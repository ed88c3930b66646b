//! How a history is built.

use super::identity::Identity;

/// How a history is built.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// What the history is built from.
    pub identity: Identity,
    /// How far behind the latest change another one may come, in ns. Until a
    /// change is older than this, it waits, and is not yet seen by any query.
    /// 0: changes come in the order of time, and nothing waits.
    pub reorder_window: u64,
    /// The most changes that wait. If there are more, the oldest are taken to
    /// be in order even if the window is not over.
    pub reorder_limit: usize,
    /// How many intervals make a block. While it is built, a block takes about
    /// 64 bytes of memory per interval. Greater blocks make the file smaller,
    /// and lose more when the program is killed. `None`: 12 for each attribute,
    /// but at least 196 608 and at most 1 572 864.
    pub block_intervals: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            identity: Identity::default(),
            reorder_window: 0,
            reorder_limit: 1 << 20,
            block_intervals: None,
        }
    }
}

impl Settings {
    pub(super) fn block_intervals(&self, quarks: usize) -> usize {
        match self.block_intervals {
            Some(intervals) => intervals.clamp(1, 1 << 24) as usize,
            None => (12 * quarks).clamp(3 << 16, 3 << 19),
        }
    }
}
