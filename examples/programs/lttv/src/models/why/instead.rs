//! The threads that ran while another one waited for a CPU.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lttv_state::waits::{ThreadState, TimelineId, WaitGraph};

use super::Timeline;

/// A thread that ran on a CPU while another one waited for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instead {
    /// The state of the thread that waited: preempted or woken.
    pub state: ThreadState,
    /// The CPU; `None` if it is unknown for which one the thread waited.
    pub cpu: Option<u32>,
    /// The thread that ran; `None` if it is unknown what did.
    pub thread: Option<TimelineId>,
    /// The number of its runs.
    pub count: u64,
    /// The time in ns.
    pub time: u64,
}

/// A run of a thread on a CPU, in ns.
#[derive(Debug)]
struct Run {
    cpu: u32,
    start: i64,
    end: i64,
    thread: TimelineId,
}

/// Returns the threads that ran while a thread was preempted or woken, those with most time first. Their times add up
/// to that of these states. A preempted thread waits for the CPU that it ran on, a woken one for that on which it runs
/// next: `last` after the last interval.
pub(crate) fn instead(graph: &WaitGraph, timeline: &Timeline, last: Option<u32>) -> Vec<Instead> {
    let ready = |state| matches!(state, ThreadState::Preempted | ThreadState::Woken);
    let intervals = &timeline.intervals;
    if !intervals.iter().any(|(_, state, _)| ready(*state)) {
        return Vec::new();
    }
    let runs = runs(graph, timeline);
    let mut sums: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for (at, (time, state, _)) in intervals.iter().enumerate().filter(|(_, of)| ready(of.1)) {
        let cpu = |(.., interval): &super::Piece| interval.as_ref().and_then(|of| of.cpu);
        let before = || intervals[..at].last().and_then(cpu);
        let next = || intervals[at + 1..].iter().find_map(cpu);
        let cpu = match state {
            ThreadState::Preempted => before().or_else(next).or(last),
            _ => next().or(last),
        };
        let (start, end) = (time.start.as_ns(), time.end.as_ns());
        let (mut known, all) = (0, end.abs_diff(start));
        if let Some(cpu) = cpu {
            let first = runs.partition_point(|run| (run.cpu, run.end) <= (cpu, start));
            let during = runs[first..].iter().take_while(|run| run.cpu == cpu && run.start < end);
            for run in during {
                let time = run.end.min(end).abs_diff(run.start.max(start));
                let sum = sums.entry((*state, Some(cpu), Some(run.thread))).or_default();
                *sum = (sum.0 + 1, sum.1 + time);
                known += time;
            }
        }
        if known < all {
            let sum = sums.entry((*state, cpu, None)).or_default();
            *sum = (sum.0 + 1, sum.1 + (all - known));
        }
    }
    let of = |((state, cpu, thread), (count, time))| Instead { state, cpu, thread, count, time };
    let mut all: Vec<Instead> = sums.into_iter().map(of).collect();
    all.sort_by_key(|of| Reverse(of.time));
    all
}

/// Returns the runs of all threads of the trace in the time of a timeline, by CPU and time. Runs of one CPU do not
/// overlap.
fn runs(graph: &WaitGraph, timeline: &Timeline) -> Vec<Run> {
    let trace = timeline.thread.and_then(|id| graph.timeline(id)).map(|of| of.trace());
    let (first, last) = (timeline.intervals.first(), timeline.intervals.last());
    let Some((first, last)) = first.zip(last) else { return Vec::new() };
    let window = first.0.start..last.0.end;
    let mut runs = Vec::new();
    for (thread, of) in graph.timelines() {
        if Some(of.trace()) != trace || Some(thread) == timeline.thread {
            continue;
        }
        for interval in graph.intervals(thread, window.clone()) {
            if let (ThreadState::Running, Some(cpu)) = (interval.state, interval.cpu) {
                let (start, end) = (interval.start.as_ns(), interval.end.as_ns());
                runs.push(Run { cpu, start, end, thread });
            }
        }
    }
    runs.sort_unstable_by_key(|run| (run.cpu, run.start, run.end));
    let mut reached = (u32::MAX, i64::MIN);
    for run in &mut runs {
        if run.cpu == reached.0 {
            run.start = run.start.max(reached.1);
        }
        run.end = run.end.max(run.start);
        reached = (run.cpu, run.end);
    }
    runs
}
