//! Reading of a history while it is being built.

use std::sync::{Arc, PoisonError, RwLock};

use crate::history::query::history::History;

/// A handle by which other threads query a history that is being built.
///
/// ```
/// # use lttv_state::history::{Builder, Timestamp};
/// let ns = Timestamp::from_ns;
/// let mut builder = Builder::in_memory(ns(0));
/// let quark = builder.add("a")?;
/// let live = builder.live()?;
/// builder.set(quark, ns(10), 1)?;
/// builder.flush()?;
/// std::thread::spawn(move || {
///     let history = live.latest();
///     assert_eq!(history.end(), ns(11));
///     assert_eq!(history.at(quark, ns(10)).unwrap().value, 1.into());
/// })
/// .join()
/// .unwrap();
/// # Ok::<(), lttv_state::history::HistoryError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Live {
    shared: Arc<RwLock<History>>,
}

impl Live {
    pub(super) fn new(history: History) -> Live {
        Live { shared: Arc::new(RwLock::new(history)) }
    }

    /// Replaces the history that readers get.
    pub(super) fn publish(&self, history: History) {
        *self.shared.write().unwrap_or_else(PoisonError::into_inner) = history;
    }

    /// Returns the history up to the last block. It ends right after the last change in that
    /// block, contains all changes up to there, and does not change any more. After the
    /// builder has closed the history, it is the complete one.
    pub fn latest(&self) -> History {
        self.shared.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
