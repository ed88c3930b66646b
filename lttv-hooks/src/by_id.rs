//! Hooks for all ids and hooks for some ids, merged before they are called.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::fmt;
use std::ops::ControlFlow;

use crate::flow::{Flow, or_break};
use crate::id::{HookId, HookInfo, Removal};
use crate::priority::{Priority, PriorityConflict};

/// A table of hooks by event id: a main list of hooks for every id, and a list for each
/// id. Both are called as one list, in order of priority.
///
/// Ids are small dense numbers, used as indices into a table. The table holds for each id
/// the flat list of hooks to call; that list is rebuilt only after a change that concerns
/// the id. A hook for several ids has a datum of type `D` for each of them, for example
/// what the program computed about this id in advance. Consecutively added hooks with
/// equal data are called together, as one [run](HookRun).
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

/// An index into the table of hooks.
type Slot = u32;

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

/// The hooks to call for each id.
struct Plans<D> {
    /// The index into `plans` for each id. One more entry at the end serves all larger
    /// ids, so that a look-up clamps the id instead of taking a branch that is hard to
    /// predict.
    numbers: Vec<u32>,
    /// The plan for ids without hooks of their own, then one place for each id, used or
    /// not.
    plans: Vec<Plan<D>>,
    /// A one-word Bloom filter: bit `n` is set if an id that equals `n` modulo 64 may
    /// have hooks.
    id_filter: u64,
}

/// Hooks to be called, in order.
type Plan<D> = Box<[Run<D>]>;

/// The index of the plan for ids without hooks of their own.
const COMMON: u32 = 0;

/// Hooks in neighbouring slots that share a datum.
struct Run<D> {
    begin: Slot,
    end: Slot,
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
            plans: Plans { numbers: vec![COMMON], plans: vec![Box::default()], id_filter: 0 },
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
        HooksAt { plan: self.plans.at(id), hooks: &mut self.hooks }
    }

    /// Returns a view with all lists up to date, for a loop that adds and removes no
    /// hooks. Finding the hooks of an id is then a single table look-up.
    pub fn ready(&mut self) -> ReadyHooks<'_, F, D> {
        self.refresh();
        ReadyHooks {
            plans: &self.plans,
            has_common_hooks: !self.plans.common().is_empty(),
            hooks: &mut self.hooks,
        }
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

impl<D> Plans<D> {
    /// Makes room for this many ids. The number of ids never decreases.
    fn resize(&mut self, ids: usize) {
        self.numbers.resize(ids + 1, COMMON);
        self.plans.resize_with(ids + 1, Box::default);
    }

    fn common(&self) -> &[Run<D>] {
        &self.plans[COMMON as usize]
    }

    fn set_common(&mut self, plan: Plan<D>) {
        self.plans[COMMON as usize] = plan;
    }

    /// Sets the plan of an id below the current size. `None` selects the common plan.
    fn set(&mut self, id: usize, plan: Option<Plan<D>>) {
        self.numbers[id] = if plan.is_some() { id as u32 + 1 } else { COMMON };
        self.plans[id + 1] = plan.unwrap_or_default();
    }

    fn update_id_filter(&mut self) {
        let own = self.numbers.iter().enumerate().filter(|(_, number)| **number != COMMON);
        self.id_filter = match self.common() {
            [] => own.fold(0, |filter, (id, _)| filter | bit_of(id)),
            _ => u64::MAX,
        };
    }

    #[inline(always)]
    fn number(&self, id: usize) -> u32 {
        let last = self.numbers.len().saturating_sub(1);
        self.numbers.get(id.min(last)).copied().unwrap_or(COMMON)
    }

    #[inline(always)]
    fn at(&self, id: usize) -> &[Run<D>] {
        self.of_number(self.number(id))
    }

    #[inline(always)]
    fn of_number(&self, number: u32) -> &[Run<D>] {
        self.plans.get(number as usize).map_or(&[], |plan| plan)
    }
}

/// Returns the bit of the filter that stands for an id.
#[inline(always)]
fn bit_of(id: usize) -> u64 {
    1 << (id % 64)
}

impl<D> Info<D> {
    fn order(&self) -> (Priority, bool, u64) {
        (self.priority, matches!(self.reach, HookTargets::Ids(_)), self.number)
    }

    fn info(&self) -> Option<HookInfo> {
        Some(HookInfo { id: self.id, priority: self.priority, references: self.references })
    }
}

/// A view of a [`HooksById`] for calling hooks many times, from [`HooksById::ready`].
pub struct ReadyHooks<'a, F: ?Sized, D> {
    plans: &'a Plans<D>,
    /// `true` if there are hooks for all ids.
    has_common_hooks: bool,
    hooks: &'a mut [Option<Box<F>>],
}

impl<F: ?Sized, D> ReadyHooks<'_, F, D> {
    /// Returns `false` if there are certainly no hooks for an id. Cheaper than
    /// [`find`](Self::find), so the branch on it resolves earlier when it is
    /// mispredicted. `true` does not mean that there are hooks.
    #[inline(always)]
    pub fn may_have_hooks(&self, id: usize) -> bool {
        self.plans.id_filter & bit_of(id) != 0
    }

    /// Finds the hooks for an id, for use with [`has_hooks`](Self::has_hooks) and
    /// [`at`](Self::at).
    #[inline(always)]
    pub fn find(&self, id: usize) -> HooksFound {
        HooksFound { number: self.plans.number(id) }
    }

    /// Returns `true` if any hooks were found. Equivalent to testing
    /// [`HooksAt::is_empty`], but faster.
    #[inline(always)]
    pub fn has_hooks(&self, found: HooksFound) -> bool {
        self.has_common_hooks || found.number != COMMON
    }

    /// Returns the hooks that were found.
    #[inline(always)]
    pub fn at(&mut self, found: HooksFound) -> HooksAt<'_, F, D> {
        HooksAt { plan: self.plans.of_number(found.number), hooks: self.hooks }
    }
}

/// The location of the hooks for an id, from [`ReadyHooks::find`]. Valid only with the
/// view that returned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HooksFound {
    number: u32,
}

/// The hooks for one id, ready to be called, from [`HooksById::at`].
pub struct HooksAt<'a, F: ?Sized, D> {
    plan: &'a [Run<D>],
    hooks: &'a mut [Option<Box<F>>],
}

impl<'a, F: ?Sized, D> HooksAt<'a, F, D> {
    /// Returns `true` if there are no hooks, so that no call data has to be prepared.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty()
    }

    /// Calls every hook. Returns `Break` if any of them did.
    #[inline]
    pub fn call<C: ?Sized>(&mut self, call: &mut C) -> Flow
    where
        F: FnMut(&mut C) -> Flow,
    {
        self.call_runs(|run, _| run.call_each(|hook| hook(call)))
    }

    /// Calls a function for each run of hooks, with the run and the datum that its hooks
    /// share for this id. Returns `Break` if any of these calls did.
    ///
    /// ```
    /// use lttv_hooks::{Flow, HooksById, Priority, HookTargets};
    ///
    /// let mut hooks: HooksById<dyn FnMut(u32) -> Flow, u32> = HooksById::new();
    /// let mut sum = 0;
    /// for (datum, wanted) in [(10, 12), (10, 12), (20, 22)] {
    ///     let hook = move |number| {
    ///         assert_eq!(number, wanted);
    ///         Flow::Continue(())
    ///     };
    ///     hooks.add(Priority::DEFAULT, HookTargets::All(datum), Box::new(hook));
    /// }
    /// _ = hooks.at(0).call_runs(|run, datum| {
    ///     sum += *datum; // once for the first two
    ///     let number = datum + 2;
    ///     run.call_each(|hook| hook(number))
    /// });
    /// assert_eq!(sum, 30);
    /// ```
    #[inline]
    pub fn call_runs(&mut self, mut call: impl FnMut(HookRun<'_, F>, &'a D) -> Flow) -> Flow {
        // One or two runs are the most frequent case and need no loop. Separate call
        // sites are also predicted better.
        if let [run] = self.plan {
            return self.call_run(run, &mut call);
        }
        if let [first, second] = self.plan {
            let flow = self.call_run(first, &mut call);
            return or_break(flow, self.call_run(second, &mut call));
        }
        let mut flow = ControlFlow::Continue(());
        for run in self.plan {
            flow = or_break(flow, self.call_run(run, &mut call));
        }
        flow
    }

    #[inline(always)]
    fn call_run(
        &mut self,
        run: &'a Run<D>,
        call: &mut impl FnMut(HookRun<'_, F>, &'a D) -> Flow,
    ) -> Flow {
        match self.hooks_of(run) {
            Some(hooks) => call(hooks, &run.data),
            None => ControlFlow::Continue(()),
        }
    }

    #[inline(always)]
    fn hooks_of(&mut self, run: &Run<D>) -> Option<HookRun<'_, F>> {
        let hooks = self.hooks.get_mut(run.begin as usize..run.end as usize)?;
        Some(HookRun { hooks })
    }
}

/// A run of hooks that share a datum, from [`HooksAt::call_runs`].
pub struct HookRun<'a, F: ?Sized> {
    hooks: &'a mut [Option<Box<F>>],
}

impl<F: ?Sized> HookRun<'_, F> {
    /// Calls a function for every hook of the run. Returns `Break` if any of these calls
    /// did.
    #[inline(always)]
    pub fn call_each(self, mut call: impl FnMut(&mut F) -> Flow) -> Flow {
        if let [Some(hook)] = self.hooks {
            return call(hook);
        }
        let mut flow = ControlFlow::Continue(());
        self.hooks.iter_mut().flatten().for_each(|hook| flow = or_break(flow, call(hook)));
        flow
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

impl<F: ?Sized, D> fmt::Debug for ReadyHooks<'_, F, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadyHooks").field("ids", &self.plans.numbers.len()).finish_non_exhaustive()
    }
}

impl<F: ?Sized, D> fmt::Debug for HooksAt<'_, F, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HooksAt").field("runs", &self.plan.len()).finish_non_exhaustive()
    }
}

impl<F: ?Sized> fmt::Debug for HookRun<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookRun").field("hooks", &self.hooks.len()).finish_non_exhaustive()
    }
}
