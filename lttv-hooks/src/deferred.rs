//! Changes to a list, collected while the list is being called.

use std::fmt;

use crate::id::HookId;
use crate::list::HookList;
use crate::priority::{Priority, PriorityConflict};

/// Changes to a list of hooks, to be applied later. A hook that changes its own
/// list records the change in its call data; the caller applies all changes before the
/// next call.
///
/// ```
/// use lttv_hooks::{Deferred, Flow, HookList, Priority};
/// use std::ops::ControlFlow;
///
/// type Hook = dyn FnMut(&mut Call) -> Flow;
/// #[derive(Default)]
/// struct Call {
///     count: u32,
///     later: Deferred<Hook>,
/// }
///
/// let mut hooks: HookList<Hook> = HookList::new();
/// hooks.add_boxed(
///     Priority::FIRST,
///     Box::new(|call| {
///         call.count += 1;
///         let more: Box<Hook> = Box::new(|call| {
///             call.count += 10;
///             ControlFlow::Continue(())
///         });
///         call.later.add(Priority::LAST, more);
///         ControlFlow::Continue(())
///     }),
/// );
/// let mut call = Call::default();
/// for expected in [1, 12, 33] {
///     _ = hooks.call(&mut call);
///     call.later.apply(&mut hooks)?;
///     assert_eq!(call.count, expected);
/// }
/// # Ok::<(), lttv_hooks::PriorityConflict>(())
/// ```
pub struct Deferred<F: ?Sized> {
    changes: Vec<Change<F>>,
}

enum Change<F: ?Sized> {
    Add { id: HookId, priority: Priority, hook: Box<F> },
    Remove(HookId),
}

impl<F: ?Sized> Deferred<F> {
    /// Creates an empty collection of changes.
    pub const fn new() -> Self {
        Deferred { changes: Vec::new() }
    }

    /// Returns `true` if there are no changes to apply.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Adds a hook when the changes are applied. Returns the id that the hook will have.
    pub fn add(&mut self, priority: Priority, hook: Box<F>) -> HookId {
        let id = HookId::unique();
        self.add_as(id, priority, hook);
        id
    }

    /// Adds a hook under a given id when the changes are applied.
    pub fn add_as(&mut self, id: HookId, priority: Priority, hook: Box<F>) {
        self.changes.push(Change::Add { id, priority, hook });
    }

    /// Removes one reference to a hook when the changes are applied.
    pub fn remove(&mut self, id: HookId) {
        self.changes.push(Change::Remove(id));
    }

    /// Applies all changes to a list, in the order in which they were recorded, and
    /// clears them.
    ///
    /// # Errors
    ///
    /// Returns the first conflict if a recorded hook is in the list with another
    /// priority. All other changes are applied.
    pub fn apply(&mut self, list: &mut HookList<F>) -> Result<(), PriorityConflict> {
        let mut result = Ok(());
        for change in self.changes.drain(..) {
            match change {
                Change::Add { id, priority, hook } => {
                    result = result.and(list.add_boxed_as(id, priority, hook));
                }
                Change::Remove(id) => drop(list.remove(id)),
            }
        }
        result
    }
}

impl<F: ?Sized> Default for Deferred<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: ?Sized> fmt::Debug for Deferred<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changes = self.changes.iter().map(|change| match change {
            Change::Add { id, .. } => ("add", *id),
            Change::Remove(id) => ("remove", *id),
        });
        f.debug_list().entries(changes).finish()
    }
}
