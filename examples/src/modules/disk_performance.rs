//! Requests to disks, and their speed.

use std::fmt::Write;
use std::time::Duration;

use lttv_context::attributes::{AttributeError, AttributeId, Attributes};
use lttv_context::framework::{Failure, Module, ModuleInfo};
use lttv_hooks::Priority;
use lttv_state::stats::{DeviceFacts, StatisticsHandle, TraceStatistics};

use super::print::Style;
use super::statistics::collect;
use super::table::{Table, fraction, us};
use super::{Host, places, report_with};

/// The module `diskPerformance`.
#[derive(Debug)]
pub(super) struct DiskPerformance;

impl Module<Host> for DiskPerformance {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "diskPerformance",
            summary: "Bytes, rates and operations of each disk",
            description: "Reports for each block device, in traces/[TRACE]/disks/MAJOR,MINOR: how \
                          many bytes it read and wrote, in total and per second; how many \
                          requests were inserted in its queue, merged, issued and completed; how \
                          long it was busy; and the average length of its queue. Needs the events \
                          block_rq_*, and for merges block_bio_*merge.",
            requires: &["batchAnalysis"],
        }
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let statistics = collect(&mut host.data);
        report_with(host, Priority::DEFAULT, move |host| report(host, statistics));
        Ok(())
    }
}

fn report(host: &mut Host, statistics: StatisticsHandle) -> Result<(), AttributeError> {
    let found = statistics.take(host.data.batch.context.extensions());
    for (number, trace) in found.traces().iter().enumerate() {
        match host.data.style {
            Style::Text => print(host, number, trace),
            Style::Paths | Style::Json | Style::TypedJson => {
                let of = &host.data.batch.context.contexts().traces()[number];
                let place = places::of_trace(&mut host.attributes, of)?;
                export(&mut host.attributes, place, trace)?;
            }
        }
    }
    Ok(())
}

fn print(host: &Host, number: usize, trace: &TraceStatistics) {
    let mut table = Table::new(format!("Disks of trace {number}"))
        .text("DISK")
        .text("NAME")
        .numbers(["READS", "BYTES", "BYTES/s", "WRITES", "BYTES", "BYTES/s", "OTHER"])
        .numbers(["INSERTED", "MERGED", "ISSUED", "COMPLETED", "BUSY us", "BUSY %", "QUEUE"]);
    for disk in trace.devices() {
        let busy = disk.busy_time as f64 * 100.0 / trace.time().max(1) as f64;
        table.row([
            disk.number.to_string(),
            disk.name.to_string(),
            disk.reads.to_string(),
            disk.bytes_read.to_string(),
            fraction(a_second(disk.bytes_read, trace)),
            disk.writes.to_string(),
            disk.bytes_written.to_string(),
            fraction(a_second(disk.bytes_written, trace)),
            disk.others.to_string(),
            disk.inserted.to_string(),
            disk.merged.to_string(),
            disk.issued.to_string(),
            disk.completed().to_string(),
            us(disk.busy_time),
            fraction(busy),
            fraction(disk.average_queue_length(trace.time())),
        ]);
    }
    // Writing to a buffer never fails.
    _ = write!(host.data.output.borrow_mut().buffer(), "{table}");
}

fn export(
    attributes: &mut Attributes,
    place: AttributeId,
    trace: &TraceStatistics,
) -> Result<(), AttributeError> {
    let disks = attributes.subtree(place, "disks")?;
    for disk in trace.devices() {
        let place = attributes.subtree(disks, &*disk.number.to_string())?;
        let DeviceFacts { reads, writes, others, bytes_read, bytes_written, .. } = *disk;
        let DeviceFacts { inserted, merged, issued, .. } = *disk;
        attributes.set(place, "name", &*disk.name)?;
        for (name, number) in [
            ("inserted", inserted),
            ("merged", merged),
            ("issued", issued),
            ("completed", disk.completed()),
            ("reads", reads),
            ("writes", writes),
            ("other_requests", others),
            ("bytes_read", bytes_read),
            ("bytes_written", bytes_written),
        ] {
            attributes.set(place, name, number)?;
        }
        attributes.set(place, "bytes_read_per_second", a_second(bytes_read, trace))?;
        attributes.set(place, "bytes_written_per_second", a_second(bytes_written, trace))?;
        attributes.set(place, "busy_time", Duration::from_nanos(disk.busy_time))?;
        let queue = disk.average_queue_length(trace.time());
        attributes.set(place, "average_queue_length", queue)?;
    }
    Ok(())
}

/// Returns a number per second of the trace's time; 0 for no time.
fn a_second(number: u64, trace: &TraceStatistics) -> f64 {
    match trace.time() {
        0 => 0.0,
        ns => number as f64 * 1e9 / ns as f64,
    }
}
