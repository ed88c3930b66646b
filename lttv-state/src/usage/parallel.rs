//! Usage of whole traces, collected on several threads.

use lttv_context::{
    Bounds, EndReason, ReadEnd, SliceAnalysis, SliceThreads, StalePosition, Traceset,
    TracesetContext,
};
use lttv_hooks::Flow;

use super::slices::{InSlices, finished};
use super::{Usage, UsageOptions};
use crate::kernel::KernelState;

/// The result of [`usage`].
#[derive(Debug)]
#[non_exhaustive]
pub struct ComputedUsage {
    /// The usage.
    pub usage: Usage,
    /// The errors met while reading. They do not depend on the number of threads.
    pub errors: Vec<ltt_read::Error>,
    /// The number of further errors.
    pub errors_omitted: u64,
}

/// The result of [`read_usage`].
#[derive(Debug)]
#[non_exhaustive]
pub struct UsageRead {
    /// The usage: the final one, unless the read was stopped.
    pub usage: Usage,
    /// The kernel state after the last event.
    pub kernel: KernelState,
    /// The end of the read.
    pub end: ReadEnd,
}

/// Computes the usage of a traceset on a number of threads. The result does not depend on that
/// number: see [`statistics`](crate::stats::statistics), which works in the same way.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::usage::{UsageOptions, usage};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let computed = usage(&Traceset::open(path)?, UsageOptions::new(), 2);
/// assert!(computed.errors.is_empty());
/// println!("{} switches", computed.usage.traces()[0].total().switches);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn usage(traceset: &Traceset, options: UsageOptions, threads: usize) -> ComputedUsage {
    let mut context = TracesetContext::new(traceset);
    let usage = match threads {
        0 | 1 => {
            let kernel = context.attach(KernelState::new());
            let usage = Usage::attach(&mut context, kernel, options);
            // The bounds contain no position that could be stale.
            let _ = context.read(&Bounds::all());
            usage.take(context.extensions())
        }
        _ => {
            let threads = SliceThreads::new(threads);
            let go_on = |_: &mut TracesetContext<'_>| Flow::Continue(());
            let read = read_usage(&mut context, KernelState::new(), options, threads, go_on);
            read.map(|read| read.usage).unwrap_or_default()
        }
    };
    let (errors, errors_omitted) = (context.take_errors(), context.errors_omitted());
    ComputedUsage { usage, errors, errors_omitted }
}

/// Computes the usage of the traces of a context, which is at their start, on several threads: see
/// [`read_statistics`](crate::stats::read_statistics), which works in the same way.
///
/// # Errors
///
/// Returns [`StalePosition`] in the cases of [`TracesetContext::read_analysis`], none of which occurs
/// here.
pub fn read_usage<'h>(
    context: &mut TracesetContext<'h>,
    kernel: KernelState,
    options: UsageOptions,
    threads: SliceThreads,
    passed: impl FnMut(&mut TracesetContext<'h>) -> Flow,
) -> Result<UsageRead, StalePosition> {
    context.refuse_growth::<Usage>();
    let (analysis, mut state, mut part) = InSlices::new(context.contexts(), kernel, options);
    let (slice, result) = (analysis.attach(context), (&mut state, &mut part));
    let end = context.read_analysis(&analysis, slice, result, &Bounds::all(), threads, passed)?;
    let is_stopped = end.reason == EndReason::Stopped;
    let (usage, kernel) = finished(context, &analysis, (state, part), is_stopped);
    Ok(UsageRead { usage, kernel, end })
}
