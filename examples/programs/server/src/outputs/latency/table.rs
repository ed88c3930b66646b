//! The single durations, in the order of their begin.

use lttv_state::latency::{Sample, TraceLatency};

use super::Analysis;
use crate::dataset::Dataset;
use crate::error::{OutputError, Result};
use crate::outputs::Output;
use crate::outputs::line_query::{Direction, Query, Start};
use crate::outputs::work::Work;
use crate::protocol::models::{Answer, Cell, Column, DataProvider, DataType, Line, Lines};
use crate::protocol::parameters::Parameters;

/// The table of durations.
#[derive(Debug)]
pub(super) struct Table(pub(super) &'static Analysis);

const COLUMNS: [Column; 8] = [
    Column::new(0, "Start Time", "Time of the begin, in ns", DataType::Timestamp),
    Column::new(1, "End Time", "Time of the end, in ns", DataType::Timestamp),
    Column::new(2, "Duration", "Time between them, in ns", DataType::Duration),
    Column::new(3, "Kind", "What takes the time", DataType::String),
    Column::new(4, "Name", "System call, file, interrupt, disk or futex", DataType::String),
    Column::new(5, "Thread", "Name and id of the thread", DataType::String),
    Column::new(6, "CPU", "Number of the CPU of the end", DataType::Number),
    Column::new(7, "Trace", "Name of the trace", DataType::String),
];

impl Output for Table {
    fn description(&self) -> DataProvider {
        self.0.table
    }

    fn serves(&self, dataset: &Dataset) -> bool {
        self.0.serves(dataset)
    }

    fn columns(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        work.json(&Answer::complete(COLUMNS))
    }

    fn lines(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let query = Query::parse(parameters, &COLUMNS)?;
        let latency = dataset.latency(None);
        let mut rows = Vec::new();
        for (trace, of) in latency.iter().flat_map(|latency| self.0.traces(dataset, latency)) {
            let name = dataset.group_of(trace).map_or("", |group| &group.name);
            for (_, _, family) in self.0.families(dataset, trace, of) {
                rows.extend(of.top(family).iter().map(|sample| Row { of, name, sample }));
            }
        }
        rows.sort_by_key(|row| (row.sample.begin, row.sample.end));
        let (size, columns) = (rows.len() as u64, query.ids(&COLUMNS));
        let found = find(&rows, &query, work)?;
        let low = found.unwrap_or(0);
        let wanted = rows.iter().zip(0..).skip(low as usize).take(query.count);
        let lines = wanted.filter(|_| found.is_some()).map(|(row, index)| row.line(index, &query));
        let lines = Lines { low, size, columns, lines: lines.collect() };
        work.json(&Answer::of(lines, latency.is_some()))
    }
}

/// Returns the number of the first line to answer with; `None` if a search finds none.
fn find(
    rows: &[Row<'_>],
    query: &Query,
    work: &mut Work<'_>,
) -> std::result::Result<Option<u64>, OutputError> {
    let start = match query.start {
        Start::Index(index) => usize::try_from(index).unwrap_or(usize::MAX),
        Start::Time(time) => {
            let from = rows.partition_point(|row| row.sample.begin < time);
            from.min(rows.len().saturating_sub(1))
        }
    };
    let mut is_found = |number: usize| {
        work.tick()?;
        Ok::<_, OutputError>(rows[number].is_found_by(query))
    };
    let mut first = |numbers: &mut dyn Iterator<Item = usize>| {
        for number in numbers {
            if is_found(number)? {
                return Ok(Some(number as u64));
            }
        }
        Ok(None)
    };
    match query.direction {
        None => Ok(Some(start as u64)),
        Some(Direction::Next) => first(&mut (start..rows.len())),
        Some(Direction::Previous) => first(&mut (0..rows.len().min(start.saturating_add(1))).rev()),
    }
}

/// A duration of a trace.
struct Row<'r> {
    of: &'r TraceLatency,
    /// The name of the trace.
    name: &'r str,
    sample: &'r Sample,
}

impl Row<'_> {
    fn line(&self, index: u64, query: &Query) -> Line {
        let cells = query.columns.iter().map(|column| Cell { content: self.cell(*column) });
        let tags = if self.is_found_by(query) { Line::FOUND } else { 0 };
        Line { index, cells: cells.collect(), tags }
    }

    fn is_found_by(&self, query: &Query) -> bool {
        query.search.matches(|column, regex| regex.is_match(&self.cell(column)))
    }

    /// Returns the text of a cell.
    fn cell(&self, column: usize) -> String {
        let (of, sample) = (self.of, self.sample);
        match column {
            0 => sample.begin.as_ns().to_string(),
            1 => sample.end.as_ns().to_string(),
            2 => sample.duration().to_string(),
            3 => sample.family.title().to_owned(),
            4 => of.subject_of(sample),
            5 => of.thread(sample.thread).map_or_else(String::new, |thread| {
                match of.name(thread.name) {
                    "" => thread.tid.to_string(),
                    name => format!("{name} ({})", thread.tid),
                }
            }),
            6 => sample.cpu.to_string(),
            _ => self.name.to_owned(),
        }
    }
}
