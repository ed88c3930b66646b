//! Latencies of threads, system calls, interrupts and disks.

use ltt_read::{Timestamp, TraceIndex};
use lttv_common::kernel_trace;
use lttv_common::table::Table;
use lttv_context::framework::{Failure, ModuleInfo};
use lttv_state::analysis::{self, Attached};
use lttv_state::latency::{GroupBy, LatencyAnalysis, Settings};

use super::Host;
use super::analysis::{AnalysisModule, Tables};
use super::print::Style;
use crate::tables::latency::{self as tables, Choice};

/// Returns the module `latency`.
pub(super) fn module() -> AnalysisModule {
    let info = ModuleInfo {
        name: "latency",
        summary: "How long waits for CPUs, system calls, interrupts and requests to disks take",
        description: "Reports for each family of durations, in the table `families`: their \
                      number, total, mean, standard deviation (of a sample), least and greatest, \
                      and percentiles with an error of at most 1 %. The same for each subject, \
                      such as a system call, in a table of the family. The tables are those of \
                      lttv latency; for people, those of families have 10 rows. A family whose \
                      events were not recorded has only their names, in `missing`. Durations that \
                      end between --begin and --end are counted, from their true begin.",
        requires: &["batchAnalysis"],
    };
    AnalysisModule::new(info, attach)
}

fn attach(host: &mut Host) -> Result<Option<Tables>, Failure> {
    let work = &mut host.data;
    if !work.has(&kernel_trace::LATENCY) {
        return Ok(None);
    }
    let kernel = work.kernel_at_begin();
    let (context, window) = (&mut work.batch.context, work.window.range());
    let latency = LatencyAnalysis::new(Settings::new());
    let handle = analysis::attach(context, kernel, window, latency);
    if let Some(begin) = work.window.begin {
        // What is open there is known only from the events before it.
        context.state().seek_time(begin);
    }
    Ok(Some(Box::new(move |host| Ok(tables(host, handle)))))
}

fn tables(host: &mut Host, handle: Attached<LatencyAnalysis>) -> Vec<Table> {
    let spans = host.data.spans();
    let ends = spans.iter().flatten().map(|span| span.end);
    let end = ends.max().unwrap_or(Timestamp::MAX);
    let latency = handle.take_until(host.data.batch.context.extensions_mut(), end);
    let served = (0..).map(TraceIndex).zip(spans).filter(|(_, span)| span.is_some());
    let of: Vec<_> = served.filter_map(|(index, _)| Some((index, latency.trace(index)?))).collect();
    let choice = Choice {
        families: Vec::new(),
        by: GroupBy::Subject,
        value: None,
        rows: (host.data.style == Style::Text).then_some(10),
        bins: None,
        has_row_top: false,
        has_row_histogram: false,
        is_selected: false,
        has_traces: host.data.has_traces(),
    };
    let mut tables = vec![tables::overview(&choice, "Latencies", &of)];
    let families = choice.families(&of);
    tables.extend(families.iter().map(|family| tables::rows(&choice, *family, &of)));
    tables.push(tables::top(&choice, &of));
    tables
}
