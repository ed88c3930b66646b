//! The table of disks.

use ltt_read::TraceIndex;
use lttv_common::interrupts::frequency;
use lttv_common::table::{Cell, Declaration, Kind, Table, percent};
use lttv_state::stats::DeviceFacts;

/// A disk in a window.
#[derive(Debug)]
pub(crate) struct Disk<'d> {
    /// The trace.
    pub trace: TraceIndex,
    /// The recorded facts.
    pub facts: &'d DeviceFacts,
    /// The length of the window in ns.
    pub time: u64,
}

/// Returns the table of disks. `has_traces` adds a column for the numbers of traces.
pub(crate) fn disks(title: impl Into<String>, has_traces: bool, disks: &[Disk<'_>]) -> Table {
    Table::of("disks", title, disks)
        .trace_if(has_traces, |of| of.trace)
        .text("disk", "DISK", |of| of.facts.number.to_string())
        .text("name", "NAME", |of| &*of.facts.name)
        .count("reads", "READS", |of| of.facts.reads)
        .bytes("bytes_read", "READ", |of| of.facts.bytes_read)
        .with(|table| rate(table, "bytes_read_per_second", "READ/s", |of| of.facts.bytes_read))
        .count("writes", "WRITES", |of| of.facts.writes)
        .bytes("bytes_written", "WRITTEN", |of| of.facts.bytes_written)
        .with(|table| {
            rate(table, "bytes_written_per_second", "WRITTEN/s", |of| of.facts.bytes_written)
        })
        .count("others", "OTHER", |of| of.facts.others)
        .minor()
        .count("inserted", "INSERTED", |of| of.facts.inserted)
        .minor()
        .count("merged", "MERGED", |of| of.facts.merged)
        .minor()
        .count("issued", "ISSUED", |of| of.facts.issued)
        .minor()
        .count("completed", "COMPLETED", |of| of.facts.completed())
        .duration("busy_ns", "BUSY", |of| of.facts.busy_time)
        .percent("busy_percent", "BUSY %", |of| percent(of.facts.busy_time, of.time))
        .decimal("queue", "QUEUE", |of| of.facts.average_queue_length(of.time))
        .build()
}

/// Adds a column of bytes per second.
fn rate<'r, 'd>(
    table: Declaration<'r, Disk<'d>>,
    key: &'static str,
    title: &str,
    bytes: impl Fn(&Disk<'d>) -> u64,
) -> Declaration<'r, Disk<'d>> {
    let rate = |of: &Disk<'d>| Cell::Number(frequency(bytes(of), of.time));
    table.column(key, title, Kind::BytesPerSecond, rate).minor()
}
