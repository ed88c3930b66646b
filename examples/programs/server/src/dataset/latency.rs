//! Latencies of the whole traceset, or of a window.

use std::sync::atomic::AtomicBool;

use ltt_read::Timestamp;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::kernel::KernelState;
use lttv_state::latency::{Family, Latency, LatencyHandle, Settings};

use super::reading::{read, replay};
use super::statistics::Window;

/// The number of longest durations of each family that are stored.
const LONGEST: usize = 20_000;

/// Returns the families whose events a trace contains.
pub(super) fn families(traceset: &Traceset) -> Vec<Family> {
    let (context, handle) = attach(traceset);
    let latency = handle.take(context.extensions());
    let is_served = |family: &Family| {
        let mut traces = latency.traces().iter();
        traces.any(|of| !family.needs().is_empty() && of.missing(*family).is_empty())
    };
    Family::ALL.into_iter().filter(is_served).collect()
}

/// Computes the latencies of a window. Returns `None` if `stop` is set.
pub(super) fn compute(traceset: &Traceset, window: Window, stop: &AtomicBool) -> Option<Latency> {
    let (mut context, handle) = attach(traceset);
    let Some((start, end)) = window else {
        read(&mut context, &Bounds::all(), stop)?;
        return Some(handle.take(context.extensions()));
    };
    let (start, end) = (Timestamp::from_ns(start), Timestamp::from_ns(end));
    replay(&mut context, start, stop)?;
    handle.restart(context.extensions_mut(), start);
    read(&mut context, &Bounds::all().until(end), stop)?;
    Some(handle.take_until(context.extensions(), end))
}

fn attach(traceset: &Traceset) -> (TracesetContext<'static>, LatencyHandle) {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let handle = Latency::attach(&mut context, kernel, Settings::new().top(LONGEST));
    (context, handle)
}
