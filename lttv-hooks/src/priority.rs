//! The priorities of hooks.

use std::fmt;

/// The rank of a hook among others in its list: 0 is called first, 99 last.
///
/// ```
/// use lttv_hooks::Priority;
///
/// let after_state = Priority::new(30)?;
/// assert!(Priority::STATE < after_state && after_state < Priority::DEFAULT);
/// assert!(Priority::new(100).is_err());
/// # Ok::<(), lttv_hooks::PriorityError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u8);

impl Priority {
    /// The priority of hooks to call before all others: 0.
    pub const FIRST: Priority = Priority(0);
    /// The priority of hooks that update state which later hooks read: 25.
    pub const STATE: Priority = Priority(25);
    /// The priority of hooks that have no constraint of order: 50.
    pub const DEFAULT: Priority = Priority(50);
    /// The priority of hooks to call after all others: 99.
    pub const LAST: Priority = Priority(99);

    /// Creates a priority from a number.
    ///
    /// # Errors
    ///
    /// Returns an error if the number is greater than 99.
    pub const fn new(number: u8) -> Result<Self, PriorityError> {
        if number <= Priority::LAST.0 { Ok(Priority(number)) } else { Err(PriorityError(number)) }
    }

    /// Returns the priority as a number from 0 to 99.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Self {
        Priority::DEFAULT
    }
}

/// An error from a number that is not a valid [`Priority`].
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("priority {0} is not from 0 (first) to 99 (last)")]
pub struct PriorityError(pub u8);

impl fmt::Debug for PriorityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An error from adding a hook again with another priority.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("hook has priority {} and was added again with priority {}", is.get(), wanted.get())]
#[non_exhaustive]
pub struct PriorityConflict {
    /// The priority of the hook in the list.
    pub is: Priority,
    /// The priority with which the hook was added again.
    pub wanted: Priority,
}

impl fmt::Debug for PriorityConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
