//! The wait graph, and the critical paths of threads as histories.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::AtomicBool;

use lttv_common::critical_path::busiest;
use lttv_context::Traceset;
use lttv_state::history::{History, HistoryError, IntervalBuilder, Settings};
use lttv_state::kernel::Tid;
use lttv_state::tree::Quark;
use lttv_state::waits::{CriticalPath, ThreadState, TimelineId, WaitAnalysis, WaitGraph};

use super::faults::Found;
use super::reading::analyze;

/// The wait graph of a traceset.
#[derive(Debug)]
pub struct Waits {
    /// The graph.
    pub graph: WaitGraph,
    /// The thread that runs longest, if there is one.
    pub busiest: Option<TimelineId>,
}

impl Waits {
    /// Builds the graph. The output is `None` if `stop` is set.
    pub(super) fn read(traceset: &Traceset, stop: &AtomicBool) -> Found<Option<Waits>> {
        let Found { output, faults } = analyze(traceset, None, stop, WaitAnalysis::new());
        let output = output.map(|graph| {
            let busiest = busiest(&graph, &(graph.begin()..graph.end()));
            Waits { graph, busiest }
        });
        Found { output, faults }
    }

    /// Returns the thread with an id; of several, the one that runs longest.
    pub fn thread(&self, tid: Tid) -> Option<TimelineId> {
        let graph = &self.graph;
        let whole = graph.begin()..graph.end();
        let threads = graph.timelines().filter(|(_, of)| of.tid() == tid && !of.is_idle());
        let running = |id| graph.times(id, whole.clone()).of(ThreadState::Running).total();
        threads.map(|(id, _)| id).max_by_key(|id| (running(*id), Reverse(*id)))
    }
}

/// The critical path of a thread in the whole traceset.
#[derive(Debug)]
pub struct PathHistory {
    /// The path.
    pub path: CriticalPath,
    /// The kinds of the segments, with an attribute for each thread on the path.
    pub history: History,
    /// The threads on the path: the one whose path it is, and the others in the order in which it
    /// reaches them.
    pub rows: Vec<PathRow>,
}

/// A thread on a critical path.
#[derive(Debug, Clone, Copy)]
pub struct PathRow {
    /// The thread.
    pub thread: TimelineId,
    /// The attribute of its segments.
    pub segments: Quark,
    /// The time for which the path is on it, in ns.
    pub time: u64,
}

impl PathHistory {
    /// Finds the path of a thread. Returns `None` if the graph covers no time.
    pub(super) fn find(graph: &WaitGraph, thread: TimelineId) -> Option<Self> {
        let window = graph.begin()..graph.end();
        if window.is_empty() {
            return None;
        }
        Self::new(graph.critical_path(thread, window)).ok()
    }

    fn new(path: CriticalPath) -> Result<Self, HistoryError> {
        let mut builder = IntervalBuilder::in_memory(Settings::default());
        let mut rows: Vec<PathRow> = Vec::new();
        let mut places: HashMap<TimelineId, usize> = HashMap::new();
        let segments = path.segments().iter().filter(|segment| segment.start < segment.end);
        for thread in [path.thread()].into_iter().chain(segments.clone().map(|of| of.thread)) {
            if let Entry::Vacant(place) = places.entry(thread) {
                place.insert(rows.len());
                let segments = builder.add(&thread.0.to_string())?;
                rows.push(PathRow { thread, segments, time: 0 });
            }
        }
        for segment in segments {
            let row = &mut rows[places[&segment.thread]];
            row.time = row.time.saturating_add(segment.time());
            builder.add_interval(row.segments, segment.start..segment.end, segment.kind.label())?;
        }
        let history = builder.close(path.window())?;
        Ok(PathHistory { path, history, rows })
    }
}
