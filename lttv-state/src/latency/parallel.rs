//! Latencies of a whole traceset, collected on several threads.

use lttv_context::{Bounds, Traceset, TracesetContext};

use super::{Latency, Settings};
use crate::in_slices::{InSlices, in_slices};
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
    if threads <= 1 {
        let mut context = TracesetContext::new(traceset);
        let handle = attach(&mut context);
        // The bounds contain no position that could be stale.
        let _ = context.read(&Bounds::all());
        return Computed {
            latency: handle.take(context.extensions()),
            errors: context.take_errors(),
            errors_omitted: context.errors_omitted(),
        };
    }
    let computed = in_slices(traceset, threads, attach, |context, handle, times, slice| {
        handle.restart_each(context.extensions_mut(), |trace| times.start(trace).as_ns());
        slice.run(context);
        let end = |trace: usize, _: &_| times.end_or_last(trace).as_ns();
        handle.take_each(context.extensions(), end)
    });
    let InSlices { parts, errors, errors_omitted, .. } = computed;
    let mut parts = parts.into_iter();
    let mut latency = parts.next().unwrap_or_default();
    parts.for_each(|part| latency.add(&part));
    Computed { latency, errors, errors_omitted }
}
