//! Tables of counters.

use ltt_read::{TimeSpan, Timestamp};
use lttv_common::table::{Cell, Declaration, Kind, Table};
use lttv_state::counters::{Counter, CounterFigures, Number, Series};

/// The counters of a window, which are shown.
#[derive(Debug)]
pub(crate) struct Shown<'c> {
    /// The definitions.
    pub counters: &'c [Counter],
    /// The values.
    pub series: &'c [Series],
    /// `true` if tables have a column for the numbers of traces.
    pub has_traces: bool,
    /// The maximum number of rows; `None` for all.
    pub rows: Option<usize>,
    /// The length of intervals in ns and the window, if there is a table of intervals.
    pub intervals: Option<(u64, TimeSpan)>,
}

/// A row: a series and its figures in a time.
struct Row<'c> {
    series: &'c Series,
    figures: CounterFigures,
    begin: Timestamp,
}

impl<'c> Shown<'c> {
    /// Returns the tables: of the whole window, or of intervals.
    pub(crate) fn tables(&self) -> Vec<Table> {
        let whole = |series: &'c Series| Row {
            series,
            figures: *series.figures(),
            begin: Timestamp::from_ns(0),
        };
        let rows: Vec<Row<'_>> = self.series.iter().map(whole).collect();
        let table = Table::of("counters", "Counters", &rows).at_most(self.rows, |_| ());
        let table = self.named(table.trace_if(self.has_traces, |row| row.series.trace()));
        let mut tables = vec![figures(table).build()];
        if let Some((length, span)) = self.intervals {
            let rows: Vec<Row<'_>> = self
                .series
                .iter()
                .flat_map(|series| {
                    series.intervals().map(move |(number, figures)| {
                        let since = number.saturating_mul(length);
                        let start = span.start.as_ns().saturating_add_unsigned(since);
                        Row { series, figures, begin: Timestamp::from_ns(start) }
                    })
                })
                .collect();
            let table = Table::of("intervals", "Over time", &rows).at_most(self.rows, |_| ());
            let table = self.named(table.trace_if(self.has_traces, |row| row.series.trace())).time(
                "begin_ns",
                "BEGIN",
                |row| row.begin,
            );
            tables.push(figures(table).build());
        }
        tables
    }

    /// Adds the columns that name a series.
    fn named<'r>(&'r self, table: Declaration<'r, Row<'c>>) -> Declaration<'r, Row<'c>> {
        table
            .text("counter", "COUNTER", |row| self.of(row).map(Counter::name))
            .text("key", "KEY", |row| Some(key(row.series)).filter(|key| !key.is_empty()))
            .text("unit", "UNIT", |row| {
                self.of(row).map(Counter::unit_text).filter(|unit| !unit.is_empty())
            })
    }

    fn of(&self, row: &Row<'_>) -> Option<&Counter> {
        self.counters.get(row.series.counter())
    }
}

/// Returns the key of a series, such as `cpu=0`.
pub(crate) fn key(series: &Series) -> String {
    let parts = series
        .keys()
        .map(|(label, value)| format!("{label}={}", value.unwrap_or_else(|| "?".to_owned())));
    parts.collect::<Vec<_>>().join(" ")
}

/// Adds the columns of figures.
fn figures<'r, 'c>(table: Declaration<'r, Row<'c>>) -> Declaration<'r, Row<'c>> {
    let number = |number: Option<Number>| {
        number.map(|number| match number {
            Number::Integer(number) => Cell::Integer(number),
            other => Cell::Number(other.as_f64()),
        })
    };
    table
        .count("count", "COUNT", |row| row.figures.count())
        .column("first", "FIRST", Kind::Value, move |row| number(row.figures.first()))
        .column("last", "LAST", Kind::Value, move |row| number(row.figures.last()))
        .column("least", "LEAST", Kind::Value, move |row| number(row.figures.least()))
        .column("greatest", "GREATEST", Kind::Value, move |row| number(row.figures.greatest()))
        .decimal("mean", "MEAN", |row| row.figures.mean())
        .duration("time_ns", "TIME", |row| row.figures.time())
        .minor()
}
