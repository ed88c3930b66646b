//! Tables of latencies, which the command `lttv latency` and the module `latency` share.

mod overview;
mod rows;
mod single;

use ltt_read::TraceIndex;
use lttv_state::latency::{By, Distribution, Family, Subject, ThreadId, TraceLatency};

use crate::table::{Cell, Kind, Table};

pub use overview::{intervals, overview, unmatched};
pub use rows::{disks, futexes, rows, wakes};
pub use single::{bar, histogram, open, top};

/// The choice of what tables contain.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The families; those with figures if empty.
    pub families: Vec<Family>,
    /// The division of the figures.
    pub by: By,
    /// The maximum number of rows of a family; `None` for all.
    pub rows: Option<usize>,
    /// The number of equal bins of histograms; `None` for bins between powers of two.
    pub bins: Option<u32>,
    /// `true` if tables have a column for the number of the trace.
    pub has_traces: bool,
}

impl Choice {
    /// Returns the families that tables are about.
    pub fn families(&self, latencies: &[(TraceIndex, &TraceLatency)]) -> Vec<Family> {
        let has_figures = |family: &Family| {
            latencies.iter().any(|(_, of)| of.total(*family).durations().count() > 0)
        };
        match self.families.is_empty() {
            true => Family::ALL.into_iter().filter(has_figures).collect(),
            false => self.families.clone(),
        }
    }

    /// Creates a table, with the column for the number of the trace if there are several.
    fn table(&self, key: &'static str, title: impl Into<String>) -> Table {
        let table = Table::new(key, title);
        match self.has_traces {
            true => table.column("trace", "TRACE", Kind::Integer),
            false => table,
        }
    }

    /// Returns the cells of a row, after that of the trace if there are several.
    fn cells(&self, trace: TraceIndex, cells: impl IntoIterator<Item = Cell>) -> Vec<Cell> {
        let trace = self.has_traces.then_some(Cell::Integer(trace.0 as i128));
        trace.into_iter().chain(cells).collect()
    }
}

/// The percentiles in tables.
const PERCENTILES: [(f64, &str, &str); 4] = [
    (50.0, "p50_ns", "50 %"),
    (90.0, "p90_ns", "90 %"),
    (99.0, "p99_ns", "99 %"),
    (99.9, "p99_9_ns", "99.9 %"),
];

/// Adds the columns of [`durations`].
fn with_durations(table: Table) -> Table {
    let table = table
        .column("count", "COUNT", Kind::Integer)
        .column("total_ns", "TOTAL us", Kind::Duration)
        .column("mean_ns", "MEAN us", Kind::Duration)
        .column("deviation_ns", "DEVIATION", Kind::Duration)
        .column("min_ns", "MIN", Kind::Duration);
    let table = PERCENTILES
        .iter()
        .fold(table, |table, (_, key, title)| table.column(key, *title, Kind::Duration));
    table.column("max_ns", "MAX", Kind::Duration)
}

/// Returns the cells of durations; without any, they are empty but for the count.
fn durations(of: &Distribution) -> Vec<Cell> {
    let spread = of.spread();
    let rounded = |ns: f64| Cell::Duration(ns.round() as u64);
    if spread.count() == 0 {
        let empty = std::iter::repeat_n(Cell::Empty, PERCENTILES.len() + 5);
        return std::iter::once(Cell::Integer(0)).chain(empty).collect();
    }
    let first = [
        spread.count().into(),
        Cell::Duration(spread.total()),
        rounded(spread.mean()),
        spread.sample_deviation().map_or(Cell::Empty, rounded),
        Cell::Duration(spread.least().value),
    ];
    let percentiles =
        PERCENTILES.iter().map(|(p, ..)| of.percentile(*p).map_or(Cell::Empty, Cell::Duration));
    let last = Cell::Duration(spread.greatest().value);
    first.into_iter().chain(percentiles).chain([last]).collect()
}

/// Returns the id and the name of a thread.
fn thread(of: &TraceLatency, id: ThreadId) -> [Cell; 2] {
    match of.thread(id) {
        Some(thread) => [thread.tid.into(), of.name(thread.name).into()],
        None if id == ThreadId::INTERRUPT => [Cell::Empty, "interrupt".into()],
        None if id == ThreadId::OTHERS => [Cell::Empty, "others".into()],
        None => [Cell::Empty, Cell::Empty],
    }
}

/// Returns the description of a subject.
fn subject(of: &TraceLatency, subject: Option<Subject>) -> Cell {
    subject.map_or(Cell::Empty, |subject| of.subject(subject).into())
}
