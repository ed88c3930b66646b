//! Latencies of whole traces, collected on several threads.

use lttv_context::{
    Bounds, EndReason, ReadEnd, SliceAnalysis, SliceThreads, StalePosition, Traceset,
    TracesetContext,
};
use lttv_hooks::Flow;

use super::slices::{InSlices, finished};
use super::{Latency, Settings};
use crate::kernel::KernelState;

/// The result of [`latencies`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Computed {
    /// The latencies.
    pub latency: Latency,
    /// The errors met while reading. They do not depend on the number of threads.
    pub errors: Vec<ltt_read::Error>,
    /// The number of further errors that are not in `errors`, see
    /// [`Merge::errors_omitted`](ltt_read::Merge::errors_omitted).
    pub errors_omitted: u64,
}

/// The result of [`read_latencies`].
#[derive(Debug)]
#[non_exhaustive]
pub struct LatencyRead {
    /// The latencies: the final ones, unless the read was stopped.
    pub latency: Latency,
    /// The kernel state after the last event.
    pub kernel: KernelState,
    /// The end of the read.
    pub end: ReadEnd,
}

/// Computes the latencies of a traceset on a number of threads. The result does not depend on that
/// number. Those with [periods](Settings::periods) are computed by one thread.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::latency::{Family, Settings, latencies};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let computed = latencies(&Traceset::open(path)?, &Settings::new(), 2);
/// assert!(computed.errors.is_empty());
/// assert_eq!(computed.latency.traces()[0].total(Family::WakeUp).durations().count(), 247);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn latencies(traceset: &Traceset, settings: &Settings, threads: usize) -> Computed {
    let mut context = TracesetContext::new(traceset);
    let latency = if threads <= 1 || !settings.are_in_slices() {
        let kernel = context.attach(KernelState::new());
        let handle = Latency::attach(&mut context, kernel, settings.clone());
        // The bounds contain no position that could be stale.
        let _ = context.read(&Bounds::all());
        handle.take(context.extensions())
    } else {
        let threads = SliceThreads::new(threads);
        let go_on = |_: &mut TracesetContext<'_>| Flow::Continue(());
        let read = read_latencies(&mut context, KernelState::new(), settings, threads, go_on);
        read.map(|read| read.latency).unwrap_or_default()
    };
    let (errors, errors_omitted) = (context.take_errors(), context.errors_omitted());
    Computed { latency, errors, errors_omitted }
}

/// Computes the latencies of the traces of a context, which is at their start, on several threads: see
/// [`read_statistics`](crate::stats::read_statistics), which works in the same way. Periods
/// are [left out](Settings::are_in_slices).
///
/// # Errors
///
/// Returns [`StalePosition`] in the cases of [`TracesetContext::read_analysis`], none of which occurs
/// here.
pub fn read_latencies<'h>(
    context: &mut TracesetContext<'h>,
    kernel: KernelState,
    settings: &Settings,
    threads: SliceThreads,
    passed: impl FnMut(&mut TracesetContext<'h>) -> Flow,
) -> Result<LatencyRead, StalePosition> {
    context.refuse_growth::<Latency>();
    let (analysis, mut state, mut part) = InSlices::new(context.contexts(), kernel, settings);
    let (slice, result) = (analysis.attach(context), (&mut state, &mut part));
    let end = context.read_analysis(&analysis, slice, result, &Bounds::all(), threads, passed)?;
    let is_stopped = end.reason == EndReason::Stopped;
    let (latency, kernel) = finished((state, part), settings, is_stopped);
    Ok(LatencyRead { latency, kernel, end })
}
