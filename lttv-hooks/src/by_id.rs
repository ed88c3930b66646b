//! Hooks for everything and hooks for some ids, merged ahead of calls.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::fmt;
use std::ops::ControlFlow;

use crate::flow::{Flow, either};
use crate::id::{HookId, HookInfo, Removal};
use crate::priority::{Priority, PriorityConflict};

/// A main list of hooks, called for every id, and a list for each id, called as
/// one.
///
/// Ids are small dense numbers: they are indices into a table. For each there is
/// one flat list of the hooks to call, in order; it is made anew only after a
/// change that concerns it. A hook may be for many ids, and has then a datum `D`
/// for each, such as what was found out about that id in advance. Hooks that were
/// added one after the other with equal data are called as one [run](HookRun).
///
/// ```
/// use lttv_hooks::{Flow, HooksById, Priority, Reach};
/// use std::ops::ControlFlow;
///
/// let mut hooks: HooksById<dyn FnMut(&mut Vec<&'static str>) -> Flow> = HooksById::new();
/// let note = |text| -> Box<dyn FnMut(&mut Vec<&'static str>) -> Flow> {
///     Box::new(move |notes| {
///         notes.push(text);
///         ControlFlow::Continue(())
///     })
/// };
/// hooks.add(Priority::DEFAULT, Reach::ids([2, 5]), note("2 or 5"));
/// hooks.add(Priority::DEFAULT, Reach::All(()), note("all"));
/// hooks.add(Priority::STATE, Reach::ids([5]), note("5"));
/// let mut notes = Vec::new();
/// for id in [4, 5] {
///     _ = hooks.at(id).call(&mut notes);
/// }
/// assert_eq!(notes, ["all", "5", "all", "2 or 5"]);
/// ```
pub struct HooksById<F: ?Sized, D = ()> {
    /// The functions; `None` where a slot is free.
    hooks: Vec<Option<Box<F>>>,
    /// What else is known of them, by the same index.
    infos: Vec<Option<Info<D>>>,
    /// The least is taken first: so hooks that come one after the other are
    /// neighbours.
    free: BinaryHeap<Reverse<Slot>>,
    by_identity: HashMap<HookId, Slot>,
    /// For the order among equals.
    added: u64,
    /// Hooks for all ids.
    everywhere: Steps<D>,
    /// For each id, hooks that are for it in particular.
    listed: Vec<Steps<D>>,
    plans: Plans<D>,
    stale: Stale,
}

/// For which ids a hook is called, with what datum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach<D = ()> {
    /// It is in the main list: called for every id.
    All(D),
    /// It is in the main list, but only for these ids: called before hooks
    /// by id of the same priority.
    Main(Vec<(usize, D)>),
    /// By id: called for these, after hooks of the main list of the same priority.
    Ids(Vec<(usize, D)>),
}

impl Reach {
    /// By id, without data.
    pub fn ids(ids: impl IntoIterator<Item = usize>) -> Reach {
        Reach::Ids(ids.into_iter().map(|id| (id, ())).collect())
    }
}

/// Index of a hook.
type Slot = u32;

struct Info<D> {
    id: HookId,
    priority: Priority,
    references: u32,
    number: u64,
    reach: Reach<D>,
}

/// Hooks by their numbers, that is in the order in which they were added: so one is taken
/// out in a short time, however many there are.
type Steps<D> = BTreeMap<u64, Step<D>>;

struct Step<D> {
    slot: Slot,
    data: D,
}

/// What to call for each id.
struct Plans<D> {
    /// Which plan is that of each id, and at the end that of all ids beyond: so nobody
    /// needs to ask whether an id is in the table, which is hard to predict.
    numbers: Vec<u32>,
    /// First the one for ids without hooks of their own, then one for each id, in use or
    /// not.
    plans: Vec<Plan<D>>,
    /// A bit for all ids that are the same in their last bits: whether one of them may have
    /// hooks.
    heard: u64,
}

/// Hooks to be called, in order.
type Plan<D> = Box<[Run<D>]>;

/// The number of the plan for ids without hooks of their own.
const COMMON: u32 = 0;

/// Hooks in neighbouring slots, to be called with the same datum.
struct Run<D> {
    begin: Slot,
    end: Slot,
    data: D,
}

/// Which plans do not fit the lists any more.
enum Stale {
    None,
    Ids(Vec<usize>),
    All,
}

impl<F: ?Sized, D: Clone + PartialEq> HooksById<F, D> {
    /// No hooks.
    pub fn new() -> Self {
        HooksById {
            hooks: Vec::new(),
            infos: Vec::new(),
            free: BinaryHeap::new(),
            by_identity: HashMap::new(),
            added: 0,
            everywhere: Steps::new(),
            listed: Vec::new(),
            plans: Plans { numbers: vec![COMMON], plans: vec![Box::default()], heard: 0 },
            stale: Stale::None,
        }
    }

    /// How many hooks there are.
    pub fn len(&self) -> usize {
        self.by_identity.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_identity.is_empty()
    }

    /// Adds a hook behind all that are equal in priority and kind of list.
    pub fn add(&mut self, priority: Priority, reach: Reach<D>, hook: Box<F>) -> HookId {
        let id = HookId::fresh();
        self.insert(id, priority, reach, hook);
        id
    }

    /// Adds a hook under an id. If one of this id is there already, it gets a
    /// reference more; the new function and its reach are dropped.
    ///
    /// # Errors
    ///
    /// If it is there with another priority.
    pub fn add_as(
        &mut self,
        id: HookId,
        priority: Priority,
        reach: Reach<D>,
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

    /// Drops a reference of a hook; without others, takes it out of all lists.
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
            self.unlist(info.number, &info.reach);
        }
        self.free.push(Reverse(slot));
        self.hooks[slot as usize].take().map_or(Removal::Absent, Removal::Removed)
    }

    /// Changes for which ids a hook is called; nothing else. False if there is
    /// none of this identity.
    pub fn set_reach(&mut self, id: HookId, reach: Reach<D>) -> bool {
        let Some(slot) = self.by_identity.get(&id).copied() else { return false };
        if let Some(mut info) = self.infos[slot as usize].take() {
            self.unlist(info.number, &info.reach);
            info.reach = reach;
            self.list(slot, info.number, &info.reach);
            self.infos[slot as usize] = Some(info);
        }
        true
    }

    /// The hooks for an id.
    #[inline]
    pub fn at(&mut self, id: usize) -> HooksAt<'_, F, D> {
        if !matches!(self.stale, Stale::None) {
            self.refresh();
        }
        HooksAt { plan: self.plans.at(id), hooks: &mut self.hooks }
    }

    /// All lists made ready, for a loop in which nothing is added or removed: to
    /// find those of an id is a look-up then and nothing else.
    pub fn ready(&mut self) -> ReadyHooks<'_, F, D> {
        self.refresh();
        ReadyHooks {
            plans: &self.plans,
            all_are_heard: !self.plans.common().is_empty(),
            hooks: &mut self.hooks,
        }
    }

    /// The hooks for an id, in the order of calls.
    pub fn list_at(&mut self, id: usize) -> Vec<HookInfo> {
        self.refresh();
        let slots = self.plans.at(id).iter().flat_map(|run| run.begin..run.end);
        slots.filter_map(|slot| self.infos[slot as usize].as_ref()?.public()).collect()
    }

    fn insert(&mut self, id: HookId, priority: Priority, reach: Reach<D>, hook: Box<F>) {
        let free = self.free.pop().map(|Reverse(slot)| slot);
        let slot = free.unwrap_or_else(|| {
            self.hooks.push(None);
            self.infos.push(None);
            self.hooks.len() as Slot - 1
        });
        self.added += 1;
        let number = self.added;
        self.list(slot, number, &reach);
        self.by_identity.insert(id, slot);
        self.hooks[slot as usize] = Some(hook);
        self.infos[slot as usize] = Some(Info { id, priority, references: 1, number, reach });
    }

    fn list(&mut self, slot: Slot, number: u64, reach: &Reach<D>) {
        let step = |data: &D| Step { slot, data: data.clone() };
        match reach {
            Reach::All(data) => _ = self.everywhere.insert(number, step(data)),
            Reach::Main(ids) | Reach::Ids(ids) => {
                for (id, data) in ids {
                    if *id >= self.listed.len() {
                        self.listed.resize_with(id + 1, Steps::new);
                    }
                    // An id that a hook names twice counts once.
                    self.listed[*id].entry(number).or_insert_with(|| step(data));
                }
            }
        }
        self.mark_stale(reach);
    }

    fn unlist(&mut self, number: u64, reach: &Reach<D>) {
        match reach {
            Reach::All(_) => _ = self.everywhere.remove(&number),
            Reach::Main(ids) | Reach::Ids(ids) => {
                ids.iter().for_each(|(id, _)| _ = self.listed[*id].remove(&number));
            }
        }
        self.mark_stale(reach);
    }

    fn mark_stale(&mut self, reach: &Reach<D>) {
        let ids = match reach {
            Reach::All(_) => {
                self.stale = Stale::All;
                return;
            }
            Reach::Main(ids) | Reach::Ids(ids) => ids.iter().map(|(id, _)| *id),
        };
        match &mut self.stale {
            Stale::None => self.stale = Stale::Ids(ids.collect()),
            Stale::Ids(stale) => stale.extend(ids),
            Stale::All => {}
        }
    }

    /// Makes the plans anew that do not fit.
    #[cold]
    #[inline(never)]
    fn refresh(&mut self) {
        let ids = self.listed.len();
        self.plans.resize(ids);
        let mut stale = match std::mem::replace(&mut self.stale, Stale::None) {
            Stale::None => return,
            Stale::Ids(ids) => ids,
            Stale::All => (0..ids).collect(),
        };
        stale.sort_unstable();
        stale.dedup();
        self.plans.set_common(self.plan(&Steps::new()));
        for id in stale {
            let listed = self.listed.get(id).filter(|listed| !listed.is_empty());
            self.plans.set(id, listed.map(|listed| self.plan(listed)));
        }
        self.plans.note_heard();
    }

    /// All hooks for an id, given those that are for it in particular.
    fn plan(&self, listed: &Steps<D>) -> Plan<D> {
        let mut steps: Vec<_> = self.everywhere.values().chain(listed.values()).collect();
        steps.sort_by_key(|step| self.infos[step.slot as usize].as_ref().map(Info::order));
        let runs = steps.chunk_by(|a, b| a.slot + 1 == b.slot && a.data == b.data);
        let run = |steps: &[&Step<D>]| {
            let (first, last) = (steps.first()?, steps.last()?);
            Some(Run { begin: first.slot, end: last.slot + 1, data: first.data.clone() })
        };
        runs.filter_map(run).collect()
    }
}

impl<D> Plans<D> {
    /// Makes room for so many ids. There are never fewer.
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

    /// Sets the plan of an id that there is room for; without one it has the common one.
    fn set(&mut self, id: usize, plan: Option<Plan<D>>) {
        self.numbers[id] = if plan.is_some() { id as u32 + 1 } else { COMMON };
        self.plans[id + 1] = plan.unwrap_or_default();
    }

    fn note_heard(&mut self) {
        let own = self.numbers.iter().enumerate().filter(|(_, number)| **number != COMMON);
        self.heard = match self.common() {
            [] => own.fold(0, |heard, (id, _)| heard | bit_of(id)),
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

/// Which bit tells of an id.
#[inline(always)]
fn bit_of(id: usize) -> u64 {
    1 << (id % 64)
}

impl<D> Info<D> {
    fn order(&self) -> (Priority, bool, u64) {
        (self.priority, matches!(self.reach, Reach::Ids(_)), self.number)
    }

    fn public(&self) -> Option<HookInfo> {
        Some(HookInfo { id: self.id, priority: self.priority, references: self.references })
    }
}

/// All hooks, to be called many times. See [`HooksById::ready`].
pub struct ReadyHooks<'a, F: ?Sized, D> {
    plans: &'a Plans<D>,
    /// There are hooks for all ids.
    all_are_heard: bool,
    hooks: &'a mut [Option<Box<F>>],
}

impl<F: ?Sized, D> ReadyHooks<'_, F, D> {
    /// Whether there may be hooks for an id: false for most that have none, and told sooner
    /// than by finding them. So a processor that has taken the wrong way notices sooner.
    #[inline(always)]
    pub fn may_be_heard(&self, id: usize) -> bool {
        self.plans.heard & bit_of(id) != 0
    }

    /// Finds the hooks for an id, once for all that is asked of them.
    #[inline(always)]
    pub fn find(&self, id: usize) -> HooksFound {
        HooksFound { number: self.plans.number(id) }
    }

    /// Whether there are any: the same as asking those [`at`](Self::at) it, but faster.
    #[inline(always)]
    pub fn is_heard(&self, found: HooksFound) -> bool {
        self.all_are_heard || found.number != COMMON
    }

    /// The hooks that were found.
    #[inline(always)]
    pub fn at(&mut self, found: HooksFound) -> HooksAt<'_, F, D> {
        HooksAt { plan: self.plans.of_number(found.number), hooks: self.hooks }
    }
}

/// Where the hooks for an id are. See [`ReadyHooks::find`]; it means nothing to others
/// than those that it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HooksFound {
    number: u32,
}

/// The hooks for one id, ready to be called. See [`HooksById::at`].
pub struct HooksAt<'a, F: ?Sized, D> {
    plan: &'a [Run<D>],
    hooks: &'a mut [Option<Box<F>>],
}

impl<'a, F: ?Sized, D> HooksAt<'a, F, D> {
    /// Whether there are none: then nothing needs to be prepared for them.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty()
    }

    /// Calls every hook. The result is to stop if any said so.
    #[inline]
    pub fn call<C: ?Sized>(&mut self, call: &mut C) -> Flow
    where
        F: FnMut(&mut C) -> Flow,
    {
        self.call_runs(|run, _| run.call_each(|hook| hook(call)))
    }

    /// Has a function call every run of hooks, given the datum that they have in
    /// common for this id. The result is to stop if any said so.
    ///
    /// ```
    /// use lttv_hooks::{Flow, HooksById, Priority, Reach};
    ///
    /// let mut hooks: HooksById<dyn FnMut(u32) -> Flow, u32> = HooksById::new();
    /// let mut sum = 0;
    /// for (datum, wanted) in [(10, 12), (10, 12), (20, 22)] {
    ///     let hook = move |number| {
    ///         assert_eq!(number, wanted);
    ///         Flow::Continue(())
    ///     };
    ///     hooks.add(Priority::DEFAULT, Reach::All(datum), Box::new(hook));
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
        // Most often there are one or two runs, which need not pay for a loop. (And the
        // processor predicts a call better that has a place of its own.)
        if let [run] = self.plan {
            return self.call_run(run, &mut call);
        }
        if let [first, second] = self.plan {
            let flow = self.call_run(first, &mut call);
            return either(flow, self.call_run(second, &mut call));
        }
        let mut flow = ControlFlow::Continue(());
        for run in self.plan {
            flow = either(flow, self.call_run(run, &mut call));
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

/// Hooks to be called one after the other with the same datum. See
/// [`HooksAt::call_runs`].
pub struct HookRun<'a, F: ?Sized> {
    hooks: &'a mut [Option<Box<F>>],
}

impl<F: ?Sized> HookRun<'_, F> {
    /// Has a function call every hook. The result is to stop if any said so.
    #[inline(always)]
    pub fn call_each(self, mut call: impl FnMut(&mut F) -> Flow) -> Flow {
        if let [Some(hook)] = self.hooks {
            return call(hook);
        }
        let mut flow = ControlFlow::Continue(());
        self.hooks.iter_mut().flatten().for_each(|hook| flow = either(flow, call(hook)));
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
        let infos = self.infos.iter().flatten().filter_map(Info::public);
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
