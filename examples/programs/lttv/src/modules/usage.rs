//! The use of CPUs, memory and network.

use ltt_read::TraceIndex;
use lttv_common::kernel_trace;
use lttv_common::table::Table;
use lttv_context::framework::{Failure, ModuleInfo};
use lttv_state::analysis::{self, Attached};
use lttv_state::kernel::needs::Need;
use lttv_state::usage::{UsageAnalysis, UsageOptions};

use super::Host;
use super::analysis::{AnalysisModule, Tables};
use crate::tables::usage::Shown;

/// Returns the module `usage`.
pub(super) fn module() -> AnalysisModule {
    let info = ModuleInfo {
        name: "usage",
        summary: "The use of CPUs, memory and network by threads, processes and interfaces",
        description: "Reports how long CPUs were busy, with switches, migrations and mean \
                      frequencies; the same for threads and processes, with the memory pages and \
                      packets of each; and packets by network interface. The tables are those of \
                      lttv usage. A figure whose events were not recorded is left out, which is \
                      reported.",
        requires: &["batchAnalysis"],
    };
    AnalysisModule::new(info, attach)
}

fn attach(host: &mut Host) -> Result<Option<Tables>, Failure> {
    let work = &mut host.data;
    if !work.has(&kernel_trace::USAGE) {
        return Ok(None);
    }
    let kernel = work.kernel_at_begin();
    let (context, window) = (&mut work.batch.context, work.window.range());
    let usage = UsageAnalysis::new(UsageOptions::new());
    let handle = analysis::attach(context, kernel, window, usage);
    Ok(Some(Box::new(move |host| Ok(tables(host, handle)))))
}

fn tables(host: &mut Host, handle: Attached<UsageAnalysis>) -> Vec<Table> {
    let reached = host.data.interrupted_at();
    let extensions = host.data.batch.context.extensions_mut();
    let usage = match reached {
        Some(time) => handle.take_until(extensions, time),
        None => handle.take(extensions),
    };
    let all = (0..).map(TraceIndex).zip(usage.traces()).zip(host.data.spans());
    let served = all.filter(|((_, of), span)| span.is_some() && !of.cpus().is_empty());
    let traces: Vec<_> = served.map(|(of, _)| of).collect();
    for (_, of) in &traces {
        let missing = Need::list(of.missing());
        if !missing.is_empty() {
            host.data.report.message(format_args!("not recorded: {}", missing));
        }
    }
    let has_traces = host.data.has_traces();
    Shown { traces, has_traces, has_intervals: false, threads: None, processes: None, cpus: &[] }
        .tables()
}
