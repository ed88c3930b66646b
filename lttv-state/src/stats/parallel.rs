//! Statistics of whole traces, collected on several threads.

use ltt_read::Timestamp;
use lttv_context::{
    Bounds, EndReason, ReadEnd, SliceAnalysis, SliceThreads, StalePosition, Traceset,
    TracesetContext,
};
use lttv_hooks::Flow;

use super::slices::{InSlices, Part, State};
use super::{Statistics, TraceStatistics};
use crate::kernel::KernelState;

/// The result of [`statistics`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Computed {
    /// The statistics.
    pub statistics: Statistics,
    /// The errors met while reading. They do not depend on the number of threads.
    pub errors: Vec<ltt_read::Error>,
    /// The number of further errors that are not in `errors`, see
    /// [`Merge::errors_omitted`](ltt_read::Merge::errors_omitted).
    pub errors_omitted: u64,
}

/// The result of [`read_statistics`].
#[derive(Debug)]
#[non_exhaustive]
pub struct StatisticsRead {
    /// The statistics: final ones, unless the read was stopped.
    pub statistics: Statistics,
    /// The kernel state after the last event.
    pub kernel: KernelState,
    /// The end of the read.
    pub end: ReadEnd,
}

/// Computes the statistics of a traceset on a number of threads. The result does not depend
/// on that number.
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
    let mut context = TracesetContext::new(traceset);
    let statistics = match threads {
        0 | 1 => {
            let kernel = context.attach(KernelState::new());
            let statistics = Statistics::attach(&mut context, kernel);
            // The bounds contain no position that could be stale.
            let _ = context.read(&Bounds::all());
            statistics.take(context.extensions())
        }
        _ => {
            let threads = SliceThreads::new(threads);
            let go_on = |_: &mut TracesetContext<'_>| Flow::Continue(());
            let read = read_statistics(&mut context, KernelState::new(), threads, go_on);
            read.map(|read| read.statistics).unwrap_or_default()
        }
    };
    let (errors, errors_omitted) = (context.take_errors(), context.errors_omitted());
    Computed { statistics, errors, errors_omitted }
}

/// Computes the statistics of the traces of a context, which is at their start, on several threads.
/// The result does not depend on their number. `kernel` is the state there, such as
/// [`KernelState::new`].
///
/// The calling thread reads the events in slices, the state follows them in order, and threads add
/// up the changes of different slices at the same time. No event is read or followed twice. `passed`
/// is called after each slice of some thousand events, and ends the read by `Break`. Errors and
/// notices are those of the context.
///
/// # Errors
///
/// Returns [`StalePosition`] in the cases of [`TracesetContext::read_analysis`], none of which occurs
/// here.
pub fn read_statistics<'h>(
    context: &mut TracesetContext<'h>,
    kernel: KernelState,
    threads: SliceThreads,
    passed: impl FnMut(&mut TracesetContext<'h>) -> Flow,
) -> Result<StatisticsRead, StalePosition> {
    context.refuse_growth::<Statistics>();
    let (analysis, mut state) = InSlices::new(context.contexts(), kernel);
    let mut part = Part::default();
    let (slice, result) = (analysis.attach(context), (&mut state, &mut part));
    let end = context.read_analysis(&analysis, slice, result, &Bounds::all(), threads, passed)?;
    let is_stopped = end.reason == EndReason::Stopped;
    let (statistics, kernel) = finished(context, &analysis, (state, part), is_stopped);
    Ok(StatisticsRead { statistics, kernel, end })
}

/// Returns the statistics of the slices that a context has read, and the state after them.
pub(crate) fn finished(
    context: &TracesetContext<'_>,
    analysis: &InSlices,
    (state, part): (State, Part),
    is_stopped: bool,
) -> (Statistics, KernelState) {
    let until = is_stopped.then_some(Timestamp::MIN);
    let (collected, kernel) = state.collected(analysis, part, until);
    let traces = context.traceset().traces().iter().zip(collected).zip(kernel.traces());
    let traces = traces.map(|((trace, collected), state)| TraceStatistics {
        trace: Some(trace.clone()),
        collected,
        names: state.shared_names(),
        counters: Default::default(),
    });
    (Statistics { traces: traces.collect() }, kernel)
}
