//! Statistics of a whole traceset, on several threads.

use lttv_context::{Bounds, Checkpoints, Parallel, Saving, Traceset, TracesetContext};

use super::Statistics;
use crate::kernel::KernelState;

/// The statistics of a traceset, collected by a number of threads: the same for any
/// number.
///
/// One thread reads once, and collects. With more, a first pass follows the state
/// alone and saves checkpoints, from which each slice of time then starts. That
/// pays when the collecting costs more than the state does, or when checkpoints are
/// wanted anyway: they are given back.
pub fn statistics(traceset: &Traceset, threads: usize) -> (Statistics, Option<Checkpoints>) {
    if threads <= 1 {
        let mut context = TracesetContext::new(traceset);
        let kernel = context.attach(KernelState::new());
        let statistics = Statistics::attach(&mut context, kernel);
        let _ = context.middle(&Bounds::all());
        return (Statistics::take(&mut context, statistics, kernel), None);
    }
    let mut first = TracesetContext::new(traceset);
    first.attach(KernelState::new());
    first.save_checkpoints(Saving::default());
    let _ = first.replay(&Bounds::all());
    let checkpoints = first.checkpoints().clone();
    drop(first);
    let parts = Parallel::new(traceset).threads(threads).run(|slice| {
        let mut context = slice.context();
        let kernel = context.attach(KernelState::new());
        context.set_checkpoints(checkpoints.clone());
        context.seek_time_with_state(slice.begin());
        let statistics = Statistics::attach_at(&mut context, kernel, slice.begin());
        slice.read(&mut context);
        Statistics::take_until(&mut context, statistics, kernel, slice.end())
    });
    let mut parts = parts.results.into_iter();
    let mut all = parts.next().unwrap_or_default();
    parts.for_each(|part| all.add(&part));
    (all, Some(checkpoints))
}
