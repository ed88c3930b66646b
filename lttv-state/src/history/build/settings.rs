//! The settings of builders.

use crate::history::identity::HistoryIdentity;

/// The settings of a [`Builder`](super::builder::Builder).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The producer and the source of the history.
    pub identity: HistoryIdentity,
    /// The greatest time by which a change may come after a later one, in ns. A change
    /// waits until it is older than that, and queries do not see it before. 0 means that
    /// changes come in the order of time, and none wait.
    pub reorder_window: u64,
    /// The greatest number of changes that wait. Beyond it, the oldest are taken to be in
    /// order before the window is over.
    pub reorder_limit: usize,
    /// The number of intervals in a block, from 1 to 16 777 216. A block takes about 64
    /// bytes of memory per interval while it is built. Larger blocks make the file smaller,
    /// and lose more if the program is killed. `None` means 12 for each attribute, but at
    /// least 196 608 and at most 1 572 864.
    pub block_intervals: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            identity: HistoryIdentity::default(),
            reorder_window: 0,
            reorder_limit: 1 << 20,
            block_intervals: None,
        }
    }
}
