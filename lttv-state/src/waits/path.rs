//! The critical path: what a thread really waited for.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use ltt_read::Timestamp;

use super::cause::WakeSource;
use super::graph::{TimelineId, WaitGraph};
use super::interval::{Interval, LinkKind, ThreadState};
use crate::durations::Spread;
use crate::kernel::NameId;

/// The greatest number of nested waits with one and the same window that are followed. Waits that
/// end at one time can be nested so, but only broken traces nest many of them, or in a circle.
const MAX_EQUAL_WINDOWS: u32 = 64;

/// The critical path of a thread in a window: each wait for another thread is replaced by what that
/// thread did in the meantime, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriticalPath {
    thread: TimelineId,
    window: Range<Timestamp>,
    segments: Vec<Segment>,
}

/// A segment of a critical path. It includes its start and excludes its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segment {
    /// The thread on the path.
    pub thread: TimelineId,
    /// The start.
    pub start: Timestamp,
    /// The end.
    pub end: Timestamp,
    /// The state of the thread.
    pub kind: SegmentKind,
    /// The number of the CPU on which the thread runs; `None` in other states.
    pub cpu: Option<u32>,
    /// The system call in which the thread is blocked; [`NameId::EMPTY`] if there is none, or if
    /// system calls were not recorded.
    pub call: NameId,
    /// The source of the wake-up that ended a wait.
    pub source: WakeSource,
    /// The number of waits between this thread and the thread of the path.
    pub depth: u32,
}

/// The kind of a [`Segment`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SegmentKind {
    /// The thread is in a state.
    Thread(ThreadState),
    /// A packet for which the thread waits is in transit, or was sent before the window.
    Packet,
}

/// The times of a thread on a critical path in segments of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathShare {
    /// The thread.
    pub thread: TimelineId,
    /// The kind of the segments.
    pub kind: SegmentKind,
    /// Their number and times.
    pub times: Spread,
}

impl SegmentKind {
    /// Returns the name of the kind in results: that of the state, or `network` for a packet.
    pub const fn label(self) -> &'static str {
        match self {
            SegmentKind::Thread(state) => state.label(),
            SegmentKind::Packet => "network",
        }
    }
}

impl std::fmt::Display for SegmentKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.label())
    }
}

impl Segment {
    /// Returns the length in ns.
    pub fn time(&self) -> u64 {
        self.end.as_ns().abs_diff(self.start.as_ns())
    }

    /// Returns `true` if the segments are one, cut in two.
    fn continues_as(&self, next: &Segment) -> bool {
        let key = |of: &Segment| (of.thread, of.kind, of.source);
        self.end == next.start && key(self) == key(next)
    }
}

impl CriticalPath {
    /// Returns the thread whose path it is.
    pub fn thread(&self) -> TimelineId {
        self.thread
    }

    /// Returns the window.
    pub fn window(&self) -> Range<Timestamp> {
        self.window.clone()
    }

    /// Returns the segments in order. Each starts where the one before it ends; the first one starts
    /// and the last one ends with the window.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the number of times that the path goes from one thread to another.
    pub fn hand_overs(&self) -> usize {
        self.segments.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
    }

    /// Returns the times on the path by thread and kind, the longest sums first.
    pub fn shares(&self) -> Vec<PathShare> {
        let of = self.sums(|segment| (segment.thread, segment.kind));
        of.into_iter().map(|((thread, kind), times)| PathShare { thread, kind, times }).collect()
    }

    /// Returns the times on the path by thread, the longest sums first.
    pub fn by_thread(&self) -> Vec<(TimelineId, Spread)> {
        self.sums(|segment| segment.thread)
    }

    /// Returns the times on the path by kind, the longest sums first.
    pub fn by_kind(&self) -> Vec<(SegmentKind, Spread)> {
        self.sums(|segment| segment.kind)
    }

    fn sums<K: Ord>(&self, key: impl Fn(&Segment) -> K) -> Vec<(K, Spread)> {
        let mut sums: BTreeMap<K, Spread> = BTreeMap::new();
        for segment in &self.segments {
            sums.entry(key(segment)).or_default().add(segment.time(), segment.end.as_ns());
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        // A stable sort: equal times stay in key order.
        sums.sort_by_key(|(_, times)| Reverse(times.total()));
        sums
    }
}

/// A part of the path that is still to be found.
#[derive(Debug, Clone, Copy)]
enum Task {
    Walk(Walk),
    Emit(Segment),
}

/// A walk along a timeline through a window.
#[derive(Debug, Clone, Copy)]
struct Walk {
    thread: TimelineId,
    /// The window, in ns.
    begin: i64,
    end: i64,
    /// The time up to which the walk has come.
    at: i64,
    /// The index of the next interval; `None` if the walk has not started.
    index: Option<usize>,
    depth: u32,
    /// The number of enclosing walks with the same window.
    equal_windows: u32,
}

impl Walk {
    fn new(thread: TimelineId, begin: i64, end: i64) -> Self {
        Walk { thread, begin, end, at: begin, index: None, depth: 0, equal_windows: 0 }
    }

    /// Creates the walk of the thread for which this one waits in a window.
    fn inner(&self, thread: TimelineId, begin: i64, end: i64) -> Self {
        let is_equal = (begin, end) == (self.begin, self.end);
        let equal_windows = if is_equal { self.equal_windows + 1 } else { 0 };
        let depth = self.depth.saturating_add(1);
        Walk { depth, equal_windows, ..Walk::new(thread, begin, end) }
    }

    /// Returns `true` if a wait within this walk may be followed.
    fn may_nest(&self) -> bool {
        self.equal_windows < MAX_EQUAL_WINDOWS
    }

    fn segment(&self, start: i64, end: i64, kind: SegmentKind) -> Segment {
        Segment {
            thread: self.thread,
            start: Timestamp::from_ns(start),
            end: Timestamp::from_ns(end),
            kind,
            cpu: None,
            call: NameId::EMPTY,
            source: WakeSource::None,
            depth: self.depth,
        }
    }

    fn unknown(&self, start: i64, end: i64) -> Segment {
        self.segment(start, end, SegmentKind::Thread(ThreadState::Unknown))
    }

    /// Returns the segment of an interval, of which a part is on the path.
    fn of_interval(&self, start: i64, end: i64, interval: &Interval) -> Segment {
        let &Interval { state, cpu, call, source, .. } = interval;
        let segment = self.segment(start, end, SegmentKind::Thread(state));
        Segment { cpu, call, source, ..segment }
    }
}

impl WaitGraph {
    /// Finds the critical path of a thread in a window.
    ///
    /// It covers the window exactly, each instant once: what is not known is a segment of unknown
    /// state. Waits that began before the window are followed only within it, and waits for
    /// interrupts, timers and devices are not followed.
    ///
    /// The time is that of finding the intervals on the path; waits may be nested to any depth.
    pub fn critical_path(&self, thread: TimelineId, window: Range<Timestamp>) -> CriticalPath {
        let (begin, end) = (window.start.as_ns(), window.end.as_ns());
        let mut segments: Vec<Segment> = Vec::new();
        let mut emit = |segment: Segment| match segments.last_mut() {
            Some(last) if last.continues_as(&segment) => last.end = segment.end,
            _ => segments.push(segment),
        };
        let mut tasks = vec![Task::Walk(Walk::new(thread, begin, end))];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Emit(segment) => emit(segment),
                Task::Walk(walk) => self.walk(walk, &mut tasks, &mut emit),
            }
        }
        CriticalPath { thread, window, segments }
    }

    /// Walks along a timeline to the next wait that is to be followed, or to the end of the window.
    fn walk(&self, mut walk: Walk, tasks: &mut Vec<Task>, emit: &mut impl FnMut(Segment)) {
        if walk.at >= walk.end {
            return;
        }
        let Some(timeline) = self.timeline(walk.thread).filter(|of| !of.is_idle()) else {
            return emit(walk.unknown(walk.at, walk.end));
        };
        if walk.index.is_none() {
            walk.index = Some(timeline.index_at(walk.at));
            let starts_later = timeline.is_empty() || timeline.first_start > walk.at;
            let is_forked_later = starts_later && timeline.start > walk.at && walk.may_nest();
            if let Some(parent) = timeline.parent.filter(|_| is_forked_later) {
                // Before the fork there was only the parent.
                let until = timeline.start.min(walk.end);
                tasks.push(Task::Walk(Walk { at: until, ..walk }));
                return tasks.push(Task::Walk(walk.inner(parent, walk.at, until)));
            }
        }
        while let Some(interval) = walk.index.and_then(|at| self.interval_at(walk.thread, at)) {
            let (from, until) = (interval.start.as_ns(), interval.end.as_ns());
            if from >= walk.end {
                break;
            }
            let (start, end) = (from.max(walk.at), until.min(walk.end));
            if start > walk.at {
                emit(walk.unknown(walk.at, start));
            }
            walk.index = walk.index.map(|at| at + 1);
            if end <= start {
                continue;
            }
            walk.at = end;
            let Some(link) = interval.link else {
                emit(walk.of_interval(start, end, &interval));
                continue;
            };
            let left = link.time.as_ns();
            if left > start && walk.may_nest() {
                let left = left.min(end);
                tasks.push(Task::Walk(walk));
                if end > left {
                    tasks.push(Task::Emit(walk.segment(left, end, SegmentKind::Packet)));
                }
                return tasks.push(Task::Walk(walk.inner(link.from, start, left)));
            }
            match link.kind {
                LinkKind::Network if left <= start => {
                    emit(walk.segment(start, end, SegmentKind::Packet));
                }
                _ => emit(walk.of_interval(start, end, &interval)),
            }
        }
        if walk.at < walk.end {
            emit(walk.unknown(walk.at, walk.end));
        }
    }
}
