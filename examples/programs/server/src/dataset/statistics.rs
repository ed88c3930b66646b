//! Statistics of the whole traceset, or of a window.

use std::sync::atomic::AtomicBool;

use lttv_context::Traceset;
use lttv_state::stats::{Statistics, StatisticsAnalysis};

use super::faults::Found;
use super::reading::{Window, analyze};

/// Computes the statistics of a window. The output is `None` if `stop` is set.
pub(super) fn compute(
    traceset: &Traceset,
    window: Window,
    stop: &AtomicBool,
) -> Found<Option<Statistics>> {
    analyze(traceset, window, stop, StatisticsAnalysis::new())
}
