//! The tables of a comparison.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use lttv_common::table::{Cell, Kind, Table};

use super::side::{Handled, Part, Side};

/// Creates all tables, each with at most this number of rows.
pub(super) fn all(sides: [(&Side, &Part); 2], top: usize) -> Vec<Table> {
    let parts = sides.map(|(_, part)| part);
    vec![
        described(sides),
        events(parts, top),
        cpu(parts, top),
        waits(parts, top),
        interrupts(parts, top),
    ]
}

/// Creates the table of the traces and windows that are compared.
fn described(sides: [(&Side, &Part); 2]) -> Table {
    let mut table = Table::new("sides", "Compared")
        .column("side", "", Kind::Text)
        .column("trace", "TRACE", Kind::Text)
        .column("start_ns", "FROM", Kind::Time)
        .column("end_ns", "TO", Kind::Time)
        .column("duration_ns", "DURATION us", Kind::Duration)
        .column("events", "EVENTS", Kind::Integer)
        .column("events_per_second", "EVENTS/s", Kind::Decimal)
        .column("lost_events", "LOST EVENTS", Kind::Integer)
        .column("lost_packets", "LOST PACKETS", Kind::Integer);
    for (label, (side, part)) in ["A", "B"].into_iter().zip(sides) {
        let events = part.events.values().sum::<u64>();
        table.row([
            label.into(),
            side.name.as_str().into(),
            part.span.map(|span| span.start).into(),
            part.span.map(|span| span.end).into(),
            Cell::Duration(part.duration()),
            events.into(),
            Rate::of(events, part.duration()).cell(),
            part.losses.events().into(),
            part.losses.packets().into(),
        ]);
    }
    table
}

fn events(parts: [&Part; 2], top: usize) -> Table {
    let mut table = Table::new("events", "Events by name")
        .column("event", "EVENT", Kind::Text)
        .column("a", "A", Kind::Integer)
        .column("b", "B", Kind::Integer)
        .column("difference", "B - A", Kind::Integer)
        .column("difference_percent", "%", Kind::Decimal)
        .column("a_per_second", "A/s", Kind::Decimal)
        .column("b_per_second", "B/s", Kind::Decimal)
        .column("per_second_percent", "/s %", Kind::Decimal);
    for (name, counts) in by_change(parts, top, |part| &part.events, |count| *count) {
        let [a, b] = counts;
        let rates = rates(parts, counts);
        table.row([
            name.into(),
            a.into(),
            b.into(),
            Cell::Integer(i128::from(b) - i128::from(a)),
            percent(a as f64, b as f64),
            rates[0].cell(),
            rates[1].cell(),
            percent(rates[0].0, rates[1].0),
        ]);
    }
    table
}

fn cpu(parts: [&Part; 2], top: usize) -> Table {
    let mut table = Table::new("cpu", "CPU time by command and mode")
        .column("command", "COMMAND", Kind::Text)
        .column("mode", "MODE", Kind::Text);
    table = times(table);
    for ((command, mode), times) in by_change(parts, top, |part| &part.cpu, |time| *time) {
        let mut cells = vec![command.into(), mode.into()];
        cells.extend(time_cells(parts, times));
        table.push(cells);
    }
    table
}

fn waits(parts: [&Part; 2], top: usize) -> Table {
    let table = Table::new("waits", "Blocked time by command and cause")
        .column("command", "COMMAND", Kind::Text)
        .column("place", "IN", Kind::Text)
        .column("woken_by", "WOKEN UP BY", Kind::Text)
        .column("a_count", "A COUNT", Kind::Integer)
        .column("b_count", "B COUNT", Kind::Integer);
    let mut table = times(table);
    for (wait, all) in by_change(parts, top, |part| &part.waits, |wait| wait.time) {
        let mut cells = vec![wait.command.into(), wait.place.into(), wait.woken_by.into()];
        cells.extend(handled_cells(parts, all));
        table.push(cells);
    }
    table
}

fn interrupts(parts: [&Part; 2], top: usize) -> Table {
    let table = Table::new("interrupts", "CPU time of interrupts")
        .column("kind", "KIND", Kind::Text)
        .column("interrupt", "INTERRUPT", Kind::Text)
        .column("a_count", "A COUNT", Kind::Integer)
        .column("b_count", "B COUNT", Kind::Integer);
    let mut table = times(table);
    for ((kind, name), all) in by_change(parts, top, |part| &part.interrupts, |it| it.time) {
        let mut cells = vec![kind.into(), name.into()];
        cells.extend(handled_cells(parts, all));
        table.push(cells);
    }
    table
}

/// Adds the columns of two times.
fn times(table: Table) -> Table {
    table
        .column("a_ns", "A us", Kind::Duration)
        .column("b_ns", "B us", Kind::Duration)
        .column("difference_ns", "B - A us", Kind::Duration)
        .column("difference_percent", "%", Kind::Decimal)
        .column("a_share_percent", "A % OF TIME", Kind::Decimal)
        .column("b_share_percent", "B % OF TIME", Kind::Decimal)
}

/// Returns the cells of two times.
fn time_cells(parts: [&Part; 2], [a, b]: [u64; 2]) -> [Cell; 6] {
    [
        Cell::Duration(a),
        Cell::Duration(b),
        Cell::difference(a, b),
        percent(a as f64, b as f64),
        Cell::percent(a, parts[0].duration()),
        Cell::percent(b, parts[1].duration()),
    ]
}

fn handled_cells(parts: [&Part; 2], all: [Handled; 2]) -> impl Iterator<Item = Cell> {
    let counts = all.map(|handled| Cell::from(handled.count));
    counts.into_iter().chain(time_cells(parts, all.map(|handled| handled.time)))
}

/// A number per second; not a number in a part without a length.
#[derive(Debug, Clone, Copy)]
struct Rate(f64);

impl Rate {
    fn of(number: u64, ns: u64) -> Self {
        Rate(number as f64 * 1e9 / ns as f64)
    }

    fn cell(self) -> Cell {
        if self.0.is_finite() { Cell::Number(self.0) } else { Cell::Empty }
    }
}

fn rates(parts: [&Part; 2], [a, b]: [u64; 2]) -> [Rate; 2] {
    [Rate::of(a, parts[0].duration()), Rate::of(b, parts[1].duration())]
}

/// Returns the change from one value to another in per cent; empty if there is none.
fn percent(a: f64, b: f64) -> Cell {
    let change = (b - a) * 100.0 / a;
    if change.is_finite() { Cell::Number(change) } else { Cell::Empty }
}

/// Returns the entries of both parts, those with the greatest change per second first.
fn by_change<K: Ord + Clone, V: Copy + Default>(
    parts: [&Part; 2],
    top: usize,
    of: impl Fn(&Part) -> &BTreeMap<K, V>,
    measure: impl Fn(&V) -> u64,
) -> Vec<(K, [V; 2])> {
    let [a, b] = parts.map(&of);
    let keys: BTreeSet<&K> = a.keys().chain(b.keys()).collect();
    let value = |of: &BTreeMap<K, V>, key| of.get(key).copied().unwrap_or_default();
    let mut rows: Vec<(K, [V; 2])> =
        keys.into_iter().map(|key| (key.clone(), [value(a, key), value(b, key)])).collect();
    // Exact, by a common denominator; a part without a length counts as one of 1 ns.
    let lengths = parts.map(|part| u128::from(part.duration().max(1)));
    rows.sort_by_cached_key(|(_, values)| {
        let [a, b] = [&values[0], &values[1]].map(|value| u128::from(measure(value)));
        Reverse((a.saturating_mul(lengths[1])).abs_diff(b.saturating_mul(lengths[0])))
    });
    rows.truncate(top);
    rows
}
