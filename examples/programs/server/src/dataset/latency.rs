//! Latencies of the whole traceset, or of a window.

use std::sync::atomic::AtomicBool;

use lttv_common::definitions::Definitions;
use lttv_context::{Traceset, TracesetContext};
use lttv_filter::Environment;
use lttv_state::analysis::attach;
use lttv_state::kernel::KernelState;
use lttv_state::latency::{Family, Latency, LatencyAnalysis, Period, Settings};

use super::faults::Found;
use super::reading::{Window, analyze};

/// The number of longest durations of each family that are stored.
const LONGEST: usize = 20_000;

/// The definitions of periods of a dataset.
#[derive(Debug)]
pub(super) struct Periods {
    pub(super) all: Vec<Period>,
    /// For each trace: `true` if it contains the events of some period.
    pub(super) traces: Vec<bool>,
}

impl Periods {
    /// Returns the definitions that come with the program and that some trace serves, and those of files. If those of
    /// files do not fit the traces, they are left out, and the reason is returned.
    pub(super) fn new(files: &Definitions, traceset: &Traceset) -> (Self, Option<String>) {
        let (traces, environment) = (traceset.traces(), Environment::new());
        let with = |files: &Definitions| files.with_served(traces, &environment);
        let (all, fault) = match with(files) {
            Ok(all) => (all.periods, None),
            Err(error) => {
                let own = with(&Definitions::default()).map(|own| own.periods);
                (own.unwrap_or_default(), Some(error.to_string()))
            }
        };
        let has_some = |trace| all.iter().any(|period| period.is_served_by(trace, &environment));
        let traces = traces.iter().map(has_some).collect();
        (Periods { all, traces }, fault)
    }
}

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
    periods: Vec<Period>,
    window: Window,
    stop: &AtomicBool,
) -> Found<Option<Latency>> {
    // They have been checked for these traces.
    let settings = settings()
        .periods(periods, traceset.traces(), &Environment::new())
        .unwrap_or_else(|_| settings());
    analyze(traceset, window, stop, LatencyAnalysis::new(settings))
}

fn settings() -> Settings {
    Settings::new().top(LONGEST)
}
