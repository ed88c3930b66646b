//! The wait graph of a window, for the commands that show it.

use std::error::Error;

use ltt_read::TraceIndex;
use lttv_common::critical_path::is_open;
use lttv_common::report::Interrupted;
use lttv_state::kernel::needs::Need;
use lttv_state::waits::{WaitAnalysis, WaitGraph};

use super::analysis::Analysis;
use super::selection::ThreadFilter;
use crate::models::waits::{WindowWaits, ends_open, read_on, window_of};

/// Returns the waits of the window of an analysis, of which the graph is known unless reading it was
/// interrupted. Reads further, on a number of threads, until it is known who ended the waits of the
/// selected threads that are open at the end.
///
/// # Errors
///
/// If no event is in the window.
pub(super) fn waits(
    analysis: &mut Analysis,
    threads: usize,
    graph: WaitGraph,
    select: &ThreadFilter,
    end: &mut Result<(), Interrupted>,
) -> Result<WindowWaits, Box<dyn Error>> {
    let spans = analysis.all_spans().to_vec();
    let window = window_of(&spans).ok_or("no event is in the window")?;
    let any_open = |graph: &WaitGraph| {
        select.of_graph(graph).into_iter().any(|id| match select.is_everything() {
            true => ends_open(graph, id, &window),
            false => is_open(&graph.critical_path(id, window.clone())),
        })
    };
    let mut graph = graph;
    if end.is_ok() {
        let last = analysis.context.contexts().time_span().map_or(window.end, |span| span.end);
        let further = read_on(&window, last, graph, any_open, |until| {
            let (graph, read) = analysis.run_until(until, threads, WaitAnalysis::new());
            read.map(|()| graph)
        });
        (graph, *end) = further;
    }
    Ok(WindowWaits::new(graph, window, spans))
}

/// Returns the events that the traces of an analysis lack for its graph.
pub(super) fn missing(analysis: &Analysis, graph: &WaitGraph) -> Vec<(TraceIndex, Need)> {
    let of_trace = |(trace, _)| {
        let missing = graph.missing(trace).unwrap_or_default().iter();
        missing.map(move |of| (trace, *of))
    };
    analysis.spans().flat_map(of_trace).collect()
}
