//! Which hook is which.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::priority::Priority;

/// The identity of a hook, unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HookId(NonZeroU64);

impl HookId {
    /// One that no hook has yet.
    pub fn fresh() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        HookId(NonZeroU64::new(number).unwrap_or(NonZeroU64::MAX))
    }
}

/// What a list knows of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookInfo {
    /// Its identity.
    pub id: HookId,
    /// Its priority.
    pub priority: Priority,
    /// How often it was added, less removals.
    pub references: u32,
}

/// What became of a hook that was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "this may be the hook itself"]
pub enum Removal<T> {
    /// There is none of this id.
    Absent,
    /// It was added more often than removed, and stays.
    Referenced,
    /// It is out of the list.
    Removed(T),
}

impl<T> Removal<T> {
    /// The hook, if it is out of the list.
    pub fn hook(self) -> Option<T> {
        match self {
            Removal::Removed(hook) => Some(hook),
            Removal::Absent | Removal::Referenced => None,
        }
    }
}
