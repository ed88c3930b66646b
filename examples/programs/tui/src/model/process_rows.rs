//! The rows of processes that a chart shows: which ones, and in which order.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use ltt_read::TraceIndex;
use lttv_requests::views::{ControlFlow, ProcessKey, ProcessLabel};

use super::natural_order;
use super::row_order::RowOrder;
use super::row_search::{Found, RowQuery, Step};

/// The rows of a chart of processes, as the user has sorted and chosen them.
#[derive(Debug, Default)]
pub struct ProcessRows {
    /// All rows, in order.
    all: Vec<ProcessRow>,
    /// The visible ones.
    shown: Vec<ProcessRow>,
    order: RowOrder,
    shows_inactive: bool,
    /// The rows without activity that the user has searched for.
    revealed: HashSet<ProcessKey>,
}

/// A row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessRow {
    /// The index in the chart.
    pub at: usize,
    /// The process.
    pub key: ProcessKey,
    /// The depth in the tree of processes; 0 in other orders.
    pub depth: usize,
}

impl ProcessRows {
    /// Returns the visible rows.
    pub fn shown(&self) -> &[ProcessRow] {
        &self.shown
    }

    /// Returns the number of rows that are hidden because the processes did not run.
    pub fn hidden(&self) -> usize {
        self.all.len() - self.shown.len()
    }

    /// Returns the order.
    pub fn order(&self) -> RowOrder {
        self.order
    }

    /// Sets the order, from the next [update](Self::update) on.
    pub fn set_order(&mut self, order: RowOrder) {
        self.order = order;
    }

    /// Returns `true` if processes are visible that did not run.
    pub fn shows_inactive(&self) -> bool {
        self.shows_inactive
    }

    /// Shows or hides processes that did not run, from the next [update](Self::update) on.
    pub fn show_inactive(&mut self, is_shown: bool) {
        self.shows_inactive = is_shown;
        self.revealed.clear();
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.all.clear();
        self.shown.clear();
        self.revealed.clear();
    }

    /// Takes over the rows of a chart.
    pub fn update(&mut self, chart: &ControlFlow) {
        let (timeline, labels) = (chart.timeline(), chart.labels());
        let rows = timeline.rows();
        // Idle processes are visible as idle CPUs among the resources.
        let is_shown = |row: &ProcessRow| {
            self.shows_inactive
                || rows[row.at].is_active() && labels[row.at].tid != Some(0)
                || self.revealed.contains(&row.key)
        };
        let row = |at: usize| ProcessRow { at, key: *rows[at].key(), depth: 0 };
        let mut all: Vec<_> = chart.order().into_iter().map(row).collect();
        match self.order {
            RowOrder::Number | RowOrder::Tree => {}
            RowOrder::Name => {
                let name = |row: &ProcessRow| labels[row.at].title();
                all.sort_by(|a, b| natural_order::compare(&name(a), &name(b)));
            }
            RowOrder::Busiest => all.sort_by_cached_key(|row| {
                // Idle processes are not busy, although CPUs run them.
                let is_idle = labels[row.at].tid == Some(0);
                let time: u64 = rows[row.at].segments().map(|segment| segment.active).sum();
                (is_idle, Reverse(time))
            }),
        }
        let shown: Vec<_> = all.iter().filter(|row| is_shown(row)).copied().collect();
        self.shown = if self.order == RowOrder::Tree { tree(&labels, &shown) } else { shown };
        self.all = all;
    }

    /// Finds a process by its TID, its PID or a part of its command, also one that is hidden:
    /// it is visible from the next [update](Self::update) on. `from` is the selected process.
    pub fn find(
        &mut self,
        labels: &[ProcessLabel],
        query: &RowQuery,
        from: Option<ProcessKey>,
        step: Step,
    ) -> Option<(ProcessRow, Found)> {
        // In a tree, the visible rows have another order than all.
        let mut rows = self.shown.clone();
        let shown: HashSet<_> = rows.iter().map(|row| row.key).collect();
        if self.order == RowOrder::Tree {
            rows.extend(self.all.iter().filter(|row| !shown.contains(&row.key)));
        } else {
            rows.clone_from(&self.all);
        }
        let facts: Vec<_> = rows.iter().filter_map(|row| labels.get(row.at)).map(facts).collect();
        let at = rows.iter().position(|row| Some(row.key) == from);
        let step = if at.is_none() { Step::Here } else { step };
        let facts = facts.iter().map(|(ids, name)| (&**ids, &**name));
        let found = query.find(facts, at.unwrap_or(0), step)?;
        let row = *rows.get(found.row)?;
        if !shown.contains(&row.key) {
            self.revealed.insert(row.key);
        }
        Some((row, found))
    }
}

/// Returns the numbers and the name by which a process is found.
fn facts(label: &ProcessLabel) -> (Vec<i64>, String) {
    let ids = [label.tid, label.pid].into_iter().flatten().map(i64::from).collect();
    (ids, label.title().into_owned())
}

/// Returns the rows sorted as a tree, with children below their parents.
fn tree(labels: &[ProcessLabel], order: &[ProcessRow]) -> Vec<ProcessRow> {
    let id = |row: &ProcessRow| (row.key.trace, labels[row.at].tid);
    let parent = |row: &ProcessRow| (row.key.trace, labels[row.at].parent);
    let is_idle = |of: (TraceIndex, Option<i32>)| of.1.is_none_or(|tid| tid == 0);
    let known: HashSet<_> = order.iter().map(id).collect();
    let mut children: HashMap<_, Vec<ProcessRow>> = HashMap::default();
    let mut todo = Vec::new();
    for row in order {
        let of = parent(row);
        // A thread is below its process.
        let pid = labels[row.at].pid.filter(|pid| Some(*pid) != labels[row.at].tid);
        let above = match pid.map(|pid| (row.key.trace, Some(pid))) {
            Some(process) if known.contains(&process) => Some(process),
            _ => Some(of).filter(|of| !is_idle(*of) && known.contains(of) && *of != id(row)),
        };
        match above {
            Some(above) => children.entry(above).or_default().push(*row),
            None => todo.push(*row),
        }
    }
    todo.reverse();
    let mut sorted = Vec::new();
    let mut seen = vec![false; labels.len()];
    while let Some(row) = todo.pop() {
        if std::mem::replace(&mut seen[row.at], true) {
            continue;
        }
        sorted.push(row);
        if is_idle(id(&row)) {
            continue;
        }
        let below = children.remove(&id(&row)).unwrap_or_default();
        let below = below.into_iter().rev();
        todo.extend(below.map(|below| ProcessRow { depth: row.depth + 1, ..below }));
    }
    // Damaged traces may contain cycles of parents.
    sorted.extend(order.iter().filter(|row| !seen[row.at]).copied());
    sorted
}

#[cfg(test)]
mod tests {
    use lttv_context::{Traceset, TracesetContext};
    use lttv_requests::views::TimeWindow;
    use lttv_requests::{Budget, Owner, Scheduler};
    use lttv_state::kernel::KernelState;

    use super::*;

    /// Returns the chart of the first `ns` of the bundled trace.
    fn chart(ns: u64) -> ControlFlow {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
        let traceset = Traceset::open(path).expect("the bundled trace");
        let mut context = TracesetContext::new(traceset);
        let kernel = context.attach(KernelState::new());
        let first = context.position().time().expect("an event");
        let window = TimeWindow::new(first, first.saturating_add(ns)).expect("not empty");
        let mut scheduler = Scheduler::new(context);
        let chart = ControlFlow::new(window, (ns / 100).max(1));
        scheduler.submit(chart.request(Owner::unique(), kernel)).expect("no position");
        while scheduler.service_chunk(Budget::default()).has_more() {}
        chart
    }

    fn tids(rows: &[ProcessRow], chart: &ControlFlow) -> Vec<Option<i32>> {
        let labels = chart.labels();
        rows.iter().map(|row| labels[row.at].tid).collect()
    }

    #[test]
    fn each_order_contains_the_same_rows() {
        let chart = chart(1_000_000_000);
        let mut rows = ProcessRows::default();
        let mut known: Option<Vec<_>> = None;
        for order in RowOrder::OF_PROCESSES {
            rows.set_order(order);
            rows.update(&chart);
            let mut keys: Vec<_> = rows.shown().iter().map(|row| row.key).collect();
            keys.sort_unstable();
            assert_eq!(known.get_or_insert_with(|| keys.clone()), &keys, "{order:?}");
            assert!(rows.hidden() > 0);
        }
        rows.show_inactive(true);
        rows.update(&chart);
        assert_eq!((rows.hidden(), rows.shown().len()), (0, chart.timeline().rows().len()));
    }

    #[test]
    fn the_busiest_process_is_first() {
        let chart = chart(1_000_000_000);
        let mut rows = ProcessRows::default();
        rows.set_order(RowOrder::Busiest);
        rows.update(&chart);
        let timeline = chart.timeline();
        let time = |row: &ProcessRow| -> u64 {
            timeline.rows()[row.at].segments().map(|segment| segment.active).sum()
        };
        let times: Vec<_> = rows.shown().iter().map(time).collect();
        assert!(times.is_sorted_by(|a, b| a >= b) && times[0] > 0, "{times:?}");
        // The idle processes are after all others.
        rows.show_inactive(true);
        rows.update(&chart);
        let tids = tids(rows.shown(), &chart);
        let idle = tids.iter().position(|tid| *tid == Some(0)).expect("idle processes");
        assert!(tids[idle..].iter().all(|tid| *tid == Some(0)), "{tids:?}");
    }

    #[test]
    fn a_hidden_process_is_found_and_then_visible() {
        let chart = chart(20_000_000);
        let labels = chart.labels();
        for order in RowOrder::OF_PROCESSES {
            let mut rows = ProcessRows::default();
            rows.set_order(order);
            rows.update(&chart);
            let shown: HashSet<_> = rows.shown().iter().map(|row| row.key).collect();
            let hidden = rows.all.iter().find(|row| {
                !shown.contains(&row.key) && labels[row.at].tid.is_some_and(|tid| tid > 0)
            });
            let hidden = *hidden.expect("a process that does not run");
            let tid = labels[hidden.at].tid.expect("it has one");
            let query = RowQuery::new(&tid.to_string()).expect("not blank");
            let before = rows.hidden();
            let (row, _) = rows.find(&labels, &query, None, Step::Here).expect("it is there");
            assert_eq!(labels[row.at].tid, Some(tid), "{order:?}");
            rows.update(&chart);
            assert!(rows.shown().iter().any(|row| row.key == hidden.key), "{order:?}");
            assert_eq!(rows.hidden() + 1, before);
        }
    }
}
