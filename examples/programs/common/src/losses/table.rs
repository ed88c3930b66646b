//! Losses as a table of results.

use std::sync::Arc;

use ltt_read::Trace;

use super::{Losses, Lost};
use crate::table::{Cell, Kind, Table};

impl Losses {
    /// The name of the table in `--table` and JSON.
    pub const TABLE: &str = "losses";

    /// Returns a table with a row for each range.
    pub fn table(&self, traces: &[Arc<Trace>]) -> Table {
        let mut table = Table::new(Losses::TABLE, "Losses")
            .column("trace", "TRACE", Kind::Integer)
            .column("tracefile", "TRACEFILE", Kind::Text)
            .column("cpu", "CPU", Kind::Integer)
            .column("start_ns", "FROM", Kind::Time)
            .column("end_ns", "TO", Kind::Time)
            .column("events", "EVENTS", Kind::Integer)
            .column("packets", "PACKETS", Kind::Integer)
            .column("at_most", "AT MOST", Kind::Integer);
        for range in &self.ranges {
            let Some(trace) = traces.get(range.trace.0) else { continue };
            let Some(of) = trace.tracefiles().get(range.tracefile.0) else { continue };
            let [events, packets] = match range.what {
                Lost::Events => [range.count.into(), Cell::Empty],
                Lost::Packets => [Cell::Empty, range.count.into()],
            };
            table.row([
                (range.trace.0 as u64).into(),
                of.name().into(),
                of.cpu().into(),
                range.start.into(),
                range.end.into(),
                events,
                packets,
                range.at_most.into(),
            ]);
        }
        table
    }
}
