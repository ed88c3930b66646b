//! Collection of the statistics of a window.

use lttv_common::report::Interrupted;
use lttv_state::filter::KernelFilters;
use lttv_state::stats::{Statistics, StatisticsAnalysis, TraceStatistics};

use crate::commands::analysis::Analysis;
use crate::models::statistics::{Call, Collected};

/// Reads the window and collects. After an interrupt, these are the statistics up to there.
pub(crate) fn collect(
    analysis: &mut Analysis,
    threads: usize,
    filters: Option<KernelFilters>,
    longest: Option<Call>,
) -> (Collected, Result<(), Interrupted>) {
    let is_filtered = filters.is_some();
    let statistics = match is_filtered {
        true => StatisticsAnalysis::new().counting_selected(),
        false => StatisticsAnalysis::new(),
    };
    let (statistics, read) = analysis.run(threads, filters, statistics);
    (collected(analysis, statistics, is_filtered, longest), read)
}

/// Returns statistics with what else is reported.
fn collected(
    analysis: &Analysis,
    statistics: Statistics,
    is_filtered: bool,
    longest: Option<Call>,
) -> Collected {
    let counts = |trace: &TraceStatistics| {
        let events = trace.selected_events().unwrap_or_else(|| trace.events());
        events.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
    };
    let events = statistics.traces().iter().map(counts).collect();
    let anomalies = analysis.state().traces().map(|state| {
        let all = state.anomalies().iter().filter(|(_, count)| *count > 0);
        all.map(|(name, count)| (name.replace('_', " "), count)).collect()
    });
    let anomalies = anomalies.collect();
    let names = analysis.traceset.traces().iter().map(|trace| trace.path().display().to_string());
    let names = names.collect();
    Collected { statistics, longest, events, is_filtered, names, anomalies }
}
