//! Functions that programs called, and their heaps.

use ltt_read::Timestamp;
use lttv_common::calls::advice;
use lttv_common::calls::names::{Names, SymbolArgs};
use lttv_common::table::Table;
use lttv_context::framework::{Failure, ModuleInfo};
use lttv_state::call_stacks::{
    CallRules, CallStackState, CallStacks, CallStacksHandle, ThreadCalls,
};
use lttv_state::heap::{Heap, HeapHandle, HeapState, ProcessHeap};

use super::Host;
use super::analysis::{AnalysisModule, Tables};
use crate::tables::calls::Shown;
use crate::tables::heap::ShownHeap;

/// Returns the module `calls`.
pub(super) fn module() -> AnalysisModule {
    let info = ModuleInfo {
        name: "calls",
        summary: "Functions that programs called, their times, and heaps",
        description: "Reports for each function of each process the number of calls that ended, \
                      the time during which the function was on the stack and that during which \
                      it was the innermost one, and the durations of the calls; and for each \
                      process allocations, frees, live bytes and their peak. The tables are those \
                      of lttv calls. Needs the events lttng_ust_cyg_profile:* and \
                      lttng_ust_libc:* of a user-space trace.",
        requires: &["batchAnalysis"],
    };
    AnalysisModule::new(info, attach)
}

fn attach(host: &mut Host) -> Result<Option<Tables>, Failure> {
    let work = &mut host.data;
    let context = &mut work.batch.context;
    let stacks = context.attach(CallStackState::new(CallRules::default()));
    let state = context.attach(HeapState::new(stacks));
    if let Some(begin) = work.window.begin {
        context.state().seek_time(begin);
    }
    let window = work.window.range();
    let calls = CallStacks::attach_window(context, stacks, window);
    let heap = Heap::attach_window(context, state, window);
    let extensions = context.extensions();
    if let Err(missing) = advice::require(&calls.take(extensions), &heap.take(extensions)) {
        work.failures.push(missing.into());
        return Ok(None);
    }
    Ok(Some(Box::new(move |host| Ok(tables(host, calls, heap)))))
}

fn tables(host: &mut Host, calls: CallStacksHandle, heap: HeapHandle) -> Vec<Table> {
    let context = &host.data.batch.context;
    let (calls, heap) = (calls.take(context.extensions()), heap.take(context.extensions()));
    let mut names = Names::new(SymbolArgs::default().options());
    let end = host.data.spans().into_iter().flatten().map(|span| span.end).max();
    let end = end.unwrap_or(Timestamp::MAX);
    let mut tables = Vec::new();
    if calls.traces().iter().any(|trace| trace.has_calls()) {
        tables
            .extend(Shown { calls: &calls, is_wanted: |_: &ThreadCalls| true }.tables(&mut names));
    }
    if heap.traces().iter().any(|trace| trace.has_allocations()) {
        let shown =
            ShownHeap { heap: &heap, calls: &calls, is_wanted: |_: &ProcessHeap| true, end };
        tables.extend(shown.tables(&mut names));
    }
    advice::warn(&host.data.report, context.traceset().traces(), &calls, &heap);
    names.warn(&host.data.report);
    tables
}
