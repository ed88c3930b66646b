//! Usage of a whole traceset, collected on several threads.

use lttv_context::{Bounds, CheckpointPolicy, ParallelReader, Traceset, TracesetContext};

use super::{Usage, UsageOptions};
use crate::kernel::KernelState;
use crate::last_event::last_event;
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
    let mut first = TracesetContext::new(traceset);
    let kernel = first.attach(KernelState::new());
    // All slices have the intervals of the whole.
    let start = first.extensions()[kernel].traces().map(|state| state.start_time()).min();
    let options = match (options.origin, start) {
        (None, Some(start)) => options.origin(start),
        _ => options,
    };
    first.set_checkpoint_policy(CheckpointPolicy::default());
    let _ = first.replay_state(&Bounds::all());
    let checkpoints = first.checkpoints().clone();
    // The first pass meets all errors.
    let (errors, errors_omitted) = (first.take_errors(), first.errors_omitted());
    drop(first);
    let ends: Vec<_> = traceset.traces().iter().map(last_event).collect();
    let parts = ParallelReader::new(traceset).threads(threads).run(|slice| {
        let mut context = slice.context();
        let kernel = context.attach(KernelState::new());
        let _ = context.set_checkpoints(checkpoints.clone());
        context.seek_time_with_state(slice.start());
        let start = |trace: usize| Start::Part(slice.start().min(ends[trace]));
        let statistics = Statistics::attach_each(&mut context, kernel, start);
        let usage = Usage::attach_each(&mut context, kernel, options, statistics, start);
        let read = slice.read(&mut context);
        debug_assert!(read.is_ok(), "the state is that at the start of the slice");
        let end = |trace: usize| slice.end().map(|end| end.min(ends[trace]));
        let extensions = context.extensions();
        usage.take_each(extensions, |statistics| statistics.take_each(extensions, end))
    });
    let mut parts = parts.results.into_iter();
    let mut usage = parts.next().unwrap_or_default();
    parts.for_each(|part| usage.add(&part));
    ComputedUsage { usage, errors, errors_omitted }
}
