//! The handlers of interrupts that run in the place of something else.

use std::collections::BTreeMap;
use std::ops::Range;

use lttv_state::spans::Family;

/// The handlers of an interrupt on a CPU that ran in the place of something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Handler {
    /// The kind of the interrupt.
    pub family: Family,
    /// The number and the name.
    pub name: String,
    /// The CPU.
    pub cpu: u32,
    /// Their number.
    pub count: u64,
    /// Their time in ns, with that of handlers that interrupted them.
    pub time: u64,
}

/// The times on CPUs that handlers may take.
#[derive(Debug, Default)]
pub(crate) struct Interrupted {
    /// The times by CPU, in ns and in order.
    runs: BTreeMap<u32, Vec<Range<i64>>>,
    /// The handlers on each CPU that no other one contains so far, in the order of their ends.
    outermost: BTreeMap<u32, Vec<Taken>>,
    names: Vec<(Family, String)>,
}

/// The time that a handler took.
#[derive(Debug)]
struct Taken {
    handler: Range<i64>,
    time: u64,
    /// The place of its name.
    name: usize,
}

impl Interrupted {
    /// Creates the times of runs on CPUs, which are in order and do not overlap on one CPU.
    pub(crate) fn new(runs: impl Iterator<Item = (Range<i64>, u32)>) -> Self {
        let mut of_cpus: BTreeMap<u32, Vec<Range<i64>>> = BTreeMap::new();
        runs.for_each(|(time, cpu)| of_cpus.entry(cpu).or_default().push(time));
        Interrupted { runs: of_cpus, ..Interrupted::default() }
    }

    /// Adds a handler. Those of a CPU come in the order of their ends: a handler that contains earlier ones takes
    /// their time as well.
    pub(crate) fn add(
        &mut self,
        (family, name): (Family, impl FnOnce() -> String),
        cpu: u32,
        mut handler: Range<i64>,
    ) {
        let Some(runs) = self.runs.get(&cpu) else { return };
        let first = runs.partition_point(|run| run.end <= handler.start);
        if runs.get(first).is_none_or(|run| run.start >= handler.end) {
            return;
        }
        let outermost = self.outermost.entry(cpu).or_default();
        while outermost.pop_if(|before| before.handler.start >= handler.start).is_some() {}
        if let Some(before) = outermost.last() {
            // Handlers are nested; where clocks or losses say otherwise, no time counts twice.
            handler.start = handler.start.max(before.handler.end);
        }
        let overlapping = runs[first..].iter().take_while(|run| run.start < handler.end);
        let overlaps = overlapping.map(|run| {
            let (start, end) = (run.start.max(handler.start), run.end.min(handler.end));
            if end > start { end.abs_diff(start) } else { 0 }
        });
        let time = overlaps.sum();
        let key = (family, name());
        let known = self.names.iter().position(|of| *of == key);
        let name = known.unwrap_or_else(|| {
            self.names.push(key);
            self.names.len() - 1
        });
        outermost.push(Taken { handler, time, name });
    }

    /// Returns the handlers by interrupt and CPU, those with most time first.
    pub(crate) fn handlers(&self) -> Vec<Handler> {
        let mut sums: BTreeMap<(usize, u32), (u64, u64)> = BTreeMap::new();
        for (cpu, all) in &self.outermost {
            for taken in all.iter().filter(|taken| taken.time > 0) {
                let sum = sums.entry((taken.name, *cpu)).or_default();
                *sum = (sum.0 + 1, sum.1 + taken.time);
            }
        }
        let mut handlers: Vec<Handler> = sums
            .into_iter()
            .map(|((name, cpu), (count, time))| {
                let (family, name) = self.names[name].clone();
                Handler { family, name, cpu, count, time }
            })
            .collect();
        handlers.sort_by_key(|of| std::cmp::Reverse(of.time));
        handlers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Handlers that are nested within each other, in the order of their ends.
    fn nested() -> impl Strategy<Value = Vec<Range<i64>>> {
        prop::collection::vec((0..60i64, 1..40i64), 0..12).prop_map(|mut all| {
            let mut handlers: Vec<Range<i64>> = Vec::new();
            all.sort_by_key(|(start, length)| (*start, std::cmp::Reverse(*length)));
            for (start, length) in all {
                let mut handler = start..start + length;
                for outer in &handlers {
                    if outer.start <= handler.start && handler.start < outer.end {
                        handler.end = handler.end.min(outer.end);
                    }
                }
                handlers.push(handler);
            }
            handlers.sort_by_key(|of| (of.end, std::cmp::Reverse(of.start)));
            handlers
        })
    }

    proptest! {
        #[test]
        fn each_instant_counts_once(
            handlers in nested(),
            runs in prop::collection::vec((0..10i64, 1..20i64), 0..6),
        ) {
            let mut at = 0;
            let runs: Vec<Range<i64>> = runs
                .into_iter()
                .map(|(gap, length)| {
                    let run = at + gap..at + gap + length;
                    at = run.end;
                    run
                })
                .collect();
            let mut interrupted = Interrupted::new(runs.iter().map(|run| (run.clone(), 3)));
            for (number, handler) in handlers.iter().enumerate() {
                let name = || number.to_string();
                interrupted.add((Family::HardIrq, name), 3, handler.clone());
                interrupted.add((Family::HardIrq, name), 4, handler.clone());
            }
            let is_in = |all: &[Range<i64>], at: i64| all.iter().any(|of| of.contains(&at));
            let expected = (0..200).filter(|at| is_in(&runs, *at) && is_in(&handlers, *at)).count();
            let found = interrupted.handlers();
            prop_assert!(found.iter().all(|of| of.cpu == 3 && of.count == 1));
            prop_assert_eq!(found.iter().map(|of| of.time).sum::<u64>(), expected as u64);
        }
    }
}
