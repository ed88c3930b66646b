//! The identities of hooks.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::priority::Priority;

/// The identity of a hook, unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HookId(NonZeroU64);

impl HookId {
    /// Creates an id that no hook has yet.
    pub fn unique() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        HookId(NonZeroU64::new(number).unwrap_or(NonZeroU64::MAX))
    }
}

/// Information about a hook in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookInfo {
    /// The identity of the hook.
    pub id: HookId,
    /// The priority of the hook.
    pub priority: Priority,
    /// The number of times that the hook was added, minus removals.
    pub references: u32,
}

/// The result of removing a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "this may be the hook itself"]
pub enum Removal<T> {
    /// There is no hook with this id.
    Absent,
    /// The hook was added more often than removed, and stays in the list.
    Referenced,
    /// The hook was removed from the list.
    Removed(T),
}

impl<T> Removal<T> {
    /// Returns the hook, or `None` if it was not removed from the list.
    pub fn hook(self) -> Option<T> {
        match self {
            Removal::Removed(hook) => Some(hook),
            Removal::Absent | Removal::Referenced => None,
        }
    }
}
