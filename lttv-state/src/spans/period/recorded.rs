//! Periods that hooks of the context that reads find, for the analysis that follows.

use std::mem::take;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lttv_context::{Extension, Handle, Setup};

use super::definition::Periods;
use super::rules::{Found, install};
use crate::kernel::KernelState;

/// The periods that the event which is delivered begins or ends, until they are recorded.
#[derive(Debug, Clone, Default)]
pub(crate) struct PendingPeriods(Arc<Pending>);

#[derive(Debug, Default)]
struct Pending {
    has_some: AtomicBool,
    found: Mutex<Vec<Found>>,
}

impl PendingPeriods {
    fn put(&self, found: Vec<Found>) {
        *self.0.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
        self.0.has_some.store(true, Ordering::Relaxed);
    }

    /// Takes the periods, if there are any.
    #[inline]
    pub(crate) fn take(&self) -> Option<Vec<Found>> {
        if !self.0.has_some.load(Ordering::Relaxed) {
            return None;
        }
        self.0.has_some.store(false, Ordering::Relaxed);
        Some(take(&mut *self.0.found.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// An extension whose hooks find periods.
#[derive(Debug)]
pub(crate) struct PeriodHooks {
    pub(crate) kernel: Handle<KernelState>,
    pub(crate) periods: Periods,
    pub(crate) pending: PendingPeriods,
}

impl Extension for PeriodHooks {
    type Checkpoint = ();

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let PeriodHooks { kernel, periods, pending } = &setup.extensions[handle];
        let (kernel, periods, pending) = (*kernel, periods.clone(), pending.clone());
        install(kernel, &periods, setup, move |_, found| pending.put(found));
    }

    fn reset(&mut self) {}

    fn save(&self) {}

    fn restore(&mut self, (): &()) {}

    fn checkpoint_bytes(_: &(), _: Option<&()>) -> usize {
        0
    }
}

/// The periods of the events of a slice, in order.
#[derive(Debug, Default)]
pub(crate) struct RecordedPeriods {
    /// Each with the [place](place) of its event, and its trace.
    found: Vec<(usize, usize, Found)>,
    applied: usize,
}

/// Returns the place of the periods of an event: `number` is that of the next change of the state, which
/// the event is itself or which follows it.
fn place(number: usize, is_change: bool) -> usize {
    2 * number + usize::from(is_change)
}

impl RecordedPeriods {
    /// Records the periods of an event of a trace, at the change with a number or before it.
    pub(crate) fn push(
        &mut self,
        (number, is_change): (usize, bool),
        trace: usize,
        found: Vec<Found>,
    ) {
        let place = place(number, is_change);
        self.found.extend(found.into_iter().map(|found| (place, trace, found)));
    }

    /// Calls a function with the trace and the periods that have not been applied up to the change with a
    /// number, with or without those of the change itself.
    #[inline]
    pub(crate) fn apply_until(
        &mut self,
        (number, is_change): (usize, bool),
        mut apply: impl FnMut(usize, &Found),
    ) {
        let until = place(number, is_change);
        while let Some((_, trace, found)) = self.found.get(self.applied).filter(|of| of.0 <= until)
        {
            apply(*trace, found);
            self.applied += 1;
        }
    }

    /// Removes all periods and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.found.clear();
        self.applied = 0;
    }
}
