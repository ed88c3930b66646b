//! Collection of the statistics of a window.

use std::collections::BTreeMap;

use ltt_read::schema::EventTypeId;
use lttv_common::report::Interrupted;
use lttv_state::filter::KernelFilters;
use lttv_state::stats::{Statistics, TraceStatistics, read_statistics};

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

/// Reads the window and collects. After an interrupt, these are the statistics up to there. More than
/// one thread must be for whole traces without filters only.
pub(crate) fn collect(
    analysis: &mut Analysis,
    threads: usize,
    filters: Option<KernelFilters>,
    longest: Option<Call>,
) -> (Collected, Result<(), Interrupted>) {
    if threads > 1 {
        let (taken, read) = analysis.read_in_slices(threads, |context, kernel, threads, passed| {
            let read = read_statistics(context, kernel, threads, passed)?;
            Ok((read.statistics, read.kernel, read.end))
        });
        return (Collected::of(analysis, taken, None, longest), read);
    }
    let (kernel, window) = (analysis.kernel, analysis.window);
    let context = &mut analysis.context;
    let statistics = Statistics::attach_window(context, kernel, window.range());
    let is_filtered = filters.is_some();
    let counts = context.attach_data(BTreeMap::<(usize, EventTypeId), u64>::new());
    if let Some(filters) = filters {
        let filters = filters.with_state(kernel);
        context.on_event("*", move |call| {
            if filters.matches(call) {
                let key = (call.trace.index().0, call.event.type_id());
                *call.extensions[counts].entry(key).or_default() += 1;
            }
        });
    }
    let read = analysis.read();
    let extensions = analysis.context.extensions();
    let taken = match read {
        Ok(()) => statistics.take(extensions),
        Err(_) => statistics.take_until(extensions, analysis.last_event()),
    };
    let counts = is_filtered.then(|| &extensions[counts]);
    (Collected::of(analysis, taken, counts, longest), read)
}

impl Collected {
    /// Returns statistics with what else is reported. `counts` are the events that pass the filters,
    /// by trace and type, if there are filters.
    fn of(
        analysis: &Analysis,
        statistics: Statistics,
        counts: Option<&BTreeMap<(usize, EventTypeId), u64>>,
        longest: Option<Call>,
    ) -> Self {
        let filtered = |(at, trace): (usize, &TraceStatistics)| {
            let mut events: BTreeMap<String, u64> = BTreeMap::new();
            for ((_, id), count) in counts.into_iter().flatten().filter(|of| of.0.0 == at) {
                *events.entry(trace.event_name(*id).to_owned()).or_default() += count;
            }
            events
        };
        let all = |(_, trace): (usize, &TraceStatistics)| {
            let events = trace.events().into_iter();
            events.map(|(name, count)| (name.to_owned(), count)).collect()
        };
        let traces = statistics.traces().iter().enumerate();
        let events = match counts.is_some() {
            true => traces.map(filtered).collect(),
            false => traces.map(all).collect(),
        };
        let anomalies = analysis.state().traces().map(|state| {
            let all = state.anomalies().iter().filter(|(_, count)| *count > 0);
            all.map(|(name, count)| (name.replace('_', " "), count)).collect()
        });
        let anomalies = anomalies.collect();
        let names =
            analysis.traceset.traces().iter().map(|trace| trace.path().display().to_string());
        let names = names.collect();
        let is_filtered = counts.is_some();
        Collected { statistics, longest, events, is_filtered, names, anomalies }
    }
}
