//! The tables of a comparison.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use lttv_common::table::{Cell, Declaration, Kind, Table, difference, percent};

use lttv_state::durations::Distribution;
use lttv_state::latency::Family;

use crate::models::comparison::{Handled, Part, Side};

/// The two parts that are compared, and how much of their tables is shown.
pub(crate) struct Compared<'p> {
    sides: [&'p Side; 2],
    parts: [&'p Part; 2],
    /// The greatest number of rows of each table.
    top: Option<usize>,
}

/// A row: what it is about, and its values in both parts.
type Row<K, V> = (K, [V; 2]);

impl<'p> Compared<'p> {
    /// Creates the comparison of two parts, with at most `top` rows in each table.
    pub(crate) fn new(sides: [(&'p Side, &'p Part); 2], top: Option<usize>) -> Self {
        Compared { sides: sides.map(|of| of.0), parts: sides.map(|of| of.1), top }
    }

    /// Returns all tables.
    pub(crate) fn tables(&self) -> Vec<Table> {
        vec![
            self.described(),
            self.events(),
            self.cpu(),
            self.waits(),
            self.latencies(),
            self.interrupts(),
        ]
    }

    /// Returns the table of the traces and windows that are compared.
    fn described(&self) -> Table {
        let sides = ["A", "B"].into_iter().zip(self.sides).zip(self.parts);
        let sides: Vec<_> = sides.map(|((label, side), part)| (label, side, part)).collect();
        Table::of("sides", "Compared", &sides)
            .text("side", "", |row| row.0)
            .text("trace", "TRACE", |row| row.1.name.as_str())
            .time("start_ns", "FROM", |row| row.2.span.map(|span| span.start))
            .time("end_ns", "TO", |row| row.2.span.map(|span| span.end))
            .duration("duration_ns", "DURATION", |row| row.2.duration())
            .count("events", "EVENTS", |row| row.2.total)
            .decimal("events_per_second", "EVENTS/s", |row| finite(per_second(row.2.total, row.2)))
            .minor()
            .count("lost_events", "LOST EVENTS", |row| row.2.losses.events())
            .count("lost_packets", "LOST PACKETS", |row| row.2.losses.packets())
            .minor()
            .build()
    }

    fn events(&self) -> Table {
        let rows = self.by_change(|part| &part.events, |count| *count);
        let rate = |row: &Row<String, u64>, side: usize| per_second(row.1[side], self.parts[side]);
        Table::of("events", "Events by name", &rows)
            .at_most(self.top, |_| ())
            .text("event", "EVENT", |row| row.0.as_str())
            .count("a", "A", |row| row.1[0])
            .count("b", "B", |row| row.1[1])
            .column("difference", "B - A", Kind::Count, |row| {
                Cell::Integer(difference(row.1[0], row.1[1]))
            })
            .decimal("difference_percent", "%", |row| change(row.1.map(|count| count as f64)))
            .decimal("a_per_second", "A/s", |row| finite(rate(row, 0)))
            .minor()
            .decimal("b_per_second", "B/s", |row| finite(rate(row, 1)))
            .minor()
            .decimal("per_second_percent", "/s %", |row| change([rate(row, 0), rate(row, 1)]))
            .build()
    }

    fn cpu(&self) -> Table {
        let rows = self.by_change(|part| &part.cpu, |time| *time);
        Table::of("cpu", "CPU time by command and mode", &rows)
            .at_most(self.top, |_| ())
            .text("command", "COMMAND", |row| row.0.0.as_str())
            .text("mode", "MODE", |row| row.0.1)
            .with(|table| self.times(table, |time| *time))
            .build()
    }

    fn waits(&self) -> Table {
        let rows = self.by_change(|part| &part.waits, |wait| wait.time);
        Table::of("waits", "Blocked time by command and cause", &rows)
            .at_most(self.top, |_| ())
            .text("command", "COMMAND", |row| row.0.command.as_str())
            .text("place", "IN", |row| row.0.place.as_str())
            .text("cause", "CAUSE", |row| row.0.cause)
            .text("woken_by", "WOKEN UP BY", |row| row.0.woken_by.as_str())
            .with(|table| self.handled(table))
            .build()
    }

    fn latencies(&self) -> Table {
        let rows = self.by_change(|part| &part.latencies, |of| of.spread().total());
        let p = |of: &Distribution, percentage| of.percentile(percentage);
        let both =
            |row: &Row<(Family, String), Distribution>| p(&row.1[0], 99.0).zip(p(&row.1[1], 99.0));
        Table::of("latencies", "Latencies by name", &rows)
            .at_most(self.top, |_| ())
            .text("family", "FAMILY", |row| row.0.0.key())
            .text("name", "NAME", |row| row.0.1.as_str())
            .count("a_count", "A COUNT", |row| row.1[0].count())
            .count("b_count", "B COUNT", |row| row.1[1].count())
            .duration("a_p50_ns", "A p50", |row| p(&row.1[0], 50.0))
            .duration("b_p50_ns", "B p50", |row| p(&row.1[1], 50.0))
            .duration("a_p99_ns", "A p99", |row| p(&row.1[0], 99.0))
            .duration("b_p99_ns", "B p99", |row| p(&row.1[1], 99.0))
            .decimal("p99_percent", "p99 %", |row| {
                both(row).and_then(|(a, b)| change([a as f64, b as f64]))
            })
            .duration("a_max_ns", "A MAX", |row| p(&row.1[0], 100.0))
            .minor()
            .duration("b_max_ns", "B MAX", |row| p(&row.1[1], 100.0))
            .minor()
            .duration("a_total_ns", "A TOTAL", |row| row.1[0].spread().total())
            .minor()
            .duration("b_total_ns", "B TOTAL", |row| row.1[1].spread().total())
            .minor()
            .build()
    }

    fn interrupts(&self) -> Table {
        let rows = self.by_change(|part| &part.interrupts, |handled| handled.time);
        Table::of("interrupts", "CPU time of interrupts", &rows)
            .at_most(self.top, |_| ())
            .text("kind", "KIND", |row| row.0.0)
            .text("interrupt", "INTERRUPT", |row| row.0.1.as_str())
            .with(|table| self.handled(table))
            .build()
    }

    /// Adds the columns of numbers and times.
    fn handled<'r, K>(
        &self,
        table: Declaration<'r, Row<K, Handled>>,
    ) -> Declaration<'r, Row<K, Handled>> {
        let table = table.count("a_count", "A COUNT", |row| row.1[0].count).count(
            "b_count",
            "B COUNT",
            |row| row.1[1].count,
        );
        self.times(table, |handled| handled.time)
    }

    /// Adds the columns of two times.
    fn times<'r, K, V>(
        &self,
        table: Declaration<'r, Row<K, V>>,
        time: impl Fn(&V) -> u64,
    ) -> Declaration<'r, Row<K, V>> {
        let times = |row: &Row<K, V>| [time(&row.1[0]), time(&row.1[1])];
        let share =
            |row: &Row<K, V>, side: usize| percent(time(&row.1[side]), self.parts[side].duration());
        table
            .duration("a_ns", "A", |row| times(row)[0])
            .duration("b_ns", "B", |row| times(row)[1])
            .difference("difference_ns", "B - A", |row| difference(times(row)[0], times(row)[1]))
            .decimal("difference_percent", "%", |row| change(times(row).map(|time| time as f64)))
            .percent("a_share_percent", "A % OF TIME", |row| share(row, 0))
            .minor()
            .percent("b_share_percent", "B % OF TIME", |row| share(row, 1))
            .minor()
    }

    /// Returns the entries of both parts, those with the greatest change per second first.
    fn by_change<K: Ord + Clone, V: Clone + Default>(
        &self,
        of: impl Fn(&Part) -> &BTreeMap<K, V>,
        measure: impl Fn(&V) -> u64,
    ) -> Vec<Row<K, V>> {
        let [a, b] = self.parts.map(&of);
        let keys: BTreeSet<&K> = a.keys().chain(b.keys()).collect();
        let value = |of: &BTreeMap<K, V>, key| of.get(key).cloned().unwrap_or_default();
        let mut rows: Vec<Row<K, V>> =
            keys.into_iter().map(|key| (key.clone(), [value(a, key), value(b, key)])).collect();
        // Exact, by a common denominator; a part without a length counts as one of 1 ns.
        let lengths = self.parts.map(|part| u128::from(part.duration().max(1)));
        rows.sort_by_cached_key(|(_, values)| {
            let [a, b] = [&values[0], &values[1]].map(|value| u128::from(measure(value)));
            Reverse((a.saturating_mul(lengths[1])).abs_diff(b.saturating_mul(lengths[0])))
        });
        rows
    }
}

/// Returns a number per second; it is not finite in a part without a length.
fn per_second(number: u64, part: &Part) -> f64 {
    number as f64 * 1e9 / part.duration() as f64
}

/// Returns the change from one value to another in per cent, if there is one.
fn change([a, b]: [f64; 2]) -> Option<f64> {
    finite((b - a) * 100.0 / a)
}

fn finite(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}
