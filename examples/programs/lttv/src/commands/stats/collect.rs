//! Collection of the statistics of a window.

use std::collections::BTreeMap;

use lttv_common::report::Interrupted;
use lttv_state::filter::KernelFilters;
use lttv_state::stats::{Statistics, StatisticsAnalysis, TraceStatistics};

use super::longest::Call;
use crate::commands::analysis::Analysis;

/// The statistics of a window.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) statistics: Statistics,
    /// The longest system call, whose time is the window, if one was requested.
    pub(crate) longest: Option<Call>,
    /// The events of each trace by name: those that pass the filters.
    pub(crate) events: Vec<BTreeMap<String, u64>>,
    pub(crate) is_filtered: bool,
    /// The names of the traces in tables, by trace index.
    pub(crate) names: Vec<String>,
    /// The contradictions in each trace, such as exits of system calls without an entry.
    pub(crate) anomalies: Vec<Vec<(String, u64)>>,
}

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
    (Collected::of(analysis, statistics, is_filtered, longest), read)
}

impl Collected {
    /// Returns statistics with what else is reported.
    fn of(
        analysis: &Analysis,
        statistics: Statistics,
        is_filtered: bool,
        longest: Option<Call>,
    ) -> Self {
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
        let names =
            analysis.traceset.traces().iter().map(|trace| trace.path().display().to_string());
        let names = names.collect();
        Collected { statistics, longest, events, is_filtered, names, anomalies }
    }
}
