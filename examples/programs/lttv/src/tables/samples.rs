//! Tables of samples of stacks.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use ltt_read::TraceIndex;
use lttv_common::calls::names::Names;
use lttv_common::table::Table;
use lttv_state::call_stacks::ThreadKey;
use lttv_state::stack_samples::{StackSamples, TraceSamples, WeightUnit};

use super::calls::thread;

/// The samples of a traceset that are shown.
#[derive(Debug)]
pub(crate) struct ShownSamples<'s, F> {
    /// The samples.
    pub samples: &'s StackSamples,
    /// Returns `true` for the threads to show.
    pub is_wanted: F,
}

/// The figures of a function.
struct FunctionRow {
    trace: TraceIndex,
    name: Arc<str>,
    module: Option<Arc<str>>,
    /// The number of samples and the weight of stacks with the function.
    total: (u64, u64),
    /// The weight of stacks with the function on top.
    own: u64,
    unit: WeightUnit,
    /// The weight of all stacks.
    all: u64,
}

impl<F: Fn(ThreadKey, &str) -> bool> ShownSamples<'_, F> {
    fn traces(&self) -> impl Iterator<Item = (TraceIndex, &TraceSamples)> {
        let traces = (0..).map(TraceIndex).zip(self.samples.traces());
        traces.filter(|(_, trace)| trace.samples() > 0)
    }

    fn has_traces(&self) -> bool {
        self.traces().nth(1).is_some()
    }

    /// Returns all tables of samples.
    pub(crate) fn tables(&self, names: &mut Names) -> Vec<Table> {
        vec![self.functions(names), self.threads()]
    }

    /// Returns the table of functions, the greatest weight first.
    fn functions(&self, names: &mut Names) -> Table {
        let mut rows = Vec::new();
        for (index, trace) in self.traces() {
            rows.extend(self.functions_of(index, trace, names));
        }
        rows.sort_by(|a, b| {
            let key = |row: &FunctionRow| (row.trace.0, Reverse(row.total.1), Reverse(row.own));
            key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
        });
        Table::of("functions", "Functions in samples", &rows)
            .trace_if(self.has_traces(), |row| row.trace)
            .text("function", "FUNCTION", |row| &*row.name)
            .text("module", "MODULE", |row| row.module.as_deref())
            .count("samples", "SAMPLES", |row| row.total.0)
            .count("total", "TOTAL", |row| row.total.1)
            .percent("total_percent", "%", |row| percent(row.total.1, row.all))
            .count("self", "SELF", |row| row.own)
            .percent("self_percent", "%", |row| percent(row.own, row.all))
            .text("unit", "UNIT", |row| row.unit.to_string())
            .build()
    }

    fn functions_of(
        &self,
        index: TraceIndex,
        trace: &TraceSamples,
        names: &mut Names,
    ) -> impl Iterator<Item = FunctionRow> {
        // Frames of one function have one number: that of its name and module.
        let mut numbers: HashMap<(Arc<str>, Option<Arc<str>>), usize> = HashMap::new();
        let mut rows: Vec<FunctionRow> = Vec::new();
        let of_frames: Vec<usize> = (trace.frames().iter())
            .map(|frame| {
                let symbol = names.frame(trace, frame);
                let name: Arc<str> = symbol.to_string().into();
                let module = symbol.binary.map(|(module, _)| module);
                *numbers.entry((name.clone(), module.clone())).or_insert_with(|| {
                    let (total, own, all) = ((0, 0), 0, 0);
                    let unit = trace.unit().clone();
                    rows.push(FunctionRow { trace: index, name, module, total, own, unit, all });
                    rows.len() - 1
                })
            })
            .collect();
        let paths = trace.paths();
        let places: HashMap<_, usize> =
            paths.iter().enumerate().map(|(place, path)| (path.id, place)).collect();
        // The last path that counted for each function: recursion does not count twice.
        let mut counted = vec![usize::MAX; rows.len()];
        let mut all = 0_u64;
        for (number, path) in paths.iter().enumerate().filter(|(_, path)| path.samples > 0) {
            let thread = &trace.threads()[path.thread];
            if !(self.is_wanted)(thread.key, &thread.name) {
                continue;
            }
            all = all.saturating_add(path.weight);
            let own = &mut rows[of_frames[path.frame.index()]].own;
            *own = own.saturating_add(path.weight);
            let mut at = Some(number);
            while let Some(place) = at {
                let function = of_frames[paths[place].frame.index()];
                if std::mem::replace(&mut counted[function], number) != number {
                    let (samples, weight) = &mut rows[function].total;
                    *samples += path.samples;
                    *weight = weight.saturating_add(path.weight);
                }
                at = paths[place].caller.and_then(|caller| places.get(&caller).copied());
            }
        }
        rows.into_iter().filter(|row| row.total.0 > 0).map(move |row| FunctionRow { all, ..row })
    }

    /// Returns the table of threads, in the order of their first samples.
    fn threads(&self) -> Table {
        let mut rows = Vec::new();
        for (index, trace) in self.traces() {
            let mut sums = vec![(0_u64, 0_u64); trace.threads().len()];
            for path in trace.paths() {
                let (samples, weight) = &mut sums[path.thread];
                *samples += path.samples;
                *weight = weight.saturating_add(path.weight);
            }
            let threads = trace.threads().iter().zip(sums);
            let wanted = threads
                .filter(|(of, (samples, _))| *samples > 0 && (self.is_wanted)(of.key, &of.name));
            rows.extend(wanted.map(|(of, sums)| (index, of, sums, trace.unit())));
        }
        Table::of("threads", "Threads", &rows)
            .trace_if(self.has_traces(), |row| row.0)
            .integer("process", "PROCESS", |row| row.1.key.process)
            .text("thread", "THREAD", |row| thread(row.1.key))
            .text("name", "NAME", |row| row.1.name.to_string())
            .count("samples", "SAMPLES", |row| row.2.0)
            .count("total", "TOTAL", |row| row.2.1)
            .text("unit", "UNIT", |row| row.3.to_string())
            .build()
    }
}

fn percent(part: u64, all: u64) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}
