//! Latencies of the whole traceset, or of a window.

use std::sync::atomic::AtomicBool;

use lttv_context::{Traceset, TracesetContext};
use lttv_state::analysis::attach;
use lttv_state::kernel::KernelState;
use lttv_state::latency::{Family, Latency, LatencyAnalysis, Settings};

use super::faults::Found;
use super::reading::{Window, analyze};

/// The number of longest durations of each family that are stored.
const LONGEST: usize = 20_000;

/// Returns the families whose events a trace contains.
pub(super) fn families(traceset: &Traceset) -> Vec<Family> {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    let handle = attach(&mut context, kernel, .., LatencyAnalysis::new(settings()));
    let latency = handle.take(context.extensions_mut());
    let is_served = |family: &Family| {
        let mut traces = latency.traces().iter();
        traces.any(|of| !family.needs().is_empty() && of.missing(*family).is_empty())
    };
    Family::LATENCIES.into_iter().filter(is_served).collect()
}

/// Computes the latencies of a window. The output is `None` if `stop` is set.
pub(super) fn compute(
    traceset: &Traceset,
    window: Window,
    stop: &AtomicBool,
) -> Found<Option<Latency>> {
    analyze(traceset, window, stop, LatencyAnalysis::new(settings()))
}

fn settings() -> Settings {
    Settings::new().top(LONGEST)
}
