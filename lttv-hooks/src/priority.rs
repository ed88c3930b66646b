//! When among others a hook is called.

/// When among others a hook is called: 0 is first, 99 last.
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
    /// Before all others: 0.
    pub const FIRST: Priority = Priority(0);
    /// What keeps state up to date, so that others find it so: 25.
    pub const STATE: Priority = Priority(25);
    /// What does not care: 50.
    pub const DEFAULT: Priority = Priority(50);
    /// After all others: 99.
    pub const LAST: Priority = Priority(99);

    /// From a number.
    ///
    /// # Errors
    ///
    /// If it is more than 99.
    pub const fn new(number: u8) -> Result<Self, PriorityError> {
        if number <= Priority::LAST.0 { Ok(Priority(number)) } else { Err(PriorityError(number)) }
    }

    /// As a number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Self {
        Priority::DEFAULT
    }
}

impl TryFrom<u8> for Priority {
    type Error = PriorityError;

    fn try_from(number: u8) -> Result<Self, PriorityError> {
        Priority::new(number)
    }
}

/// A number that is no [`Priority`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no priority: these are 0 (first) to 99 (last)")]
pub struct PriorityError(pub u8);

/// A hook was added a second time, with another priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the hook is in the list with priority {}, and cannot have {} too", is.get(), wanted.get())]
#[non_exhaustive]
pub struct PriorityConflict {
    /// What it has.
    pub is: Priority,
    /// What was asked for.
    pub wanted: Priority,
}
