//! The table of disks.

use ltt_read::TraceIndex;
use lttv_common::interrupts::frequency;
use lttv_common::table::{Table, percent};
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
        .integer("reads", "READS", |of| of.facts.reads)
        .integer("bytes_read", "BYTES", |of| of.facts.bytes_read)
        .decimal("bytes_read_per_second", "BYTES/s", |of| frequency(of.facts.bytes_read, of.time))
        .integer("writes", "WRITES", |of| of.facts.writes)
        .integer("bytes_written", "BYTES", |of| of.facts.bytes_written)
        .decimal("bytes_written_per_second", "BYTES/s", |of| {
            frequency(of.facts.bytes_written, of.time)
        })
        .integer("others", "OTHER", |of| of.facts.others)
        .integer("inserted", "INSERTED", |of| of.facts.inserted)
        .integer("merged", "MERGED", |of| of.facts.merged)
        .integer("issued", "ISSUED", |of| of.facts.issued)
        .integer("completed", "COMPLETED", |of| of.facts.completed())
        .duration("busy_ns", "BUSY us", |of| of.facts.busy_time)
        .decimal("busy_percent", "BUSY %", |of| percent(of.facts.busy_time, of.time))
        .decimal("queue", "QUEUE", |of| of.facts.average_queue_length(of.time))
        .build()
}
