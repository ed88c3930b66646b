//! A tree that several owners share.

use std::sync::{Arc, Mutex, PoisonError};

use super::tree::Attributes;

/// A tree of attributes that several owners share, also in several threads. A clone is
/// another owner of the same tree.
///
/// It is meant for results and settings, which change rarely: each access takes a lock. Hooks
/// that count events use a tree of their own, and store it here at the end.
///
/// ```
/// use lttv_context::attributes::SharedAttributes;
///
/// let results = SharedAttributes::new();
/// let other = results.clone();
/// results.update(|tree| tree.set_at("events", 6087_u64))?;
/// assert_eq!(other.snapshot().to_string(), "events: 6087\n");
/// # Ok::<(), lttv_context::attributes::AttributeError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SharedAttributes(Arc<Mutex<Arc<Attributes>>>);

impl SharedAttributes {
    /// Creates an empty tree with one owner.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the tree as it is now. Later changes do not affect it.
    pub fn snapshot(&self) -> Arc<Attributes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Calls a function that may change the tree, and returns its result. Handles of the tree
    /// stay valid. If a snapshot still exists, the tree is copied before.
    ///
    /// Other owners wait while the function runs, so it must not use this value itself.
    pub fn update<R>(&self, change: impl FnOnce(&mut Attributes) -> R) -> R {
        let mut tree = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut tree))
    }

    /// Creates a copy of the tree with an owner of its own.
    pub(crate) fn separate(&self) -> Self {
        SharedAttributes(Arc::new(Mutex::new(self.snapshot())))
    }
}
