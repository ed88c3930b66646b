//! Statistics of a whole traceset, collected on several threads.

use lttv_context::{Bounds, Checkpoints, Traceset, TracesetContext};

use super::Statistics;
use super::handle::Start;
use crate::in_slices::{InSlices, in_slices};
use crate::kernel::KernelState;

/// The result of [`statistics`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Computed {
    /// The statistics.
    pub statistics: Statistics,
    /// The checkpoints of the kernel state, if there were several threads.
    pub checkpoints: Option<Checkpoints>,
    /// The errors met while reading. They do not depend on the number of threads.
    pub errors: Vec<ltt_read::Error>,
    /// The number of further errors that are not in `errors`, see
    /// [`Merge::errors_omitted`](ltt_read::Merge::errors_omitted).
    pub errors_omitted: u64,
}

/// Computes the statistics of a traceset on a number of threads. The result does not depend
/// on that number.
///
/// One thread reads the events once and collects. With several threads, a first pass
/// follows the kernel state only and saves checkpoints, from which the threads then collect
/// one slice of time each. This is faster if collecting costs more than following the
/// state, or if the checkpoints, which are returned as well, are needed anyway.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::stats::statistics;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let computed = statistics(&Traceset::open(path)?, 2);
/// assert!(computed.errors.is_empty());
/// let events = computed.statistics.traces()[0].total().events.total();
/// assert_eq!(events, 6087);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn statistics(traceset: &Traceset, threads: usize) -> Computed {
    if threads <= 1 {
        let mut context = TracesetContext::new(traceset);
        let kernel = context.attach(KernelState::new());
        let statistics = Statistics::attach(&mut context, kernel);
        // The bounds contain no position that could be stale.
        let _ = context.read(&Bounds::all());
        return Computed {
            statistics: statistics.take(context.extensions()),
            checkpoints: None,
            errors: context.take_errors(),
            errors_omitted: context.errors_omitted(),
        };
    }
    let attach = |context: &mut TracesetContext<'_>| context.attach(KernelState::new());
    let computed = in_slices(traceset, threads, attach, |context, kernel, times, slice| {
        let start = |trace: usize| Start::Part(times.start(trace));
        let statistics = Statistics::attach_each(context, kernel, start);
        slice.run(context);
        statistics.take_each(context.extensions(), |trace| times.end(trace))
    });
    let InSlices { parts, checkpoints, errors, errors_omitted } = computed;
    let mut parts = parts.into_iter();
    let mut statistics = parts.next().unwrap_or_default();
    parts.for_each(|part| statistics.add(&part));
    Computed { statistics, checkpoints: Some(checkpoints), errors, errors_omitted }
}
