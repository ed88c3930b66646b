//! The attributes that exist at a time.

use std::ops::ControlFlow;

use ltt_read::Timestamp;

use super::history::History;
use crate::history::error::HistoryError;
use crate::tree::Tree;

impl History {
    /// Returns the attributes that exist at a time: those with a value other than null, and
    /// those above them. [`tree`](Self::tree) has all attributes of the history instead.
    ///
    /// An attribute that was [removed](crate::history::Builder::remove) is in the result for
    /// times before its removal, and for times after it was set again. Its quark is always the
    /// same. This takes time and memory for each attribute of the history.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, HistoryError, Timestamp};
    /// # use lttv_state::tree::Quark;
    /// # let ns = Timestamp::from_ns;
    /// # let mut builder = Builder::in_memory(ns(0));
    /// let name = builder.add("processes/7/name")?;
    /// let processes = builder.add("processes")?;
    /// builder.set(name, ns(10), "sh")?;
    /// builder.remove(processes, ns(20))?;
    /// let history = builder.close(ns(30))?;
    ///
    /// let tree = history.tree_at(ns(19))?;
    /// assert_eq!((tree.len(), tree.find(Quark::ROOT, "processes/7/name")?), (3, Some(name)));
    /// let tree = history.tree_at(ns(20))?;
    /// assert_eq!((tree.len(), tree.find(Quark::ROOT, "processes/7/name")?), (0, None));
    /// # Ok::<(), HistoryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the time is not in the history.
    pub fn tree_at(&self, time: Timestamp) -> Result<Tree, HistoryError> {
        let mut has_value = Vec::with_capacity(self.tree().len());
        let _all = self.for_each_at(time, |interval| {
            has_value.push(!interval.value.is_null());
            ControlFlow::Continue(())
        })?;
        Ok(self.tree().restricted_to(has_value))
    }
}
