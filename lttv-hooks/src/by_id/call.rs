//! The hooks of one id, and calls of them.

use std::fmt;
use std::ops::ControlFlow;

use super::plans::{COMMON, Plans, Run};
use crate::flow::{Flow, or_break};

/// A view of a [`HooksById`](crate::HooksById) for calling hooks many times, from [`HooksById::ready`](crate::HooksById::ready).
pub struct ReadyHooks<'a, F: ?Sized, D> {
    plans: &'a Plans<D>,
    /// `true` if there are hooks for all ids.
    has_common_hooks: bool,
    hooks: &'a mut [Option<Box<F>>],
}

impl<'a, F: ?Sized, D> ReadyHooks<'a, F, D> {
    pub(super) fn new(plans: &'a Plans<D>, hooks: &'a mut [Option<Box<F>>]) -> Self {
        ReadyHooks { plans, has_common_hooks: !plans.common().is_empty(), hooks }
    }

    /// Returns `false` if there are certainly no hooks for an id. Cheaper than
    /// [`find`](Self::find), so the branch on it resolves earlier when it is
    /// mispredicted. `true` does not mean that there are hooks.
    #[inline(always)]
    pub fn may_have_hooks(&self, id: usize) -> bool {
        self.plans.may_have(id)
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

/// The hooks for one id, ready to be called, from [`HooksById::at`](crate::HooksById::at).
pub struct HooksAt<'a, F: ?Sized, D> {
    plan: &'a [Run<D>],
    hooks: &'a mut [Option<Box<F>>],
}

impl<'a, F: ?Sized, D> HooksAt<'a, F, D> {
    #[inline(always)]
    pub(super) fn new(plan: &'a [Run<D>], hooks: &'a mut [Option<Box<F>>]) -> Self {
        HooksAt { plan, hooks }
    }

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

    /// Calls a function for each hook, with the hook and its datum for this id. Returns
    /// `Break` if any of these calls did.
    ///
    /// ```
    /// use lttv_hooks::{Flow, HookTargets, HooksById, Priority};
    ///
    /// let mut hooks: HooksById<dyn FnMut(u32) -> Flow, u32> = HooksById::new();
    /// for factor in [1, 2] {
    ///     let hook = move |number| {
    ///         assert!(number == 10 * factor || number == 20 * factor);
    ///         Flow::Continue(())
    ///     };
    ///     let targets = HookTargets::Ids(vec![(0, 10 * factor), (1, 20 * factor)]);
    ///     hooks.add(Priority::DEFAULT, targets, Box::new(hook));
    /// }
    /// let mut data = Vec::new();
    /// _ = hooks.at(1).call_each(|hook, datum| {
    ///     data.push(*datum);
    ///     hook(*datum)
    /// });
    /// assert_eq!(data, [20, 40]);
    /// ```
    #[inline]
    pub fn call_each(&mut self, mut call: impl FnMut(&mut F, &'a D) -> Flow) -> Flow {
        self.call_runs(|run, data| run.call_each(|hook| call(hook, data)))
    }

    /// Calls a function for each run of hooks, with the run and the datum that its hooks
    /// share for this id. Hooks with equal data that were added one after the other are a run. Returns `Break` if any of these calls did.
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

impl<F: ?Sized, D> fmt::Debug for ReadyHooks<'_, F, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadyHooks").field("ids", &self.plans.len()).finish_non_exhaustive()
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
