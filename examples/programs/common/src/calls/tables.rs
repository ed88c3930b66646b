//! Tables of calls.

use std::cmp::Reverse;

use lttv_state::call_stacks::{CallStacks, ThreadCalls, ThreadId, ThreadKey, TraceCalls};

use super::names::Names;
use crate::table::{Cell, Kind, Table};

/// Returns the process of a thread in a table.
fn process(key: ThreadKey) -> Cell {
    key.process.map_or(Cell::Empty, Cell::from)
}

/// Returns a thread in a table: its id, or the CPU for the threads of a CPU.
fn thread(key: ThreadKey) -> Cell {
    match key.thread {
        ThreadId::Tid(tid) => tid.to_string().into(),
        ThreadId::Process => Cell::Empty,
        ThreadId::Cpu(cpu) => format!("CPU {cpu}").into(),
    }
}

/// The calls of a traceset that are shown.
#[derive(Debug)]
pub struct Shown<'c, F> {
    /// The figures.
    pub calls: &'c CallStacks,
    /// Returns `true` for the threads to show.
    pub is_wanted: F,
}

impl<F: Fn(ThreadKey) -> bool> Shown<'_, F> {
    fn traces(&self) -> impl Iterator<Item = (usize, &TraceCalls)> {
        self.calls.traces().iter().enumerate().filter(|(_, trace)| trace.missing().is_served())
    }

    /// Returns the column of trace indices, if there are several traces with calls.
    fn trace(&self, table: Table) -> Table {
        match self.traces().count() {
            0 | 1 => table,
            _ => table.column("trace", "TRACE", Kind::Integer),
        }
    }

    fn row(&self, trace: usize, table: &mut Table, cells: Vec<Cell>) {
        let trace = table.has_column("trace").then(|| (trace as u64).into());
        table.push(trace.into_iter().chain(cells).collect());
    }

    /// Returns all tables of calls.
    pub fn tables(&self, names: &mut Names) -> Vec<Table> {
        vec![self.functions(names), self.threads(), self.open(names), self.anomalies()]
    }

    /// Returns the table of functions, the longest total time first.
    fn functions(&self, names: &mut Names) -> Table {
        let mut table = self
            .trace(Table::new("functions", "Functions"))
            .column("process", "PROCESS", Kind::Integer)
            .column("function", "FUNCTION", Kind::Text)
            .column("calls", "CALLS", Kind::Integer)
            .column("time_ns", "TIME us", Kind::Duration)
            .column("self_ns", "SELF us", Kind::Duration)
            .column("average_ns", "AVERAGE us", Kind::Duration)
            .column("min_ns", "MIN us", Kind::Duration)
            .column("max_ns", "MAX us", Kind::Duration)
            .column("source", "SOURCE", Kind::Text);
        for (index, trace) in self.traces() {
            let mut functions = trace.function_figures_of(|key| (self.is_wanted)(key));
            functions.retain(|of| of.total_time > 0 || !of.calls.is_empty());
            functions.sort_by_key(|of| (Reverse(of.total_time), of.id));
            for of in functions {
                let symbol = names.symbol(self.calls, trace, &of.function);
                let source = symbol.source.as_ref().map(|(file, line)| format!("{file}:{line}"));
                let duration = |of: Option<u64>| of.map_or(Cell::Empty, Cell::Duration);
                let cells = vec![
                    of.function.process.map_or(Cell::Empty, Cell::from),
                    symbol.to_string().into(),
                    of.calls.len().into(),
                    Cell::Duration(of.total_time),
                    Cell::Duration(of.self_time),
                    duration(of.calls.total().checked_div(of.calls.len())),
                    duration(of.calls.shortest()),
                    duration(of.calls.longest()),
                    source.map_or(Cell::Empty, Cell::from),
                ];
                self.row(index, &mut table, cells);
            }
        }
        table
    }

    fn wanted_threads(&self, trace: &TraceCalls) -> impl Iterator<Item = ThreadCalls> {
        trace.threads().into_iter().filter(|thread| (self.is_wanted)(thread.key))
    }

    fn threads(&self) -> Table {
        let mut table = self
            .trace(Table::new("threads", "Threads"))
            .column("process", "PROCESS", Kind::Integer)
            .column("thread", "THREAD", Kind::Text)
            .column("name", "NAME", Kind::Text)
            .column("calls", "CALLS", Kind::Integer)
            .column("time_ns", "TIME us", Kind::Duration)
            .column("max_depth", "DEPTH", Kind::Integer)
            .column("open", "OPEN", Kind::Integer)
            .column("anomalies", "ANOMALIES", Kind::Integer);
        for (index, trace) in self.traces() {
            for of in self.wanted_threads(trace) {
                let cells = vec![
                    process(of.key),
                    thread(of.key),
                    of.name.to_string().into(),
                    of.calls.into(),
                    Cell::Duration(of.time),
                    (of.max_depth as u64).into(),
                    (of.open.len() as u64).into(),
                    of.anomalies.into(),
                ];
                self.row(index, &mut table, cells);
            }
        }
        table
    }

    fn open(&self, names: &mut Names) -> Table {
        let mut table = self
            .trace(Table::new("open", "Calls that have not ended"))
            .column("process", "PROCESS", Kind::Integer)
            .column("thread", "THREAD", Kind::Text)
            .column("depth", "DEPTH", Kind::Integer)
            .column("function", "FUNCTION", Kind::Text)
            .column("entered_ns", "ENTERED", Kind::Time);
        for (index, trace) in self.traces() {
            for of in self.wanted_threads(trace) {
                for (depth, call) in of.open.iter().enumerate() {
                    let function = trace.path_functions(call.path).last().copied();
                    let function = function.and_then(|id| trace.functions().get(id.index()));
                    let name = function.map(|of| names.name(self.calls, trace, of).to_string());
                    let cells = vec![
                        process(of.key),
                        thread(of.key),
                        (depth as u64).into(),
                        name.map_or(Cell::Empty, Cell::from),
                        call.entered.into(),
                    ];
                    self.row(index, &mut table, cells);
                }
            }
        }
        table
    }

    fn anomalies(&self) -> Table {
        let mut table = self
            .trace(Table::new("anomalies", "Events that do not fit together"))
            .column("kind", "KIND", Kind::Text)
            .column("count", "COUNT", Kind::Integer);
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
            for (kind, count) in kinds.into_iter().filter(|(_, count)| *count > 0) {
                self.row(index, &mut table, vec![kind.into(), count.into()]);
            }
        }
        table
    }
}
