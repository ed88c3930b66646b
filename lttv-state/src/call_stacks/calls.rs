//! The collected figures of call stacks.

use std::sync::Arc;

use ltt_read::{Timestamp, Trace};

use super::binaries::Binary;
use super::chart::ChartSpan;
use super::collector::{CallAnomalies, Collector, PathFigures};
use super::functions::{Function, FunctionId, SectionId};
use super::missing::Missing;
use super::paths::PathId;
use super::rules::EventPair;
use super::state::OpenCall;
use super::thread::ThreadKey;
use super::tracker::Tracker;
use crate::durations::Durations;
use crate::kernel::needs::Need;

/// The figures of the calls of a traceset: the number and the times of the calls of each
/// function and call path.
///
/// [`attach`](Self::attach) registers their collection in a context, and
/// [`call_stacks`](super::call_stacks()) computes them on several threads.
#[derive(Debug, Clone, Default)]
pub struct CallStacks {
    pub(super) traces: Vec<TraceCalls>,
    pub(super) pairs: Vec<Arc<str>>,
}

/// The figures of the calls of a trace.
#[derive(Debug, Clone)]
pub struct TraceCalls {
    pub(super) trace: Arc<Trace>,
    pub(super) tracker: Tracker,
    pub(super) figures: Collector,
    pub(super) missing: Missing,
    /// `false` if parts could not be added exactly.
    pub(super) is_exact: bool,
}

/// The figures of a function, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionFigures {
    /// The number of the function.
    pub id: FunctionId,
    /// The function.
    pub function: Function,
    /// The durations of the calls that have ended. Those of a function that calls itself contain
    /// each other.
    pub calls: Durations,
    /// The time during which the function was the innermost one.
    pub self_time: u64,
    /// The time during which the function was on the stack, once for each thread: recursion does
    /// not count twice.
    pub total_time: u64,
}

/// A call path with its figures.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CallPath {
    /// The number of the path.
    pub id: PathId,
    /// The path of the caller; `None` at the bottom of the stack.
    pub caller: Option<PathId>,
    /// The number of the thread among those of the trace.
    pub thread: usize,
    /// The number of the function that was called.
    pub function: FunctionId,
    /// The figures of the calls.
    pub figures: PathFigures,
    /// The time during which the path was on the stack, in ns: with the calls from it.
    pub total_time: u64,
}

/// The figures of a thread.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ThreadCalls {
    /// The thread.
    pub key: ThreadKey,
    /// The name of the process (the context `procname`, or the environment of the trace) at the
    /// first event of the thread; empty if the trace does not contain it.
    pub name: Arc<str>,
    /// The number of entries.
    pub entries: u64,
    /// The number of calls that have ended.
    pub calls: u64,
    /// The time during which there was a call on the stack, in ns.
    pub time: u64,
    /// The maximum number of calls on the stack.
    pub max_depth: usize,
    /// The number of events that do not fit together, see [`CallAnomalies`].
    pub anomalies: u64,
    /// The calls that had not ended, outermost first.
    pub open: Vec<OpenCall>,
}

impl CallStacks {
    /// Returns the figures of each trace, by trace index.
    pub fn traces(&self) -> &[TraceCalls] {
        &self.traces
    }

    /// Returns the names of pairs, by their ids.
    pub fn pair_names(&self) -> &[Arc<str>] {
        &self.pairs
    }

    pub(super) fn set_pairs(&mut self, pairs: &[EventPair]) {
        self.pairs = pairs.iter().map(|pair| pair.name().clone()).collect();
    }
}

impl TraceCalls {
    /// Returns the trace.
    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace
    }

    /// Returns the functions, by their ids.
    pub fn functions(&self) -> &[Function] {
        self.tracker.functions.all()
    }

    /// Returns the name of a section; `None` if the id is of another trace.
    pub fn section(&self, id: SectionId) -> Option<&Arc<str>> {
        self.tracker.sections.name(id)
    }

    /// Returns the binaries of processes, from state dumps and loading, in order of events.
    pub fn binaries(&self) -> &[Binary] {
        self.tracker.binaries.all()
    }

    /// Returns the binary that contains an address of a process: the last one, if the place was
    /// used again. `None` if it is unknown.
    pub fn binary(&self, process: Option<i64>, address: u64) -> Option<&Binary> {
        self.tracker.binaries.find(process, address)
    }

    /// Returns the figures of all functions, by their ids.
    pub fn function_figures(&self) -> Vec<FunctionFigures> {
        self.function_figures_of(|_| true)
    }

    /// Returns the figures of all functions in the threads for which a predicate holds, by their ids.
    pub fn function_figures_of(
        &self,
        mut wanted: impl FnMut(ThreadKey) -> bool,
    ) -> Vec<FunctionFigures> {
        let functions = self.functions().iter().enumerate();
        let mut all: Vec<FunctionFigures> = functions
            .map(|(at, function)| FunctionFigures {
                id: FunctionId(at as u32),
                function: *function,
                calls: Durations::default(),
                self_time: 0,
                total_time: 0,
            })
            .collect();
        let totals = self.total_times();
        let is_outermost = self.outermost();
        let mut is_wanted = vec![false; self.tracker.paths.len()];
        for ((key, _), stack) in self.tracker.index.all().iter().zip(&self.tracker.stacks) {
            is_wanted[stack.root.index()] = wanted(*key);
        }
        for (path, node) in self.tracker.paths.iter() {
            let Some(of) = node.function.and_then(|id| all.get_mut(id.index())) else { continue };
            // Callers come before the calls from them.
            is_wanted[path.index()] = is_wanted[node.parent.index()];
            if !is_wanted[path.index()] {
                continue;
            }
            let figures = self.figures_of(path);
            of.calls.add(&figures.calls);
            of.self_time = of.self_time.saturating_add(figures.self_time);
            if is_outermost[path.index()] {
                of.total_time = of.total_time.saturating_add(totals[path.index()]);
            }
        }
        all
    }

    /// Returns for each path whether its function is not among its callers.
    fn outermost(&self) -> Vec<bool> {
        let paths = &self.tracker.paths;
        let mut first_child = vec![u32::MAX; paths.len()];
        let mut next = vec![u32::MAX; paths.len()];
        for (path, node) in paths.iter() {
            if let Some(first) = first_child.get_mut(node.parent.index()) {
                next[path.index()] = std::mem::replace(first, path.0);
            }
        }
        // The number of calls of each function on the path that is being visited.
        let mut on_path = vec![0_u32; self.functions().len()];
        let mut outermost = vec![false; paths.len()];
        let roots = paths.iter().filter(|(_, node)| node.function.is_none());
        for root in roots.map(|(path, _)| path.0) {
            let mut stack = vec![(root, false)];
            while let Some((at, is_left)) = stack.pop() {
                let function = paths.node(PathId(at)).and_then(|node| node.function);
                if let Some(count) = function.and_then(|id| on_path.get_mut(id.index())) {
                    if is_left {
                        *count -= 1;
                        continue;
                    }
                    outermost[at as usize] = *count == 0;
                    *count += 1;
                    stack.push((at, true));
                }
                let mut child = first_child[at as usize];
                while child != u32::MAX {
                    stack.push((child, false));
                    child = next[child as usize];
                }
            }
        }
        outermost
    }

    /// Returns the time of each path with the calls from it.
    fn total_times(&self) -> Vec<u64> {
        let mut totals: Vec<u64> = vec![0; self.tracker.paths.len()];
        for (path, node) in self.tracker.paths.iter().rev() {
            let own = self.figures_of(path).self_time;
            let total = totals[path.index()].saturating_add(own);
            totals[path.index()] = total;
            if let Some(parent) = totals.get_mut(node.parent.index()) {
                *parent = parent.saturating_add(total);
            }
        }
        totals
    }

    /// Returns the figures of a path.
    pub(super) fn figures_of(&self, path: PathId) -> PathFigures {
        self.figures.paths.get(path.index()).copied().unwrap_or_default()
    }

    /// Returns all call paths with their figures, callers before those that they called.
    pub fn paths(&self) -> Vec<CallPath> {
        let totals = self.total_times();
        let mut threads = vec![usize::MAX; self.tracker.paths.len()];
        for (thread, stack) in self.tracker.stacks.iter().enumerate() {
            threads[stack.root.index()] = thread;
        }
        let mut paths = Vec::new();
        for (id, node) in self.tracker.paths.iter() {
            let Some(function) = node.function else { continue };
            let thread = threads[node.parent.index()];
            threads[id.index()] = thread;
            let (figures, caller) = (self.figures_of(id), self.tracker.paths.caller(id));
            let total_time = totals[id.index()];
            paths.push(CallPath { id, caller, thread, function, figures, total_time });
        }
        paths
    }

    /// Returns the functions of a path, outermost first.
    pub fn path_functions(&self, path: PathId) -> Vec<FunctionId> {
        self.tracker.paths.functions(path)
    }

    /// Returns the figures of all threads.
    pub fn threads(&self) -> Vec<ThreadCalls> {
        let (totals, tracker) = (self.total_times(), &self.tracker);
        let threads = tracker.index.all().iter().zip(&tracker.stacks).enumerate();
        let mut threads: Vec<ThreadCalls> = threads
            .map(|(at, ((key, name), stack))| {
                let figures = self.figures.threads.get(at).copied().unwrap_or_default();
                // The time outside of all calls is that of the root itself.
                let outside = self.figures_of(stack.root).self_time;
                ThreadCalls {
                    key: *key,
                    name: name.clone(),
                    entries: figures.entries,
                    calls: 0,
                    time: totals[stack.root.index()].saturating_sub(outside),
                    max_depth: figures.max_depth,
                    anomalies: figures.anomalies,
                    open: (stack.frames.iter())
                        .map(|frame| OpenCall {
                            code: frame.code.code(),
                            path: frame.path,
                            entered: Timestamp::from_ns(frame.entered),
                        })
                        .collect(),
                }
            })
            .collect();
        for path in self.paths() {
            if let Some(thread) = threads.get_mut(path.thread) {
                thread.calls += path.figures.calls.count();
            }
        }
        threads
    }

    /// Returns what does not fit together in the events.
    pub fn anomalies(&self) -> CallAnomalies {
        self.figures.anomalies
    }

    /// Returns what the trace lacks.
    pub fn missing(&self) -> Vec<Need> {
        self.missing.needs()
    }

    /// Returns `true` if the trace declares entries of functions, or events that begin pairs.
    pub fn has_calls(&self) -> bool {
        self.missing.has_calls()
    }

    /// Returns the flame chart: the calls of the window by thread, depth and time, if it was
    /// [recorded](super::CallStacksHandle::record_chart).
    pub fn chart(&self) -> Vec<ChartSpan> {
        let mut spans = self.figures.chart.as_ref().map_or(Vec::new(), |of| of.spans.clone());
        spans.sort_by_key(|span| (span.thread, span.depth, span.times.start));
        spans
    }

    /// Returns the number of spans that the flame chart lacks because it would have had too many.
    pub fn chart_omitted(&self) -> u64 {
        self.figures.chart.as_ref().map_or(0, |chart| chart.omitted)
    }
}
