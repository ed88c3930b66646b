//! Losses as a table of results.

use std::sync::Arc;

use ltt_read::Trace;

use super::{LossRange, Losses, Lost};
use crate::table::Table;

impl Losses {
    /// The name of the table in `--table` and JSON.
    pub const TABLE: &str = "losses";

    /// Returns a table with a row for each range.
    pub fn table(&self, traces: &[Arc<Trace>]) -> Table {
        let tracefile =
            |range: &LossRange| traces.get(range.trace.0)?.tracefiles().get(range.tracefile.0);
        let with_tracefile = |range| Some((range, tracefile(range)?));
        let rows: Vec<_> = self.ranges.iter().filter_map(with_tracefile).collect();
        let count = |range: &LossRange, what| (range.what == what).then_some(range.count);
        Table::of(Losses::TABLE, "Losses", &rows)
            .trace_if(true, |row| row.0.trace)
            .text("tracefile", "TRACEFILE", |row| row.1.name())
            .integer("cpu", "CPU", |row| row.1.cpu())
            .time("start_ns", "FROM", |row| row.0.start)
            .time("end_ns", "TO", |row| row.0.end)
            .count("events", "EVENTS", |row| count(row.0, Lost::Events))
            .count("packets", "PACKETS", |row| count(row.0, Lost::Packets))
            .count("at_most", "AT MOST", |row| row.0.at_most)
            .build()
    }
}
