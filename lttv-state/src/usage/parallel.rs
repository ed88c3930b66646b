//! Usage of a whole traceset, collected on several threads.

use lttv_context::{Bounds, Traceset, TracesetContext};

use super::{Usage, UsageOptions};
use crate::in_slices::{InSlices, in_slices};
use crate::kernel::KernelState;
use crate::stats::{Start, Statistics};

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
    if threads <= 1 {
        let mut context = TracesetContext::new(traceset);
        let kernel = context.attach(KernelState::new());
        let usage = Usage::attach(&mut context, kernel, options);
        // The bounds contain no position that could be stale.
        let _ = context.read(&Bounds::all());
        return ComputedUsage {
            usage: usage.take(context.extensions()),
            errors: context.take_errors(),
            errors_omitted: context.errors_omitted(),
        };
    }
    let attach = |context: &mut TracesetContext<'_>| context.attach(KernelState::new());
    // All slices have the intervals of the whole.
    let mut context = TracesetContext::new(traceset);
    let kernel = attach(&mut context);
    let start = context.extensions()[kernel].traces().map(|state| state.start_time()).min();
    drop(context);
    let options = match (options.origin, start) {
        (None, Some(start)) => options.origin(start),
        _ => options,
    };
    let computed = in_slices(traceset, threads, attach, |context, kernel, times, slice| {
        let start = |trace: usize| Start::Part(times.start(trace));
        let statistics = Statistics::attach_each(context, kernel, start);
        let usage = Usage::attach_each(context, kernel, options, statistics, start);
        slice.run(context);
        let extensions = context.extensions();
        usage.take_each(extensions, |statistics| {
            statistics.take_each(extensions, |trace| times.end(trace))
        })
    });
    let InSlices { parts, errors, errors_omitted, .. } = computed;
    let mut parts = parts.into_iter();
    let mut usage = parts.next().unwrap_or_default();
    parts.for_each(|part| usage.add(&part));
    ComputedUsage { usage, errors, errors_omitted }
}
