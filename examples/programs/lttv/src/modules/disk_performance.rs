//! Requests to disks, and their speed.

use std::time::Duration;

use ltt_read::TraceIndex;
use lttv_common::interrupts::frequency;
use lttv_common::kernel_trace;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes};
use lttv_context::framework::{Failure, Module, ModuleInfo};
use lttv_hooks::Priority;
use lttv_state::analysis::Attached;
use lttv_state::stats::{DeviceFacts, StatisticsAnalysis, TraceStatistics};

use super::print::{self, Style};
use super::statistics::{collect, taken};
use super::{Host, places, report_with};
use crate::tables::disk::{self as tables, Disk};

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
        if !host.data.has(&kernel_trace::DISK) {
            return Ok(());
        }
        let statistics = collect(&mut host.data);
        report_with(host, Priority::DEFAULT, move |host| report(host, statistics));
        Ok(())
    }
}

fn report(host: &mut Host, statistics: Attached<StatisticsAnalysis>) -> Result<(), AttributeError> {
    let found = taken(&mut host.data, statistics);
    for (index, trace) in (0..).map(TraceIndex).zip(found.traces()) {
        match host.data.style {
            Style::Text => {
                let disk = |facts| Disk { trace: index, facts, time: trace.time() };
                let disks: Vec<_> = trace.devices().iter().map(disk).collect();
                let table = tables::disks(format!("Disks of trace {}", index.0), false, &disks);
                print::tables(&mut host.data.output.borrow_mut(), &[table]);
            }
            Style::Paths | Style::Json | Style::TypedJson => {
                let of = &host.data.batch.context.contexts().traces()[index.0];
                let place = places::of_trace(&mut host.attributes, of)?;
                export(&mut host.attributes, place, trace)?;
            }
        }
    }
    Ok(())
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
        attributes.set(place, "bytes_read_per_second", frequency(bytes_read, trace.time()))?;
        attributes.set(
            place,
            "bytes_written_per_second",
            frequency(bytes_written, trace.time()),
        )?;
        attributes.set(place, "busy_time", Duration::from_nanos(disk.busy_time))?;
        let queue = disk.average_queue_length(trace.time());
        attributes.set(place, "average_queue_length", queue)?;
    }
    Ok(())
}
