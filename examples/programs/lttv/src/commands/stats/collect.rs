//! Collection of the statistics of a window.

use lttv_common::report::Interrupted;
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::{Serial, Tid};
use lttv_state::stats::{ProcessFacts, Statistics, StatisticsAnalysis, TraceStatistics};

use crate::commands::analysis::Analysis;
use crate::commands::selection::{Thread, ThreadFilter};
use crate::models::statistics::{Call, Collected, Picked};

/// Reads the window and collects. After an interrupt, these are the statistics up to there.
pub(crate) fn collect(
    analysis: &mut Analysis,
    threads: usize,
    filters: Option<KernelFilters>,
    longest: Option<Call>,
    select: (&ThreadFilter, &[u32]),
) -> (Collected, Result<(), Interrupted>) {
    let is_filtered = filters.is_some();
    let statistics = match is_filtered {
        true => StatisticsAnalysis::new().counting_selected(),
        false => StatisticsAnalysis::new(),
    };
    let (statistics, read) = analysis.run(threads, filters, statistics);
    let picked = picked(&statistics, select);
    (Collected { longest, is_filtered, picked, ..collected(analysis, statistics) }, read)
}

/// Returns the threads and CPUs that options select.
fn picked(statistics: &Statistics, (threads, cpus): (&ThreadFilter, &[u32])) -> Picked {
    let of_trace = |trace: &TraceStatistics| {
        let facts = (0..).map(Serial).zip(trace.process_facts());
        let is_chosen = |of: &ProcessFacts| {
            let number = |id: Option<Tid>| id.map(i64::from);
            threads.has(&Thread {
                tid: number(of.tid),
                pid: number(of.pid),
                comm: of.name.to_string(),
            })
        };
        facts.filter(|(_, of)| is_chosen(of)).map(|(serial, _)| serial).collect()
    };
    let chosen = !threads.is_everything();
    let threads = chosen.then(|| statistics.traces().iter().map(of_trace).collect());
    Picked { threads, cpus: cpus.to_vec() }
}

/// Returns statistics with what else is reported, of all threads and CPUs.
fn collected(analysis: &Analysis, statistics: Statistics) -> Collected {
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
    Collected {
        statistics,
        longest: None,
        events,
        is_filtered: false,
        picked: Picked::default(),
        names,
        anomalies,
    }
}
