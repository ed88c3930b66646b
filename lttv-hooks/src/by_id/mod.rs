//! Hooks for all ids and hooks for some ids, merged before they are called.

mod call;
mod plans;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::fmt;

use crate::id::{HookId, HookInfo, Removal};
use crate::priority::{Priority, PriorityConflict};

pub use call::{HookRun, HooksAt, HooksFound, ReadyHooks};
use plans::{Plan, Plans, Run, Slot};

/// A table of hooks by event id: a main list of hooks for every id, and a list for each
/// id. Both are called as one list, in order of priority.
///
/// Ids are small dense numbers, used as indices into a table. The table holds for each id
/// the flat list of hooks to call; that list is rebuilt only after a change that concerns
/// the id. A hook for several ids has a datum of type `D` for each of them, for example
/// what the program computed about this id in advance. It is passed to
/// [`HooksAt::call_each`].
///
/// ```
/// use lttv_hooks::{Flow, HooksById, Priority, HookTargets};
/// use std::ops::ControlFlow;
///
/// let mut hooks: HooksById<dyn FnMut(&mut Vec<&'static str>) -> Flow> = HooksById::new();
/// let note = |text| -> Box<dyn FnMut(&mut Vec<&'static str>) -> Flow> {
///     Box::new(move |notes| {
///         notes.push(text);
///         ControlFlow::Continue(())
///     })
/// };
/// hooks.add(Priority::DEFAULT, HookTargets::ids([2, 5]), note("2 or 5"));
/// hooks.add(Priority::DEFAULT, HookTargets::All(()), note("all"));
/// hooks.add(Priority::STATE, HookTargets::ids([5]), note("5"));
/// let mut notes = Vec::new();
/// for id in [4, 5] {
///     _ = hooks.at(id).call(&mut notes);
/// }
/// assert_eq!(notes, ["all", "5", "all", "2 or 5"]);
/// ```
pub struct HooksById<F: ?Sized, D = ()> {
    /// The functions; `None` marks a free slot.
    hooks: Vec<Option<Box<F>>>,
    /// The identity, priority and ids of each hook, by slot.
    infos: Vec<Option<Info<D>>>,
    /// Free slots, lowest first, so that hooks added one after the other are in
    /// neighbouring slots.
    free: BinaryHeap<Reverse<Slot>>,
    by_identity: HashMap<HookId, Slot>,
    /// The number of the last added hook; orders hooks of equal priority.
    last_number: u64,
    /// Hooks for all ids.
    for_all_ids: Registrations<D>,
    /// Hooks registered for particular ids, by id.
    for_id: Vec<Registrations<D>>,
    plans: Plans<D>,
    stale: Stale,
}

/// The ids for which a hook is called, with a datum for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookTargets<D = ()> {
    /// Every id. The hook is in the main list.
    All(D),
    /// Particular ids, as part of the main list. The hook is called before hooks in
    /// [`HookTargets::Ids`] of the same priority.
    Main(Vec<(usize, D)>),
    /// Particular ids. The hook is called after hooks in [`HookTargets::All`] and [`HookTargets::Main`]
    /// of the same priority.
    Ids(Vec<(usize, D)>),
}

impl HookTargets {
    /// Creates a [`HookTargets::Ids`] without data.
    pub fn ids(ids: impl IntoIterator<Item = usize>) -> HookTargets {
        HookTargets::Ids(ids.into_iter().map(|id| (id, ())).collect())
    }
}

/// The properties of a hook.
struct Info<D> {
    id: HookId,
    priority: Priority,
    references: u32,
    /// The place in the order of additions.
    number: u64,
    reach: HookTargets<D>,
}

/// Hooks by number, in the order in which they were added. A map, so that removing one
/// takes logarithmic time.
type Registrations<D> = BTreeMap<u64, Registration<D>>;

/// A hook that is registered for an id, with its datum.
struct Registration<D> {
    slot: Slot,
    data: D,
}

/// The ids whose plans have to be rebuilt.
enum Stale {
    None,
    Ids(Vec<usize>),
    All,
}

impl<F: ?Sized, D: Clone + PartialEq> HooksById<F, D> {
    /// Creates a table without hooks.
    pub fn new() -> Self {
        HooksById {
            hooks: Vec::new(),
            infos: Vec::new(),
            free: BinaryHeap::new(),
            by_identity: HashMap::new(),
            last_number: 0,
            for_all_ids: Registrations::new(),
            for_id: Vec::new(),
            plans: Plans::new(),
            stale: Stale::None,
        }
    }

    /// Returns the number of hooks.
    pub fn len(&self) -> usize {
        self.by_identity.len()
    }

    /// Returns `true` if there are no hooks.
    pub fn is_empty(&self) -> bool {
        self.by_identity.is_empty()
    }

    /// Adds a hook after all others of the same priority and kind of list.
    pub fn add(&mut self, priority: Priority, reach: HookTargets<D>, hook: Box<F>) -> HookId {
        let id = HookId::unique();
        self.insert(id, priority, reach, hook);
        id
    }

    /// Adds a hook under a given id. If a hook with this id exists, its reference count
    /// is incremented; the new function and its reach are dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the existing hook has another priority.
    pub fn add_as(
        &mut self,
        id: HookId,
        priority: Priority,
        reach: HookTargets<D>,
        hook: Box<F>,
    ) -> Result<(), PriorityConflict> {
        let Some(slot) = self.by_identity.get(&id) else {
            self.insert(id, priority, reach, hook);
            return Ok(());
        };
        let Some(info) = self.infos[*slot as usize].as_mut() else { return Ok(()) };
        if info.priority != priority {
            return Err(PriorityConflict { is: info.priority, wanted: priority });
        }
        info.references += 1;
        Ok(())
    }

    /// Removes one reference to a hook. Removes the hook from all lists if that was the
    /// last reference.
    pub fn remove(&mut self, id: HookId) -> Removal<Box<F>> {
        let Some(slot) = self.by_identity.get(&id).copied() else { return Removal::Absent };
        if let Some(info) = self.infos[slot as usize].as_mut() {
            info.references -= 1;
            if info.references > 0 {
                return Removal::Referenced;
            }
        }
        self.by_identity.remove(&id);
        if let Some(info) = self.infos[slot as usize].take() {
            self.unregister(info.number, &info.reach);
        }
        self.free.push(Reverse(slot));
        self.hooks[slot as usize].take().map_or(Removal::Absent, Removal::Removed)
    }

    /// Sets the ids for which a hook is called, and nothing else. Returns `false` if
    /// there is no hook with this identity.
    pub fn set_targets(&mut self, id: HookId, reach: HookTargets<D>) -> bool {
        let Some(slot) = self.by_identity.get(&id).copied() else { return false };
        if let Some(mut info) = self.infos[slot as usize].take() {
            self.unregister(info.number, &info.reach);
            info.reach = reach;
            self.register(slot, info.number, &info.reach);
            self.infos[slot as usize] = Some(info);
        }
        true
    }

    /// Returns the hooks for an id.
    #[inline]
    pub fn at(&mut self, id: usize) -> HooksAt<'_, F, D> {
        if !matches!(self.stale, Stale::None) {
            self.refresh();
        }
        HooksAt::new(self.plans.at(id), &mut self.hooks)
    }

    /// Returns a view with all lists up to date, for a loop that adds and removes no
    /// hooks. Finding the hooks of an id is then a single table look-up.
    pub fn ready(&mut self) -> ReadyHooks<'_, F, D> {
        self.refresh();
        ReadyHooks::new(&self.plans, &mut self.hooks)
    }

    /// Returns information about the hooks for an id, in the order of calls.
    pub fn list_at(&mut self, id: usize) -> Vec<HookInfo> {
        self.refresh();
        let slots = self.plans.at(id).iter().flat_map(|run| run.begin..run.end);
        slots.filter_map(|slot| self.infos[slot as usize].as_ref()?.info()).collect()
    }

    fn insert(&mut self, id: HookId, priority: Priority, reach: HookTargets<D>, hook: Box<F>) {
        let free = self.free.pop().map(|Reverse(slot)| slot);
        let slot = free.unwrap_or_else(|| {
            self.hooks.push(None);
            self.infos.push(None);
            self.hooks.len() as Slot - 1
        });
        self.last_number += 1;
        let number = self.last_number;
        self.register(slot, number, &reach);
        self.by_identity.insert(id, slot);
        self.hooks[slot as usize] = Some(hook);
        self.infos[slot as usize] = Some(Info { id, priority, references: 1, number, reach });
    }

    fn register(&mut self, slot: Slot, number: u64, reach: &HookTargets<D>) {
        let registration = |data: &D| Registration { slot, data: data.clone() };
        match reach {
            HookTargets::All(data) => _ = self.for_all_ids.insert(number, registration(data)),
            HookTargets::Main(ids) | HookTargets::Ids(ids) => {
                for (id, data) in ids {
                    if *id >= self.for_id.len() {
                        self.for_id.resize_with(id + 1, Registrations::new);
                    }
                    // An id that the hook names twice counts once.
                    self.for_id[*id].entry(number).or_insert_with(|| registration(data));
                }
            }
        }
        self.mark_stale(reach);
    }

    fn unregister(&mut self, number: u64, reach: &HookTargets<D>) {
        match reach {
            HookTargets::All(_) => _ = self.for_all_ids.remove(&number),
            HookTargets::Main(ids) | HookTargets::Ids(ids) => {
                ids.iter().for_each(|(id, _)| _ = self.for_id[*id].remove(&number));
            }
        }
        self.mark_stale(reach);
    }

    fn mark_stale(&mut self, reach: &HookTargets<D>) {
        let ids = match reach {
            HookTargets::All(_) => {
                self.stale = Stale::All;
                return;
            }
            HookTargets::Main(ids) | HookTargets::Ids(ids) => ids.iter().map(|(id, _)| *id),
        };
        match &mut self.stale {
            Stale::None => self.stale = Stale::Ids(ids.collect()),
            Stale::Ids(stale) => stale.extend(ids),
            Stale::All => {}
        }
    }

    /// Rebuilds the plans that are out of date.
    #[cold]
    #[inline(never)]
    fn refresh(&mut self) {
        let ids = self.for_id.len();
        self.plans.resize(ids);
        let mut stale = match std::mem::replace(&mut self.stale, Stale::None) {
            Stale::None => return,
            Stale::Ids(ids) => ids,
            Stale::All => (0..ids).collect(),
        };
        stale.sort_unstable();
        stale.dedup();
        self.plans.set_common(self.plan(&Registrations::new()));
        for id in stale {
            let for_id = self.for_id.get(id).filter(|for_id| !for_id.is_empty());
            self.plans.set(id, for_id.map(|for_id| self.plan(for_id)));
        }
        self.plans.update_id_filter();
    }

    /// Builds the plan of an id, given the hooks registered for it in particular.
    fn plan(&self, for_id: &Registrations<D>) -> Plan<D> {
        let mut registered: Vec<_> = self.for_all_ids.values().chain(for_id.values()).collect();
        registered.sort_by_key(|registration| {
            self.infos[registration.slot as usize].as_ref().map(Info::order)
        });
        let runs = registered.chunk_by(|a, b| a.slot + 1 == b.slot && a.data == b.data);
        let run = |registered: &[&Registration<D>]| {
            let (first, last) = (registered.first()?, registered.last()?);
            Some(Run { begin: first.slot, end: last.slot + 1, data: first.data.clone() })
        };
        runs.filter_map(run).collect()
    }
}

impl<D> Info<D> {
    fn order(&self) -> (Priority, bool, u64) {
        (self.priority, matches!(self.reach, HookTargets::Ids(_)), self.number)
    }

    fn info(&self) -> Option<HookInfo> {
        Some(HookInfo { id: self.id, priority: self.priority, references: self.references })
    }
}

impl<F: ?Sized, D: Clone + PartialEq> Default for HooksById<F, D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: ?Sized, D> fmt::Debug for HooksById<F, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let infos = self.infos.iter().flatten().filter_map(Info::info);
        f.debug_list().entries(infos).finish()
    }
}
