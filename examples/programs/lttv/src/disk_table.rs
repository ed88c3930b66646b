//! The table of disks.

use ltt_read::TraceIndex;
use lttv_common::interrupts::frequency;
use lttv_common::table::{Cell, Kind, Table};
use lttv_state::stats::DeviceFacts;

/// Creates the table of disks. `has_traces` adds a column for the numbers of traces.
pub(crate) fn empty(title: impl Into<String>, has_traces: bool) -> Table {
    let table = Table::new("disks", title);
    let table = match has_traces {
        true => table.column("trace", "TRACE", Kind::Integer),
        false => table,
    };
    table
        .column("disk", "DISK", Kind::Text)
        .column("name", "NAME", Kind::Text)
        .column("reads", "READS", Kind::Integer)
        .column("bytes_read", "BYTES", Kind::Integer)
        .column("bytes_read_per_second", "BYTES/s", Kind::Decimal)
        .column("writes", "WRITES", Kind::Integer)
        .column("bytes_written", "BYTES", Kind::Integer)
        .column("bytes_written_per_second", "BYTES/s", Kind::Decimal)
        .column("others", "OTHER", Kind::Integer)
        .column("inserted", "INSERTED", Kind::Integer)
        .column("merged", "MERGED", Kind::Integer)
        .column("issued", "ISSUED", Kind::Integer)
        .column("completed", "COMPLETED", Kind::Integer)
        .column("busy_ns", "BUSY us", Kind::Duration)
        .column("busy_percent", "BUSY %", Kind::Decimal)
        .column("queue", "QUEUE", Kind::Decimal)
}

/// Adds a disk to the table of [`empty`]; `time` is the length of the window in ns.
pub(crate) fn add(table: &mut Table, trace: TraceIndex, disk: &DeviceFacts, time: u64) {
    let trace = table.has_column("trace").then_some(Cell::Integer(trace.0 as i128));
    let cells = [
        disk.number.to_string().into(),
        (&*disk.name).into(),
        disk.reads.into(),
        disk.bytes_read.into(),
        Cell::Number(frequency(disk.bytes_read, time)),
        disk.writes.into(),
        disk.bytes_written.into(),
        Cell::Number(frequency(disk.bytes_written, time)),
        disk.others.into(),
        disk.inserted.into(),
        disk.merged.into(),
        disk.issued.into(),
        disk.completed().into(),
        Cell::Duration(disk.busy_time),
        Cell::percent(disk.busy_time, time),
        Cell::Number(disk.average_queue_length(time)),
    ];
    table.push(trace.into_iter().chain(cells).collect());
}
