//! A list of hooks, ordered by priority.

use std::fmt;
use std::ops::ControlFlow;

use crate::flow::{Flow, IntoFlow, or_break};
use crate::id::{HookId, HookInfo, Removal};
use crate::priority::{Priority, PriorityConflict};

/// A list of functions of `&mut C`, ordered by priority. The functions may borrow data
/// that outlives the list. See the [crate](crate) for examples.
pub type Hooks<'h, C> = HookList<dyn FnMut(&mut C) -> Flow + 'h>;

/// A list of functions of `&mut C` that can be sent to another thread, ordered by
/// priority.
///
/// ```
/// use lttv_hooks::{Priority, SendHooks};
///
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let mut hooks: SendHooks<u32> = SendHooks::new();
/// hooks.add(Priority::DEFAULT, move |n| _ = sender.send(*n));
/// std::thread::spawn(move || hooks.call(&mut 7));
/// assert_eq!(receiver.recv(), Ok(7));
/// ```
pub type SendHooks<'h, C> = HookList<dyn FnMut(&mut C) -> Flow + Send + 'h>;

/// A list of hooks of any type of function, ordered by priority.
///
/// `F` is usually `dyn FnMut(&mut C) -> Flow`, for which [`Hooks`] is the short form.
pub struct HookList<F: ?Sized> {
    entries: Vec<Entry<F>>,
}

/// A hook in a list.
struct Entry<F: ?Sized> {
    id: HookId,
    priority: Priority,
    references: u32,
    hook: Box<F>,
}

impl<F: ?Sized> HookList<F> {
    /// Creates an empty list.
    pub const fn new() -> Self {
        HookList { entries: Vec::new() }
    }

    /// Returns the number of hooks in the list.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if the list has no hooks.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Iterates over the hooks in the order of calls.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = HookInfo> + '_ {
        self.entries.iter().map(Entry::info)
    }

    /// Adds a hook after all others of its priority. Returns its new id.
    pub fn add_boxed(&mut self, priority: Priority, hook: Box<F>) -> HookId {
        let id = HookId::unique();
        self.insert(Entry { id, priority, references: 1, hook });
        id
    }

    /// Adds a hook under a given id. If a hook with this id is in the list, its reference
    /// count is incremented and the new function is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the existing hook has another priority.
    pub fn add_boxed_as(
        &mut self,
        id: HookId,
        priority: Priority,
        hook: Box<F>,
    ) -> Result<(), PriorityConflict> {
        self.add_or_reference(Entry { id, priority, references: 1, hook })
    }

    /// Adds all hooks of another list, each after those of equal priority. A hook that is
    /// in both lists gets one reference more, however many it had in the other list.
    ///
    /// # Errors
    ///
    /// Returns the first conflict if a hook has different priorities in the two lists.
    /// All other hooks are added.
    pub fn append(&mut self, other: HookList<F>) -> Result<(), PriorityConflict> {
        let mut result = Ok(());
        for entry in other.entries {
            result = result.and(self.add_or_reference(entry));
        }
        result
    }

    /// Removes one reference to a hook. Removes the hook from the list if that was the
    /// last reference.
    pub fn remove(&mut self, id: HookId) -> Removal<Box<F>> {
        let Some(at) = self.find(id) else { return Removal::Absent };
        let entry = &mut self.entries[at];
        entry.references -= 1;
        if entry.references > 0 {
            return Removal::Referenced;
        }
        Removal::Removed(self.entries.remove(at).hook)
    }

    /// Removes one reference to each of several hooks. Ids without a hook are ignored.
    pub fn remove_all(&mut self, ids: impl IntoIterator<Item = HookId>) {
        for id in ids {
            _ = self.remove(id);
        }
    }

    /// Calls every hook. Returns `Break` if any of them did.
    #[inline]
    pub fn call<C: ?Sized>(&mut self, call: &mut C) -> Flow
    where
        F: FnMut(&mut C) -> Flow,
    {
        let calls = self.entries.iter_mut().map(|entry| (entry.hook)(call));
        calls.fold(ControlFlow::Continue(()), or_break)
    }

    /// Calls hooks up to and including the first that returns `Break`.
    #[inline]
    pub fn call_until_stop<C: ?Sized>(&mut self, call: &mut C) -> Flow
    where
        F: FnMut(&mut C) -> Flow,
    {
        self.entries.iter_mut().try_for_each(|entry| (entry.hook)(call))
    }

    fn find(&self, id: HookId) -> Option<usize> {
        self.entries.iter().position(|entry| entry.id == id)
    }

    fn insert(&mut self, entry: Entry<F>) {
        let at = self.entries.partition_point(|before| before.priority <= entry.priority);
        self.entries.insert(at, entry);
    }

    /// Adds an entry, or a reference to the existing entry with its id.
    fn add_or_reference(&mut self, entry: Entry<F>) -> Result<(), PriorityConflict> {
        let Some(at) = self.find(entry.id) else {
            self.insert(entry);
            return Ok(());
        };
        let there = &mut self.entries[at];
        if there.priority != entry.priority {
            return Err(PriorityConflict { is: there.priority, wanted: entry.priority });
        }
        there.references += 1;
        Ok(())
    }
}

impl<'h, C: ?Sized> Hooks<'h, C> {
    /// Adds a function after all others of its priority. The function returns a [`Flow`]
    /// or nothing. Returns its new id.
    pub fn add<V: IntoFlow>(
        &mut self,
        priority: Priority,
        mut hook: impl FnMut(&mut C) -> V + 'h,
    ) -> HookId {
        self.add_boxed(priority, Box::new(move |call| hook(call).into_flow()))
    }

    /// Adds a function under a given id. If a hook with this id is in the list, its
    /// reference count is incremented and the new function is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the existing hook has another priority.
    pub fn add_as<V: IntoFlow>(
        &mut self,
        id: HookId,
        priority: Priority,
        mut hook: impl FnMut(&mut C) -> V + 'h,
    ) -> Result<(), PriorityConflict> {
        self.add_boxed_as(id, priority, Box::new(move |call| hook(call).into_flow()))
    }
}

impl<'h, C: ?Sized> SendHooks<'h, C> {
    /// Adds a function after all others of its priority. The function returns a [`Flow`]
    /// or nothing. Returns its new id.
    pub fn add<V: IntoFlow>(
        &mut self,
        priority: Priority,
        mut hook: impl FnMut(&mut C) -> V + Send + 'h,
    ) -> HookId {
        self.add_boxed(priority, Box::new(move |call| hook(call).into_flow()))
    }

    /// Adds a function under a given id. If a hook with this id is in the list, its
    /// reference count is incremented and the new function is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the existing hook has another priority.
    pub fn add_as<V: IntoFlow>(
        &mut self,
        id: HookId,
        priority: Priority,
        mut hook: impl FnMut(&mut C) -> V + Send + 'h,
    ) -> Result<(), PriorityConflict> {
        self.add_boxed_as(id, priority, Box::new(move |call| hook(call).into_flow()))
    }
}

impl<F: ?Sized> Entry<F> {
    fn info(&self) -> HookInfo {
        HookInfo { id: self.id, priority: self.priority, references: self.references }
    }
}

impl<F: ?Sized> Default for HookList<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: ?Sized> fmt::Debug for HookList<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
