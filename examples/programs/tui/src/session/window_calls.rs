//! Calls of functions in the time window.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ltt_read::Timestamp;
use lttv_common::calls::names::{Names, SymbolArgs};
use lttv_context::{CheckpointPolicy, Checkpoints, TracesetContext};
use lttv_requests::Owner;
use lttv_state::call_stacks::{
    CallRules, CallStackState, CallStacks, ChartSpan, EXITS, PathId, ThreadCalls, ThreadId,
    TraceCalls,
};
use lttv_state::flame_graph::FlameGraph;

use super::window_collection::{Collection, OfTimeWindow, OfWindow};
use crate::session::Session;

/// The number of intervals of a window. Neighbours that are shorter than one are put together.
const INTERVALS: u64 = 1_000;
/// The maximum number of spans of the flame chart of a trace.
const MAX_SPANS: usize = 200_000;

/// The calls of a window.
#[derive(Debug)]
pub struct WindowCalls {
    /// The calls of all threads, put together by names.
    pub graph: FlameGraph,
    /// For each path of the graph, the start of its longest call in the window. Calls shorter than
    /// a thousandth of the window are not told apart; `None` if all are parts of another path's
    /// span.
    pub longest: Vec<Option<Timestamp>>,
    /// The rows of the flame chart: of each thread, one for each depth.
    pub rows: Vec<ChartRow>,
    /// The number of calls that the rows lack because there are too many.
    pub omitted: u64,
    /// `true` if a trace contains entries of functions.
    pub has_entries: bool,
    /// `true` if a trace contains entries of functions, but no exits.
    pub lacks_exits: bool,
    known: Known,
}

/// A row of the flame chart.
#[derive(Debug)]
pub struct ChartRow {
    /// The id and the name of the thread.
    pub thread: Arc<str>,
    /// The number of callers.
    pub depth: usize,
    /// The calls, in order of time.
    pub calls: Vec<ChartCall>,
}

/// A call in a row, or several short ones.
#[derive(Debug, Clone)]
pub struct ChartCall {
    /// The name of the function; of several calls, that of the longest one.
    pub name: Arc<str>,
    /// The time of the entry, or the start of the window.
    pub start: Timestamp,
    /// The time of the exit, or the end of the window.
    pub end: Timestamp,
    /// The number of calls.
    pub calls: u64,
}

/// The knowledge that one window leaves for the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// The checkpoints of the call stacks.
    checkpoints: Checkpoints,
    /// The names of functions that were looked up in binaries.
    names: Option<Arc<Mutex<Names>>>,
}

impl OfTimeWindow for WindowCalls {
    type Known = Known;

    fn collect(of: &Collection<Self>) {
        let new_names = || Arc::new(Mutex::new(Names::new(SymbolArgs::default().options())));
        let names = of.known.names.clone().unwrap_or_else(new_names);
        let mut context = TracesetContext::new(&of.traceset);
        let stacks = context.attach(CallStackState::new(CallRules::default()));
        context.state().set_policy(CheckpointPolicy::default());
        // Those of the previous window; without them, stacks are computed from the start on.
        _ = context.state().set_checkpoints(of.known.checkpoints.clone());
        if !of.replay(&mut context) {
            return;
        }
        let window = of.window;
        let handle = CallStacks::attach_window(&mut context, stacks, window.start()..window.end());
        handle.record_chart(context.extensions_mut(), window.width() / INTERVALS, MAX_SPANS);
        let found = |context: &TracesetContext<'_>| {
            let checkpoints = context.checkpoints().clone();
            let known = Known { checkpoints, names: Some(names.clone()) };
            let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
            WindowCalls::new(&handle.take(context.extensions()), &mut names, known)
        };
        if of.read(&mut context, |context, _| found(context)) {
            of.send(found(&context), true);
        }
    }
}

impl WindowCalls {
    /// Puts calls together by the names of functions.
    fn new(calls: &CallStacks, names: &mut Names, known: Known) -> Self {
        let mut graph = FlameGraph::new();
        let mut rows = Vec::new();
        let mut longest: Vec<Option<Length>> = Vec::new();
        for trace in calls.traces() {
            let functions = trace.functions().iter();
            let names: Vec<Arc<str>> = functions.map(|of| names.name(calls, trace, of)).collect();
            let mut in_order = names.iter().cloned();
            graph.add_calls(trace, |_| Some(Vec::new()), |_| in_order.next().unwrap_or_default());
            let spans = trace.chart();
            add_rows(&mut rows, trace, &spans, &names);
            longest.resize(graph.nodes().len(), None);
            for (path, length) in longest_calls(&spans) {
                let path = trace.path_functions(path);
                let path = path.iter().filter_map(|id| names.get(id.index()));
                if let Some(node) = graph.find(path.map(|name| &**name)) {
                    longest[node] = longest[node].max(Some(length));
                }
            }
        }
        longest.resize(graph.nodes().len(), None);
        let lacks_exits = |of: &TraceCalls| of.has_calls() && of.missing().contains(&EXITS);
        WindowCalls {
            graph,
            longest: longest.into_iter().map(|of| of.map(|(.., Reverse(start))| start)).collect(),
            rows,
            omitted: calls.traces().iter().map(TraceCalls::chart_omitted).sum(),
            has_entries: calls.traces().iter().any(TraceCalls::has_calls),
            lacks_exits: calls.traces().iter().any(lacks_exits),
            known,
        }
    }
}

/// The length of a span, greater for longer calls: whether it is a single call, the duration in
/// ns, and the start.
type Length = (bool, u64, Reverse<Timestamp>);

/// Returns the longest call of each path. Of calls that were put together, the longest is not
/// known, so that single ones come first.
fn longest_calls(spans: &[ChartSpan]) -> HashMap<PathId, Length> {
    let mut longest = HashMap::new();
    for span in spans {
        let length = (span.calls == 1, span.duration(), Reverse(span.times.start));
        let of = longest.entry(span.path).or_insert(length);
        *of = length.max(*of);
    }
    longest
}

/// Adds the rows of a trace. Its spans are in order of threads, depths and times.
fn add_rows(rows: &mut Vec<ChartRow>, trace: &TraceCalls, spans: &[ChartSpan], names: &[Arc<str>]) {
    let threads = trace.threads();
    let is_same_row = |a: &ChartSpan, b: &ChartSpan| (a.thread, a.depth) == (b.thread, b.depth);
    for row in spans.chunk_by(is_same_row) {
        let call = |span: &ChartSpan| {
            let function = trace.path_functions(span.path).last().copied();
            let name = function.and_then(|id| names.get(id.index())).cloned();
            ChartCall {
                name: name.unwrap_or_default(),
                start: span.times.start,
                end: span.times.end,
                calls: span.calls,
            }
        };
        rows.push(ChartRow {
            thread: threads.get(row[0].thread).map_or(String::new(), label).into(),
            depth: row[0].depth,
            calls: row.iter().map(call).collect(),
        });
    }
}

/// Returns the label of a thread.
fn label(thread: &ThreadCalls) -> String {
    let id = match thread.key.thread {
        ThreadId::Tid(tid) => tid.to_string(),
        ThreadId::Process => thread.key.process.map_or(String::new(), |pid| pid.to_string()),
        ThreadId::Cpu(cpu) => format!("CPU {cpu}"),
    };
    format!("{id} {}", thread.name)
}

impl Session {
    /// Requests the calls of the time window for the viewer of an owner. Those of another window
    /// are no longer collected.
    pub fn wants_window_calls(&mut self, owner: Owner) {
        let window = self.tab.window();
        let known = self.window_calls.latest().map(|of| of.known.clone()).unwrap_or_default();
        let traceset = self.scheduler.context().traceset();
        self.window_calls.want(owner, window, traceset, &known);
    }

    /// Returns the calls of the time window, as far as they have been collected.
    pub fn window_calls(&self) -> Option<Arc<OfWindow<WindowCalls>>> {
        self.window_calls.of(self.tab.window()).cloned()
    }

    /// Returns the part of the time window from which calls were collected, from 0 to 1.
    pub fn window_calls_progress(&self) -> f64 {
        self.window_calls.progress(self.tab.window())
    }

    /// Allows to collect calls from the time window after they were stopped.
    pub fn resume_window_calls(&mut self) {
        self.window_calls.resume();
    }
}
