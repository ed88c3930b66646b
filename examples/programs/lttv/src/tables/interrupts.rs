//! The tables of interrupts.

use lttv_common::interrupts::{Interrupt, InterruptKey};
use lttv_common::table::{Cell, Declaration, Kind, Table};
use lttv_state::durations::{Extreme, Spread};

/// An interrupt in a window.
#[derive(Debug)]
pub(crate) struct Row<'i> {
    /// The trace, the interrupt and its CPU.
    pub key: &'i InterruptKey,
    /// The recorded durations and periods.
    pub of: &'i Interrupt,
    /// The length of the window in ns.
    pub time: u64,
}

fn identified<'r, 'i>(
    table: Declaration<'r, Row<'i>>,
    has_traces: bool,
) -> Declaration<'r, Row<'i>> {
    table
        .trace_if(has_traces, |row| row.key.trace)
        .text("kind", "KIND", |row| row.key.kind.label())
        .integer("number", "NUMBER", |row| row.key.number)
        .text("name", "NAME", |row| row.of.name.as_str())
        .integer("cpu", "CPU", |row| row.key.cpu)
}

/// Returns the table of durations. `has_traces` adds a column for the numbers of traces.
pub(crate) fn durations(title: impl Into<String>, has_traces: bool, rows: &[Row<'_>]) -> Table {
    // Without a measurement, there is no number.
    let some = |of: &Spread, value: f64| (of.count() > 0).then_some(Cell::Number(value));
    identified(Table::of("interrupts", title, rows), has_traces)
        .count("count", "COUNT", |row| row.of.count)
        .decimal("frequency", "COUNT/s", |row| row.of.frequency(row.time))
        .duration("time_ns", "TOTAL", |row| row.of.time)
        .column("average_us", "AVERAGE", Kind::Microseconds, |row| {
            some(&row.of.durations, row.of.durations.mean() / 1e3)
        })
        .column("deviation_us", "STD DEV", Kind::Microseconds, |row| {
            some(&row.of.durations, row.of.durations.deviation() / 1e3)
        })
        .minor()
        .duration("min_ns", "MIN", |row| least(row).map(|of| of.value))
        .duration("max_ns", "MAX", |row| greatest(row).map(|of| of.value))
        .column("period_us", "PERIOD", Kind::Microseconds, |row| {
            some(&row.of.periods, row.of.periods.mean() / 1e3)
        })
        .column("period_deviation_us", "STD DEV", Kind::Microseconds, |row| {
            some(&row.of.periods, row.of.periods.deviation() / 1e3)
        })
        .minor()
        .column("frequency_deviation", "STD DEV Hz", Kind::Decimal, |row| {
            some(&row.of.frequencies, row.of.frequencies.deviation() / 1e3)
        })
        .minor()
        .build()
}

/// Returns the table of the shortest and longest handlers, of interrupts whose handlers ended.
pub(crate) fn extremes(title: impl Into<String>, has_traces: bool, rows: &[Row<'_>]) -> Table {
    let rows: Vec<_> = rows
        .iter()
        .filter(|row| row.of.durations.count() > 0)
        .map(|row| Row { key: row.key, of: row.of, time: row.time })
        .collect();
    identified(Table::of("extremes", title, &rows), has_traces)
        .duration("min_ns", "MIN", |row| least(row).map(|of| of.value))
        .time("min_begin_ns", "FROM", |row| least(row).map(|of| of.begin()))
        .time("min_end_ns", "TO", |row| least(row).map(|of| of.end()))
        .minor()
        .duration("max_ns", "MAX", |row| greatest(row).map(|of| of.value))
        .time("max_begin_ns", "FROM", |row| greatest(row).map(|of| of.begin()))
        .time("max_end_ns", "TO", |row| greatest(row).map(|of| of.end()))
        .minor()
        .build()
}

fn least(row: &Row<'_>) -> Option<Extreme> {
    (row.of.durations.count() > 0).then(|| row.of.durations.least())
}

fn greatest(row: &Row<'_>) -> Option<Extreme> {
    (row.of.durations.count() > 0).then(|| row.of.durations.greatest())
}
