//! The colours of each row over time: the time of each colour in each column of pixels.

use ltt_read::Timestamp;
use lttv_common::paint::Paint;
use lttv_state::kernel::{
    ExecutionMode, LossOnCpu, ProcessIndex, ProcessStatus, Serial, TraceState,
};
use lttv_state::stats::TraceStatistics;

use super::shares::Share;
use crate::commands::chart::span::Span;

/// The time of each [`Paint`] in a column, in ns.
pub(super) type Column = [u64; Paint::ALL.len()];

/// The paint of a CPU in an unknown state, and of a process that does not exist: black.
pub(super) const BLACK: Paint = Paint::Dead;

/// A row that is being filled.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) label: String,
    /// The number of the CPU; `None` for a process.
    pub(super) cpu: Option<u32>,
    /// The active time according to the statistics.
    pub(super) share: Share,
    pub(super) columns: Vec<Column>,
    /// The paint since `since`, in ns.
    paint: Paint,
    since: i64,
}

/// All rows, and the time span of the picture, in ns.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) cpus: Vec<Row>,
    pub(super) processes: Vec<Row>,
    /// The numbers of the CPUs, in ascending order.
    numbers: Vec<u32>,
    /// The row of each process, by serial number.
    row_of: Vec<Option<usize>>,
    /// The row of the process at each index of the state.
    slots: Vec<Option<usize>>,
    begin: i64,
    end: i64,
}

impl Rows {
    /// Creates the rows of all CPUs and of the processes with the most CPU time.
    pub(super) fn new(trace: &TraceStatistics, top: usize, columns: usize, span: &Span) -> Self {
        let begin = span.from.as_ns();
        let end = begin.saturating_add_unsigned(span.length());
        let empty = vec![Column::default(); columns];
        let row = |label, cpu, share| Row {
            label,
            cpu,
            share,
            columns: empty.clone(),
            paint: BLACK,
            since: begin,
        };
        let mut cpus = trace.cpus();
        cpus.sort_by_key(|cpu| cpu.number);
        let mut busiest = trace.processes();
        busiest.sort_by_key(|sum| (std::cmp::Reverse(sum.cpu_time), sum.process));
        let facts = |serial: Serial| trace.process_facts().get(serial.index());
        busiest.retain(|sum| {
            facts(sum.process).is_some_and(|facts| facts.tid.is_some_and(|tid| tid != 0))
        });
        busiest.truncate(top);
        let label = |serial: Serial| {
            let (name, tid) = facts(serial).map_or(("", 0), |of| (&*of.name, of.tid.unwrap_or(0)));
            format!("{name} {tid}")
        };
        let mut row_of = Vec::new();
        for (row, sum) in busiest.iter().enumerate() {
            let serial = sum.process.index();
            if row_of.len() <= serial {
                row_of.resize(serial + 1, None);
            }
            row_of[serial] = Some(row);
        }
        let whole = trace.time();
        let of_process = busiest
            .iter()
            .map(|sum| row(label(sum.process), None, Share { part: sum.cpu_time, whole }));
        let of_cpu = cpus.iter().map(|cpu| {
            row(format!("CPU {}", cpu.number), Some(cpu.number), Share::of_cpu(cpu, trace))
        });
        Rows {
            cpus: of_cpu.collect(),
            processes: of_process.collect(),
            numbers: cpus.iter().map(|cpu| cpu.number).collect(),
            row_of,
            slots: Vec::new(),
            begin,
            end,
        }
    }

    /// Records the state at the start of the picture.
    pub(super) fn start(&mut self, state: &TraceState) {
        let time = self.begin;
        for number in self.numbers.clone() {
            self.follow_cpu(state, number, time);
        }
        for (index, _) in state.processes() {
            self.follow_process(state, index, time);
        }
    }

    /// Records the state after an event: what the event may have changed.
    pub(super) fn event(&mut self, state: &TraceState, time: i64) {
        for loss in state.effect().losses().iter().filter(|loss| !loss.is_told_again()) {
            self.lose(loss);
        }
        if let Some(cpu) = state.effect().cpu() {
            self.follow_cpu(state, cpu, time);
        }
        for &index in state.changed_processes() {
            self.follow_process(state, index, time);
            if let Some(cpu) = state.process(index).and_then(|process| process.cpu()) {
                self.follow_cpu(state, cpu, time);
            }
        }
    }

    /// Records a loss of events, from which on states are unknown.
    fn lose(&mut self, loss: &LossOnCpu) {
        let (begin, end, time) = (self.begin, self.end, loss.since().as_ns());
        if let Ok(at) = self.numbers.binary_search(&loss.cpu()) {
            self.cpus[at].set(BLACK, time, begin, end);
        }
        for index in loss.processes() {
            if let Some(Some(row)) = self.slots.get(index.index()) {
                let paint = Paint::of_process(ProcessStatus::Unknown, ExecutionMode::Unknown);
                self.processes[*row].set(paint, time, begin, end);
            }
        }
    }

    fn follow_cpu(&mut self, state: &TraceState, number: u32, time: i64) {
        let (begin, end) = (self.begin, self.end);
        if let Ok(at) = self.numbers.binary_search(&number)
            && let Some(row) = self.cpus.get_mut(at)
        {
            let paint = Paint::of_cpu(state.cpu_mode(number)).unwrap_or(BLACK);
            row.set(paint, time, begin, end);
        }
    }

    /// Updates the row of the process at an index, and that of the process that was there before.
    fn follow_process(&mut self, state: &TraceState, index: ProcessIndex, time: i64) {
        let (begin, end) = (self.begin, self.end);
        let process = state.process(index);
        let row = process.and_then(|process| *self.row_of.get(process.serial().index())?);
        let at = index.index();
        if self.slots.len() <= at {
            self.slots.resize(at + 1, None);
        }
        let before = std::mem::replace(&mut self.slots[at], row);
        if let Some(before) = before.filter(|before| row != Some(*before)) {
            // The process has ended.
            self.processes[before].set(BLACK, time, begin, end);
        }
        if let (Some(row), Some(process)) = (row, process) {
            let paint = Paint::of_process(process.status(), process.mode());
            self.processes[row].set(paint, time, begin, end);
        }
    }

    /// Records the end of the trace.
    pub(super) fn finish(&mut self, state: Option<&TraceState>) {
        if let Some(state) = state {
            let losses = state.losses_before(Timestamp::from_ns(self.end));
            losses.filter(|loss| !loss.is_told_again()).for_each(|loss| self.lose(&loss));
        }
        for row in self.cpus.iter_mut().chain(&mut self.processes) {
            row.charge(self.end, self.begin, self.end);
        }
    }
}

impl Row {
    fn set(&mut self, paint: Paint, time: i64, begin: i64, end: i64) {
        if paint != self.paint {
            self.charge(time, begin, end);
            self.paint = paint;
        }
    }

    /// Adds the time since the last call to the columns that it covers.
    fn charge(&mut self, time: i64, begin: i64, end: i64) {
        let span = i128::from(end.abs_diff(begin));
        let count = self.columns.len() as i128;
        let time = time.clamp(begin, end);
        // The columns divide the time span evenly.
        let edge = |column: i128| begin + (column * span / count) as i64;
        while self.since < time {
            let at = i128::from(self.since.abs_diff(begin)) * count / span;
            let mut column = at.min(count - 1);
            if column + 1 < count && edge(column + 1) <= self.since {
                column += 1;
            }
            let until = if column + 1 < count { edge(column + 1).min(time) } else { time };
            let until = until.max(self.since + 1).min(time);
            let times = &mut self.columns[column as usize];
            times[self.paint.index()] += until.abs_diff(self.since);
            self.since = until;
        }
        self.since = time;
    }
}
