//! The critical path of a thread in the time window, as rows of a chart.

use std::collections::HashMap;
use std::ops::Range;

use ltt_read::Timestamp;
use lttv_common::critical_path::{label, paint};
use lttv_requests::views::Segment as ChartSegment;
use lttv_requests::views::TimeWindow;
use lttv_state::kernel::Tid;
use lttv_state::waits::{CriticalPath, Segment, SegmentKind, ThreadState, TimelineId, WaitGraph};

use super::axis::Axis;
use super::cells::{Cell, cells};

/// Returns the thread that runs longest in a window. `None` if there is none.
pub fn busiest(graph: &WaitGraph, window: TimeWindow) -> Option<TimelineId> {
    lttv_common::critical_path::busiest(graph, &within(graph, window)?)
}

/// Returns the part of a window that a graph covers; `None` if there is none.
fn within(graph: &WaitGraph, window: TimeWindow) -> Option<Range<Timestamp>> {
    let (start, end) = (window.start().max(graph.begin()), window.end().min(graph.end()));
    (start < end).then_some(start..end)
}

/// The critical path of a thread in a window.
#[derive(Debug)]
pub struct PathRows {
    path: CriticalPath,
    rows: Vec<PathRow>,
}

/// A thread on a path.
#[derive(Debug)]
pub struct PathRow {
    /// The thread.
    pub thread: TimelineId,
    /// Its label, as in `cat (215)`.
    pub label: String,
    /// Its thread id.
    pub tid: Tid,
    /// The time for which the path is on it, in ns.
    pub time: u64,
    /// The indices of its segments, in order of time.
    segments: Vec<u32>,
}

impl PathRows {
    /// Finds the path of a thread in a window. `None` if the graph ends before the window, or starts
    /// after it.
    pub fn find(graph: &WaitGraph, thread: TimelineId, window: TimeWindow) -> Option<Self> {
        let window = within(graph, window)?;
        Some(PathRows::new(graph, graph.critical_path(thread, window)))
    }

    /// Makes a row for each thread: that of the path first, the others in the order in which the path
    /// reaches them.
    fn new(graph: &WaitGraph, path: CriticalPath) -> Self {
        let mut rows: Vec<PathRow> = Vec::new();
        let mut places = HashMap::new();
        let mut place_of = |thread: TimelineId, rows: &mut Vec<PathRow>| {
            *places.entry(thread).or_insert_with(|| {
                let tid = graph.timeline(thread).map_or(0, |timeline| timeline.tid());
                let label = label(graph, thread);
                rows.push(PathRow { thread, label, tid, time: 0, segments: Vec::new() });
                rows.len() - 1
            })
        };
        place_of(path.thread(), &mut rows);
        for (at, segment) in path.segments().iter().enumerate() {
            let place = place_of(segment.thread, &mut rows);
            let row = &mut rows[place];
            row.time = row.time.saturating_add(segment.time());
            row.segments.extend(u32::try_from(at));
        }
        PathRows { path, rows }
    }

    /// Returns the path.
    pub fn path(&self) -> &CriticalPath {
        &self.path
    }

    /// Returns the rows.
    pub fn rows(&self) -> &[PathRow] {
        &self.rows
    }

    /// Returns the row of a thread.
    pub fn row_of(&self, thread: TimelineId) -> Option<usize> {
        self.rows.iter().position(|row| row.thread == thread)
    }

    /// Iterates over the segments of a row, in order of time.
    pub fn segments(&self, row: usize) -> impl DoubleEndedIterator<Item = &Segment> {
        let segments = self.rows.get(row).map_or(&[][..], |row| &row.segments);
        segments.iter().filter_map(|at| self.path.segments().get(*at as usize))
    }

    /// Returns the segment at a time: those of a path have no gaps.
    pub fn segment_at(&self, time: Timestamp) -> Option<&Segment> {
        let segments = self.path.segments();
        let at = segments.partition_point(|segment| segment.end <= time);
        segments.get(at).filter(|segment| segment.start <= time)
    }

    /// Returns the first segment that starts after a time.
    pub fn next(&self, time: Timestamp) -> Option<&Segment> {
        let segments = self.path.segments();
        segments.get(segments.partition_point(|segment| segment.start <= time))
    }

    /// Returns the last segment that starts before a time.
    pub fn previous(&self, time: Timestamp) -> Option<&Segment> {
        let segments = self.path.segments();
        segments[..segments.partition_point(|segment| segment.start < time)].last()
    }

    /// Returns the columns of a row.
    pub fn cells(&self, row: usize, axis: Axis) -> Vec<Option<Cell>> {
        let running = SegmentKind::Thread(ThreadState::Running);
        let segments = self.segments(row).map(|of| ChartSegment {
            start: of.start,
            end: of.end,
            state: of.kind,
            active: if of.kind == running { of.time() } else { 0 },
            crowded: false,
        });
        cells(segments, |kind| Some(paint(kind)), axis)
    }
}
