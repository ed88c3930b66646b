//! The flat lists of hooks to call, by id.

/// An index into the table of hooks.
pub(super) type Slot = u32;

/// The hooks to call for each id.
pub(super) struct Plans<D> {
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
pub(super) type Plan<D> = Box<[Run<D>]>;

/// The index of the plan for ids without hooks of their own.
pub(super) const COMMON: u32 = 0;

/// Hooks in neighbouring slots that share a datum.
pub(super) struct Run<D> {
    pub(super) begin: Slot,
    pub(super) end: Slot,
    pub(super) data: D,
}

impl<D> Plans<D> {
    /// Creates the plans of no ids.
    pub(super) fn new() -> Self {
        Plans { numbers: vec![COMMON], plans: vec![Box::default()], id_filter: 0 }
    }

    /// Makes room for this many ids. The number of ids never decreases.
    pub(super) fn resize(&mut self, ids: usize) {
        self.numbers.resize(ids + 1, COMMON);
        self.plans.resize_with(ids + 1, Box::default);
    }

    pub(super) fn common(&self) -> &[Run<D>] {
        &self.plans[COMMON as usize]
    }

    pub(super) fn set_common(&mut self, plan: Plan<D>) {
        self.plans[COMMON as usize] = plan;
    }

    /// Sets the plan of an id below the current size. `None` selects the common plan.
    pub(super) fn set(&mut self, id: usize, plan: Option<Plan<D>>) {
        self.numbers[id] = if plan.is_some() { id as u32 + 1 } else { COMMON };
        self.plans[id + 1] = plan.unwrap_or_default();
    }

    pub(super) fn update_id_filter(&mut self) {
        let own = self.numbers.iter().enumerate().filter(|(_, number)| **number != COMMON);
        self.id_filter = match self.common() {
            [] => own.fold(0, |filter, (id, _)| filter | bit_of(id)),
            _ => u64::MAX,
        };
    }

    /// Returns the number of ids plus one.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns `false` if there are certainly no hooks for an id.
    #[inline(always)]
    pub(super) fn may_have(&self, id: usize) -> bool {
        self.id_filter & bit_of(id) != 0
    }

    #[inline(always)]
    pub(super) fn number(&self, id: usize) -> u32 {
        let last = self.numbers.len().saturating_sub(1);
        self.numbers.get(id.min(last)).copied().unwrap_or(COMMON)
    }

    #[inline(always)]
    pub(super) fn at(&self, id: usize) -> &[Run<D>] {
        self.of_number(self.number(id))
    }

    #[inline(always)]
    pub(super) fn of_number(&self, number: u32) -> &[Run<D>] {
        self.plans.get(number as usize).map_or(&[], |plan| plan)
    }
}

/// Returns the bit of the filter that stands for an id.
#[inline(always)]
fn bit_of(id: usize) -> u64 {
    1 << (id % 64)
}
