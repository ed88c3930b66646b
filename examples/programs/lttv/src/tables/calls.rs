//! Tables of calls.

use std::cmp::Reverse;
use std::collections::HashSet;

use ltt_read::TraceIndex;
use lttv_common::calls::names::Names;
use lttv_common::table::Table;
use lttv_state::call_stacks::{CallStacks, ThreadCalls, ThreadId, ThreadKey, TraceCalls};

/// Returns a thread in a table: its id, or the CPU for the threads of a CPU.
pub(crate) fn thread(key: ThreadKey) -> Option<String> {
    match key.thread {
        ThreadId::Tid(tid) => Some(tid.to_string()),
        ThreadId::Process => None,
        ThreadId::Cpu(cpu) => Some(format!("CPU {cpu}")),
    }
}

/// The calls of a traceset that are shown.
#[derive(Debug)]
pub(crate) struct Shown<'c, F> {
    /// The figures.
    pub calls: &'c CallStacks,
    /// Returns `true` for the threads to show.
    pub is_wanted: F,
}

impl<F: Fn(&ThreadCalls) -> bool> Shown<'_, F> {
    fn traces(&self) -> impl Iterator<Item = (TraceIndex, &TraceCalls)> {
        let traces = (0..).map(TraceIndex).zip(self.calls.traces());
        traces.filter(|(_, trace)| trace.has_calls())
    }

    /// Returns `true` if there are several traces with calls.
    fn has_traces(&self) -> bool {
        self.traces().nth(1).is_some()
    }

    /// Returns all tables of calls.
    pub(crate) fn tables(&self, names: &mut Names) -> Vec<Table> {
        vec![self.functions(names), self.threads(), self.open(names), self.anomalies()]
    }

    /// Returns the table of functions, the longest total time first.
    fn functions(&self, names: &mut Names) -> Table {
        let mut rows = Vec::new();
        for (index, trace) in self.traces() {
            let wanted: HashSet<ThreadKey> = self.wanted_threads(trace).map(|of| of.key).collect();
            let mut functions = trace.function_figures_of(|key| wanted.contains(&key));
            functions.retain(|of| of.total_time > 0 || !of.calls.is_empty());
            functions.sort_by_key(|of| (Reverse(of.total_time), of.id));
            rows.extend(functions.into_iter().map(|of| {
                let symbol = names.symbol(self.calls, trace, &of.function);
                let source = symbol.source.as_ref().map(|(file, line)| format!("{file}:{line}"));
                (index, of, symbol.to_string(), source)
            }));
        }
        Table::of("functions", "Functions", &rows)
            .trace_if(self.has_traces(), |row| row.0)
            .integer("process", "PROCESS", |row| row.1.function.process)
            .text("function", "FUNCTION", |row| row.2.as_str())
            .count("calls", "CALLS", |row| row.1.calls.count())
            .duration("time_ns", "TIME", |row| row.1.total_time)
            .duration("self_ns", "SELF", |row| row.1.self_time)
            .duration("average_ns", "AVERAGE", |row| {
                row.1.calls.total().checked_div(row.1.calls.count())
            })
            .minor()
            .duration("min_ns", "MIN", |row| row.1.calls.shortest())
            .minor()
            .duration("max_ns", "MAX", |row| row.1.calls.longest())
            .text("source", "SOURCE", |row| row.3.as_deref())
            .build()
    }

    fn wanted_threads(&self, trace: &TraceCalls) -> impl Iterator<Item = ThreadCalls> {
        trace.threads().into_iter().filter(|thread| (self.is_wanted)(thread))
    }

    fn threads(&self) -> Table {
        let mut rows = Vec::new();
        for (index, trace) in self.traces() {
            rows.extend(self.wanted_threads(trace).map(|of| (index, of)));
        }
        Table::of("threads", "Threads", &rows)
            .trace_if(self.has_traces(), |row| row.0)
            .integer("process", "PROCESS", |row| row.1.key.process)
            .text("thread", "THREAD", |row| thread(row.1.key))
            .text("name", "NAME", |row| row.1.name.to_string())
            .count("calls", "CALLS", |row| row.1.calls)
            .duration("time_ns", "TIME", |row| row.1.time)
            .count("max_depth", "DEPTH", |row| row.1.max_depth)
            .count("open", "OPEN", |row| row.1.open.len())
            .count("anomalies", "ANOMALIES", |row| row.1.anomalies)
            .minor()
            .build()
    }

    fn open(&self, names: &mut Names) -> Table {
        let mut rows = Vec::new();
        for (index, trace) in self.traces() {
            for of in self.wanted_threads(trace) {
                for (depth, call) in of.open.iter().enumerate() {
                    let function = trace.path_functions(call.path).last().copied();
                    let function = function.and_then(|id| trace.functions().get(id.index()));
                    let name = function.map(|of| names.name(self.calls, trace, of).to_string());
                    rows.push((index, of.key, depth, name, call.entered));
                }
            }
        }
        Table::of("open", "Calls that have not ended", &rows)
            .trace_if(self.has_traces(), |row| row.0)
            .integer("process", "PROCESS", |row| row.1.process)
            .text("thread", "THREAD", |row| thread(row.1))
            .count("depth", "DEPTH", |row| row.2)
            .text("function", "FUNCTION", |row| row.3.as_deref())
            .time("entered_ns", "ENTERED", |row| row.4)
            .build()
    }

    fn anomalies(&self) -> Table {
        let mut rows = Vec::new();
        for (index, trace) in self.traces() {
            let of = trace.anomalies();
            let kinds = [
                ("exit at an empty stack", of.exits_at_empty_stack),
                ("exit from a function that is not on the stack", of.exits_not_on_stack),
                ("call that ended with its caller", of.ended_by_callers),
                ("call beyond the maximum depth", of.too_deep),
                ("call beyond the maximum number of call paths", of.omitted_calls),
                ("event beyond the maximum number of threads", of.omitted_events),
            ];
            let found = kinds.into_iter().filter(|(_, count)| *count > 0);
            rows.extend(found.map(|(kind, count)| (index, kind, count)));
        }
        Table::of("anomalies", "Events that do not fit together", &rows)
            .trace_if(self.has_traces(), |row| row.0)
            .text("kind", "KIND", |row| row.1)
            .count("count", "COUNT", |row| row.2)
            .build()
    }
}
