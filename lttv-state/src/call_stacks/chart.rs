//! The flame chart: the calls of a window over time.

use std::collections::HashMap;
use std::ops::Range;

use ltt_read::Timestamp;

use super::paths::PathId;

/// A call in a flame chart, or several short ones next to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChartSpan {
    /// The number of the thread among those of the trace.
    pub thread: usize,
    /// The number of callers.
    pub depth: usize,
    /// The path of the call; of several calls, that of the longest one.
    pub path: PathId,
    /// The time from entry to exit, cut at the bounds of the window.
    pub times: Range<Timestamp>,
    /// The number of calls, which is 1 unless they are shorter than the resolution.
    pub calls: u64,
    /// `true` if the call began before the window.
    pub begins_before: bool,
    /// `true` if the call did not end in the window.
    pub is_open: bool,
}

impl ChartSpan {
    /// Returns the duration in ns.
    pub fn duration(&self) -> u64 {
        self.times.end.as_ns().saturating_sub(self.times.start.as_ns()).max(0) as u64
    }
}

/// The recorder of a flame chart.
#[derive(Debug, Clone)]
pub(super) struct ChartRecorder {
    resolution: u64,
    limit: usize,
    pub(super) spans: Vec<ChartSpan>,
    /// The last span of each thread and depth if it is short, with the longest duration in it.
    short: HashMap<(usize, usize), (usize, u64)>,
    pub(super) omitted: u64,
}

impl ChartRecorder {
    /// Creates a recorder. Calls shorter than the resolution in ns are put together with their
    /// neighbours; at most `limit` spans are kept.
    pub(super) fn new(resolution: u64, limit: usize) -> Self {
        let (spans, short) = Default::default();
        ChartRecorder { resolution, limit, spans, short, omitted: 0 }
    }

    pub(super) fn record(
        &mut self,
        thread: usize,
        depth: usize,
        path: PathId,
        times: Range<Timestamp>,
        [begins_before, is_open]: [bool; 2],
    ) {
        let duration = times.end.as_ns().saturating_sub(times.start.as_ns()).max(0) as u64;
        let is_short = duration < self.resolution && !begins_before && !is_open;
        if is_short && let Some((at, longest)) = self.short.get_mut(&(thread, depth)) {
            let last = &mut self.spans[*at];
            let gap = times.start.as_ns().saturating_sub(last.times.end.as_ns());
            if gap < self.resolution as i64 {
                last.times.end = last.times.end.max(times.end);
                last.calls += 1;
                if duration > *longest {
                    (last.path, *longest) = (path, duration);
                }
                return;
            }
        }
        if self.spans.len() >= self.limit {
            self.omitted += 1;
            return;
        }
        if is_short {
            self.short.insert((thread, depth), (self.spans.len(), duration));
        } else {
            // A long call ends the short ones before it.
            self.short.remove(&(thread, depth));
        }
        self.spans.push(ChartSpan { thread, depth, path, times, calls: 1, begins_before, is_open });
    }

    /// Adds the spans of a later window, with the numbers of its threads and paths here.
    pub(super) fn add(
        &mut self,
        later: &ChartRecorder,
        threads: &[Option<usize>],
        paths: &[Option<PathId>],
    ) {
        self.omitted = self.omitted.saturating_add(later.omitted);
        self.short.clear();
        for span in &later.spans {
            let thread = threads.get(span.thread).copied().flatten();
            let path = paths.get(span.path.index()).copied().flatten();
            match (thread, path) {
                (Some(thread), Some(path)) if self.spans.len() < self.limit => {
                    self.spans.push(ChartSpan { thread, path, ..span.clone() });
                }
                _ => self.omitted += 1,
            }
        }
    }
}
