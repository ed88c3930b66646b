//! Numbers, durations and periods of interrupts.

use ltt_read::TraceIndex;
use lttv_common::kernel_trace;
use lttv_common::table::Table;
use lttv_context::Handle;
use lttv_context::framework::{Failure, ModuleInfo};
use lttv_state::analysis::{self, Attached};
use lttv_state::kernel::KernelState;

use super::Host;
use super::analysis::{AnalysisModule, Tables};
use crate::models::interrupts::InterruptAnalysis;
use crate::tables::interrupts as tables;

/// Returns the module `interrupts`.
pub(super) fn module() -> AnalysisModule {
    let info = ModuleInfo {
        name: "interrupts",
        summary: "Count, frequency, durations and periods of each interrupt",
        description: "Reports for each interrupt, soft interrupt and exception on each CPU, in the \
                      tables of lttv irq: how often its handler ended, in total and per second; \
                      its total and average time, the standard deviation, and the least and \
                      greatest time with their begin and end; the average period from one start \
                      to the next, with its standard deviation and that of the frequency. Times \
                      include nested interrupts. Handlers that are only partly between --begin \
                      and --end add that part to the total time, and nothing to the other times.",
        requires: &["batchAnalysis"],
    };
    AnalysisModule::new(info, attach)
}

fn attach(host: &mut Host) -> Result<Option<Tables>, Failure> {
    let work = &mut host.data;
    if !work.has(&kernel_trace::IRQ) {
        return Ok(None);
    }
    let kernel = work.kernel_at_begin();
    let (context, window) = (&mut work.batch.context, work.window.range());
    let found = analysis::attach(context, kernel, window, InterruptAnalysis::default());
    Ok(Some(Box::new(move |host| Ok(tables(host, found, kernel)))))
}

fn tables(
    host: &mut Host,
    found: Attached<InterruptAnalysis>,
    kernel: Handle<KernelState>,
) -> Vec<Table> {
    let (spans, has_traces) = (host.data.spans(), host.data.has_traces());
    let reached = host.data.interrupted_at();
    let extensions = host.data.batch.context.extensions_mut();
    let found = match reached {
        Some(time) => found.take_until(extensions, time),
        None => found.take(extensions),
    };
    let found = found.up_to(&extensions[kernel], &spans);
    let mut rows = Vec::new();
    for (index, span) in (0..).map(TraceIndex).zip(spans) {
        let time = span.map_or(0, |span| span.end.since(span.start));
        rows.extend(found.of_trace(index).map(|(key, of)| tables::Row { key, of, time }));
    }
    vec![
        tables::durations("Interrupts", has_traces, &rows),
        tables::extremes("Shortest and longest handlers", has_traces, &rows),
    ]
}
