//! Latencies of a whole traceset, collected on several threads.

use ltt_read::Timestamp;
use lttv_context::{Bounds, CheckpointPolicy, ParallelReader, Traceset, TracesetContext};

use super::{Latency, Settings};
use crate::kernel::KernelState;
use crate::last_event::last_event;

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

/// Computes the latencies of a traceset on a number of threads. The result does not depend on that
/// number.
///
/// One thread reads the events once. With several threads, a first pass follows what is open and
/// saves checkpoints, from which the threads then collect one slice of time each. This pays if
/// something costs much for each event, such as the expressions of many periods.
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
    let attach = |context: &mut TracesetContext<'_>| {
        let kernel = context.attach(KernelState::new());
        Latency::attach(context, kernel, settings.clone())
    };
    let mut first = TracesetContext::new(traceset);
    let handle = attach(&mut first);
    if threads <= 1 {
        // The bounds contain no position that could be stale.
        let _ = first.read(&Bounds::all());
        return Computed {
            latency: handle.take(first.extensions()),
            errors: first.take_errors(),
            errors_omitted: first.errors_omitted(),
        };
    }
    first.set_checkpoint_policy(CheckpointPolicy::default());
    let _ = first.replay_state(&Bounds::all());
    let checkpoints = first.checkpoints().clone();
    let (errors, errors_omitted) = (first.take_errors(), first.errors_omitted());
    drop(first);
    // A slice may start or end after the end of a trace.
    let ends: Vec<Timestamp> = traceset.traces().iter().map(last_event).collect();
    let parts = ParallelReader::new(traceset).threads(threads).run(|slice| {
        let mut context = slice.context();
        let handle = attach(&mut context);
        // The checkpoints fit this context, which has the same extensions.
        let _ = context.set_checkpoints(checkpoints.clone());
        context.seek_time_with_state(slice.start());
        let start = |trace: usize| slice.start().min(ends[trace]).as_ns();
        handle.restart_each(context.extensions_mut(), start);
        let read = slice.read(&mut context);
        debug_assert!(read.is_ok(), "the state is that at the start of the slice");
        let end = slice.end();
        handle.take_each(context.extensions(), |of| {
            let last = last_event(&of.trace);
            end.map_or(last, |end| end.min(last)).as_ns()
        })
    });
    let mut parts = parts.results.into_iter();
    let mut latency = parts.next().unwrap_or_default();
    parts.for_each(|part| latency.add(&part));
    Computed { latency, errors, errors_omitted }
}
