//! The colours of each row over time: the time of each colour in each column of pixels.

use lttv_state::kernel::{ProcessIndex, Serial, TraceState};
use lttv_state::stats::TraceStatistics;

use super::shares::Share;
use crate::commands::chart::span::Span;
use crate::paint::Paint;

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
    numbers: Vec<u32>,
    serials: Vec<Serial>,
    /// The index of each process in the table of the state, as found last.
    places: Vec<Option<ProcessIndex>>,
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
        let cpus = trace.cpus();
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
            places: vec![None; busiest.len()],
            numbers: cpus.iter().map(|cpu| cpu.number).collect(),
            serials: busiest.iter().map(|sum| sum.process).collect(),
            begin,
            end,
        }
    }

    /// Records the state after an event.
    pub(super) fn event(&mut self, state: &TraceState, time: i64) {
        let (begin, end) = (self.begin, self.end);
        for (number, row) in self.numbers.iter().zip(&mut self.cpus) {
            let paint = Paint::of_cpu(state.cpu_mode(*number)).unwrap_or(BLACK);
            row.set(paint, time, begin, end);
        }
        let rows = self.serials.iter().zip(&mut self.places).zip(&mut self.processes);
        for ((serial, place), row) in rows {
            let known = |ix: ProcessIndex| state.process(ix).filter(|p| p.serial() == *serial);
            // A process does not exist before its creation.
            if place.is_none_or(|ix| known(ix).is_none()) {
                *place = None;
                if serial.0 < state.serial_bound() && row.paint != Paint::Unknown {
                    let mut all = state.processes();
                    *place = all.find(|(_, p)| p.serial() == *serial).map(|(ix, _)| ix);
                    if place.is_none() {
                        // The process has ended.
                        row.set(BLACK, time, begin, end);
                    }
                }
            }
            let paint = place
                .and_then(known)
                .map_or(BLACK, |process| Paint::of_process(process.status(), process.mode()));
            row.set(paint, time, begin, end);
        }
    }

    /// Records the end of the trace.
    pub(super) fn finish(&mut self) {
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
