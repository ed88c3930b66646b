//! The tables of interrupts.

use lttv_common::interrupts::{Interrupt, InterruptKey};
use lttv_common::table::{Cell, Kind, Table};
use lttv_state::latency::{Extreme, Spread};

/// Creates the tables of durations and of extremes, with these titles. `has_traces` adds columns
/// for the numbers of traces.
pub(crate) fn empty(
    durations: impl Into<String>,
    extremes: impl Into<String>,
    has_traces: bool,
) -> (Table, Table) {
    let identified = |table: Table| {
        let table = match has_traces {
            true => table.column("trace", "TRACE", Kind::Integer),
            false => table,
        };
        table
            .column("kind", "KIND", Kind::Text)
            .column("number", "NUMBER", Kind::Integer)
            .column("name", "NAME", Kind::Text)
            .column("cpu", "CPU", Kind::Integer)
    };
    let durations = identified(Table::new("interrupts", durations))
        .column("count", "COUNT", Kind::Integer)
        .column("frequency", "COUNT/s", Kind::Decimal)
        .column("time_ns", "TOTAL us", Kind::Duration)
        .column("average_us", "AVERAGE us", Kind::Decimal)
        .column("deviation_us", "STD DEV us", Kind::Decimal)
        .column("min_ns", "MIN us", Kind::Duration)
        .column("max_ns", "MAX us", Kind::Duration)
        .column("period_us", "PERIOD us", Kind::Decimal)
        .column("period_deviation_us", "STD DEV us", Kind::Decimal)
        .column("frequency_deviation", "STD DEV Hz", Kind::Decimal);
    let extremes = identified(Table::new("extremes", extremes))
        .column("min_ns", "MIN us", Kind::Duration)
        .column("min_begin_ns", "FROM", Kind::Time)
        .column("min_end_ns", "TO", Kind::Time)
        .column("max_ns", "MAX us", Kind::Duration)
        .column("max_begin_ns", "FROM", Kind::Time)
        .column("max_end_ns", "TO", Kind::Time);
    (durations, extremes)
}

/// Adds an interrupt to the tables of [`empty`]; `time` is the length of the window in ns.
pub(crate) fn add(
    durations: &mut Table,
    extremes: &mut Table,
    key: &InterruptKey,
    of: &Interrupt,
    time: u64,
) {
    let trace = durations.has_column("trace").then_some(Cell::Integer(key.trace.0 as i128));
    let ids = || {
        let ids =
            [key.kind.label().into(), key.number.into(), of.name.as_str().into(), key.cpu.into()];
        trace.clone().into_iter().chain(ids)
    };
    let Interrupt { durations: whole, periods, frequencies, .. } = of;
    // Without a measurement, there is no number.
    let cell = |of: &Spread, cell: Cell| if of.count() > 0 { cell } else { Cell::Empty };
    let us = |of: &Spread, ns: f64| cell(of, Cell::Number(ns / 1e3));
    let cells = [
        of.count.into(),
        Cell::Number(of.frequency(time)),
        Cell::Duration(of.time),
        us(whole, whole.mean()),
        us(whole, whole.deviation()),
        cell(whole, Cell::Duration(whole.least().value)),
        cell(whole, Cell::Duration(whole.greatest().value)),
        us(periods, periods.mean()),
        us(periods, periods.deviation()),
        cell(frequencies, Cell::Number(frequencies.deviation() / 1e3)),
    ];
    durations.push(ids().chain(cells).collect());
    if whole.count() > 0 {
        let cells = [whole.least(), whole.greatest()].into_iter().flat_map(extreme);
        extremes.push(ids().chain(cells).collect());
    }
}

fn extreme(of: Extreme) -> [Cell; 3] {
    [Cell::Duration(of.value), of.begin().into(), of.end().into()]
}
