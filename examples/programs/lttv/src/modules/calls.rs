//! Functions that programs called, and their heaps.

use std::time::Duration;

use crate::tables::calls::Shown;
use crate::tables::heap::ShownHeap;
use ltt_read::Timestamp;
use lttv_common::calls::advice;
use lttv_common::calls::names::{Names, SymbolArgs};
use lttv_context::attributes::{AttributeError, AttributeId, Attributes};
use lttv_context::framework::{Failure, Module, ModuleInfo};
use lttv_hooks::Priority;
use lttv_state::call_stacks::{
    CallRules, CallStackState, CallStacks, CallStacksHandle, Durations, TraceCalls,
};
use lttv_state::heap::{Heap, HeapHandle, HeapState, TraceHeap};

use super::print::{self, Style};
use super::{Host, places, report_with};

/// The module `calls`.
#[derive(Debug)]
pub(super) struct Calls;

impl Module<Host> for Calls {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "calls",
            summary: "Functions that programs called, their times, and heaps",
            description: "Reports for each process, in traces/[TRACE]/calls/[PROCESS]/FUNCTION: \
                          the number of calls that ended, the time during which the function was \
                          on the stack and that during which it was the innermost one, the sum, \
                          the least and the greatest duration of the calls. In \
                          traces/[TRACE]/heap/[PROCESS]: allocations, frees, live bytes and their \
                          peak. Process 0 stands for all if the trace does not tell them apart. \
                          Needs the events lttng_ust_cyg_profile:* and lttng_ust_libc:* of a \
                          user-space trace.",
            requires: &["batchAnalysis"],
        }
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let work = &mut host.data;
        let context = &mut work.batch.context;
        let stacks = context.attach(CallStackState::new(CallRules::default()));
        let state = context.attach(HeapState::new(stacks));
        if let Some(begin) = work.window.begin {
            context.seek_time_with_state(begin);
        }
        let begin = work.window.begin.unwrap_or(Timestamp::MIN);
        let (calls, heap) = match work.window.end {
            Some(end) => (
                CallStacks::attach_window(context, stacks, begin..=end),
                Heap::attach_window(context, state, begin..=end),
            ),
            None => (
                CallStacks::attach_window(context, stacks, begin..),
                Heap::attach_window(context, state, begin..),
            ),
        };
        let extensions = context.extensions();
        if let Err(missing) = advice::require(&calls.take(extensions), &heap.take(extensions)) {
            work.failures.push(missing.into());
            return Ok(());
        }
        report_with(host, Priority::DEFAULT, move |host| report(host, calls, heap));
        Ok(())
    }
}

fn report(
    host: &mut Host,
    calls: CallStacksHandle,
    heap: HeapHandle,
) -> Result<(), AttributeError> {
    let context = &host.data.batch.context;
    let (calls, heap) = (calls.take(context.extensions()), heap.take(context.extensions()));
    let mut names = Names::new(SymbolArgs::default().options());
    if host.data.style == Style::Text {
        let end = host.data.spans().into_iter().flatten().map(|span| span.end).max();
        let end = end.unwrap_or(Timestamp::MAX);
        let mut tables = Vec::new();
        if calls.traces().iter().any(|trace| trace.missing().is_served()) {
            tables.extend(Shown { calls: &calls, is_wanted: |_| true }.tables(&mut names));
        }
        if heap.traces().iter().any(|trace| !trace.missing().allocations) {
            let shown = ShownHeap { heap: &heap, calls: &calls, is_wanted: |_| true, end };
            tables.extend(shown.tables(&mut names));
        }
        print::tables(&mut host.data.output.borrow_mut(), &tables);
    } else {
        for (index, trace) in context.contexts().traces().iter().enumerate() {
            let place = places::of_trace(&mut host.attributes, trace)?;
            export_calls(&mut host.attributes, place, &calls, &calls.traces()[index], &mut names)?;
            export_heap(&mut host.attributes, place, &heap.traces()[index])?;
        }
    }
    advice::warn(&host.data.report, context.traceset().traces(), &calls, &heap);
    names.warn(&host.data.report);
    Ok(())
}

/// Returns the place of a process among the results of a trace.
fn of_process(
    attributes: &mut Attributes,
    all: AttributeId,
    process: Option<i64>,
) -> Result<AttributeId, AttributeError> {
    attributes.subtree(all, process.unwrap_or(0).max(0) as u64)
}

fn export_calls(
    attributes: &mut Attributes,
    place: AttributeId,
    calls: &CallStacks,
    trace: &TraceCalls,
    names: &mut Names,
) -> Result<(), AttributeError> {
    if !trace.missing().is_served() {
        return Ok(());
    }
    let all = attributes.subtree(place, "calls")?;
    for of in trace.function_figures() {
        let process = of_process(attributes, all, of.function.process)?;
        let place = attributes.subtree(process, &*names.name(calls, trace, &of.function))?;
        attributes.set(place, "count", of.calls.len())?;
        attributes.set(place, "time", Duration::from_nanos(of.total_time))?;
        attributes.set(place, "self", Duration::from_nanos(of.self_time))?;
        export_durations(attributes, place, &of.calls)?;
    }
    Ok(())
}

fn export_durations(
    attributes: &mut Attributes,
    place: AttributeId,
    of: &Durations,
) -> Result<(), AttributeError> {
    if let (Some(least), Some(most)) = (of.shortest(), of.longest()) {
        attributes.set(place, "total", Duration::from_nanos(of.total()))?;
        attributes.set(place, "min", Duration::from_nanos(least))?;
        attributes.set(place, "max", Duration::from_nanos(most))?;
    }
    Ok(())
}

fn export_heap(
    attributes: &mut Attributes,
    place: AttributeId,
    trace: &TraceHeap,
) -> Result<(), AttributeError> {
    if trace.missing().allocations {
        return Ok(());
    }
    let all = attributes.subtree(place, "heap")?;
    for of in trace.processes() {
        let place = of_process(attributes, all, of.process)?;
        for (name, count) in [
            ("allocations", of.allocations),
            ("allocated_bytes", of.allocated_bytes),
            ("frees", of.frees),
            ("freed_bytes", of.freed_bytes),
            ("failed", of.failed),
            ("unknown_frees", of.unknown_frees),
            ("overwritten", of.overwritten),
            ("live_blocks", of.live_blocks),
            ("live_bytes", of.live_bytes),
            ("peak_bytes", of.peak_bytes),
        ] {
            attributes.set(place, name, count)?;
        }
    }
    Ok(())
}
