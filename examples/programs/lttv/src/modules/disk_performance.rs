//! Requests to disks, and their speed.

use ltt_read::TraceIndex;
use lttv_common::kernel_trace;
use lttv_common::table::Table;
use lttv_context::framework::{Failure, ModuleInfo};
use lttv_state::analysis::Attached;
use lttv_state::stats::StatisticsAnalysis;

use super::Host;
use super::analysis::{AnalysisModule, Tables};
use crate::tables::disk::{self as tables, Disk};

/// Returns the module `diskPerformance`.
pub(super) fn module() -> AnalysisModule {
    let info = ModuleInfo {
        name: "diskPerformance",
        summary: "Bytes, rates and operations of each disk",
        description: "Reports for each block device, in the table of lttv disk: how many bytes it \
                      read and wrote, in total and per second; how many requests were inserted in \
                      its queue, merged, issued and completed; how long it was busy; and the \
                      average length of its queue. Needs the events block_rq_*, and for merges \
                      block_bio_*merge.",
        requires: &["batchAnalysis"],
    };
    AnalysisModule::new(info, attach)
}

fn attach(host: &mut Host) -> Result<Option<Tables>, Failure> {
    if !host.data.has(&kernel_trace::DISK) {
        return Ok(None);
    }
    let statistics = host.data.statistics();
    Ok(Some(Box::new(move |host| Ok(vec![table(host, statistics)]))))
}

fn table(host: &mut Host, statistics: Attached<StatisticsAnalysis>) -> Table {
    let found = host.data.statistics_of(statistics);
    let mut disks = Vec::new();
    for (trace, of) in (0..).map(TraceIndex).zip(found.traces()) {
        disks.extend(of.devices().iter().map(|facts| Disk { trace, facts, time: of.time() }));
    }
    tables::disks("Disks", host.data.has_traces(), &disks)
}
