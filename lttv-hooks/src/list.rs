//! One list of hooks.

use std::fmt;
use std::ops::ControlFlow;

use crate::flow::{Flow, Verdict, either};
use crate::id::{HookId, HookInfo, Removal};
use crate::priority::{Priority, PriorityConflict};

/// A list of functions of `&mut C`, ordered by priority. They may borrow what
/// lives longer than the list. See the [crate](crate) for examples.
pub type Hooks<'h, C> = HookList<dyn FnMut(&mut C) -> Flow + 'h>;

/// [`Hooks`] whose functions may be sent to another thread, and the list with
/// them.
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
/// `F` is most often `dyn FnMut(&mut C) -> Flow`, for which there is the short
/// form [`Hooks`].
pub struct HookList<F: ?Sized> {
    entries: Vec<Entry<F>>,
}

struct Entry<F: ?Sized> {
    id: HookId,
    priority: Priority,
    references: u32,
    hook: Box<F>,
}

impl<F: ?Sized> HookList<F> {
    /// An empty list.
    pub const fn new() -> Self {
        HookList { entries: Vec::new() }
    }

    /// How many hooks it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Its hooks in the order of calls.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = HookInfo> + '_ {
        self.entries.iter().map(Entry::info)
    }

    /// Adds a hook behind all of its priority.
    pub fn add_boxed(&mut self, priority: Priority, hook: Box<F>) -> HookId {
        let id = HookId::fresh();
        self.insert(Entry { id, priority, references: 1, hook });
        id
    }

    /// Adds a hook under an id. If one of this id is there already, it gets a
    /// reference more and the new function is dropped.
    ///
    /// # Errors
    ///
    /// If it is there with another priority.
    pub fn add_boxed_as(
        &mut self,
        id: HookId,
        priority: Priority,
        hook: Box<F>,
    ) -> Result<(), PriorityConflict> {
        self.join(Entry { id, priority, references: 1, hook })
    }

    /// Merges another list into this one. Its hooks come behind those of equal
    /// priority. One that is in both gets a reference more, whatever it had there.
    ///
    /// # Errors
    ///
    /// If one that is in both has different priorities; all others are merged
    /// nevertheless.
    pub fn append(&mut self, other: HookList<F>) -> Result<(), PriorityConflict> {
        let mut result = Ok(());
        for entry in other.entries {
            result = result.and(self.join(entry));
        }
        result
    }

    /// Drops a reference of a hook; without others, takes it out of the list.
    pub fn remove(&mut self, id: HookId) -> Removal<Box<F>> {
        let Some(at) = self.find(id) else { return Removal::Absent };
        let entry = &mut self.entries[at];
        entry.references -= 1;
        if entry.references > 0 {
            return Removal::Referenced;
        }
        Removal::Removed(self.entries.remove(at).hook)
    }

    /// Drops a reference of each of several hooks; absent ones are passed over.
    pub fn remove_all(&mut self, ids: impl IntoIterator<Item = HookId>) {
        for id in ids {
            _ = self.remove(id);
        }
    }

    /// Calls every hook. The result is to stop if any said so.
    #[inline]
    pub fn call<C: ?Sized>(&mut self, call: &mut C) -> Flow
    where
        F: FnMut(&mut C) -> Flow,
    {
        let calls = self.entries.iter_mut().map(|entry| (entry.hook)(call));
        calls.fold(ControlFlow::Continue(()), either)
    }

    /// Calls hooks up to the first that says to stop.
    #[inline]
    pub fn call_until_stop<C: ?Sized>(&mut self, call: &mut C) -> Flow
    where
        F: FnMut(&mut C) -> Flow,
    {
        self.entries.iter_mut().try_for_each(|entry| (entry.hook)(call))
    }

    /// Priority and function of the hook at a place in the order of calls.
    pub(crate) fn at(&mut self, index: usize) -> Option<(Priority, &mut F)> {
        self.entries.get_mut(index).map(|entry| (entry.priority, &mut *entry.hook))
    }

    fn find(&self, id: HookId) -> Option<usize> {
        self.entries.iter().position(|entry| entry.id == id)
    }

    fn insert(&mut self, entry: Entry<F>) {
        let at = self.entries.partition_point(|before| before.priority <= entry.priority);
        self.entries.insert(at, entry);
    }

    /// Adds an entry, or a reference to the one that is there.
    fn join(&mut self, entry: Entry<F>) -> Result<(), PriorityConflict> {
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
    /// Adds a function behind all of its priority. It returns a [`Flow`] or
    /// nothing.
    pub fn add<V: Verdict>(
        &mut self,
        priority: Priority,
        mut hook: impl FnMut(&mut C) -> V + 'h,
    ) -> HookId {
        self.add_boxed(priority, Box::new(move |call| hook(call).flow()))
    }

    /// Adds a function under an id: as [`add_boxed_as`](HookList::add_boxed_as).
    ///
    /// # Errors
    ///
    /// If it is there with another priority.
    pub fn add_as<V: Verdict>(
        &mut self,
        id: HookId,
        priority: Priority,
        mut hook: impl FnMut(&mut C) -> V + 'h,
    ) -> Result<(), PriorityConflict> {
        self.add_boxed_as(id, priority, Box::new(move |call| hook(call).flow()))
    }
}

impl<'h, C: ?Sized> SendHooks<'h, C> {
    /// Adds a function behind all of its priority. It returns a [`Flow`] or
    /// nothing.
    pub fn add<V: Verdict>(
        &mut self,
        priority: Priority,
        mut hook: impl FnMut(&mut C) -> V + Send + 'h,
    ) -> HookId {
        self.add_boxed(priority, Box::new(move |call| hook(call).flow()))
    }

    /// Adds a function under an id: as [`add_boxed_as`](HookList::add_boxed_as).
    ///
    /// # Errors
    ///
    /// If it is there with another priority.
    pub fn add_as<V: Verdict>(
        &mut self,
        id: HookId,
        priority: Priority,
        mut hook: impl FnMut(&mut C) -> V + Send + 'h,
    ) -> Result<(), PriorityConflict> {
        self.add_boxed_as(id, priority, Box::new(move |call| hook(call).flow()))
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
