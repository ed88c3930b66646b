//! Tables of latencies, which the command `lttv latency` and the module `latency` share.

mod keys;
mod overview;
mod rows;
mod single;

use ltt_read::TraceIndex;
use lttv_common::table::{Declaration, Table};
use lttv_state::durations::Distribution;
use lttv_state::latency::{Family, GroupBy, Subject, ThreadId, TraceLatency};

pub(crate) use overview::{intervals, overview, unmatched};
pub(crate) use rows::{disks, futexes, rows, wakes};
pub(crate) use single::{histogram, open, top};

/// The choice of what tables contain.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    /// The families; those with figures if empty.
    pub families: Vec<Family>,
    /// The division of the figures.
    pub by: GroupBy,
    /// The label or value of periods that divides the figures, with `true` if it is a label.
    pub value: Option<(String, bool)>,
    /// The maximum number of rows of a family; `None` for all.
    pub rows: Option<usize>,
    /// The number of equal bins of histograms; `None` for bins between powers of two.
    pub bins: Option<u32>,
    /// `true` if the longest durations are those of each row.
    pub has_row_top: bool,
    /// `true` if there is a distribution of each row.
    pub has_row_histogram: bool,
    /// `true` if tables have a column for the number of the trace.
    pub has_traces: bool,
    /// `true` if figures are those of selected spans only.
    pub is_selected: bool,
}

impl Choice {
    /// Returns the families that tables are about.
    pub(crate) fn families(&self, latencies: &Latencies<'_>) -> Vec<Family> {
        let has_figures = |family: &Family| {
            latencies.iter().any(|(_, of)| of.total(*family).durations().count() > 0)
        };
        match self.families.is_empty() {
            true => Family::LATENCIES.into_iter().filter(has_figures).collect(),
            false => self.families.clone(),
        }
    }

    /// Starts a table, with the column for the number of the trace if there are several.
    fn table<'r, T>(
        &self,
        key: &'static str,
        title: impl Into<String>,
        rows: &'r [Row<'_, T>],
    ) -> Declaration<'r, Row<'r, T>> {
        Table::of(key, title, rows).trace_if(self.has_traces, |row| row.trace)
    }

    /// Returns `true` if a family is chosen, also if it has no figures.
    fn is_chosen(&self, family: Family) -> bool {
        self.families.is_empty() || self.families.contains(&family)
    }
}

/// The latencies of traces.
pub(crate) type Latencies<'l> = [(TraceIndex, &'l TraceLatency)];

/// A row: the trace that it is about, and its content.
#[derive(Debug)]
struct Row<'l, T> {
    trace: TraceIndex,
    of: &'l TraceLatency,
    it: T,
}

/// Returns the rows of all traces.
fn rows_of<'l, T, I: IntoIterator<Item = T>>(
    latencies: &Latencies<'l>,
    each: impl Fn(&'l TraceLatency) -> I,
) -> Vec<Row<'l, T>> {
    let mut rows = Vec::new();
    for &(trace, of) in latencies {
        rows.extend(each(of).into_iter().map(|it| Row { trace, of, it }));
    }
    rows
}

/// The percentiles in tables.
const PERCENTILES: [(f64, &str, &str); 4] = [
    (50.0, "p50_ns", "p50"),
    (90.0, "p90_ns", "p90"),
    (99.0, "p99_ns", "p99"),
    (99.9, "p99_9_ns", "p99.9"),
];

/// The figures of durations in ns; without any, there is only their number.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Summary {
    count: u64,
    total: Option<u64>,
    mean: Option<u64>,
    deviation: Option<u64>,
    least: Option<u64>,
    percentiles: [Option<u64>; PERCENTILES.len()],
    greatest: Option<u64>,
}

impl Summary {
    fn of(of: &Distribution) -> Self {
        let spread = of.spread();
        if spread.count() == 0 {
            return Summary::default();
        }
        Summary {
            count: spread.count(),
            total: Some(spread.total()),
            mean: Some(spread.mean().round() as u64),
            deviation: spread.sample_deviation().map(|ns| ns.round() as u64),
            least: Some(spread.least().value),
            percentiles: PERCENTILES.map(|(p, ..)| of.percentile(p)),
            greatest: Some(spread.greatest().value),
        }
    }
}

/// Adds the columns of durations; all are empty for a row without a summary.
fn with_durations<'r, R>(
    table: Declaration<'r, R>,
    of: impl Fn(&'r R) -> Option<&'r Summary>,
) -> Declaration<'r, R> {
    let mut table = table
        .count("count", "COUNT", |row| of(row).map(|of| of.count))
        .duration("total_ns", "TOTAL", |row| of(row)?.total)
        .duration("mean_ns", "MEAN", |row| of(row)?.mean)
        .duration("deviation_ns", "STD DEV", |row| of(row)?.deviation)
        .minor()
        .duration("min_ns", "MIN", |row| of(row)?.least)
        .minor();
    for (at, (_, key, title)) in PERCENTILES.into_iter().enumerate() {
        table = table.duration(key, title, |row| of(row)?.percentiles[at]);
    }
    table.duration("max_ns", "MAX", |row| of(row)?.greatest)
}

/// Returns the id of a thread.
fn tid(of: &TraceLatency, id: ThreadId) -> Option<i64> {
    of.thread(id).map(|thread| thread.tid.into())
}

/// Returns the name of a thread.
fn name(of: &TraceLatency, id: ThreadId) -> Option<&str> {
    match of.thread(id) {
        Some(thread) => Some(of.name(thread.name)),
        None if id == ThreadId::INTERRUPT => Some("interrupt"),
        None if id == ThreadId::OTHERS => Some("others"),
        None => None,
    }
}

/// Returns the description of a subject.
fn subject(of: &TraceLatency, subject: Option<Subject>) -> Option<String> {
    subject.map(|subject| of.subject(subject))
}
